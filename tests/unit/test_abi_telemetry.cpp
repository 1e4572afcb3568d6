// SPDX-License-Identifier: Apache-2.0
// The telemetry page: the commands' own values, who may map it, and no torn reading.
#include "tests/unit/abi_calls.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstring>
#include <thread>

namespace asc::test {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr const char* kTwo = R"(
[[device]]
temperature_c = 61
temperature_idle_c = 61
power_w = 123
power_idle_w = 123
voltage_mv = 850
hbm_mib = 1024
baseline_mib = 100
[[device]]
id = 1
bus_id = "0000:02:00.0"
)";

class AbiTelemetry : public ::testing::Test {
  protected:
    AbiTelemetry() : machine(profile_of(kTwo), {.client_limit = 64}) {}
    ds_telemetry_values look(std::uint32_t device) {
        abi_telemetry_publish(machine.model(), device, &page);
        ds_telemetry_values values{};
        EXPECT_EQ(ds_telemetry_read(&page, &values, 1), 0);
        return values;
    }
    std::int32_t map(const sim_client* client, std::uint64_t device, std::uint64_t bytes = kPage,
                     int writable = 0) {
        return abi_telemetry_may_map(machine.model(), client, device, bytes, kPage, writable);
    }

    AbiMachine machine;
    ds_telemetry page{};
};

TEST_F(AbiTelemetry, ShowsWhatTheCommandsTell) {
    sim_client* file = machine.open_bound("davsim", AbiMachine::ident(50));
    ds_device facts{};
    facts.size = sizeof(facts);
    ASSERT_EQ(machine.ask(file, DS_DEVICE, facts), 0);
    const ds_telemetry_values values = look(0);
    EXPECT_EQ(page.size, sizeof(values));
    EXPECT_EQ(values.known, DS_TELEMETRY_KNOWN_SENSORS | DS_TELEMETRY_KNOWN_MEMORY);
    EXPECT_EQ(values.state, DS_STATE_OK);
    EXPECT_EQ(values.temperature_mc, 61000);
    EXPECT_EQ(values.power_mw, 123000);
    EXPECT_EQ(values.voltage_mv, 850U);
    EXPECT_EQ(values.hbm_total_kib, facts.hbm_total_kib);
    EXPECT_EQ(values.hbm_used_kib, facts.hbm_used_kib);
    EXPECT_EQ(values.hbm_used_kib, 100U << 10U);
}

TEST_F(AbiTelemetry, FollowsAChange) {
    sim_client* file = machine.open_bound("davsim", AbiMachine::ident(50));
    ds_alloc alloc{};
    alloc.size = sizeof(alloc);
    alloc.bytes = 64U << 20U;
    ASSERT_EQ(machine.ask(file, DS_ALLOC, alloc), 0);
    const ds_telemetry_values values = look(0);
    EXPECT_EQ(values.hbm_used_kib, 164U << 10U);
    EXPECT_EQ(values.owner_count, 1U);
    EXPECT_EQ(look(1).owner_count, 0U);
}

TEST_F(AbiTelemetry, WhatIsNotKnownIsNotShown) {
    ASSERT_EQ(sim_hotplug(machine.model(), 0, DS_HOTPLUG_LOSE), 0);
    const ds_telemetry_values lost = look(0);
    EXPECT_EQ(lost.state, DS_STATE_LOST);
    EXPECT_EQ(lost.known, DS_TELEMETRY_KNOWN_MEMORY);
    EXPECT_EQ(lost.temperature_mc, 0);
    EXPECT_EQ(lost.updated_ns, 0U);
    ASSERT_EQ(sim_hotplug(machine.model(), 0, DS_HOTPLUG_REMOVE), 0);
    const ds_telemetry_values absent = look(0);
    EXPECT_EQ(absent.state, DS_STATE_ABSENT);
    EXPECT_EQ(absent.known, 0U);
    EXPECT_EQ(absent.hbm_total_kib, 0U);
}

TEST_F(AbiTelemetry, OnlyItsOwnModuleMapsAndNobodyWrites) {
    const sim_client* file = machine.open_bound("davsim", AbiMachine::ident(50));
    EXPECT_EQ(map(file, 0), 0);
    EXPECT_EQ(map(file, 0, kPage, 1), -SIM_EACCES);
    EXPECT_EQ(map(file, 0, 2 * kPage), -SIM_EINVAL);
    EXPECT_EQ(map(file, 64), -SIM_ENODEV);
    EXPECT_EQ(map(file, ~std::uint64_t{0}), -SIM_ENODEV);
    EXPECT_EQ(map(file, std::uint64_t{1} << 32U), -SIM_ENODEV);
    EXPECT_EQ(map(machine.open_bound("DEVMNG", AbiMachine::ident(51)), 0), -SIM_ENODEV);
    EXPECT_EQ(map(machine.open(DV_NODE_IS_MANAGER, 0, AbiMachine::ident(52)), 0), -SIM_ENODEV);
    EXPECT_EQ(map(machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(53)), 0), -SIM_ENODEV);
}

TEST_F(AbiTelemetry, WhatAClientMayNotSeeItMayNotMap) {
    sim_ident who = AbiMachine::ident(54);
    who.visible = 2;
    const sim_client* file = machine.open_bound("davsim", who);
    EXPECT_EQ(map(file, 0), -SIM_ENODEV);
    EXPECT_EQ(map(file, 1), 0);
}

TEST(TelemetryPage, AReaderWaitsWhileItIsWritten) {
    ds_telemetry page{};
    page.sequence = 7;
    ds_telemetry_values values{};
    EXPECT_EQ(ds_telemetry_read(&page, &values, 5), -1);
    page.sequence = 8;
    EXPECT_EQ(ds_telemetry_read(&page, &values, 5), 0);
}

// All fields are one number: any other reading is torn. The writer does nothing but write.
TEST(TelemetryPage, NoReadingIsTorn) {
    constexpr std::size_t kWords = sizeof(ds_telemetry_values) / 8;
    using Words = std::array<std::uint64_t, kWords>;
    ds_telemetry page{};
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        std::array<ds_telemetry_values, 2> states;
        std::memset(&states[0], 0x11, sizeof(states[0]));
        std::memset(&states[1], 0x22, sizeof(states[1]));
        for (std::size_t round = 0; !stop.load(std::memory_order_relaxed); ++round)
            ds_telemetry_write(&page, &states[round % 2]);
    });
    std::uint64_t torn = 0, changes = 0, last = 0;
    for (std::uint64_t round = 0; round < 200000 || changes < 1000; ++round) {
        ds_telemetry_values values{};
        if (ds_telemetry_read(&page, &values, 1000) < 0)
            continue;
        const auto words = std::bit_cast<Words>(values);
        torn += std::ranges::all_of(words, [&](std::uint64_t word) { return word == words[0]; })
                    ? 0
                    : 1;
        changes += words[0] != last ? 1 : 0;
        last = words[0];
    }
    stop = true;
    writer.join();
    EXPECT_EQ(torn, 0U);
}

} // namespace
} // namespace asc::test
