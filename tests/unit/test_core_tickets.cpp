// SPDX-License-Identifier: Apache-2.0
// Parked calls: order, time stamps, cancelling, limits.
#include "tests/unit/core_machine.hpp"

namespace asc::test {
namespace {

TEST(CoreTickets, GoOnInTheOrderInWhichTheyWereDue) {
    Arena machine;
    sim_client* client = machine.open(process(1));
    const std::uint32_t late = sim_park(machine.model, client, SIM_WAIT_TIME, 0, 300 * kMs, 0);
    const std::uint32_t soon = sim_park(machine.model, client, SIM_WAIT_TIME, 0, 100 * kMs, 0);
    const std::uint32_t middle = sim_park(machine.model, client, SIM_WAIT_EVENT, 5, 200 * kMs, 0);
    const std::uint32_t equal = sim_park(machine.model, client, SIM_WAIT_TIME, 0, 200 * kMs, 0);
    std::uint64_t ready = 0;
    EXPECT_EQ(100 * kMs, machine.pass(0));
    EXPECT_EQ(0U, sim_next_ready(machine.model, &ready));
    EXPECT_EQ(SIM_NEVER, machine.pass(kSecond));
    const std::pair<std::uint32_t, std::uint64_t> expected[] = {
        {soon, 100 * kMs}, {middle, 200 * kMs}, {equal, 200 * kMs}, {late, 300 * kMs}};
    for (const auto& [ticket, due] : expected) {
        EXPECT_EQ(ticket, sim_next_ready(machine.model, &ready));
        EXPECT_EQ(due, ready) << "the time it was due, not that of the step that found it";
    }
    EXPECT_EQ(0U, sim_next_ready(machine.model, &ready));
    EXPECT_EQ(0U, machine.model->ticket_count);
}

TEST(CoreTickets, AreWokenByWhatTheyWaitFor) {
    Arena machine;
    sim_client* client = machine.open(process(1));
    const std::uint32_t event = sim_park(machine.model, client, SIM_WAIT_EVENT, 7, SIM_NEVER, 0);
    const std::uint32_t never = sim_park(machine.model, client, SIM_WAIT_NEVER, 7, SIM_NEVER, 0);
    machine.pass(50 * kMs);
    sim_wake(machine.model, SIM_WAIT_EVENT, 8);
    sim_wake(machine.model, SIM_WAIT_HDC, 7);
    std::uint64_t ready = 0;
    EXPECT_EQ(0U, sim_next_ready(machine.model, &ready));
    sim_wake(machine.model, SIM_WAIT_EVENT, 7);
    machine.pass(70 * kMs);
    sim_wake(machine.model, SIM_WAIT_EVENT, 7);
    EXPECT_EQ(event, sim_next_ready(machine.model, &ready));
    EXPECT_EQ(50 * kMs, ready) << "it is ready since the first time";
    EXPECT_EQ(0U, sim_next_ready(machine.model, nullptr));
    EXPECT_EQ(1U, machine.model->ticket_count);
    EXPECT_TRUE(sim_cancel(machine.model, never));
    EXPECT_FALSE(sim_cancel(machine.model, never));
}

TEST(CoreTickets, SomeMayNotBeInterrupted) {
    Arena machine;
    sim_client* client = machine.open(process(1));
    const std::uint32_t stuck = sim_park(machine.model, client, SIM_WAIT_NEVER, 0, SIM_NEVER, 1);
    EXPECT_FALSE(sim_cancel(machine.model, stuck));
    EXPECT_EQ(1U, machine.model->ticket_count);
    sim_unpark(machine.model, stuck);
    EXPECT_EQ(0U, machine.model->ticket_count);
    sim_unpark(machine.model, stuck); // unknown: ignored
}

TEST(CoreTickets, EndWithTheirClient) {
    Arena machine;
    sim_client* first = machine.open(process(1));
    sim_client* second = machine.open(process(2));
    for (int i = 0; i < 5; ++i) {
        sim_park(machine.model, first, SIM_WAIT_TIME, 0, kMs, 1);
        sim_park(machine.model, second, SIM_WAIT_TIME, 0, kMs, 0);
    }
    sim_release(machine.model, first);
    EXPECT_EQ(5U, machine.model->ticket_count);
    machine.pass(kSecond);
    int ready = 0;
    while (sim_next_ready(machine.model, nullptr) != 0)
        ++ready;
    EXPECT_EQ(5, ready);
}

TEST(CoreTickets, TheTableIsBounded) {
    Arena machine;
    sim_client* client = machine.open(process(1));
    std::uint32_t last = 0;
    for (int i = 0; i < SIM_TICKETS_MAX; ++i) {
        const std::uint32_t ticket =
            sim_park(machine.model, client, SIM_WAIT_NEVER, 0, SIM_NEVER, 0);
        ASSERT_GT(ticket, last);
        last = ticket;
    }
    EXPECT_EQ(0U, sim_park(machine.model, client, SIM_WAIT_NEVER, 0, SIM_NEVER, 0));
    EXPECT_TRUE(sim_cancel(machine.model, last));
    EXPECT_NE(0U, sim_park(machine.model, client, SIM_WAIT_NEVER, 0, SIM_NEVER, 0));
}

TEST(CoreTickets, IdsGoAroundWithoutZeroAndWithoutTwins) {
    Arena machine;
    sim_client* client = machine.open(process(1));
    const std::uint32_t one = sim_park(machine.model, client, SIM_WAIT_NEVER, 0, SIM_NEVER, 0);
    ASSERT_EQ(1U, one);
    machine.model->next_ticket = 0xFFFFFFFEU;
    const std::uint32_t last = sim_park(machine.model, client, SIM_WAIT_TIME, 0, kMs, 0);
    EXPECT_EQ(0xFFFFFFFFU, last);
    const std::uint32_t next = sim_park(machine.model, client, SIM_WAIT_TIME, 0, kMs, 0);
    EXPECT_EQ(2U, next);
    machine.pass(kMs);
    EXPECT_EQ(last, sim_next_ready(machine.model, nullptr)) << "older than the one after the turn";
    EXPECT_EQ(next, sim_next_ready(machine.model, nullptr));
}

} // namespace
} // namespace asc::test
