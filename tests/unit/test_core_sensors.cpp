// SPDX-License-Identifier: Apache-2.0
// Sensors: the declared load's values do not drift, the load goes with its residents, limits raise
// and recover events.
#include "tests/unit/core_machine.hpp"

namespace asc::test {
namespace {

TEST(CoreSensors, AProfilesValuesAreAFixedPoint) {
    Arena machine;
    EXPECT_EQ(SIM_NEVER, machine.pass(0)) << "nothing moves by itself";
    for (std::uint64_t now = 0; now <= 3600 * kSecond; now += 7 * kSecond)
        machine.pass(now);
    const struct sim_device& device = machine.device(0);
    EXPECT_EQ(2800U, sim_power_dw(&device));
    EXPECT_EQ(52, sim_temperature_c(&device));
    EXPECT_EQ(50, sim_hbm_temperature_c(&device));
    EXPECT_EQ(280000, device.sensors.power_mw);
    EXPECT_EQ(52000, device.sensors.temperature_mc);
    EXPECT_EQ(50000, device.sensors.hbm_temperature_mc);
    EXPECT_EQ(900U, device.sensors.voltage_mv);
    EXPECT_EQ(1800U, device.sensors.ai_core_mhz);
    std::uint32_t load[FI_LOAD_COUNT];
    sim_load(machine.model, &device, load);
    EXPECT_EQ(70U, load[FI_LOAD_AICORE]);
    EXPECT_EQ(40U, load[FI_LOAD_HBM_BW]);
    EXPECT_EQ(0U, load[FI_LOAD_HBM_USED]);
    EXPECT_EQ(52U, load[FI_LOAD_TEMPERATURE]);
    EXPECT_EQ(2800U, load[FI_LOAD_POWER]);
}

TEST(CoreSensors, TelemetryIsAsFreshAsItsPeriod) {
    Arena machine;
    machine.pass(12345 * kMs);
    EXPECT_EQ(12300 * kMs, machine.device(0).sensors.updated_ns);
    machine.pass(12399 * kMs);
    EXPECT_EQ(12300 * kMs, machine.device(0).sensors.updated_ns);
    for (std::uint64_t now = 12399 * kMs; now < 12399 * kMs + 50; ++now)
        sim_step(machine.model, now); // quiet steps
    sim_step(machine.model, 12400 * kMs);
    EXPECT_EQ(12400 * kMs, machine.device(0).sensors.updated_ns);
}

TEST(CoreSensors, TheLoadGoesWithTheLastResident) {
    Arena machine;
    sim_client* first = machine.open(process(1));
    sim_client* second = machine.open(process(2));
    ASSERT_EQ(0, machine.alloc(first, 0, kMib));
    ASSERT_EQ(0, machine.alloc(second, 0, 0, DS_ALLOC_CONTEXT));
    ASSERT_EQ(0, machine.alloc(second, 1, kMib));
    sim_residents_settled(machine.model);
    sim_client* guest = machine.open(process(3));
    ASSERT_EQ(0, machine.alloc(guest, 0, kMib));
    sim_release(machine.model, first);
    EXPECT_TRUE(machine.device(0).declared_load_on) << "a resident still lives";
    EXPECT_EQ(SIM_NEVER, machine.pass(kSecond));
    sim_release(machine.model, second);
    EXPECT_FALSE(machine.device(0).declared_load_on) << "a guest makes no declared load";
    EXPECT_FALSE(machine.device(1).declared_load_on);
    EXPECT_TRUE(machine.device(2).declared_load_on) << "nobody was there, nobody went";
    EXPECT_EQ(0U, sim_hbm_bandwidth_percent(&machine.device(0)));

    machine.pass(2 * kSecond);
    const std::uint32_t power = sim_power_dw(&machine.device(0));
    EXPECT_LT(power, 2000U);
    EXPECT_GT(power, 850U);
    EXPECT_GT(sim_temperature_c(&machine.device(0)), 49) << "heat follows slowly";
    EXPECT_EQ(SIM_NEVER, machine.pass(300 * kSecond)) << "and stands still at last";
    EXPECT_EQ(85000, machine.device(0).sensors.power_mw);
    EXPECT_EQ(41000, machine.device(0).sensors.temperature_mc);
    EXPECT_EQ(42000, machine.device(0).sensors.hbm_temperature_mc);
    EXPECT_EQ(280000, machine.device(2).sensors.power_mw);
}

TEST(CoreSensors, ADeadResidentOfTheStartTakesNoLoadALaterDeathDoes) {
    Arena machine;
    const std::uint32_t rule = machine.rule("zombie");
    sim_client* dead = machine.open(process(1));
    ASSERT_EQ(0, machine.alloc(dead, 0, kMib));
    sim_client* living = machine.open(process(2));
    ASSERT_EQ(0, machine.alloc(living, 1, kMib));
    sim_release(machine.model, dead);
    machine.clear_rule(rule);
    sim_residents_settled(machine.model);
    EXPECT_TRUE(machine.device(0).declared_load_on) << "the profile's values are with it dead";
    machine.rule("zombie");
    sim_release(machine.model, living);
    EXPECT_FALSE(machine.device(1).declared_load_on) << "a zombie works no more";
    EXPECT_EQ(kMib, sim_hbm_unowned_bytes(&machine.device(1)));
}

TEST(CoreSensors, TheWayDownDoesNotDependOnTheSteps) {
    Arena one, many;
    for (Arena* machine : {&one, &many}) {
        sim_client* client = machine->open(process(1));
        ASSERT_EQ(0, machine->alloc(client, 0, kMib));
        sim_residents_settled(machine->model);
        sim_release(machine->model, client);
    }
    one.pass(13 * kSecond + 50 * kMs);
    for (std::uint64_t now = 0; now <= 13 * kSecond + 50 * kMs; now += 10 * kMs)
        many.pass(now);
    EXPECT_EQ(0, std::memcmp(&one.device(0).sensors, &many.device(0).sensors, sizeof(sim_sensors)));
}

TEST(CoreSensors, HotMemoryIsToldAndRecovers) {
    Arena machine(1, 1, 8, false);
    sim_device_config config = device_config(0);
    config.hbm_temperature_c = 97;
    config.hbm_hot_c = 95;
    config.hbm_fatal_c = 97;
    ASSERT_EQ(0, machine.add(config));
    sim_settle(machine.model);
    ASSERT_EQ(1U, machine.device(0).fault_count) << "above 95, not above 97";
    EXPECT_EQ(DV_EV_HBM_HOT, machine.device(0).fault[0].event_id);
    EXPECT_EQ(DV_HEALTH_MINOR, sim_health(&machine.device(0)));
    sim_client* client = machine.open(process(1));
    ASSERT_EQ(0, machine.alloc(client, 0, kMib));
    sim_residents_settled(machine.model);
    sim_release(machine.model, client);
    machine.pass(300 * kSecond);
    EXPECT_EQ(0U, machine.device(0).fault_count);
    EXPECT_EQ(DV_HEALTH_NORMAL, sim_health(&machine.device(0)));
    const auto events = machine.journal(DS_J_EVENT, 0);
    ASSERT_EQ(2U, events.size());
    EXPECT_EQ(DV_ASSERTION_RECOVERY, static_cast<int>(events[1].a));
    EXPECT_EQ(events[0].b, events[1].b) << "the recovery carries the occurrence's serial";
    EXPECT_EQ(0U, events[1].time_ns % (100 * kMs));
}

TEST(CoreSensors, AHotChipIsToldAndThrottled) {
    Arena machine(2, 1, 8, false);
    sim_device_config config = device_config(0);
    config.thermal_limit_c = 90;
    config.temperature_c = 91;
    ASSERT_EQ(0, machine.add(config));
    EXPECT_EQ(900U, machine.device(0).sensors.ai_core_mhz);
    EXPECT_EQ(DV_HEALTH_MAJOR, sim_health(&machine.device(0)));
    config.device_id = 1;
    config.temperature_c = 90;
    ASSERT_EQ(0, machine.add(config));
    EXPECT_EQ(1800U, machine.device(1).sensors.ai_core_mhz);
    EXPECT_EQ(DV_HEALTH_NORMAL, sim_health(&machine.device(1)));
}

TEST(CoreSensors, BelowZeroAndWithoutASpanTooTheValuesAreExact) {
    Arena machine(2, 1, 8, false);
    sim_device_config config = device_config(0);
    config.temperature_c = -5;
    config.temperature_idle_c = -20;
    config.hbm_temperature_c = -7;
    config.hbm_temperature_idle_c = 3; // falls while power rises
    ASSERT_EQ(0, machine.add(config));
    config.device_id = 1;
    config.power_idle_dw = config.power_dw;
    ASSERT_EQ(0, machine.add(config));
    EXPECT_EQ(SIM_NEVER, machine.pass(100 * kSecond));
    for (std::uint32_t id = 0; id < 2; ++id) {
        EXPECT_EQ(-5, sim_temperature_c(&machine.device(id)));
        EXPECT_EQ(-7, sim_hbm_temperature_c(&machine.device(id)));
        sim_client* client = machine.open(process(1));
        ASSERT_EQ(0, machine.alloc(client, id, kMib));
    }
    sim_residents_settled(machine.model);
    sim_release(machine.model, sim_client_by_ordinal(machine.model, 1));
    sim_release(machine.model, sim_client_by_ordinal(machine.model, 2));
    EXPECT_EQ(SIM_NEVER, machine.pass(1000 * kSecond));
    for (std::uint32_t id = 0; id < 2; ++id) {
        EXPECT_EQ(-20, sim_temperature_c(&machine.device(id)));
        EXPECT_EQ(3, sim_hbm_temperature_c(&machine.device(id)));
    }
}

} // namespace
} // namespace asc::test
