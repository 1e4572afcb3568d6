// SPDX-License-Identifier: Apache-2.0
// The journal: sequences, loss that is told, and the same bytes for the same calls.
#include "tests/unit/core_machine.hpp"

namespace asc::test {
namespace {

TEST(CoreJournal, EachDeviceCountsItsOwnRecords) {
    Arena machine;
    sim_client* client = machine.open(process(1));
    ASSERT_EQ(0, machine.alloc(client, 1, kMib));
    ASSERT_EQ(0, machine.alloc(client, 0, kMib));
    ASSERT_EQ(0, machine.alloc(client, 1, kMib));
    std::vector<std::uint64_t> next(5, 1);
    for (const ds_journal_record& record : machine.journal()) {
        const std::size_t place = record.device_id == FI_ANY ? 4 : record.device_id;
        ASSERT_LT(place, next.size());
        EXPECT_EQ(next[place]++, record.sequence);
    }
    EXPECT_EQ(2U, next[4]);
    EXPECT_EQ(4U, next[1]) << "state, two allocations";
}

TEST(CoreJournal, WhatNobodyDrainedIsCountedLoudly) {
    Arena machine;
    const std::uint64_t before = machine.model->journal_head;
    for (std::uint64_t i = before; i < SIM_JOURNAL_MAX + 100; ++i)
        sim_journal(machine.model, 0, DS_J_CALL, 0, 0, 0, i, 0);
    std::vector<ds_journal_record> room(50);
    std::uint64_t cursor = 0, lost = 0;
    ASSERT_EQ(50U, sim_journal_read(machine.model, &cursor, &lost, room.data(), 50));
    EXPECT_EQ(100U, lost);
    EXPECT_EQ(DS_J_LOST, room[0].kind);
    EXPECT_EQ(100U, room[0].a);
    EXPECT_EQ(100U, room[1].a) << "the oldest that is kept";
    EXPECT_EQ(149U, cursor);
    ASSERT_EQ(50U, sim_journal_read(machine.model, &cursor, &lost, room.data(), 50));
    EXPECT_EQ(0U, lost);
    EXPECT_EQ(149U, room[0].a);
    cursor = machine.model->journal_head;
    EXPECT_EQ(0U, sim_journal_read(machine.model, &cursor, &lost, room.data(), 50));
    cursor = 0;
    EXPECT_EQ(0U, sim_journal_read(machine.model, &cursor, &lost, room.data(), 0));
}

// A life with everything in it: memory, a rule of chance, ECC, a reset, a lost device.
std::vector<ds_journal_record> story(std::uint64_t seed) {
    Arena machine(4, seed, 32, false);
    for (std::uint32_t id = 0; id < 4; ++id) {
        sim_device_config config = device_config(id);
        config.scrub_ms = 250;
        config.page_threshold = 4;
        EXPECT_EQ(0, machine.add(config));
    }
    machine.rule("zombie probability=40");
    machine.rule("ecc bits=1 rate=20");
    machine.rule("lost dev=3 after=1s for=2s probability=50");
    sim_residents_settled(machine.model);
    for (std::uint32_t round = 0; round < 40; ++round) {
        sim_client* client = machine.open(process(10 + round));
        const std::uint32_t device = round % 4;
        const int result = machine.alloc(client, device, (round + 1) * 3 * kMib, DS_ALLOC_CONTEXT);
        if (result == 0 && round % 3 == 0) {
            ds_access access{};
            access.address = machine.last_address;
            access.count = 1000;
            sim_access(machine.model, client, device, &access);
        }
        machine.pass(machine.model->now_ns + 100 * kMs);
        sim_release(machine.model, client);
        if (round == 20)
            sim_reset(machine.model, 1, nullptr);
        machine.pass(machine.model->now_ns + 50 * kMs);
    }
    return machine.journal();
}

bool same(const std::vector<ds_journal_record>& a, const std::vector<ds_journal_record>& b) {
    return a.size() == b.size() &&
           std::memcmp(a.data(), b.data(), a.size() * sizeof(ds_journal_record)) == 0;
}

TEST(CoreJournal, TheSameSeedAndCallsGiveTheSameBytes) {
    const auto first = story(7), second = story(7), other = story(8);
    ASSERT_GT(first.size(), 200U);
    EXPECT_TRUE(same(first, second));
    EXPECT_FALSE(same(first, other)) << "chance follows the seed";
    const auto count = [&first](std::uint16_t kind) {
        std::size_t found = 0;
        for (const ds_journal_record& record : first)
            found += record.kind == kind;
        return found;
    };
    for (const std::uint16_t kind :
         {DS_J_OPEN, DS_J_RELEASE, DS_J_FAULT, DS_J_ALLOC, DS_J_ECC, DS_J_STATE, DS_J_RESET})
        EXPECT_GT(count(kind), 0U) << "kind " << kind;
    std::uint64_t time = 0;
    for (const ds_journal_record& record : first) {
        EXPECT_GE(record.time_ns, time);
        time = record.time_ns;
    }
}

TEST(CoreJournal, OneLongStepHappensAsManyShortOnesDo) {
    std::vector<ds_journal_record> journals[2];
    for (int way = 0; way < 2; ++way) {
        Arena machine(2, 3, 8, false);
        for (std::uint32_t id = 0; id < 2; ++id) {
            sim_device_config config = device_config(id);
            config.scrub_ms = 500;
            EXPECT_EQ(0, machine.add(config));
        }
        machine.rule("ecc bits=1 rate=3");
        machine.rule("lost dev=1 after=4s for=5s");
        EXPECT_EQ(0, sim_reset(machine.model, 0, nullptr));
        if (way == 0)
            machine.pass(30 * kSecond);
        for (std::uint64_t now = 0; way == 1 && now <= 30 * kSecond; now += 10 * kMs)
            machine.pass(now);
        journals[way] = machine.journal();
    }
    ASSERT_GT(journals[0].size(), 100U);
    EXPECT_TRUE(same(journals[0], journals[1]));
}

TEST(CoreJournal, AStepDoesABoundedAmountOfWork) {
    Arena machine(1, 3, 8, false);
    sim_device_config config = device_config(0);
    config.hbm_mib = 65536;
    ASSERT_EQ(0, machine.add(config));
    machine.rule("ecc bits=1 dev=0 rate=1000");
    const std::uint64_t next = sim_step(machine.model, 3600 * kSecond);
    EXPECT_LE(next, 3600 * kSecond) << "more was due";
    EXPECT_LT(machine.model->now_ns, 3600 * kSecond);
    EXPECT_GT(machine.model->now_ns, kSecond);
}

} // namespace
} // namespace asc::test
