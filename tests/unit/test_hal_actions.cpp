// SPDX-License-Identifier: Apache-2.0
// What changes a device, and what is told of it afterwards: reset, ECC counters, memory, events,
// rules, clock.
#include "tests/unit/hal_nodes.hpp"

#include <unistd.h>

#include <thread>

using namespace asc::hal;
using asc::test::FakeNodes;
using asc::test::why;
using testing::HasSubstr;
using namespace std::chrono_literals;

namespace {

DeviceSnapshot of(Driver& driver, Ask what, std::size_t index) {
    return driver.snapshot(std::span(driver.devices()).subspan(index, 1), what).front();
}

// Advances a virtual clock as long as it lives.
class Ticker {
  public:
    explicit Ticker(asc::sim::Machine& machine)
        : thread_([&machine, this] {
              while (!over_) {
                  machine.advance(500'000'000);
                  std::this_thread::sleep_for(2ms);
              }
          }) {}
    ~Ticker() {
        over_ = true;
        thread_.join();
    }

  private:
    std::atomic<bool> over_{false};
    std::thread thread_;
};

asc::sim::MachineOptions virtual_time() {
    asc::sim::MachineOptions options;
    options.clock = asc::sim::Clock::virtual_time;
    return options;
}

TEST(HalReset, FreesTheMemoryOfDeadOwnersAndTouchesNoOther) {
    FakeNodes nodes("handbook", virtual_time());
    Driver driver = nodes.connect();
    ASSERT_EQ(*of(driver, Ask::memory, 2).hbm_unowned_mib, 65536U);
    std::vector<std::uint32_t> steps;
    ActionResult result;
    {
        const Ticker ticker(*nodes.machine);
        result = driver.reset(driver.devices()[2], 20s,
                              [&](std::uint32_t status) { steps.push_back(status); });
    }
    EXPECT_TRUE(result) << result.text;
    ASSERT_FALSE(steps.empty());
    EXPECT_EQ(steps.back(), 16U);
    const auto all = driver.snapshot(driver.devices(), Ask::overview);
    EXPECT_EQ(*all[2].hbm_used_mib, 0U);
    EXPECT_EQ(*all[2].hbm_unowned_mib, 0U);
    EXPECT_EQ(*all[0].hbm_used_mib, 32768U);
    EXPECT_EQ(*all[3].hbm_used_mib, 10240U);
}

TEST(HalReset, ALiveHolderMakesItBusy) {
    FakeNodes nodes("handbook", virtual_time());
    Driver driver = nodes.connect();
    const ActionResult result = driver.reset(driver.devices()[3], 1s);
    EXPECT_EQ(result.kind, ActionResult::Kind::busy) << result.text;
    EXPECT_EQ(*of(driver, Ask::memory, 3).hbm_used_mib, 10240U);
}

TEST(HalReset, IsNoSuccessWhileTheDeviceIsNotBack) {
    FakeNodes nodes("handbook", virtual_time()); // nobody moves the clock
    Driver driver = nodes.connect();
    const TimePoint begin = Steady::now();
    const ActionResult result = driver.reset(driver.devices()[2], 300ms);
    EXPECT_LT(Steady::now() - begin, 3s);
    EXPECT_EQ(result.kind, ActionResult::Kind::failed);
    EXPECT_THAT(result.text, HasSubstr("not back after"));
    EXPECT_THAT(result.text, HasSubstr("virtual"));
}

TEST(HalReset, IsNoSuccessWhenTheMemoryIsStillHeld) {
    FakeNodes nodes("handbook", virtual_time());
    Driver driver = nodes.connect();
    nodes.after = [](const FakeNodes::Seen& seen, int result) {
        if (seen.number == DS_DEVICE && seen.device == 2) {
            auto* device = static_cast<ds_device*>(seen.argument);
            device->hbm_unowned_kib = 4096U << 10;
        }
        if (seen.udis == "hbm_mem_info" && seen.device == 2)
            static_cast<dv_hbm_mem_info*>(seen.data())->part[DV_MEMORY_PART_HBM].free_kb -= 4096U
                                                                                            << 10;
        return result;
    };
    const Ticker ticker(*nodes.machine);
    const ActionResult result = driver.reset(driver.devices()[2], 20s);
    EXPECT_EQ(result.kind, ActionResult::Kind::failed);
    EXPECT_THAT(result.text, HasSubstr("4096 MB are still held"));
}

TEST(HalReset, ADeviceThatIsGoneAfterwardsIsLost) {
    FakeNodes nodes("handbook", virtual_time());
    Driver driver = nodes.connect();
    bool reset = false;
    nodes.before = [&](const FakeNodes::Seen& seen) -> std::optional<int> {
        if (seen.urd && seen.envelope.main_command == DV_MAIN_HOTRESET) {
            reset = true;
            return 0;
        }
        return reset && seen.device == 2 ? std::optional<int>(-ENODEV) : std::nullopt;
    };
    const ActionResult result = driver.reset(driver.devices()[2], 300ms);
    EXPECT_EQ(result.kind, ActionResult::Kind::lost) << result.text;
}

TEST(HalReset, RefusalsKeepTheirKind) {
    for (const auto& [error, kind] :
         {std::pair{static_cast<int>(DV_E_NOT_PERMITTED), ActionResult::Kind::denied},
          {-EACCES, ActionResult::Kind::denied},
          {static_cast<int>(DV_E_OCCUPIED), ActionResult::Kind::busy},
          {static_cast<int>(DV_E_BUSY), ActionResult::Kind::busy},
          {static_cast<int>(DV_E_RESETTING), ActionResult::Kind::busy},
          {static_cast<int>(DV_E_NOT_SUPPORTED), ActionResult::Kind::unsupported},
          {-ENODEV, ActionResult::Kind::lost},
          {-EIO, ActionResult::Kind::failed}}) {
        FakeNodes nodes("single");
        nodes.before = [error = error](const FakeNodes::Seen& seen) -> std::optional<int> {
            return seen.urd && seen.envelope.main_command == DV_MAIN_HOTRESET
                       ? std::optional<int>(error)
                       : std::nullopt;
        };
        Driver driver = nodes.connect();
        const ActionResult result = driver.reset(driver.devices()[0], 1s);
        EXPECT_EQ(result.kind, kind) << error;
        EXPECT_EQ(result.error, error);
        EXPECT_FALSE(result);
    }
}

TEST(HalClearEcc, ClearsTheVolatileCountersAlone) {
    FakeNodes nodes("handbook");
    Driver driver = nodes.connect();
    const ActionResult result = driver.clear_ecc(driver.devices()[1]);
    EXPECT_TRUE(result) << result.text;
    const EccCounters after = *of(driver, Ask::ecc, 1).ecc;
    EXPECT_EQ(after.single_bit, 0U);
    EXPECT_EQ(after.single_bit_lifetime, 3U);
}

TEST(HalClearEcc, AnIgnoredCommandIsNoSuccess) {
    FakeNodes nodes("handbook");
    Driver driver = nodes.connect();
    nodes.after = [](const FakeNodes::Seen& seen, int result) {
        if (seen.udis == "ecc_rlt_cnt")
            static_cast<dv_ecc_now*>(seen.data())->single = 3;
        return result;
    };
    const ActionResult result = driver.clear_ecc(driver.devices()[1]);
    EXPECT_EQ(result.kind, ActionResult::Kind::failed);
    EXPECT_THAT(result.text, HasSubstr("3 single"));
}

TEST(HalClearEcc, NotRootIsDenied) {
    FakeNodes nodes("handbook");
    nodes.identity.caller = DV_ACC_USER;
    nodes.identity.uid = 1000;
    Driver driver = nodes.connect();
    EXPECT_EQ(driver.clear_ecc(driver.devices()[1]).kind, ActionResult::Kind::denied);
    EXPECT_EQ(driver.reset(driver.devices()[4], 1s).kind, ActionResult::Kind::denied);
    EXPECT_EQ(driver.add_rule("zombie").absence().reason, Reason::denied);
}

TEST(HalMemory, IsHeldUntilTheDriverGoes) {
    FakeNodes nodes("single");
    Driver watcher = nodes.connect();
    const std::uint64_t before = *of(watcher, Ask::memory, 0).hbm_used_mib;
    {
        Driver owner = nodes.connect();
        const auto held = owner.hold_memory(owner.devices()[0], 2048ULL << 20, false);
        ASSERT_TRUE(held) << why(held);
        const DeviceSnapshot s = of(watcher, Ask::overview, 0);
        EXPECT_EQ(*s.hbm_used_mib, before + 2048);
        EXPECT_EQ(*s.hbm_unowned_mib, 0U) << why(s.hbm_unowned_mib);
        ASSERT_EQ(s.processes->size(), 1U);
        EXPECT_EQ(s.processes->front().pid, getpid());
        EXPECT_TRUE(*s.processes->front().alive);
        EXPECT_EQ(owner.hold_memory(owner.devices()[0], 1ULL << 50).absence().error, -ENOMEM);
    }
    EXPECT_EQ(*of(watcher, Ask::memory, 0).hbm_used_mib, before);
}

TEST(HalMemory, AZombieIsDeadAndItsMemoryNobodys) {
    FakeNodes nodes("single");
    Driver watcher = nodes.connect();
    ASSERT_TRUE(watcher.add_rule("zombie dev=0"));
    {
        Driver owner = nodes.connect();
        ASSERT_TRUE(owner.hold_memory(owner.devices()[0], 512ULL << 20, false));
    }
    const DeviceSnapshot s = of(watcher, Ask::overview, 0);
    EXPECT_EQ(*s.hbm_unowned_mib, 512U) << why(s.hbm_unowned_mib);
    ASSERT_EQ(s.processes->size(), 1U);
    // The process itself, this one, lives on: only its handle is gone.
    EXPECT_EQ(s.processes->front().pid, getpid());
}

// ---- events ----

TEST(HalEvents, WhatIsRaisedAfterTheFirstReadIsDelivered) {
    FakeNodes nodes("handbook", virtual_time()); // the scrubber finds the error in its time
    Driver driver = nodes.connect();
    const Ticker ticker(*nodes.machine);
    EXPECT_EQ(driver.next_event({}, 0ms).absence().reason, Reason::timeout);
    ASSERT_TRUE(driver.add_rule("ecc dev=4 bits=2 addr=0x100000"));
    const auto event = driver.next_event({}, 10s);
    ASSERT_TRUE(event) << why(event);
    EXPECT_EQ(event->physical_id, 4);
    EXPECT_EQ(event->id, DV_EV_HBM_SCRUB_DOUBLE);
    EXPECT_FALSE(event->name.empty());
    const auto history = driver.event_history(driver.devices()[4]);
    ASSERT_TRUE(history) << why(history);
    ASSERT_FALSE(history->empty());
    EXPECT_EQ(history->front().id, event->id);
    EXPECT_EQ(history->front().serial, event->serial);
    EXPECT_TRUE(driver.event_history(driver.devices()[5])->empty());
    const auto text = driver.event_text(driver.devices()[4], event->id);
    ASSERT_TRUE(text) << why(text);
    EXPECT_FALSE(text->empty());
    EXPECT_FALSE(driver.event_text(driver.devices()[4], 0x12345678));
    const DeviceSnapshot s = of(driver, Ask::state | Ask::error_texts, 4);
    ASSERT_EQ(s.error_codes->size(), 1U);
    EXPECT_EQ(*s.error_codes->front().text, *text);
    EXPECT_NE(*s.health, Health::ok);
}

TEST(HalEvents, TheFilterIsApplied) {
    FakeNodes nodes("handbook", virtual_time());
    Driver driver = nodes.connect();
    const Ticker ticker(*nodes.machine);
    EventFilter elsewhere, here;
    elsewhere.device = 5;
    here.device = 4;
    here.event_id = DV_EV_HBM_SCRUB_DOUBLE;
    EXPECT_FALSE(driver.next_event(elsewhere, 0ms));
    ASSERT_TRUE(driver.add_rule("ecc dev=4 bits=2 addr=0x100000"));
    EXPECT_TRUE(driver.next_event(here, 10s));
    driver.next_event(here, 0ms);
    ASSERT_TRUE(driver.add_rule("ecc dev=4 bits=2 addr=0x900000"));
    EXPECT_EQ(driver.next_event(elsewhere, 500ms).absence().reason, Reason::timeout);
    elsewhere.device = 99;
    EXPECT_EQ(driver.next_event(elsewhere, 0ms).absence().reason, Reason::lost);
}

TEST(HalEvents, TheStopFlagEndsTheWait) {
    FakeNodes nodes("single");
    Driver driver = nodes.connect();
    std::atomic<bool> stop{false};
    std::thread other([&] {
        std::this_thread::sleep_for(100ms);
        stop = true;
    });
    const TimePoint begin = Steady::now();
    EXPECT_FALSE(driver.next_event({}, 60s, &stop));
    EXPECT_LT(Steady::now() - begin, 3s);
    other.join();
}

TEST(HalEvents, PositiveResultsAreUnderstood) {
    FakeNodes nodes("single");
    Driver driver = nodes.connect();
    int result = 16;
    nodes.before = [&](const FakeNodes::Seen& seen) -> std::optional<int> {
        return seen.number == DV_IO(DV_MAIN_BASIC, DV_BASIC_EVENT_READ) ? std::optional<int>(result)
                                                                        : std::nullopt;
    };
    EXPECT_EQ(driver.next_event({}, 0ms).absence().reason, Reason::timeout);
    result = 73;
    EXPECT_EQ(driver.next_event({}, 0ms).absence().reason, Reason::timeout);
    result = 87;
    EXPECT_EQ(driver.next_event({}, 1000ms).absence().error, 87);
    result = -EACCES;
    EXPECT_EQ(driver.next_event({}, 1000ms).absence().reason, Reason::denied);
    result = DV_E_NOT_SUPPORTED;
    EXPECT_EQ(driver.next_event({}, 1000ms).absence().reason, Reason::unsupported);
}

// ---- controls ----

TEST(HalControls, RulesAreAddedListedAndCleared) {
    FakeNodes nodes("single");
    Driver driver = nodes.connect();
    const auto id = driver.add_rule("surface cmd=urd.health mode=err errno=EIO times=2");
    ASSERT_TRUE(id) << why(id);
    EXPECT_FALSE(of(driver, Ask::state, 0).health);
    auto rules = driver.rules();
    ASSERT_EQ(rules->size(), 1U);
    EXPECT_EQ(rules->front().id, *id);
    EXPECT_EQ(rules->front().hits, 1U);
    EXPECT_TRUE(rules->front().limited);
    EXPECT_EQ(rules->front().remaining, 1U);
    EXPECT_THAT(rules->front().text, HasSubstr("urd.health"));
    EXPECT_TRUE(driver.clear_rule(*id));
    EXPECT_TRUE(driver.rules()->empty());
    EXPECT_FALSE(driver.clear_rule(4711));
    const auto bad = driver.add_rule("zombie devv=1");
    EXPECT_EQ(bad.absence().reason, Reason::failed);
    EXPECT_THAT(bad.absence().detail, HasSubstr("at character"));
    EXPECT_FALSE(driver.add_rule(std::string(300, 'x')));
}

TEST(HalControls, OnlyAVirtualClockIsMoved) {
    FakeNodes real("single"), made("single", virtual_time());
    Driver a = real.connect(), b = made.connect();
    EXPECT_THAT(a.advance_clock(1s).absence().detail, HasSubstr("real"));
    EXPECT_TRUE(a.advance_clock(0s));
    const auto before = b.advance_clock(0s);
    EXPECT_EQ(*b.advance_clock(2s), *before + 2'000'000'000ULL);
    EXPECT_FALSE(a.hotplug(a.devices()[0], 7));
}

} // namespace
