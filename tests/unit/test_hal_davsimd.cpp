// SPDX-License-Identifier: Apache-2.0
// The HAL on the real server: processes that live, fork and are killed, devices that are slow or
// say nothing.
#include "hal/driver_impl.hpp"
#include "tests/unit/hal_nodes.hpp"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

using namespace asc::hal;
using asc::test::why;
using testing::HasSubstr;
using namespace std::chrono_literals;
namespace fs = std::filesystem;

namespace {

// 'davsim start' in the foreground, with a socket of its own.
class Simulator {
  public:
    explicit Simulator(const std::string& profile, std::vector<std::string> rules = {}) {
        char name[] = "/tmp/hal_davsim_XXXXXX";
        folder_ = mkdtemp(name);
        path = folder_ + "/socket";
        const std::string program = std::string(ASC_BIN_DIR) + "/davsim";
        std::vector<std::string> words{program, "start", "--socket", path, "--profile", profile};
        for (const std::string& rule : rules) {
            words.push_back("--rule");
            words.push_back(rule);
        }
        int ready[2];
        if (pipe(ready) != 0)
            throw std::runtime_error("pipe");
        process = fork();
        if (process == 0) {
            prctl(PR_SET_PDEATHSIG, SIGTERM);
            dup2(ready[1], STDOUT_FILENO);
            close(ready[0]);
            close(ready[1]);
            std::vector<char*> arguments;
            for (std::string& word : words)
                arguments.push_back(word.data());
            arguments.push_back(nullptr);
            execv(program.c_str(), arguments.data());
            _exit(127);
        }
        close(ready[1]);
        char line[512]; // the export line tells that it listens
        const ssize_t length = read(ready[0], line, sizeof(line));
        close(ready[0]);
        if (length <= 0)
            throw std::runtime_error(program + " did not start");
    }
    ~Simulator() {
        stop(SIGTERM);
        fs::remove_all(folder_);
    }
    void stop(int signal) {
        if (process > 0) {
            kill(process, signal);
            waitpid(process, nullptr, 0);
        }
        process = -1;
    }
    Driver connect(std::chrono::milliseconds timeout = 5000ms) {
        ConnectOptions options;
        options.backend = "unix:" + path;
        options.timeout = timeout;
        auto driver = Driver::connect(options);
        if (!driver)
            throw std::runtime_error(driver.error().text);
        return std::move(*driver);
    }
    std::string path;
    pid_t process = -1;

  private:
    std::string folder_;
};

class HalDavsimd : public testing::Test {
  protected:
    void SetUp() override {
        if (access((std::string(ASC_BIN_DIR) + "/davsim").c_str(), X_OK) != 0)
            GTEST_SKIP() << "davsim is not built";
    }
};

DeviceSnapshot of(Driver& driver, Ask what, std::size_t index) {
    return driver.snapshot(std::span(driver.devices()).subspan(index, 1), what).front();
}

// A child that holds memory until it is killed. `body` runs in it when it holds.
class Owner {
  public:
    template <class Body>
    Owner(Simulator& simulator, std::size_t device, std::uint64_t mib, Body body) {
        int ready[2];
        if (pipe(ready) != 0)
            throw std::runtime_error("pipe");
        pid = fork();
        if (pid == 0) {
            close(ready[0]);
            Driver driver = simulator.connect();
            const bool good =
                driver.hold_memory(driver.devices()[device], mib << 20, false).has_value();
            body(driver);
            (void)!write(ready[1], good ? "y" : "n", 1);
            for (;;)
                pause();
        }
        close(ready[1]);
        char byte = 0;
        holds = read(ready[0], &byte, 1) == 1 && byte == 'y';
        close(ready[0]);
    }
    Owner(Simulator& simulator, std::size_t device, std::uint64_t mib)
        : Owner(simulator, device, mib, [](Driver&) {}) {}
    ~Owner() { end(); }
    void end() {
        if (pid > 0) {
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
        }
        pid = -1;
    }
    pid_t pid = -1;
    bool holds = false;
};

template <class Condition> bool soon(Condition condition) {
    for (int i = 0; i < 200; ++i) {
        if (condition())
            return true;
        std::this_thread::sleep_for(20ms);
    }
    return false;
}

TEST_F(HalDavsimd, ResidentsAreRealProcesses) {
    Simulator simulator("handbook");
    Driver driver = simulator.connect();
    EXPECT_EQ(driver.backend().next_argument, "--backend unix:" + simulator.path);
    const auto all = driver.snapshot(driver.devices(), Ask::overview);
    for (const std::size_t i : {0U, 1U, 3U}) {
        ASSERT_EQ(all[i].processes->size(), 1U);
        const ProcessInfo& process = all[i].processes->front();
        EXPECT_EQ(kill(static_cast<pid_t>(process.pid), 0), 0);
        EXPECT_TRUE(*process.alive);
        EXPECT_EQ(*process.name, "python3");
        EXPECT_TRUE(process.start_unix_ms);
        EXPECT_EQ(*all[i].hbm_unowned_mib, 0U) << why(all[i].hbm_unowned_mib);
    }
    ASSERT_EQ(all[2].processes->size(), 1U);
    EXPECT_FALSE(*all[2].processes->front().alive);
    EXPECT_EQ(*all[2].hbm_unowned_mib, 65536U) << why(all[2].hbm_unowned_mib);
    // Details over HDC: second life sockets, sessions, slices.
    const DeviceSnapshot s = of(driver, Ask::usages | Ask::board | Ask::flash, 0);
    EXPECT_EQ(*s.hbm_bandwidth_percent, 40) << why(s.hbm_bandwidth_percent);
    EXPECT_TRUE(s.vdie_id);
    EXPECT_TRUE(s.flash);
}

TEST_F(HalDavsimd, AKilledOwnerGivesItsMemoryBack) {
    Simulator simulator("atlas-a2");
    Driver driver = simulator.connect();
    Owner owner(simulator, 4, 2048);
    ASSERT_TRUE(owner.holds);
    DeviceSnapshot s = of(driver, Ask::overview, 4);
    EXPECT_EQ(*s.hbm_used_mib, 3400U + 2048U);
    EXPECT_EQ(*s.hbm_unowned_mib, 0U) << why(s.hbm_unowned_mib);
    ASSERT_EQ(s.processes->size(), 1U);
    EXPECT_EQ(s.processes->front().pid, owner.pid);
    owner.end();
    EXPECT_TRUE(soon([&] { return *of(driver, Ask::overview, 4).hbm_used_mib == 3400U; }));
}

TEST_F(HalDavsimd, AZombieKeepsIt) {
    Simulator simulator("atlas-a2", {"zombie dev=5"});
    Driver driver = simulator.connect();
    Owner owner(simulator, 5, 1024);
    ASSERT_TRUE(owner.holds);
    const pid_t dead = owner.pid;
    owner.end();
    EXPECT_TRUE(soon([&] {
        const auto unowned = of(driver, Ask::overview, 5).hbm_unowned_mib;
        return unowned && *unowned == 1024;
    }));
    const DeviceSnapshot s = of(driver, Ask::overview, 5);
    ASSERT_EQ(s.processes->size(), 1U);
    EXPECT_EQ(s.processes->front().pid, dead);
    EXPECT_FALSE(*s.processes->front().alive);
    EXPECT_TRUE(driver.holders(driver.devices()[5])->empty()) << "nobody alive holds it";
}

// B02: the parent is gone, a child has its descriptors and so its memory.
TEST_F(HalDavsimd, AChildThatInheritedTheHandleIsTheHolder) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to see others' files";
    Simulator simulator("atlas-a2");
    Driver driver = simulator.connect();
    int child_pid[2];
    ASSERT_EQ(pipe(child_pid), 0);
    Owner owner(simulator, 6, 1024, [&](Driver&) {
        const pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_NAME, "inheritor");
            for (;;)
                pause();
        }
        (void)!write(child_pid[1], &child, sizeof(child));
    });
    ASSERT_TRUE(owner.holds);
    pid_t child = 0;
    ASSERT_EQ(read(child_pid[0], &child, sizeof(child)), static_cast<ssize_t>(sizeof(child)));
    auto holders = driver.holders(driver.devices()[6]);
    ASSERT_TRUE(holders) << why(holders);
    EXPECT_EQ(holders->size(), 2U);
    const pid_t parent = owner.pid;
    owner.end();
    holders = driver.holders(driver.devices()[6]);
    ASSERT_TRUE(holders) << why(holders);
    ASSERT_EQ(holders->size(), 1U);
    EXPECT_EQ(holders->front().pid, child);
    EXPECT_EQ(holders->front().name, "inheritor");
    EXPECT_EQ(holders->front().state, "S");
    EXPECT_EQ(holders->front().node, "/dev/davinci6");
    EXPECT_TRUE(holders->front().memory);
    const DeviceSnapshot s = of(driver, Ask::overview, 6);
    EXPECT_EQ(*s.hbm_used_mib, 3400U + 1024U);
    EXPECT_EQ(*s.hbm_unowned_mib, 0U) << "held, not left behind";
    ASSERT_EQ(s.processes->size(), 1U);
    EXPECT_EQ(s.processes->front().pid, parent);
    EXPECT_FALSE(*s.processes->front().alive);
    // A reset would take a live job's memory.
    EXPECT_EQ(driver.reset(driver.devices()[6], 2s).kind, ActionResult::Kind::busy);
    kill(child, SIGKILL);
    EXPECT_TRUE(soon([&] { return *of(driver, Ask::memory, 6).hbm_used_mib == 3400U; }));
    EXPECT_TRUE(driver.holders(driver.devices()[6])->empty());
    close(child_pid[0]);
    close(child_pid[1]);
}

TEST_F(HalDavsimd, WhoMayNotLookIsToldSo) {
    if (geteuid() != 0)
        GTEST_SKIP() << "needs root to become somebody else";
    Simulator simulator("atlas-a2");
    Owner owner(simulator, 3, 256);
    ASSERT_TRUE(owner.holds);
    chmod(simulator.path.c_str(), 0666);
    chmod(fs::path(simulator.path).parent_path().c_str(), 0755);
    const pid_t child = fork();
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(9);
        Driver driver = simulator.connect();
        const auto holders = driver.holders(driver.devices()[3]);
        const auto nobody = driver.holders(driver.devices()[0]);
        const ActionResult reset = driver.reset(driver.devices()[0], 1s);
        _exit(holders                                      ? 1
              : holders.absence().reason != Reason::denied ? 2
              : !nobody                                    ? 3
              : reset.kind != ActionResult::Kind::denied   ? 4
                                                           : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST_F(HalDavsimd, AChildOfForkAsksOnItsOwnConnection) {
    Simulator simulator("handbook");
    Driver driver = simulator.connect();
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            bool good = true;
            for (int round = 0; round < 20 && good; ++round) {
                const auto all = driver.snapshot(driver.devices(), Ask::overview);
                good = all[0].temperature_c && *all[0].temperature_c == 52 &&
                       *all[1].hbm_used_mib == 28416 && *all[3].temperature_c == 51;
            }
            _exit(good ? 0 : 1);
        }
        children.push_back(child);
    }
    for (int round = 0; round < 20; ++round) {
        const auto all = driver.snapshot(driver.devices(), Ask::overview);
        ASSERT_EQ(*all[0].temperature_c, 52);
        ASSERT_EQ(*all[1].temperature_c, 48);
    }
    for (const pid_t child : children) {
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    EXPECT_EQ(*of(driver, Ask::telemetry, 2).temperature_c, 55);
}

TEST_F(HalDavsimd, SixtyFourDevicesAt300MsAreNoTimeouts) {
    Simulator simulator("rack", {"surface cmd=urd.health mode=delay ms=300",
                                 "surface cmd=udis.* mode=delay ms=300",
                                 "surface cmd=devmng.device_info mode=delay ms=300"});
    const TimePoint begin = Steady::now();
    Driver driver = simulator.connect();
    ASSERT_EQ(driver.devices().size(), 64U);
    const auto all = driver.snapshot(driver.devices(), Ask::overview);
    const auto took = Steady::now() - begin;
    for (const DeviceSnapshot& s : all) {
        EXPECT_EQ(s.state, DeviceState::ok) << s.state_detail;
        EXPECT_FALSE(s.troubled());
    }
    EXPECT_GE(took, 600ms);
    EXPECT_LT(took, 8s) << "not 64 times one device";
}

TEST_F(HalDavsimd, ADeviceThatNeverAnswersIsATimeoutAlone) {
    Simulator simulator("handbook", {"surface dev=3 cmd=* mode=never interruptible=no"});
    const TimePoint begin = Steady::now();
    Driver driver = simulator.connect(1000ms);
    ASSERT_EQ(driver.devices().size(), 8U);
    EXPECT_EQ(driver.devices()[3].npu_id, 3);
    const auto all = driver.snapshot(driver.devices(), Ask::overview);
    EXPECT_LT(Steady::now() - begin, 2500ms);
    EXPECT_EQ(all[3].state, DeviceState::timeout);
    EXPECT_EQ(all[3].temperature_c.absence().reason, Reason::timeout);
    for (const std::size_t i : {0U, 1U, 2U, 4U, 5U, 6U, 7U})
        EXPECT_EQ(all[i].state, DeviceState::ok) << i << " " << all[i].state_detail;
    ASSERT_TRUE(driver.clear_rule(0));
    EXPECT_EQ(of(driver, Ask::overview, 3).state, DeviceState::ok) << "it has come back";
}

TEST_F(HalDavsimd, OneSilentQuestionIsOneMissingValue) {
    Simulator simulator("handbook", {"surface dev=3 cmd=udis.soc_max_temp mode=never"});
    Driver driver = simulator.connect(600ms);
    const auto all = driver.snapshot(driver.devices(), Ask::overview);
    EXPECT_EQ(all[3].temperature_c.absence().reason, Reason::timeout);
    EXPECT_DOUBLE_EQ(*all[3].power_w, 95.0);
    EXPECT_EQ(all[3].state, DeviceState::ok);
    EXPECT_THAT(all[3].state_detail, HasSubstr("1 questions"));
    EXPECT_TRUE(all[3].troubled());
}

TEST_F(HalDavsimd, EventsWakeTheReader) {
    Simulator simulator("handbook");
    Driver driver = simulator.connect(), other = simulator.connect();
    EXPECT_FALSE(driver.next_event({}, 0ms));
    EXPECT_FALSE(other.next_event({}, 0ms));
    ASSERT_TRUE(driver.hotplug(driver.devices()[2], 2)); // lost: an event of its own
    const auto a = driver.next_event({}, 3s);
    const auto b = other.next_event({}, 3s);
    ASSERT_TRUE(a) << why(a);
    ASSERT_TRUE(b) << why(b) << " (each connection is a subscriber of its own)";
    EXPECT_EQ(a->physical_id, 2);
    EXPECT_EQ(a->serial, b->serial);
    std::atomic<bool> stop{false};
    std::thread later([&] {
        std::this_thread::sleep_for(100ms);
        stop = true;
    });
    const TimePoint begin = Steady::now();
    EXPECT_FALSE(driver.next_event({}, 30s, &stop));
    EXPECT_LT(Steady::now() - begin, 2s);
    later.join();
    EXPECT_TRUE(driver.event_history(driver.devices()[2]));
}

TEST_F(HalDavsimd, AServerThatDiesIsAnErrorEverywhere) {
    Simulator simulator("handbook");
    Driver driver = simulator.connect();
    simulator.stop(SIGKILL);
    const auto all = driver.snapshot(driver.devices(), Ask::overview);
    EXPECT_EQ(all[0].state, DeviceState::failed);
    EXPECT_THAT(all[0].state_detail, HasSubstr(simulator.path));
    EXPECT_EQ(driver.reset(driver.devices()[0], 1s).kind, ActionResult::Kind::failed);
    EXPECT_FALSE(driver.holders(driver.devices()[0]));
    EXPECT_FALSE(driver.next_event({}, 100ms));
    EXPECT_FALSE(driver.rules());
}

} // namespace
