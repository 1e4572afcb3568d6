// SPDX-License-Identifier: Apache-2.0
// What scenarios need of the HAL: a machine that connections share, its journal, the commands.
#include "hal/driver.hpp"
#include "hal/shared_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace asc::hal;
using testing::HasSubstr;

namespace {

SharedMachine machine_of(const std::string& profile) {
    auto machine = SharedMachine::create({profile, 7, true, true});
    EXPECT_TRUE(machine) << (machine ? "" : machine.error().text);
    return std::move(*machine);
}

Driver connect_to(const SharedMachine& machine) {
    ConnectOptions options;
    options.backend = machine.backend();
    auto driver = Driver::connect(options);
    EXPECT_TRUE(driver) << (driver ? "" : driver.error().text);
    return std::move(*driver);
}

DeviceSnapshot look(Driver& driver, Ask what) {
    return driver.snapshot(std::span(driver.devices()).first(1), what).front();
}

TEST(SharedMachine, WhatOneConnectionDoesTheNextOneSees) {
    const SharedMachine machine = machine_of("single");
    Driver one = connect_to(machine);
    ASSERT_TRUE(one.add_rule("ecc bits=2 addr=0x1000 dev=0"));
    ASSERT_TRUE(one.advance_clock(std::chrono::hours(24)));
    Driver other = connect_to(machine);
    EXPECT_EQ(look(other, Ask::ecc).ecc->double_bit, 1U);
    EXPECT_EQ(other.rules()->size(), 1U);
    const auto second = SharedMachine::create({"single", 1, true, true});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind, ConnectError::Kind::busy);
}

TEST(SharedMachine, GoesWithItsHandle) {
    { const SharedMachine machine = machine_of("single"); }
    ConnectOptions options;
    options.backend = "inproc:single";
    auto driver = Driver::connect(options);
    ASSERT_TRUE(driver);
    EXPECT_FALSE(driver->backend().virtual_clock); // a private one again
}

TEST(SharedMachine, AScriptedHolderHoldsUntilItGoes) {
    const SharedMachine machine = machine_of("single");
    Driver watcher = connect_to(machine);
    const std::uint64_t before = *look(watcher, Ask::memory).hbm_used_mib;
    {
        auto job = machine.connect_as("train", {});
        ASSERT_TRUE(job);
        ASSERT_TRUE(job->hold_memory(job->devices()[0], 1024ULL << 20U));
        const DeviceSnapshot held = look(watcher, Ask::memory | Ask::processes);
        EXPECT_GE(*held.hbm_used_mib, before + 1024);
        ASSERT_EQ(held.processes->size(), 1U);
        EXPECT_EQ(*held.processes->front().name, "train");
        EXPECT_TRUE(*held.processes->front().alive);
        EXPECT_EQ(watcher.holders(watcher.devices()[0])->size(), 1U);
    }
    EXPECT_EQ(*look(watcher, Ask::memory).hbm_used_mib, before);
    ASSERT_TRUE(watcher.add_rule("zombie dev=0"));
    {
        auto job = machine.connect_as("train", {});
        ASSERT_TRUE(job->hold_memory(job->devices()[0], 1024ULL << 20U));
    }
    const DeviceSnapshot left = look(watcher, Ask::memory | Ask::processes);
    EXPECT_GE(*left.hbm_unowned_mib, 1024U);
    EXPECT_FALSE(*left.processes->front().alive);
}

TEST(Journal, TellsWhatRulesDidAndWhichCallsTheyMet) {
    const SharedMachine machine = machine_of("single");
    Driver driver = connect_to(machine);
    const auto begin = driver.journal(0);
    ASSERT_TRUE(begin);
    EXPECT_EQ(begin->lost, 0U);
    const auto rule = driver.add_rule("surface cmd=udis.soc_max_temp mode=err errno=EIO dev=0");
    ASSERT_TRUE(rule);
    EXPECT_FALSE(look(driver, Ask::telemetry).temperature_c);
    const auto part = driver.journal(begin->next);
    ASSERT_TRUE(part);
    const auto fault = std::ranges::find(part->records, JournalKind::fault, &JournalRecord::kind);
    ASSERT_NE(fault, part->records.end());
    EXPECT_EQ(fault->command, "udis.soc_max_temp");
    EXPECT_EQ(fault->device, 0);
    EXPECT_EQ(fault->code, *rule);
    EXPECT_EQ(driver.journal(part->next)->records.size(), 0U);
}

TEST(Journal, SaysHowMuchNobodyRead) {
    const SharedMachine machine = machine_of("single");
    Driver driver = connect_to(machine);
    for (int i = 0; i < 9000; ++i)
        ASSERT_TRUE(driver.advance_clock(std::chrono::nanoseconds(1)));
    const auto part = driver.journal(0);
    ASSERT_TRUE(part);
    EXPECT_GT(part->lost, 500U);
    EXPECT_EQ(part->records.front().kind, JournalKind::lost);
    EXPECT_EQ(part->records.front().a, part->lost);
}

TEST(Commands, CarryTheNamesThatRulesUse) {
    const SharedMachine machine = machine_of("single");
    Driver driver = connect_to(machine);
    std::set<std::string_view> names;
    for (const DriverCommand& command : driver_commands()) {
        EXPECT_TRUE(names.insert(command.name).second) << command.name;
        const auto id =
            driver.add_rule("surface cmd=" + std::string(command.name) + " mode=delay ms=1");
        ASSERT_TRUE(id) << command.name << ": " << id.absence().detail;
        ASSERT_TRUE(driver.clear_rule(*id));
    }
    ASSERT_NE(find_command("udis.hbm_mem_info"), nullptr);
    EXPECT_THAT(std::string(find_command("udis.hbm_mem_info")->errors), HasSubstr("ENODEV"));
    EXPECT_FALSE(find_command("urd.reset")->reads);
    EXPECT_EQ(find_command("hbm_mem_info"), nullptr);
}

} // namespace
