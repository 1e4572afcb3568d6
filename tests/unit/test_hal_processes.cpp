// SPDX-License-Identifier: Apache-2.0
// Whose memory it is: a process is its pid and its start, a foreign pid is never looked up here,
// and what cannot be told is not guessed.
#include "hal/processes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace asc::hal;
namespace fs = std::filesystem;

namespace {

class HalProcesses : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/hal_proc_XXXXXX";
        root_ = mkdtemp(name);
        std::ofstream(root_ / "stat") << "cpu 1 2 3\nbtime 1700000000\nprocesses 5\n";
        fs::create_directories(root_ / "self" / "ns");
        fs::create_symlink("/proc/self/ns/pid", root_ / "self" / "ns" / "pid");
    }
    void TearDown() override { fs::remove_all(root_); }

    void process(std::int64_t pid, const std::string& name, std::uint64_t start, char state = 'S',
                 int threads = 1, std::int64_t parent = 1) {
        const fs::path folder = root_ / std::to_string(pid);
        fs::create_directories(folder / "fd");
        std::ofstream(folder / "stat") << pid << " (" << name << ") " << state << " " << parent
                                       << " 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 " << threads
                                       << " 0 " << start << " 1234 5 18446744073709551615 1 1\n";
        std::ofstream(folder / "comm") << name << "\n";
        std::ofstream(folder / "status") << "Name:\tx\nUid:\t1234\t1234\t1234\t1234\n";
    }

    static SimProcess owner(std::int64_t pid, std::uint64_t mib, std::uint64_t start,
                            const std::string& name = "python3") {
        SimProcess process;
        process.host_pid = process.caller_pid = pid;
        process.bytes = mib << 20;
        process.start_ticks = start;
        process.name = name;
        process.uid = 77;
        return process;
    }
    void answer(const SimProcess& process, bool on_wire = true) {
        std::vector<SimProcess> all = *answers_.extension;
        all.push_back(process);
        answers_.extension = all;
        if (!on_wire || !process.resolvable)
            return;
        std::vector<std::int64_t> pids = *answers_.pids;
        pids.push_back(process.caller_pid);
        answers_.pids = pids;
        answers_.bytes[process.caller_pid] = process.bytes;
    }
    ProcessList compose() {
        return compose_processes(answers_, 65536, Proc(root_),
                                 [&](std::int64_t) { return holds_; });
    }
    static ProcessAnswers empty() {
        ProcessAnswers answers;
        answers.simulator = true;
        answers.pids = std::vector<std::int64_t>();
        answers.extension = std::vector<SimProcess>();
        return answers;
    }

    fs::path root_;
    ProcessAnswers answers_ = empty();
    Reading<bool> holds_ = false;
};

TEST_F(HalProcesses, ALiveOwnerHolds) {
    process(4242, "python3", 5000);
    answer(owner(4242, 1024, 5000));
    const ProcessList list = compose();
    ASSERT_EQ(list.processes->size(), 1U);
    const ProcessInfo& info = list.processes->front();
    EXPECT_TRUE(*info.alive);
    EXPECT_EQ(*info.name, "python3");
    EXPECT_EQ(*info.state, "S");
    EXPECT_EQ(*info.parent_pid, 1);
    EXPECT_EQ(*info.start_ticks, 5000U);
    EXPECT_EQ(*info.start_unix_ms, 1700000000000 + 5000 * 1000 / Proc::ticks_per_second());
    EXPECT_EQ(*info.uid, 77U);
    EXPECT_EQ(*list.held_bytes, 1024ULL << 20);
}

TEST_F(HalProcesses, AReusedPidIsAnotherProcess) {
    process(4242, "sshd", 9999);
    SimProcess dead = owner(4242, 1024, 5000);
    dead.ended = true;
    answer(dead);
    const ProcessList list = compose();
    const ProcessInfo& info = list.processes->front();
    EXPECT_FALSE(*info.alive);
    EXPECT_EQ(*info.name, "python3") << "the name that the host read, not the newcomer's";
    EXPECT_FALSE(info.state);
    EXPECT_EQ(*list.held_bytes, 0U);
}

TEST_F(HalProcesses, ADeadOwnerWhoseHandleLivesOnStillHolds) {
    answer(owner(4242, 1024, 5000)); // no such process, but its handle is open: a child has it
    const ProcessList list = compose();
    EXPECT_FALSE(*list.processes->front().alive);
    EXPECT_EQ(*list.held_bytes, 1024ULL << 20);
}

TEST_F(HalProcesses, NamesAreRawAndMayHoldAnything) {
    process(7, "a) S 1 (b", 5000);
    std::ofstream(root_ / "7" / "comm") << "\xf8\x01"
                                           "B\"),\x1b[2J\n";
    answer(owner(7, 1, 5000));
    const ProcessList list = compose();
    EXPECT_TRUE(*list.processes->front().alive);
    EXPECT_EQ(*list.processes->front().name, "\xf8\x01"
                                             "B\"),\x1b[2J");
}

TEST_F(HalProcesses, ADefunctProcessIsNotAliveUnlessItsThreadsRun) {
    process(8, "python3", 5000, 'Z', 1);
    process(9, "python3", 5000, 'Z', 3);
    answer(owner(8, 1, 5000));
    answer(owner(9, 1, 5000));
    const ProcessList list = compose();
    EXPECT_FALSE(*(*list.processes)[0].alive);
    EXPECT_EQ(*(*list.processes)[0].state, "Z");
    EXPECT_TRUE(*(*list.processes)[1].alive);
}

TEST_F(HalProcesses, AForeignPidIsNeverLookedUpHere) {
    process(77, "sshd", 1); // ours
    SimProcess foreign = owner(77, 8000, 1, "python");
    foreign.resolvable = false;
    foreign.caller_pid = 0;
    answer(foreign);
    const ProcessList list = compose();
    ASSERT_EQ(list.processes->size(), 1U) << "one entry, not none";
    const ProcessInfo& info = list.processes->front();
    EXPECT_FALSE(info.resolvable);
    EXPECT_EQ(info.pid, 77);
    EXPECT_EQ(*info.host_pid, 77);
    EXPECT_EQ(info.name.absence().reason, Reason::unresolvable);
    EXPECT_EQ(info.alive.absence().reason, Reason::unresolvable);
    EXPECT_EQ(*info.bytes, 8000ULL << 20);
    EXPECT_EQ(*list.held_bytes, 8000ULL << 20) << "held, although nobody here has a name for it";
}

TEST_F(HalProcesses, AnUnreadableProcessIsUnknown) {
    fs::create_directories(root_ / "900" / "stat"); // reading it fails, even for root
    answer(owner(900, 1, 5000, "train"));
    const ProcessList list = compose();
    EXPECT_EQ(list.processes->front().alive.absence().reason, Reason::denied);
    EXPECT_EQ(*list.processes->front().name, "train");
}

TEST_F(HalProcesses, ABytesFigureAboveTheDeviceIsNone) {
    process(5, "python3", 5000);
    answer(owner(5, 1, 5000));
    answers_.bytes[5] = process_bytes_from_wire(65537ULL << 20, 65536);
    const ProcessList list = compose();
    EXPECT_EQ(list.processes->front().bytes.absence().reason, Reason::out_of_range);
    EXPECT_EQ(list.held_bytes.absence().reason, Reason::out_of_range);
}

TEST_F(HalProcesses, AFullListIsNotTheWholeTruth) {
    for (std::int64_t pid = 1000; pid < 1064; ++pid)
        answer(owner(pid, 1, 5000));
    EXPECT_TRUE(compose().full);
    SimDevice device;
    device.baseline_kib = std::uint64_t{0};
    bool disagrees = false;
    const auto unowned = unowned_mib(Hbm{65536U << 10, 1 << 20}, device, compose(), disagrees);
    EXPECT_EQ(unowned.absence().reason, Reason::list_full);
}

TEST_F(HalProcesses, AFailedListIsNoEmptyOne) {
    answers_.pids = Absence{Reason::denied, -13, "not permitted"};
    const ProcessList list = compose();
    EXPECT_EQ(list.processes.absence().reason, Reason::denied);
    EXPECT_EQ(list.held_bytes.absence().reason, Reason::denied);
}

TEST_F(HalProcesses, ARealDriverTellsNoStartTimes) {
    answers_.simulator = false;
    answers_.extension = Reading<std::vector<SimProcess>>();
    const bool foreign = Proc(root_).foreign_namespace();
    process(500, "python3", 5000);
    answers_.pids = std::vector<std::int64_t>{500, 501};
    answers_.bytes[500] = std::uint64_t{1} << 20;
    answers_.bytes[501] = std::uint64_t{1} << 20;
    ProcessList list = compose();
    if (foreign) {
        // In a container: the pid may be anybody's.
        EXPECT_FALSE(list.processes->front().resolvable);
        EXPECT_EQ(list.processes->front().name.absence().reason, Reason::unresolvable);
        return;
    }
    EXPECT_EQ((*list.processes)[0].alive.absence().reason, Reason::unknown);
    EXPECT_FALSE(*(*list.processes)[1].alive) << "no such pid";
    EXPECT_EQ(*(*list.processes)[0].uid, 1234U);
    holds_ = true; // it has the device's node open
    list = compose();
    EXPECT_TRUE(*(*list.processes)[0].alive);
}

TEST_F(HalProcesses, WhatVanishedBetweenTwoQuestionsIsLeftOut) {
    answers_.pids = std::vector<std::int64_t>{500};
    answers_.bytes[500] = Absence{Reason::failed, -22, "Invalid argument"};
    answers_.vanished[500] = true;
    EXPECT_TRUE(compose().processes->empty());
    EXPECT_EQ(*compose().held_bytes, 0U);
}

TEST(HalUnowned, IsUsedLessBaselineLessHeld) {
    SimDevice device;
    device.baseline_kib = std::uint64_t{3400} << 10;
    ProcessList list;
    list.processes = std::vector<ProcessInfo>();
    list.held_bytes = std::uint64_t{0};
    bool disagrees = false;
    // Idle: only the baseline.
    EXPECT_EQ(*unowned_mib(Hbm{65536U << 10, 3400U << 10}, device, list, disagrees), 0U);
    device.unowned_kib = 200U << 10;
    EXPECT_EQ(*unowned_mib(Hbm{65536U << 10, 3600U << 10}, device, list, disagrees), 200U);
    EXPECT_FALSE(disagrees);
    // The two ways to count it differ.
    device.unowned_kib = 0;
    EXPECT_EQ(unowned_mib(Hbm{65536U << 10, 3600U << 10}, device, list, disagrees).absence().reason,
              Reason::failed);
    EXPECT_TRUE(disagrees);
    // More is held than used.
    list.held_bytes = std::uint64_t{500} << 20;
    EXPECT_EQ(unowned_mib(Hbm{65536U << 10, 3400U << 10}, device, list, disagrees).absence().reason,
              Reason::failed);
    device.baseline_kib = Absence{Reason::unknown, 0, ""};
    EXPECT_EQ(unowned_mib(Hbm{65536U << 10, 3400U << 10}, device, list, disagrees).absence().reason,
              Reason::unknown);
    EXPECT_EQ(
        unowned_mib(Absence{Reason::timeout, 0, ""}, device, list, disagrees).absence().reason,
        Reason::timeout);
}

TEST(HalProcStat, FieldsAreCountedFromTheLastBracket) {
    const auto stat =
        parse_stat("12 (a) b) (c)) R 34 5 6 78 9 10 11 12 13 14 15 16 17 18 19 20 21 0 4242 1\n");
    ASSERT_TRUE(stat);
    EXPECT_EQ(stat->state, 'R');
    EXPECT_EQ(stat->parent, 34);
    EXPECT_EQ(stat->terminal, 78);
    EXPECT_EQ(stat->threads, 21);
    EXPECT_EQ(stat->start_ticks, 4242U);
    EXPECT_FALSE(parse_stat(""));
    EXPECT_FALSE(parse_stat("12 (x"));
    EXPECT_FALSE(parse_stat("12 (x) R 1 2"));
}

} // namespace
