// SPDX-License-Identifier: Apache-2.0
// HDC sessions: pools, owners, waits, and that nothing is lost or left behind.
#include "tests/unit/abi_calls.hpp"

#include "tests/unit/abi_inside.hpp"

#include <gtest/gtest.h>

#include <random>

namespace asc::test {
namespace {

constexpr const char* kTwo = R"(
[[device]]
temperature_c = 45
[[device]]
id = 1
bus_id = "0000:02:00.0"
)";

class AbiHdc : public ::testing::Test {
  protected:
    AbiHdc() : machine(profile_of(kTwo)) {
        file = machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(4321));
    }
    hdc_state& state() { return *hdc_of(machine.model()); }
    std::uint32_t open_sessions() {
        std::uint32_t count = 0;
        for (const hdc_session& session : state().session)
            count += session.open;
        return count;
    }
    int owner(sim_client* client, const HdcSession& session) {
        dv_hdc_set_owner claim{};
        claim.session = session.session;
        return hdc_shot(machine, client, 0x18, claim)->run();
    }
    int send_health(const HdcSession& session, std::int32_t wait = DV_HDC_WAIT_NEVER) {
        return send_shot(machine, file, session, dmp_packet(0x0001, 0), wait)->run();
    }

    AbiMachine machine;
    sim_client* file = nullptr;
};

TEST_F(AbiHdc, TheShortPoolHas136Sessions) {
    sim_client* user = machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(100, DV_ACC_USER));
    for (int i = 0; i < 136; ++i)
        ASSERT_EQ(hdc_connect(machine, user).result, 0) << i;
    EXPECT_EQ(hdc_connect(machine, user).result, -9);
    // root inside a container does not overflow either
    sim_client* boxed =
        machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(101, DV_ACC_ROOT, DV_ACC_ENV_CONTAINER));
    EXPECT_EQ(hdc_connect(machine, boxed).result, -9);
    // root outside takes the long pool, as far as that goes
    for (int i = 0; i < 256; ++i) {
        const HdcSession session = hdc_connect(machine, file);
        ASSERT_EQ(session.result, 0) << i;
        EXPECT_GE(session.session, 136);
    }
    EXPECT_EQ(hdc_connect(machine, file).result, -9);
    machine.close(user);
    EXPECT_EQ(hdc_connect(machine, boxed).result, 0);
}

TEST_F(AbiHdc, AllocIndexRisesPerSlotAndOldOnesAreStale) {
    const HdcSession first = hdc_connect(machine, file);
    ASSERT_EQ(hdc_close(machine, file, first), 0);
    const HdcSession second = hdc_connect(machine, file);
    EXPECT_EQ(second.session, first.session);
    EXPECT_EQ(second.alloc_index, first.alloc_index + 1);
    EXPECT_EQ(hdc_close(machine, file, first), -22);
    EXPECT_EQ(peek_shot(machine, file, first)->run(), -22);
    EXPECT_EQ(hdc_close(machine, file, second), 0);
    EXPECT_EQ(hdc_close(machine, file, second), -22);
}

TEST_F(AbiHdc, ASessionEndsWithTheFileThatClaimedIt) {
    const HdcSession session = hdc_connect(machine, file);
    sim_client* second = machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(4321));
    ASSERT_EQ(owner(second, session), 0);
    machine.close(file); // the one that connected is not it any more
    EXPECT_EQ(open_sessions(), 1U);
    EXPECT_EQ(peek_shot(machine, second, session)->run(), -21);
    machine.close(second);
    EXPECT_EQ(open_sessions(), 0U);
}

TEST_F(AbiHdc, WithoutAClaimItEndsWithTheFileThatConnected) {
    hdc_connect(machine, file);
    sim_client* second = machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(4321));
    machine.close(second);
    EXPECT_EQ(open_sessions(), 1U);
    machine.close(file);
    EXPECT_EQ(open_sessions(), 0U);
}

TEST_F(AbiHdc, OthersMayNotTouchIt) {
    const HdcSession session = hdc_connect(machine, file);
    sim_client* thief = machine.open(DV_NODE_IS_HDC, 0, AbiMachine::ident(666));
    EXPECT_EQ(owner(thief, session), -41);
    EXPECT_EQ(peek_shot(machine, thief, session)->run(), -41);
    EXPECT_EQ(receive_shot(machine, thief, session)->run(), -41);
    EXPECT_EQ(send_shot(machine, thief, session, dmp_packet(0x0001, 0))->run(), -41);
    EXPECT_EQ(hdc_close(machine, thief, session), -41);
    // a process that got the same pid later is not the same process
    sim_ident reborn = AbiMachine::ident(4321);
    reborn.start_time += 1;
    sim_client* later = machine.open(DV_NODE_IS_HDC, 0, reborn);
    EXPECT_EQ(peek_shot(machine, later, session)->run(), -41);
    EXPECT_EQ(owner(file, session), 0);
}

TEST_F(AbiHdc, UnclaimedSlotsAreRefusedByEachOperation) {
    HdcSession none;
    none.session = 200;
    EXPECT_EQ(owner(file, none), -30);
    EXPECT_EQ(send_health(none), -15);
    EXPECT_EQ(peek_shot(machine, file, none)->run(), -22);
    EXPECT_EQ(receive_shot(machine, file, none)->run(), -22);
    EXPECT_EQ(hdc_close(machine, file, none), -22);
}

TEST_F(AbiHdc, TheQueueIsBoundedAndWaitsForRoom) {
    const HdcSession session = hdc_connect(machine, file);
    for (unsigned i = 0; i < HDC_QUEUE_MAX; ++i)
        ASSERT_EQ(send_health(session), 0);
    EXPECT_EQ(send_health(session), -13); // no wait: transmit queue full
    auto timed = send_shot(machine, file, session, dmp_packet(0x0001, 0), DV_HDC_WAIT_TIMEOUT, 500);
    ASSERT_FALSE(timed->begin());
    machine.advance(500000000);
    ASSERT_TRUE(timed->resume());
    EXPECT_EQ(timed->call.result, -28);
    auto waiting = send_shot(machine, file, session, dmp_packet(0x0001, 0), DV_HDC_WAIT_ALWAYS);
    ASSERT_FALSE(waiting->begin());
    ASSERT_EQ(receive_shot(machine, file, session)->run(), 0);
    sim_settle(machine.model());
    ASSERT_TRUE(waiting->resume());
    EXPECT_EQ(waiting->call.result, 0);
}

TEST_F(AbiHdc, PeekIsWokenByTheAnswer) {
    const HdcSession session = hdc_connect(machine, file);
    auto peek = peek_shot(machine, file, session, DV_HDC_WAIT_ALWAYS);
    ASSERT_FALSE(peek->begin());
    EXPECT_EQ(abi_readable(machine.model(), file), 0);
    ASSERT_EQ(send_health(session), 0);
    sim_settle(machine.model());
    EXPECT_EQ(abi_readable(machine.model(), file), 1);
    ASSERT_TRUE(peek->resume());
    EXPECT_EQ(peek->call.result, 0);
    EXPECT_EQ(value_at<std::uint32_t>(peek->at(kArgument), 28), 43U);
}

TEST_F(AbiHdc, ALostDeviceEndsWaitsAndSessions) {
    const HdcSession zero = hdc_connect(machine, file, 0), one = hdc_connect(machine, file, 1);
    ASSERT_EQ(send_health(zero), 0);
    auto peek = peek_shot(machine, file, one, DV_HDC_WAIT_ALWAYS);
    ASSERT_FALSE(peek->begin());
    sim_client* control = machine.open_bound("davsim", AbiMachine::ident(1));
    for (const std::uint32_t device : {0U, 1U}) {
        ds_hotplug plug{sizeof(plug), device, DS_HOTPLUG_LOSE, 0};
        ASSERT_EQ(machine.ask(control, DS_HOTPLUG, plug), 0);
    }
    ASSERT_TRUE(peek->resume());
    EXPECT_EQ(peek->call.result, 0); // closed while waiting: length 0
    EXPECT_EQ(value_at<std::uint32_t>(peek->at(kArgument), 28), 0U);
    EXPECT_EQ(peek_shot(machine, file, zero)->run(), 0); // queued data stay readable
    EXPECT_EQ(send_health(zero), -15);
    EXPECT_EQ(hdc_connect(machine, file, 0).result, -17);
    ds_hotplug plug{sizeof(plug), 0, DS_HOTPLUG_RESTORE, 0};
    ASSERT_EQ(machine.ask(control, DS_HOTPLUG, plug), 0);
    EXPECT_EQ(hdc_connect(machine, file, 0).result, 0);
}

TEST_F(AbiHdc, AResetEndsTheSessionsOfBefore) {
    const HdcSession session = hdc_connect(machine, file, 0), other = hdc_connect(machine, file, 1);
    ASSERT_EQ(sim_reset(machine.model(), 0, nullptr), 0);
    EXPECT_EQ(send_health(session), -15);
    EXPECT_EQ(hdc_connect(machine, file, 0).result, -17);
    machine.advance(2000000000);
    EXPECT_EQ(send_health(session), -15); // the other end knows nothing of it
    EXPECT_EQ(send_health(other), 0);
    EXPECT_EQ(hdc_connect(machine, file, 0).result, 0);
}

TEST_F(AbiHdc, ServicesThatNobodyOffers) {
    for (const int service :
         {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 20, 64, 127})
        EXPECT_EQ(hdc_connect(machine, file, 0, service).result, -20) << service;
    EXPECT_EQ(hdc_connect(machine, file, 0, 128).result, -2);
    EXPECT_EQ(hdc_connect(machine, file, 0, -1).result, -2);
    EXPECT_EQ(hdc_connect(machine, file, -1).result, -2);
    EXPECT_EQ(hdc_connect(machine, file, 2).result, -2);
}

TEST_F(AbiHdc, UnsupportedOperationsAreNotErrnoFour) {
    for (std::uint32_t operation = 0; operation < 0x60; ++operation) {
        auto shot = flat_shot(machine, file, DV_IO('H', operation),
                              std::vector<std::uint8_t>(DV_HDC_ARGUMENT_SIZE));
        const int result = shot->run();
        EXPECT_NE(result, -4) << operation;
        EXPECT_LE(result, 0) << operation;
    }
}

// Sessions, sends, receives and closes in any order leave every chunk free in the end.
TEST_F(AbiHdc, NoChunkIsLost) {
    std::mt19937 random(7); // the same each time
    std::vector<HdcSession> open;
    for (int i = 0; i < 20000; ++i) {
        const auto which = random() % 5;
        if (which == 0 && open.size() < 100) {
            const HdcSession made = hdc_connect(machine, file, static_cast<int>(random() % 2));
            if (made.result == 0)
                open.push_back(made);
        } else if (!open.empty()) {
            const std::size_t at = random() % open.size();
            if (which == 1) {
                ASSERT_EQ(hdc_close(machine, file, open[at]), 0);
                open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
            } else if (which == 4) {
                receive_shot(machine, file, open[at])->run();
            } else {
                const int result =
                    send_shot(machine, file, open[at],
                              random() % 4 == 0
                                  ? dmp_packet(0x0625, 0, {0, 0x84, 0xE1, 0x80, 0, 0x10, 0, 0})
                                  : dmp_packet(0x0001, 0))
                        ->run();
                ASSERT_TRUE(result == 0 || result == -13) << result;
            }
        }
        ASSERT_LE(state().free_count, HDC_CHUNKS);
    }
    EXPECT_LT(state().free_count, HDC_CHUNKS);
    machine.close(file);
    EXPECT_EQ(state().free_count, HDC_CHUNKS);
    std::uint32_t linked = 0;
    for (std::uint16_t at = state().free_chunk; at != HDC_NONE; at = state().chunk[at].next_chunk)
        ++linked;
    EXPECT_EQ(linked, HDC_CHUNKS);
}

TEST_F(AbiHdc, HoldersOfADeviceHaveSessions) {
    hdc_connect(machine, file, 1);
    EXPECT_EQ(abi_hdc_holds(machine.model(), file, 1), 1);
    EXPECT_EQ(abi_hdc_holds(machine.model(), file, 0), 0);
}

} // namespace
} // namespace asc::test
