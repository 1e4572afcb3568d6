// SPDX-License-Identifier: Apache-2.0
// The machine of the hosts: calls that wait, time, residents, identity.
#include "tests/unit/host_fixture.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace asc::sim {
namespace {

using namespace std::chrono_literals;
using test::bound;
using test::facts;
using test::hold;
using test::machine_of;
using test::process;
using test::profile_of;

const char kTwo[] = "[[device]]\ncount = 2\n";

// A blocking read of fault events (driver-abi.md 9): the argument and what it reaches.
struct EventRead {
    dv_event_read input{};
    dv_event output{};
    dv_urd urd{};

    explicit EventRead(int timeout_ms) {
        input.timeout_ms = timeout_ms;
        input.device_id = -1;
        urd.main_command = DV_MAIN_BASIC;
        urd.sub_command = DV_BASIC_EVENT_READ;
        urd.input = reinterpret_cast<std::uint64_t>(&input);
        urd.input_len = sizeof(input);
        urd.output = reinterpret_cast<std::uint64_t>(&output);
        urd.output_len = sizeof(output);
    }
    std::uint64_t argument() { return reinterpret_cast<std::uint64_t>(&urd); }
};

TEST(Machine, ACallThatWaitsEndsAtItsDeadlineAndWritesNothingAfterwards) {
    const auto machine = machine_of(profile_of(kTwo));
    const auto file = bound(*machine, "URD", process(10));
    EventRead read(-1);
    const auto begin = std::chrono::steady_clock::now();
    const CallResult result =
        machine->call(file, DV_IOCTL_URD, read.argument(), 1, own_memory(), begin + 100ms);
    EXPECT_TRUE(result.timed_out);
    EXPECT_EQ(result.result, -ETIMEDOUT);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 100ms);
    const dv_event empty{};
    EXPECT_EQ(std::memcmp(&read.output, &empty, sizeof(empty)), 0);
}

TEST(Machine, TheDriversOwnTimeoutIsNoDeadline) {
    const auto machine = machine_of(profile_of(kTwo));
    const auto file = bound(*machine, "URD", process(10));
    EventRead read(50);
    const CallResult result = machine->call(file, DV_IOCTL_URD, read.argument(), 1, own_memory(),
                                            std::chrono::steady_clock::now() + 20s);
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.result, -ETIMEDOUT);
}

TEST(Machine, AnotherThreadsEventWakesTheReader) {
    const auto machine = machine_of(profile_of(kTwo));
    const auto file = bound(*machine, "URD", process(10));
    EventRead first(0); // registers
    machine->call(file, DV_IOCTL_URD, first.argument(), 1, own_memory());
    EventRead read(-1);
    CallResult result;
    std::thread reader([&] {
        result = machine->call(file, DV_IOCTL_URD, read.argument(), 1, own_memory(),
                               std::chrono::steady_clock::now() + 20s);
    });
    std::this_thread::sleep_for(50ms);
    ASSERT_TRUE(machine->add_rule("lost dev=1"));
    reader.join();
    EXPECT_EQ(result.result, 0);
    EXPECT_EQ(read.output.event_id, 0x40F84E00U); // heartbeat lost, driver-abi.md 9
    EXPECT_EQ(read.output.assertion, 1);
}

TEST(Machine, VirtualTimeMovesOnlyWhenItIsAdvanced) {
    MachineOptions options;
    options.clock = Clock::virtual_time;
    options.rules = {"surface cmd=davsim.device mode=delay ms=300"};
    const auto machine = machine_of(profile_of(kTwo), options);
    EXPECT_EQ(machine->wall_ms(), 1767225600000U);
    const auto file = bound(*machine, DS_MODULE_NAME, process(10));
    ds_device device{};
    device.size = sizeof(device);
    const auto ask = [&](std::chrono::milliseconds limit) {
        return machine->call(file, DS_DEVICE, reinterpret_cast<std::uint64_t>(&device), 1,
                             own_memory(), std::chrono::steady_clock::now() + limit);
    };
    EXPECT_TRUE(ask(50ms).timed_out);
    EXPECT_EQ(machine->now_ns(), 0U);
    std::thread advancer([&] {
        std::this_thread::sleep_for(50ms);
        EXPECT_TRUE(machine->advance(300000000));
    });
    const CallResult result = ask(20s);
    advancer.join();
    EXPECT_FALSE(result.timed_out);
    EXPECT_EQ(result.result, 0);
    EXPECT_EQ(machine->now_ns(), 300000000U);
    EXPECT_FALSE(machine_of(profile_of(kTwo))->advance(1)); // real time cannot be
}

TEST(Machine, RealTimeDelaysAreWaitedFor) {
    MachineOptions options;
    options.rules = {"surface cmd=davsim.device mode=delay ms=60"};
    const auto machine = machine_of(profile_of(kTwo), options);
    const auto file = bound(*machine, DS_MODULE_NAME, process(10));
    const auto begin = std::chrono::steady_clock::now();
    facts(*machine, file, 0);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 60ms);
}

TEST(Machine, AReleaseEndsTheCallsOfItsFile) {
    const auto machine = machine_of(profile_of(kTwo));
    const auto file = bound(*machine, "URD", process(10));
    EventRead read(-1);
    CallResult result;
    std::thread reader([&] {
        result = machine->call(file, DV_IOCTL_URD, read.argument(), 1, own_memory(),
                               std::chrono::steady_clock::now() + 20s);
    });
    std::this_thread::sleep_for(50ms);
    machine->release(file);
    reader.join();
    EXPECT_EQ(result.result, -EBADF);
    EXPECT_EQ(test::call(*machine, file, DS_DEVICE, nullptr), -EBADF);
}

TEST(Machine, AsynchronousCallsParkAndComeBackInOrder) {
    MachineOptions options;
    options.clock = Clock::virtual_time;
    options.rules = {"surface cmd=davsim.info mode=delay ms=200",
                     "surface cmd=davsim.device mode=delay ms=100",
                     "surface cmd=davsim.holder_list mode=never interruptible=no"};
    const auto machine = machine_of(profile_of(kTwo), options);
    const auto file = bound(*machine, DS_MODULE_NAME, process(10));
    ds_info info{};
    info.size = sizeof(info);
    ds_device device{};
    device.size = sizeof(device);
    ds_holder_list holders{};
    holders.size = sizeof(holders);
    Machine::Call slow, quick, stuck;
    const auto begin = [&](Machine::Call& call, std::uint32_t number, auto& argument) {
        call.ordinal = file;
        call.number = number;
        call.argument = reinterpret_cast<std::uint64_t>(&argument);
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(&argument);
        EXPECT_TRUE(call.memory.add(call.argument, sizeof(argument), DV_RANGE_IN | DV_RANGE_OUT,
                                    {bytes, sizeof(argument)}));
        return machine->begin(call);
    };
    EXPECT_FALSE(begin(slow, DS_INFO, info));
    EXPECT_FALSE(begin(quick, DS_DEVICE, device));
    EXPECT_FALSE(begin(stuck, DS_HOLDER_LIST, holders));
    EXPECT_EQ(machine->next_finished(), nullptr);
    EXPECT_FALSE(machine->cancel(stuck)); // may not be interrupted
    machine->advance(250000000);
    EXPECT_EQ(machine->next_finished(), &quick);
    EXPECT_EQ(machine->next_finished(), &slow);
    EXPECT_EQ(machine->next_finished(), nullptr);
    EXPECT_EQ(slow.result, 0);
    EXPECT_FALSE(slow.memory.writes().empty());
    machine->abandon(stuck);
    Machine::Call again;
    EXPECT_FALSE(begin(again, DS_INFO, info));
    EXPECT_TRUE(machine->cancel(again));
    EXPECT_EQ(again.result, -EINTR);
    EXPECT_TRUE(again.memory.writes().empty());
}

TEST(Machine, ResidentsOfAProfileAreScriptedInProcess) {
    const auto profile = load_profile("handbook");
    const auto machine = machine_of(*profile);
    const auto file = bound(*machine, DS_MODULE_NAME, process(10));
    ds_process_list list{};
    list.size = sizeof(list);
    list.device_id = 2;
    ASSERT_EQ(test::call(*machine, file, DS_PROCESS_LIST, &list), 0);
    ASSERT_EQ(list.count, 1U);
    EXPECT_EQ(list.entry[0].flags & (DS_PROCESS_ENDED | DS_PROCESS_SCRIPTED),
              DS_PROCESS_ENDED | DS_PROCESS_SCRIPTED);
    EXPECT_EQ(list.entry[0].bytes, 65536ULL << 20U);
    EXPECT_STREQ(list.entry[0].name, "python3");
    EXPECT_EQ(facts(*machine, file, 2).hbm_unowned_kib, 65536ULL << 10U);
    EXPECT_EQ(facts(*machine, file, 0).hbm_unowned_kib, 0U);
    // The rule that made the dead owner is gone.
    ds_rule_get rule{};
    rule.size = sizeof(rule);
    EXPECT_EQ(test::call(*machine, file, DS_RULE_GET, &rule), -ENOENT);
    // A scripted owner cannot be taken for a process of this machine.
    list.device_id = 0;
    list.cursor = 0;
    ASSERT_EQ(test::call(*machine, file, DS_PROCESS_LIST, &list), 0);
    EXPECT_GT(list.entry[0].host_pid, 4194304U);
}

TEST(Machine, SameSeedProfileAndCallsGiveTheSameJournal) {
    const auto journal = [] {
        MachineOptions options;
        options.clock = Clock::virtual_time;
        options.seed = 42;
        options.rules = {"ecc bits=1 random rate=3", "surface cmd=davsim.device mode=err "
                                                     "errno=EIO probability=50"};
        const auto machine = machine_of(*load_profile("handbook"), options);
        const auto file = bound(*machine, DS_MODULE_NAME, process(10));
        for (int i = 0; i < 20; ++i) {
            ds_device device{};
            device.size = sizeof(device);
            device.device_id = static_cast<std::uint32_t>(i % 8);
            test::call(*machine, file, DS_DEVICE, &device);
            machine->advance(100000000);
        }
        std::vector<ds_journal_record> records(4096);
        std::uint64_t cursor = 0, lost = 0;
        records.resize(machine->read_journal(cursor, lost, records));
        EXPECT_EQ(lost, 0U);
        return records;
    };
    const auto first = journal(), second = journal();
    ASSERT_GT(first.size(), 30U);
    ASSERT_EQ(first.size(), second.size());
    EXPECT_EQ(std::memcmp(first.data(), second.data(), first.size() * sizeof(first[0])), 0);
}

TEST(Machine, JournalReadersLearnWhatTheyMissed) {
    const auto machine = machine_of(profile_of(kTwo));
    for (int i = 0; i < 5000; ++i)
        machine->release(*machine->open(DV_NODE_IS_MANAGER, 0, process(10)));
    std::vector<ds_journal_record> records(100);
    std::uint64_t cursor = 0, lost = 0;
    EXPECT_EQ(machine->read_journal(cursor, lost, records), 100U);
    EXPECT_GT(lost, 0U);
    EXPECT_EQ(cursor, lost + 100);
    std::uint64_t next_lost = 1;
    EXPECT_EQ(machine->read_journal(cursor, next_lost, records), 100U);
    EXPECT_EQ(next_lost, 0U);
}

TEST(Machine, DevicesCanBeAdded) {
    const auto machine = machine_of(profile_of(kTwo));
    DeviceProfile third = plain_device();
    third.config.device_id = third.config.physical_id = third.config.card = 2;
    number_serial(third.config);
    EXPECT_TRUE(machine->add_device(third));
    const auto again = machine->add_device(third);
    ASSERT_FALSE(again);
    EXPECT_THAT(again.error(), testing::HasSubstr("device 2 cannot be added"));
    const auto file = bound(*machine, DS_MODULE_NAME, process(10));
    EXPECT_EQ(hold(*machine, file, 2, 100), 0);
}

TEST(Machine, BadRulesSayWhere) {
    const auto machine = machine_of(profile_of(kTwo));
    const auto wrong = machine->add_rule("lost dve=1");
    ASSERT_FALSE(wrong);
    EXPECT_THAT(wrong.error(), testing::HasSubstr("at character 6: "));
    EXPECT_FALSE(machine->add_rule(std::string(300, 'x')));
    EXPECT_FALSE(sim::Machine::create(profile_of(kTwo), {.rules = {"nonsense"}}));
}

TEST(Identity, OwnProcess) {
    const sim_ident ident = self_identity();
    EXPECT_EQ(ident.pid, static_cast<std::uint32_t>(getpid()));
    EXPECT_NE(ident.start_time, 0U);
    EXPECT_NE(ident.pid_namespace, 0U);
    EXPECT_NE(ident.mount_namespace, 0U);
    EXPECT_NE(ident.ns_pid, 0U);
    EXPECT_EQ(ident.environment, DV_ACC_ENV_PHYSICAL);
    EXPECT_EQ((ident.caller & DV_ACC_ROOT) != 0, geteuid() == 0);
    EXPECT_NE(ident.caller & DS_ACC_SIM_OWNER, 0U);
    EXPECT_NE(std::string(ident.name), "");
}

TEST(Identity, RightsFollowTheUser) {
    const IdentityPolicy policy{1234, false}, as_root{1234, true};
    const auto caller = [](std::uint32_t uid, const IdentityPolicy& p) {
        return read_identity({0, uid, uid, {}}, 0, p).caller &
               (DV_ACC_ROOT | DV_ACC_USER | DS_ACC_SIM_OWNER);
    };
    EXPECT_EQ(caller(0, policy), DV_ACC_ROOT | DV_ACC_USER);
    EXPECT_EQ(caller(1234, policy), DS_ACC_SIM_OWNER | DV_ACC_USER);
    EXPECT_EQ(caller(1234, as_root), DS_ACC_SIM_OWNER | DV_ACC_USER | DV_ACC_ROOT);
    EXPECT_EQ(caller(1235, as_root), DV_ACC_USER);
    // A pid that is not resolvable leaves everything unknown, and is no process of this machine.
    const sim_ident hidden = read_identity({0, 5, 5, {}}, 7, policy);
    EXPECT_EQ(hidden.start_time, 0U);
    EXPECT_EQ(hidden.ns_pid, 0U);
    EXPECT_EQ(hidden.environment, DV_ACC_ENV_CONTAINER);
    EXPECT_EQ(hidden.cookie, 7U);
}

TEST(Window, OnlyWhatWasShownCanBeTouched) {
    const std::uint8_t bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    Window window;
    ASSERT_TRUE(window.add(0x1000, 8, DV_RANGE_IN, bytes));
    ASSERT_TRUE(window.add(0x2000, 16, DV_RANGE_OUT, {}));
    EXPECT_FALSE(window.add(0x3000, 8, DV_RANGE_IN, std::span(bytes).first(7)));
    EXPECT_FALSE(window.add(UINT64_MAX - 3, 8, DV_RANGE_OUT, {}));
    const abi_memory memory = window.access();
    std::uint8_t out[16] = {};
    EXPECT_EQ(memory.read(memory.context, out, 0x1002, 4), 0);
    EXPECT_EQ(out[0], 3);
    EXPECT_NE(memory.read(memory.context, out, 0x1004, 5), 0);
    EXPECT_NE(memory.read(memory.context, out, 0x0FFF, 2), 0);
    EXPECT_NE(memory.read(memory.context, out, 0x2000, 1), 0);
    EXPECT_NE(memory.write(memory.context, 0x1000, out, 1), 0);
    EXPECT_NE(memory.write(memory.context, 0x200F, out, 2), 0);
    EXPECT_EQ(memory.write(memory.context, 0x200E, bytes, 2), 0);
    ASSERT_EQ(window.writes().size(), 1U);
    EXPECT_EQ(window.writes()[0].address, 0x200EU);
    EXPECT_EQ(window.written()[1], 2);
    window.drop_contents();
    EXPECT_NE(memory.read(memory.context, out, 0x1000, 1), 0);
}

} // namespace
} // namespace asc::sim
