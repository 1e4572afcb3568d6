// SPDX-License-Identifier: Apache-2.0
// The arena, devices that come, are lost and come back.
#include "tests/unit/core_machine.hpp"

namespace asc::test {
namespace {

TEST(CoreArena, LimitsOutOfRangeAreRefused) {
    sim_limits limits{0, 8};
    EXPECT_EQ(0U, sim_arena_size(&limits, 0));
    limits.device_count = SIM_DEVICES_MAX + 1;
    EXPECT_EQ(0U, sim_arena_size(&limits, 0));
    limits = {1, 0};
    EXPECT_EQ(0U, sim_arena_size(&limits, 0));
    limits = {1, 8};
    EXPECT_EQ(0U, sim_arena_size(&limits, ~std::size_t{0}));
    const std::size_t size = sim_arena_size(&limits, 100);
    EXPECT_EQ(0U, size % 64);
    std::vector<std::uint64_t> memory(size / 8 + 1);
    sim_config config{};
    config.limits = limits;
    ::sim* model = nullptr;
    EXPECT_EQ(-SIM_EINVAL, sim_init(&model, memory.data(), size - 1, &config, 100));
    EXPECT_EQ(-SIM_EINVAL,
              sim_init(&model, reinterpret_cast<char*>(memory.data()) + 4, size, &config, 100));
    EXPECT_EQ(nullptr, model);
    ASSERT_EQ(0, sim_init(&model, memory.data(), size, &config, 100));
    auto* extra = static_cast<char*>(sim_extra(model));
    EXPECT_GE(extra, reinterpret_cast<char*>(&model->device[1]));
    EXPECT_LE(extra + 100, reinterpret_cast<char*>(memory.data()) + size);
}

TEST(CoreArena, WallClockFollowsTheModelsTime) {
    Arena machine;
    EXPECT_EQ(kWallMs, sim_wall_ms(machine.model));
    machine.pass(1500 * kMs + 999);
    EXPECT_EQ(kWallMs + 1500, sim_wall_ms(machine.model));
    machine.pass(kSecond);
    EXPECT_EQ(1500 * kMs + 999, machine.model->now_ns) << "time never goes back";
}

// A step that has nothing to do is short. Whatever makes something due must end that.
TEST(CoreArena, QuietStepsMissNothing) {
    Arena machine(2, 1, 8, false);
    sim_device_config config = device_config(0);
    config.scrub_ms = 10;
    ASSERT_EQ(0, machine.add(config));
    sim_client* client = machine.open(process(1));
    ASSERT_EQ(0, machine.alloc(client, 0, kMib));
    sim_residents_settled(machine.model);
    EXPECT_EQ(SIM_NEVER, sim_step(machine.model, 1));
    const std::uint8_t bit = 3;
    ASSERT_EQ(0, sim_flip(machine.model, 0, 0, &bit, 1));
    EXPECT_EQ(10 * kMs, sim_step(machine.model, 2)) << "a flip";
    EXPECT_EQ(SIM_NEVER, sim_step(machine.model, 10 * kMs));
    EXPECT_EQ(1U, machine.device(0).ecc.single_now);
    sim_park(machine.model, client, SIM_WAIT_TIME, 0, 12 * kMs, 0);
    EXPECT_EQ(12 * kMs, sim_step(machine.model, 11 * kMs)) << "a parked call";
    EXPECT_EQ(SIM_NEVER, sim_step(machine.model, 12 * kMs));
    EXPECT_NE(0U, sim_next_ready(machine.model, nullptr));
    fi_error error{};
    const std::string_view text = "lost dev=0 after=5ms";
    ASSERT_EQ(
        1, fi_add(&machine.model->rules, text.data(), text.size(), machine.model->now_ns, &error));
    EXPECT_EQ(17 * kMs, sim_step(machine.model, 13 * kMs)) << "a rule";
    sim_step(machine.model, 17 * kMs);
    EXPECT_EQ(DS_STATE_LOST, machine.device(0).state);
    fi_clear(&machine.model->rules, 0);
    sim_step(machine.model, 17 * kMs + 1);
    EXPECT_EQ(DS_STATE_OK, machine.device(0).state) << "a rule that is gone";
    sim_step(machine.model, 18 * kMs);
    sim_release(machine.model, client);
    EXPECT_EQ(118 * kMs, sim_step(machine.model, 18 * kMs)) << "a load that went";
    ASSERT_EQ(0, sim_reset(machine.model, 0, nullptr));
    sim_step(machine.model, 19 * kMs);
    ASSERT_EQ(0, sim_step(machine.model, 1000 * kSecond) != SIM_NEVER);
    EXPECT_EQ(DS_RESET_DONE, machine.device(0).reset_outcome);
    machine.device(0).sensor_next_ns = 1001 * kSecond;
    EXPECT_EQ(SIM_NEVER, sim_step(machine.model, 1000 * kSecond + 1)) << "written from outside";
    sim_touch(machine.model);
    EXPECT_EQ(1001 * kSecond, sim_step(machine.model, 1000 * kSecond + 2));
}

TEST(CoreDevices, OnlyPlausibleOnesAreAddedAndNoneTwice) {
    Arena machine(2, 1, 8, false);
    sim_device_config config = device_config(0);
    config.device_id = 2;
    EXPECT_EQ(-SIM_EINVAL, machine.add(config));
    config = device_config(0);
    config.baseline_mib = config.hbm_mib + 1;
    EXPECT_EQ(-SIM_EINVAL, machine.add(config));
    config = device_config(0);
    config.temperature_c = 70000;
    EXPECT_EQ(-SIM_EINVAL, machine.add(config));
    EXPECT_EQ(-SIM_EINVAL, machine.add(device_config(0), {1U << 20U})) << "no such page";
    EXPECT_EQ(nullptr, sim_device(machine.model, 0));
    EXPECT_EQ(0, machine.add(device_config(0)));
    EXPECT_EQ(-SIM_EEXIST, machine.add(device_config(0)));
    EXPECT_NE(nullptr, sim_device(machine.model, 0));
    EXPECT_EQ(nullptr, sim_device(machine.model, 1));
    EXPECT_EQ(nullptr, sim_device(machine.model, 99));
}

TEST(CoreDevices, ARuleLosesADeviceUntilItIsCleared) {
    Arena machine;
    sim_client* client = machine.open(process(1));
    ASSERT_EQ(0, machine.alloc(client, 2, kMib));
    const std::uint32_t rule = machine.rule("lost dev=2");
    EXPECT_EQ(DS_STATE_LOST, machine.device(2).state);
    EXPECT_EQ(DV_HEALTH_ABSENT, sim_health(&machine.device(2)));
    EXPECT_EQ(DV_STATUS_HEARTBEAT_LOST, machine.device(2).status_bits);
    EXPECT_EQ(DS_STATE_OK, machine.device(1).state);
    EXPECT_EQ(-SIM_EIO, machine.alloc(client, 2, kMib));
    EXPECT_EQ(-SIM_EIO, sim_reset(machine.model, 2, nullptr)) << "in band it cannot be reached";
    EXPECT_EQ(-SIM_EINVAL, sim_hotplug(machine.model, 2, DS_HOTPLUG_RESTORE)) << "a rule holds it";
    EXPECT_NE(nullptr, sim_device(machine.model, 2)) << "lost is not absent";
    machine.pass(10 * kSecond);
    EXPECT_EQ(DS_STATE_LOST, machine.device(2).state);
    machine.clear_rule(rule);
    EXPECT_EQ(DS_STATE_OK, machine.device(2).state);
    EXPECT_EQ(DV_HEALTH_NORMAL, sim_health(&machine.device(2)));
    EXPECT_EQ(kMib, sim_hbm_used_bytes(&machine.device(2)));
    const auto events = machine.journal(DS_J_EVENT, 2);
    ASSERT_EQ(2U, events.size());
    EXPECT_EQ(DV_EV_HEARTBEAT_LOST, events[0].code);
    EXPECT_EQ(1U, events[0].a);
    EXPECT_EQ(0U, events[0].time_ns);
    EXPECT_EQ(0U, events[1].a);
    EXPECT_EQ(10 * kSecond, events[1].time_ns);
    EXPECT_EQ(events[0].b, events[1].b);
    ASSERT_EQ(1U, machine.journal(DS_J_FAULT, 2).size());
}

TEST(CoreDevices, ALostDeviceComesBackWhenTheWindowEnds) {
    Arena machine;
    machine.rule("lost dev=1 after=2s for=3s");
    EXPECT_EQ(DS_STATE_OK, machine.device(1).state);
    EXPECT_EQ(2 * kSecond, machine.pass(kSecond)) << "the rule's tick is a deadline";
    EXPECT_EQ(5 * kSecond, machine.pass(4 * kSecond)) << "and so is the window's end";
    EXPECT_EQ(DS_STATE_LOST, machine.device(1).state);
    machine.pass(60 * kSecond);
    EXPECT_EQ(DS_STATE_OK, machine.device(1).state);
    const auto states = machine.journal(DS_J_STATE, 1);
    ASSERT_EQ(3U, states.size());
    EXPECT_EQ(DS_STATE_LOST, states[1].code);
    EXPECT_EQ(2 * kSecond, states[1].time_ns);
    EXPECT_EQ(DS_STATE_OK, states[2].code);
    EXPECT_EQ(5 * kSecond, states[2].time_ns) << "at the time it was due";
}

TEST(CoreDevices, ALoadConditionLosesADeviceWhenItHolds) {
    Arena machine;
    machine.rule("lost dev=0 when=hbm_used>50");
    machine.pass(kSecond);
    EXPECT_EQ(DS_STATE_OK, machine.device(0).state);
    sim_client* client = machine.open(process(1));
    ASSERT_EQ(0, machine.alloc(client, 0, 600 * kMib));
    machine.pass(1150 * kMs);
    EXPECT_EQ(DS_STATE_LOST, machine.device(0).state);
    EXPECT_EQ(1100 * kMs, machine.journal(DS_J_STATE, 0).back().time_ns);
}

TEST(CoreDevices, AreUnpluggedAndPluggedIn) {
    Arena machine;
    sim_client* client = machine.open(process(1));
    sim_client* node = machine.open(process(1), DV_NODE_IS_DEVICE, 1);
    ASSERT_EQ(0, machine.alloc(client, 1, kMib));
    ASSERT_EQ(0, sim_hotplug(machine.model, 1, DS_HOTPLUG_LOSE));
    EXPECT_EQ(DS_STATE_LOST, machine.device(1).state);
    machine.pass(100 * kSecond);
    EXPECT_EQ(DS_STATE_LOST, machine.device(1).state);
    ASSERT_EQ(0, sim_hotplug(machine.model, 1, DS_HOTPLUG_RESTORE));
    EXPECT_EQ(kMib, sim_hbm_used_bytes(&machine.device(1))) << "as it was";
    ASSERT_EQ(0, sim_hotplug(machine.model, 1, DS_HOTPLUG_REMOVE));
    EXPECT_EQ(nullptr, sim_device(machine.model, 1));
    EXPECT_EQ(-SIM_ENODEV, machine.alloc(client, 1, kMib));
    EXPECT_EQ(-SIM_ENODEV, sim_hotplug(machine.model, 1, DS_HOTPLUG_LOSE));
    EXPECT_EQ(-SIM_ENODEV, sim_reset(machine.model, 1, nullptr));
    EXPECT_NE(nullptr, sim_device(machine.model, 2)) << "ids of the others do not move";
    ASSERT_EQ(0, sim_hotplug(machine.model, 1, DS_HOTPLUG_RESTORE));
    EXPECT_EQ(0U, sim_hbm_used_bytes(&machine.device(1)));
    EXPECT_EQ(850U, sim_power_dw(&machine.device(1))) << "idle";
    EXPECT_EQ(DV_BOOT_STARTED, machine.device(1).boot_status);
    sim_release(machine.model, client); // held memory on a device that is no more
    expect_consistent(machine.device(1));
    EXPECT_EQ(-SIM_EINVAL, sim_hotplug(machine.model, 1, 9));
    EXPECT_EQ(-SIM_ENODEV, sim_hotplug(machine.model, 44, DS_HOTPLUG_REMOVE));

    // A new card in the slot of an old one: the slot's numbers go on.
    const std::uint32_t sequence = machine.device(1).journal_sequence;
    ASSERT_EQ(0, sim_hotplug(machine.model, 1, DS_HOTPLUG_REMOVE));
    ASSERT_EQ(0, machine.add(device_config(1)));
    EXPECT_GT(machine.device(1).journal_sequence, sequence);
    sim_release(machine.model, node);
    EXPECT_EQ(0U, machine.device(1).holder_nodes);
}

} // namespace
} // namespace asc::test
