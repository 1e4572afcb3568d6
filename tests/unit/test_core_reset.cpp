// SPDX-License-Identifier: Apache-2.0
// Reset: the boot states at their times, what goes and what stays, who may not.
#include "tests/unit/core_machine.hpp"

namespace asc::test {
namespace {

void make_zombie(Arena& machine, std::uint32_t id, std::uint64_t bytes) {
    const std::uint32_t rule = machine.rule("zombie");
    sim_client* client = machine.open(process(900));
    ASSERT_EQ(0, machine.alloc(client, id, bytes));
    sim_release(machine.model, client);
    machine.clear_rule(rule);
}

bool good(const struct sim_device& device, std::uint32_t number) {
    for (std::uint32_t i = 0; i < device.page_count; ++i)
        if (device.page[i].number == number)
            return device.page[i].state == SIM_PAGE_GOOD;
    return true;
}

TEST(CoreReset, RunsThroughTheBootStatesAtTheirTimes) {
    Arena machine;
    machine.pass(kSecond);
    ASSERT_EQ(0, sim_reset(machine.model, 2, nullptr));
    EXPECT_EQ(DS_STATE_RESETTING, machine.device(2).state);
    EXPECT_EQ(DV_BOOT_UNINITIALISED, machine.device(2).boot_status);
    EXPECT_EQ(0U, machine.device(2).dmp_started);
    EXPECT_EQ(DS_RESET_RUNNING, machine.device(2).reset_outcome);
    EXPECT_EQ(-SIM_EAGAIN, sim_reset(machine.model, 2, nullptr));
    sim_client* client = machine.open(process(1));
    EXPECT_EQ(-SIM_EBUSY, machine.alloc(client, 2, kMib));
    EXPECT_EQ(DS_STATE_OK, machine.device(1).state) << "touches no other";

    machine.pass(60 * kSecond); // one step finds them all
    const auto steps = machine.journal(DS_J_RESET, 2);
    const std::pair<std::uint32_t, std::uint64_t> expected[] = {
        {0, 1000}, {1, 1300}, {2, 1600}, {3, 1900}, {16, 3000}};
    ASSERT_EQ(std::size(expected), steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_EQ(expected[i].first, steps[i].a);
        EXPECT_EQ(expected[i].second * kMs, steps[i].time_ns);
    }
    EXPECT_EQ(DS_RESET_DONE, steps.back().code);
    EXPECT_EQ(DS_STATE_OK, machine.device(2).state);
    EXPECT_EQ(DV_BOOT_STARTED, machine.device(2).boot_status);
    EXPECT_EQ(1U, machine.device(2).dmp_started);
    EXPECT_EQ(DS_RESET_DONE, machine.device(2).reset_outcome);
    EXPECT_EQ(1U, machine.device(2).reset_count);
    EXPECT_EQ(0, machine.alloc(client, 2, kMib));
}

TEST(CoreReset, ABootStepTooLongForTheWholeIsCut) {
    Arena machine(2, 1, 8, false);
    sim_device_config config = device_config(0);
    config.boot_step_ms = 5000;
    ASSERT_EQ(0, machine.add(config));
    config.device_id = 1;
    config.reset_ms = 0;
    ASSERT_EQ(0, machine.add(config));
    ASSERT_EQ(0, sim_reset(machine.model, 0, nullptr));
    ASSERT_EQ(0, sim_reset(machine.model, 1, nullptr));
    machine.pass(0);
    EXPECT_EQ(DS_STATE_OK, machine.device(1).state) << "no time at all is a time";
    machine.pass(1999 * kMs);
    EXPECT_EQ(DV_BOOT_FINISHED, machine.device(0).boot_status);
    EXPECT_EQ(DS_STATE_RESETTING, machine.device(0).state);
    machine.pass(2000 * kMs);
    EXPECT_EQ(DS_STATE_OK, machine.device(0).state);
}

TEST(CoreReset, ClearsMemoryThatNobodyHolds) {
    Arena machine(2, 1, 8, false);
    sim_device_config config = device_config(0);
    config.baseline_mib = 100;
    ASSERT_EQ(0, machine.add(config));
    ASSERT_EQ(0, machine.add(device_config(1)));
    make_zombie(machine, 0, 900 * kMib);
    sim_client* neighbour = machine.open(process(5));
    ASSERT_EQ(0, machine.alloc(neighbour, 1, 10 * kMib));
    EXPECT_EQ(900 * kMib, sim_hbm_unowned_bytes(&machine.device(0)));
    ASSERT_EQ(0, sim_reset(machine.model, 0, nullptr));
    EXPECT_EQ(100 * kMib, sim_hbm_used_bytes(&machine.device(0))) << "at its baseline again";
    EXPECT_EQ(0U, sim_hbm_unowned_bytes(&machine.device(0)));
    EXPECT_EQ(0U, sim_owner_count(&machine.device(0)));
    EXPECT_EQ(10 * kMib, sim_hbm_used_bytes(&machine.device(1)));
    expect_consistent(machine.device(0));
    expect_consistent(machine.device(1));
    EXPECT_EQ(0, sim_free(machine.model, neighbour, 1, machine.last_handle));
}

TEST(CoreReset, ALiveHolderMakesItBusyAndNothingHappens) {
    Arena machine;
    sim_client* caller = machine.open(process(1));
    sim_client* holder = machine.open(process(2), DV_NODE_IS_DEVICE, 0);
    EXPECT_EQ(-SIM_EBUSY, sim_reset(machine.model, 0, caller));
    EXPECT_EQ(-SIM_EBUSY, sim_reset(machine.model, DV_RESET_ALL_DEVICES, caller));
    for (std::uint32_t id = 0; id < 4; ++id)
        EXPECT_EQ(DS_STATE_OK, machine.device(id).state) << "all or none";
    EXPECT_EQ(0, sim_reset(machine.model, 0, holder)) << "its own handle does not count";
    machine.pass(10 * kSecond);
    sim_release(machine.model, holder);
    sim_client* memory = machine.open(process(3));
    ASSERT_EQ(0, machine.alloc(memory, 0, 0, DS_ALLOC_CONTEXT));
    EXPECT_EQ(-SIM_EBUSY, sim_reset(machine.model, 0, caller));
    EXPECT_EQ(1U, machine.device(0).reset_count);
}

TEST(CoreReset, OfAllLeavesOutWhatIsLostAbsentOrNotVisible) {
    Arena machine;
    ASSERT_EQ(0, sim_hotplug(machine.model, 0, DS_HOTPLUG_LOSE));
    ASSERT_EQ(0, sim_hotplug(machine.model, 1, DS_HOTPLUG_REMOVE));
    sim_ident ident = process(1);
    ident.visible = 0b0111;
    sim_client* caller = machine.open(ident);
    EXPECT_EQ(-SIM_EACCES, sim_reset(machine.model, 3, caller));
    EXPECT_EQ(0, sim_reset(machine.model, DV_RESET_ALL_DEVICES, caller));
    EXPECT_EQ(DS_STATE_LOST, machine.device(0).state);
    EXPECT_EQ(DS_STATE_ABSENT, machine.device(1).state);
    EXPECT_EQ(DS_STATE_RESETTING, machine.device(2).state);
    EXPECT_EQ(DS_STATE_OK, machine.device(3).state);
    ident.visible = 0b0001;
    EXPECT_EQ(-SIM_EIO, sim_reset(machine.model, DV_RESET_ALL_DEVICES, machine.open(ident)));
    ident.visible = 0b0010;
    EXPECT_EQ(-SIM_ENODEV, sim_reset(machine.model, DV_RESET_ALL_DEVICES, machine.open(ident)));
    EXPECT_EQ(-SIM_EAGAIN, sim_reset(machine.model, DV_RESET_ALL_DEVICES, nullptr));
}

TEST(CoreReset, ActiveFaultsRecoverAndTheSystemsStartIsTold) {
    Arena machine;
    for (std::uint32_t i = 0; i < SIM_FAULTS_MAX; ++i) { // as many as fit
        sim_raise(machine.model, &machine.device(0), 0x80B98000U + i, DV_ASSERTION_OCCURRENCE, 0,
                  nullptr);
        sim_settle(machine.model);
    }
    EXPECT_EQ(DV_HEALTH_MAJOR, sim_health(&machine.device(0)));
    ASSERT_EQ(0, sim_reset(machine.model, 0, nullptr));
    EXPECT_EQ(DV_HEALTH_NORMAL, sim_health(&machine.device(0)));
    machine.pass(10 * kSecond);
    std::size_t recovered = 0;
    const auto events = machine.journal(DS_J_EVENT, 0);
    for (const ds_journal_record& event : events)
        recovered += event.a == DV_ASSERTION_RECOVERY;
    EXPECT_EQ(static_cast<std::size_t>(SIM_FAULTS_MAX), recovered);
    EXPECT_EQ(0x8C2FA009U, events.back().code);
    EXPECT_EQ(static_cast<std::uint64_t>(DV_ASSERTION_ONE_OFF), events.back().a);
    EXPECT_TRUE(machine.journal(DS_J_LOST, 0).empty());
}

TEST(CoreReset, VolatileCountersGoLifetimeStays) {
    Arena machine;
    sim_ecc& ecc = machine.device(0).ecc;
    ecc.single_now = 3;
    ecc.double_now = 1;
    ecc.single_lifetime = 30;
    ecc.double_lifetime = 10;
    ASSERT_EQ(0, sim_reset(machine.model, 0, nullptr));
    EXPECT_EQ(0U, ecc.single_now);
    EXPECT_EQ(0U, ecc.double_now);
    EXPECT_EQ(30U, ecc.single_lifetime);
    EXPECT_EQ(10U, ecc.double_lifetime);
    EXPECT_STREQ("1.76.22.3.310", machine.device(0).config.firmware_version);
}

TEST(CoreReset, FirmwareDecidesWhetherIsolatedPagesComeBack) {
    Arena machine(2, 1, 8, false);
    sim_device_config config = device_config(0);
    ASSERT_EQ(0, machine.add(config, {100}));
    config.device_id = 1;
    std::strcpy(config.firmware_version, "1.76.22.3.220");
    ASSERT_EQ(0, machine.add(config, {100}));
    for (std::uint32_t id = 0; id < 2; ++id) { // one more waits for a reset
        struct sim_device& device = machine.device(id);
        device.page[device.page_count++] = {200, SIM_PAGE_PENDING, 2, 0};
        ++device.pages_pending;
        EXPECT_EQ(DV_HEALTH_MAJOR, sim_health(&device)) << "data was spoilt and the page is in use";
    }
    ASSERT_EQ(0, sim_reset(machine.model, DV_RESET_ALL_DEVICES, nullptr));
    machine.pass(10 * kSecond);
    EXPECT_FALSE(good(machine.device(0), 100));
    EXPECT_FALSE(good(machine.device(0), 200));
    EXPECT_EQ(2U, machine.device(0).pages_isolated);
    EXPECT_TRUE(good(machine.device(1), 100)) << "the known bug of .220";
    EXPECT_FALSE(good(machine.device(1), 200));
    for (std::uint32_t id = 0; id < 2; ++id) {
        EXPECT_EQ(0U, machine.device(id).pages_pending);
        EXPECT_EQ(DV_HEALTH_NORMAL, sim_health(&machine.device(id)));
    }
}

TEST(CoreReset, ADeviceLostOnTheWayFailsItsReset) {
    Arena machine;
    ASSERT_EQ(0, sim_reset(machine.model, 0, nullptr));
    machine.pass(kSecond);
    const std::uint32_t rule = machine.rule("lost dev=0");
    machine.pass(60 * kSecond);
    EXPECT_EQ(DS_STATE_LOST, machine.device(0).state);
    EXPECT_EQ(DS_RESET_FAILED, machine.device(0).reset_outcome);
    EXPECT_EQ(0U, machine.device(0).reset_count);
    machine.clear_rule(rule);
    EXPECT_EQ(DS_STATE_OK, machine.device(0).state);
    EXPECT_EQ(DV_BOOT_STARTED, machine.device(0).boot_status);
}

} // namespace
} // namespace asc::test
