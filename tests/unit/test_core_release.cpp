// SPDX-License-Identifier: Apache-2.0
// The end of open files: memory comes back, or a zombie rule leaves it behind.
#include "tests/unit/core_machine.hpp"

namespace asc::test {
namespace {

const sim_owner& owner_of(Arena& machine, std::uint32_t id) {
    const std::uint32_t index = sim_next_owner(&machine.device(id), 0);
    EXPECT_LT(index, static_cast<std::uint32_t>(SIM_OWNERS_MAX));
    return machine.device(id).owner[index % SIM_OWNERS_MAX];
}

TEST(CoreRelease, MemoryComesBackWithTheFileThatTookIt) {
    Arena machine;
    sim_client* first = machine.open(process(100));
    sim_client* second = machine.open(process(100));
    ASSERT_EQ(0, machine.alloc(first, 0, 10 * kMib));
    ASSERT_EQ(0, machine.alloc(second, 0, 20 * kMib));
    ASSERT_EQ(0, machine.alloc(first, 1, 5 * kMib));
    const std::uint32_t ordinal = first->ordinal;
    sim_release(machine.model, first);
    EXPECT_EQ(20 * kMib, sim_hbm_used_bytes(&machine.device(0)));
    EXPECT_EQ(0U, sim_hbm_used_bytes(&machine.device(1)));
    EXPECT_EQ(1U, sim_owner_count(&machine.device(0)));
    EXPECT_EQ(0U, sim_owner_count(&machine.device(1)));
    EXPECT_EQ(nullptr, sim_client_by_ordinal(machine.model, ordinal));
    const auto released = machine.journal(DS_J_RELEASE, 0);
    ASSERT_EQ(1U, released.size());
    EXPECT_EQ(10 * kMib, released[0].a);
    EXPECT_EQ(0U, released[0].b);
    EXPECT_EQ(ordinal, released[0].client);
    expect_consistent(machine.device(0));
    sim_release(machine.model, second);
    EXPECT_EQ(0U, sim_owner_count(&machine.device(0)));
}

TEST(CoreRelease, AFileThatHeldNothingIsStillJournaled) {
    Arena machine;
    sim_release(machine.model, machine.open(process(100)));
    sim_release(machine.model, machine.open(process(100), DV_NODE_IS_DEVICE, 2));
    EXPECT_EQ(1U, machine.journal(DS_J_RELEASE, FI_ANY).size());
    EXPECT_EQ(1U, machine.journal(DS_J_RELEASE, 2).size());
    EXPECT_EQ(0U, machine.device(2).holder_nodes);
}

TEST(CoreRelease, AZombieKeepsItsBytesAndItsName) {
    Arena machine;
    sim_client* client = machine.open(process(4242));
    ASSERT_EQ(0, machine.alloc(client, 0, 512 * kMib, DS_ALLOC_CONTEXT));
    ASSERT_EQ(0, machine.alloc(client, 1, 8 * kMib));
    const std::uint32_t rule = machine.rule("zombie dev=0");
    const std::uint32_t ordinal = client->ordinal;
    sim_release(machine.model, client);
    EXPECT_EQ(512 * kMib, sim_hbm_used_bytes(&machine.device(0)));
    EXPECT_EQ(512 * kMib, sim_hbm_unowned_bytes(&machine.device(0)));
    EXPECT_EQ(0U, sim_hbm_used_bytes(&machine.device(1))) << "the rule is for device 0";
    const sim_owner& dead = owner_of(machine, 0);
    EXPECT_TRUE(dead.ended);
    EXPECT_EQ(4242U, dead.pid);
    EXPECT_STREQ("tester", dead.name);
    EXPECT_FALSE(sim_busy(machine.model, 0, nullptr)) << "no open handle is left";
    const auto released = machine.journal(DS_J_RELEASE, 0);
    ASSERT_EQ(1U, released.size());
    EXPECT_EQ(0U, released[0].a);
    EXPECT_EQ(512 * kMib, released[0].b);
    EXPECT_EQ(ordinal, released[0].client);
    const auto fired = machine.journal(DS_J_FAULT, 0);
    ASSERT_EQ(1U, fired.size());
    EXPECT_EQ(rule, fired[0].code);
    expect_consistent(machine.device(0));

    // The same pid again is another process.
    sim_ident again = process(4242);
    again.start_time += 77;
    machine.clear_rule(rule);
    sim_client* next = machine.open(again);
    ASSERT_EQ(0, machine.alloc(next, 0, 1));
    EXPECT_EQ(2U, sim_owner_count(&machine.device(0)));
    sim_release(machine.model, next);
    EXPECT_EQ(512 * kMib, sim_hbm_used_bytes(&machine.device(0))) << "what is dead stays";
    // ... even when the start time is unknown.
    sim_client* same = machine.open(process(4242));
    ASSERT_EQ(0, machine.alloc(same, 0, 1));
    EXPECT_EQ(2U, sim_owner_count(&machine.device(0)));
    sim_release(machine.model, same);
    EXPECT_EQ(512 * kMib, sim_hbm_unowned_bytes(&machine.device(0)));
}

TEST(CoreRelease, OnlyTheLastHandleWithMemoryMakesAZombie) {
    Arena machine;
    sim_client* first = machine.open(process(100));
    sim_client* second = machine.open(process(100));
    ASSERT_EQ(0, machine.alloc(first, 0, 10 * kMib));
    ASSERT_EQ(0, machine.alloc(second, 0, 20 * kMib));
    machine.rule("zombie");
    sim_release(machine.model, first);
    EXPECT_EQ(20 * kMib, sim_hbm_used_bytes(&machine.device(0)));
    EXPECT_EQ(0U, sim_hbm_unowned_bytes(&machine.device(0)));
    sim_release(machine.model, second);
    EXPECT_EQ(20 * kMib, sim_hbm_unowned_bytes(&machine.device(0)));
}

TEST(CoreRelease, AZombieRuleMeetsItsClientAlone) {
    Arena machine;
    machine.rule("zombie client=7 times=1");
    for (const std::uint32_t pid : {6U, 7U, 7U}) {
        sim_client* client = machine.open(process(pid));
        ASSERT_EQ(0, machine.alloc(client, 0, kMib));
        sim_release(machine.model, client);
    }
    EXPECT_EQ(kMib, sim_hbm_unowned_bytes(&machine.device(0)));
    EXPECT_EQ(7U, owner_of(machine, 0).pid);
}

TEST(CoreRelease, ManyRandomLivesLeaveNothingBehind) {
    Arena machine(3, 1, 64);
    std::vector<sim_client*> open;
    std::uint64_t draw = 1;
    const auto random = [&draw](std::uint64_t below) {
        draw = draw * 6364136223846793005ULL + 1442695040888963407ULL;
        return (draw >> 33U) % below;
    };
    std::vector<std::pair<std::uint32_t, std::uint32_t>> handles;
    for (int round = 0; round < 20000; ++round) {
        const std::uint64_t what = random(10);
        if (open.empty() || (what == 0 && open.size() < 60)) {
            open.push_back(machine.open(process(static_cast<std::uint32_t>(1 + random(20)))));
        } else if (what == 1) {
            const std::size_t which = random(open.size());
            sim_release(machine.model, open[which]);
            open.erase(open.begin() + static_cast<std::ptrdiff_t>(which));
        } else if (what < 7) {
            const auto device = static_cast<std::uint32_t>(random(3));
            const int result =
                machine.alloc(open[random(open.size())], device, 1 + random(64 * kMib),
                              static_cast<std::uint32_t>(random(2)));
            if (result == 0)
                handles.emplace_back(device, machine.last_handle);
            else
                ASSERT_EQ(-SIM_ENOMEM, result);
        } else if (!handles.empty()) {
            const auto [device, handle] = handles[random(handles.size())];
            sim_free(machine.model, open[random(open.size())], device, handle);
        }
        if (round % 500 == 0)
            for (std::uint32_t id = 0; id < 3; ++id)
                expect_consistent(machine.device(id));
    }
    for (sim_client* client : open)
        sim_release(machine.model, client);
    for (std::uint32_t id = 0; id < 3; ++id) {
        EXPECT_EQ(0U, machine.device(id).extent_count);
        expect_consistent(machine.device(id));
    }
}

} // namespace
} // namespace asc::test
