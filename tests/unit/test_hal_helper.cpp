// SPDX-License-Identifier: Apache-2.0
// The chardev channel's helper process: a call that never comes back keeps neither the others nor
// this program, and nobody's pipe stays open because of it.
#include "tests/unit/hal_nodes.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

using namespace asc::hal;
using asc::test::FakeNodes;
using asc::test::why;
using namespace std::chrono_literals;

namespace {

ConnectOptions isolated(std::chrono::milliseconds timeout = 5000ms) {
    ConnectOptions options;
    options.isolate = true;
    options.timeout = timeout;
    return options;
}

[[noreturn]] void sleep_for_ever() {
    for (;;)
        pause();
}

template <class T> void expect_same(const Reading<T>& helped, const Reading<T>& direct) {
    ASSERT_TRUE(direct) << why(direct);
    ASSERT_TRUE(helped) << why(helped);
    EXPECT_EQ(*helped, *direct);
}

TEST(HalHelper, AnswersAsTheDirectChannelDoes) {
    FakeNodes nodes("handbook");
    Driver direct = nodes.connect();
    Driver helped = nodes.connect(isolated());
    EXPECT_GT(Driver::Impl::of(helped).channel->helper_pid(), 0);
    constexpr Ask kAll = Ask::overview | Ask::usages | Ask::frequencies | Ask::board | Ask::flash |
                         Ask::sensors | Ask::ecc_records;
    const auto a = direct.snapshot(direct.devices(), kAll);
    const auto b = helped.snapshot(helped.devices(), kAll);
    ASSERT_EQ(b.size(), 8U);
    for (std::size_t i = 0; i < 8; ++i) {
        EXPECT_EQ(b[i].state, DeviceState::ok) << b[i].state_detail;
        expect_same(b[i].temperature_c, a[i].temperature_c);
        expect_same(b[i].hbm_used_mib, a[i].hbm_used_mib);
        expect_same(b[i].hbm_bandwidth_percent, a[i].hbm_bandwidth_percent);
        expect_same(b[i].vdie_id, a[i].vdie_id);
        expect_same(b[i].processes.map([](const auto& all) { return all.size(); }),
                    a[i].processes.map([](const auto& all) { return all.size(); }));
        expect_same(b[i].single_bit_records.map([](const auto& all) { return all.size(); }),
                    a[i].single_bit_records.map([](const auto& all) { return all.size(); }));
        EXPECT_EQ(b[i].ids.bus_id, a[i].ids.bus_id);
    }
    // What a refused call wrote comes back too.
    EXPECT_THAT(helped.add_rule("zombie devv=1").absence().detail, testing::HasSubstr("character"));
    // A long answer comes in a memory file.
    const auto history = helped.event_history(helped.devices()[0]);
    EXPECT_TRUE(history) << why(history);
    EXPECT_EQ(helped.next_event({}, 10ms).absence().reason, Reason::timeout);
}

TEST(HalHelper, OneCallThatNeverReturnsIsLostAlone) {
    FakeNodes nodes("handbook");
    nodes.before = [](const FakeNodes::Seen& seen) -> std::optional<int> {
        if (seen.udis == "soc_max_temp" && seen.device == 3)
            sleep_for_ever();
        return std::nullopt;
    };
    const TimePoint begin = Steady::now();
    std::int64_t helper = 0;
    {
        Driver driver = nodes.connect(isolated(700ms));
        const auto all = driver.snapshot(driver.devices(), Ask::overview);
        EXPECT_EQ(all[3].temperature_c.absence().reason, Reason::timeout);
        EXPECT_EQ(all[3].state, DeviceState::ok);
        EXPECT_DOUBLE_EQ(*all[3].power_w, 95.0) << "the rest of the device goes on";
        EXPECT_TRUE(all[3].troubled());
        for (const std::size_t i : {0U, 1U, 2U, 4U, 7U}) {
            EXPECT_FALSE(all[i].troubled());
            EXPECT_TRUE(all[i].temperature_c);
        }
        helper = Driver::Impl::of(driver).channel->helper_pid();
    }
    EXPECT_LT(Steady::now() - begin, 2500ms);
    EXPECT_NE(kill(static_cast<pid_t>(helper), 0), 0) << "the helper is gone with the driver";
}

TEST(HalHelper, ADeviceThatNeverAnswersIsATimeoutWithinTheDeadline) {
    FakeNodes nodes("handbook");
    nodes.before = [](const FakeNodes::Seen& seen) -> std::optional<int> {
        if (seen.device == 5)
            sleep_for_ever();
        return std::nullopt;
    };
    const TimePoint begin = Steady::now();
    {
        Driver driver = nodes.connect(isolated(1000ms));
        ASSERT_EQ(driver.devices().size(), 8U);
        EXPECT_EQ(driver.devices()[5].npu_id, 5) << "its neighbours show where it stands";
        EXPECT_EQ(driver.devices()[5].bus_id, "");
        const auto all = driver.snapshot(driver.devices(), Ask::overview);
        EXPECT_EQ(all[5].state, DeviceState::timeout);
        EXPECT_EQ(all[5].state_detail, "no answer within 1 s");
        EXPECT_EQ(all[5].health.absence().reason, Reason::timeout);
        EXPECT_EQ(all[5].processes.absence().reason, Reason::timeout);
        for (const std::size_t i : {0U, 4U, 6U, 7U})
            EXPECT_EQ(all[i].state, DeviceState::ok);
    }
    // Connection and first question share the deadline: deadline + 1 s in all.
    EXPECT_LT(Steady::now() - begin, 2000ms);
}

TEST(HalHelper, ASlowDeviceIsNotATimeout) {
    FakeNodes nodes("handbook");
    nodes.before = [](const FakeNodes::Seen& seen) -> std::optional<int> {
        if (seen.device < 8)
            std::this_thread::sleep_for(100ms);
        return std::nullopt;
    };
    const TimePoint begin = Steady::now();
    Driver driver = nodes.connect(isolated(3000ms));
    const auto all = driver.snapshot(driver.devices(), Ask::overview);
    for (const DeviceSnapshot& s : all)
        EXPECT_EQ(s.state, DeviceState::ok) << s.state_detail;
    // 17 calls of 100 ms each would be over the limit one after the other.
    EXPECT_LT(Steady::now() - begin, 3000ms);
}

TEST(HalHelper, NothingOfOursStaysOpenInIt) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    FakeNodes nodes("single");
    Driver driver = nodes.connect(isolated());
    close(pipe_ends[1]);
    pollfd watched{pipe_ends[0], POLLIN, 0};
    EXPECT_EQ(poll(&watched, 1, 1000), 1) << "the reader sees the end although the helper lives";
    EXPECT_NE(watched.revents & POLLHUP, 0);
    close(pipe_ends[0]);
}

TEST(HalHelper, AHelperThatDiesIsAnErrorNotAHang) {
    FakeNodes nodes("single");
    Driver driver = nodes.connect(isolated());
    kill(static_cast<pid_t>(Driver::Impl::of(driver).channel->helper_pid()), SIGKILL);
    const TimePoint begin = Steady::now();
    const auto all = driver.snapshot(driver.devices(), Ask::overview);
    EXPECT_LT(Steady::now() - begin, 2s);
    EXPECT_EQ(all[0].state, DeviceState::failed);
    EXPECT_EQ(all[0].temperature_c.absence().reason, Reason::failed);
    EXPECT_THAT(all[0].temperature_c.absence().detail, testing::HasSubstr("helper process"));
}

TEST(HalHelper, AChildOfForkHasItsOwn) {
    FakeNodes nodes("handbook");
    Driver driver = nodes.connect(isolated());
    const std::int64_t ours = Driver::Impl::of(driver).channel->helper_pid();
    const pid_t child = fork();
    if (child == 0) {
        const auto all = driver.snapshot(driver.devices(), Ask::overview);
        const bool good = *all[0].temperature_c == 52 && all[7].state == DeviceState::ok &&
                          Driver::Impl::of(driver).channel->helper_pid() != ours;
        {
            Driver gone = std::move(driver); // must not end the parent's helper
        }
        _exit(good ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(*driver.snapshot(driver.devices(), Ask::overview)[1].temperature_c, 48);
    EXPECT_EQ(Driver::Impl::of(driver).channel->helper_pid(), ours);
}

TEST(HalHelper, HoldsNoMemoryForUs) {
    FakeNodes nodes("single");
    Driver driver = nodes.connect(isolated());
    EXPECT_EQ(driver.hold_memory(driver.devices()[0], 1 << 20).absence().reason, Reason::failed);
}

TEST(HalDirect, AChildOfForkOpensItsOwnFiles) {
    FakeNodes nodes("handbook");
    Driver driver = nodes.connect();
    const pid_t child = fork();
    if (child == 0) {
        const auto all = driver.snapshot(driver.devices(), Ask::overview);
        _exit(all[0].temperature_c && *all[0].temperature_c == 52 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

} // namespace
