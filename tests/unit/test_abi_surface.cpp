// SPDX-License-Identifier: Apache-2.0
// Rules that make one command lie, and parked calls.
#include "tests/unit/abi_calls.hpp"

#include <gtest/gtest.h>

namespace asc::test {
namespace {

constexpr const char* kTwo = R"(
[[device]]
temperature_c = 45
[[device]]
id = 1
bus_id = "0000:02:00.0"
)";

class AbiSurface : public ::testing::Test {
  protected:
    AbiSurface() : machine(profile_of(kTwo)) {
        const sim_ident who = AbiMachine::ident(4321);
        urd = machine.open_bound("URD", who);
        devmng = machine.open_bound("DEVMNG", who);
        hdc = machine.open(DV_NODE_IS_HDC, 0, who);
    }
    std::unique_ptr<Shot> temperature(std::uint32_t device = 0) {
        return udis_shot(machine, urd, DV_UDIS_LP, "soc_max_temp", device);
    }
    std::unique_ptr<Shot> status(std::uint32_t device = 0) {
        return flat_shot(machine, devmng, DV_IO('M', 7), bytes_of(device));
    }
    std::unique_ptr<Shot> read_events(std::int32_t timeout_ms) {
        dv_event_read read{};
        read.device_id = -1;
        read.timeout_ms = timeout_ms;
        return urd_shot(machine, urd, 0x45, 0, bytes_of(read), sizeof(dv_event));
    }
    std::size_t faults() {
        std::size_t count = 0;
        for (const auto& record : machine.journal())
            count += record.kind == DS_J_FAULT ? 1 : 0;
        return count;
    }

    AbiMachine machine;
    sim_client *urd = nullptr, *devmng = nullptr, *hdc = nullptr;
};

TEST_F(AbiSurface, AnErrorIsTheResultAndNothingIsWritten) {
    machine.add_rule("surface cmd=udis.soc_max_temp mode=err errno=EIO");
    auto shot = temperature();
    EXPECT_EQ(shot->run(), -EIO);
    EXPECT_EQ(shot->at(kData)[0], 0xA5);
    EXPECT_EQ(shot->at(kOutput)[0], 0xA5);
    EXPECT_EQ(udis_shot(machine, urd, DV_UDIS_LP, "hbm_temp")->run(), 0); // another value
    EXPECT_EQ(faults(), 1U);
}

TEST_F(AbiSurface, APositiveDriverErrorPassesThrough) {
    machine.add_rule("surface cmd=udis.soc_max_temp mode=err code=45");
    EXPECT_EQ(temperature()->run(), 45);
}

TEST_F(AbiSurface, DenyIsAnAccessError) {
    machine.add_rule("surface cmd=devmng.device_status mode=deny");
    EXPECT_EQ(status()->run(), -EACCES);
}

TEST_F(AbiSurface, FiltersOfDeviceAndCaller) {
    machine.add_rule("surface cmd=devmng.device_status mode=err errno=EIO dev=1 force=yes");
    EXPECT_EQ(status(0)->run(), 0);
    EXPECT_EQ(status(1)->run(), -EIO);
    machine.add_rule("surface cmd=udis.* mode=err errno=EIO client=9999 force=yes");
    EXPECT_EQ(temperature()->run(), 0);
    sim_client* other = machine.open_bound("URD", AbiMachine::ident(9999));
    EXPECT_EQ(udis_shot(machine, other, DV_UDIS_LP, "soc_max_temp")->run(), -EIO);
}

TEST_F(AbiSurface, TheNameIsTheMostSpecificOne) {
    machine.add_rule("surface cmd=urd.udis_get mode=err errno=EIO force=yes");
    EXPECT_EQ(temperature()->run(), 0); // it is udis.soc_max_temp
    machine.add_rule("surface cmd=urd.call mode=err errno=EIO force=yes");
    EXPECT_EQ(temperature()->run(), 0);
    machine.add_rule("surface cmd=udis.single_ecc3 mode=err errno=EIO");
    EXPECT_EQ(udis_shot(machine, urd, DV_UDIS_MEMORY, "single_ecc3")->run(), -EIO);
}

TEST_F(AbiSurface, TheOwnNumberIsTheSameFunction) {
    machine.add_rule("surface cmd=urd.board_id mode=err errno=EIO");
    auto shot = urd_shot(machine, urd, 0x45, 31, {0, 0, 0, 0}, 4);
    shot->number = 0x451F;
    EXPECT_EQ(shot->run(), -EIO);
}

TEST_F(AbiSurface, APhysicalIdIsFoundForTheDeviceFilter) {
    machine.add_rule("surface cmd=urd.boot_status mode=err errno=EIO dev=1");
    EXPECT_EQ(urd_shot(machine, urd, 0x45, 35, {0, 0, 0, 0}, 4)->run(), 0);
    EXPECT_EQ(urd_shot(machine, urd, 0x45, 35, {1, 0, 0, 0}, 4)->run(), -EIO);
}

TEST_F(AbiSurface, ADelayParksAndThenAnswers) {
    machine.add_rule("surface cmd=udis.soc_max_temp mode=delay ms=250 times=1");
    auto shot = temperature();
    ASSERT_FALSE(shot->begin());
    EXPECT_TRUE(shot->call.request.scope & DV_SCOPE_SYSTEM);
    machine.advance(249999999);
    EXPECT_FALSE(shot->resume());
    machine.advance(1);
    ASSERT_TRUE(shot->resume());
    EXPECT_EQ(shot->call.result, 0);
    EXPECT_EQ(shot->at(kData)[0], 45);
    EXPECT_EQ(faults(), 1U); // it fired once, not again when the call went on
}

TEST_F(AbiSurface, NeverWaitsForEver) {
    machine.add_rule("surface cmd=devmng.device_status mode=never interruptible=no");
    auto shot = status();
    ASSERT_FALSE(shot->begin());
    machine.advance(3600ULL * 1000000000ULL);
    EXPECT_FALSE(shot->resume());
    EXPECT_EQ(shot->interrupt(), 0); // uninterruptible, as a task in D state
    EXPECT_EQ(machine.model()->ticket_count, 1U);
    machine.close(devmng);
    EXPECT_EQ(machine.model()->ticket_count, 0U);
}

TEST_F(AbiSurface, AnInterruptedCallEndsWithEintr) {
    machine.add_rule("surface cmd=devmng.device_status mode=never interruptible=yes");
    auto shot = status();
    ASSERT_FALSE(shot->begin());
    ASSERT_EQ(shot->interrupt(), 1);
    EXPECT_EQ(shot->call.request.result, -EINTR);
    EXPECT_EQ(shot->call.request.piece_count, 0U);
    EXPECT_EQ(machine.model()->ticket_count, 0U);
    EXPECT_EQ(shot->interrupt(), 0); // there is nothing any more
}

TEST_F(AbiSurface, HdcErrorsAreItsOwnNumbersAndNeverFour) {
    machine.add_rule("surface cmd=hdc.connect mode=err code=17 times=1");
    EXPECT_EQ(hdc_connect(machine, hdc).result, -17);
    machine.add_rule("surface cmd=hdc.connect mode=err code=4 force=yes times=1");
    EXPECT_EQ(hdc_connect(machine, hdc).result, -1);
    machine.add_rule("surface cmd=hdc.connect mode=err errno=EINTR force=yes times=1");
    EXPECT_EQ(hdc_connect(machine, hdc).result, -1);
    machine.add_rule("surface cmd=hdc.connect mode=deny force=yes times=1");
    EXPECT_EQ(hdc_connect(machine, hdc).result, -41);
    EXPECT_EQ(hdc_connect(machine, hdc).result, 0);
}

TEST_F(AbiSurface, AnInterruptedHdcCallDoesNotSayFour) {
    const HdcSession session = hdc_connect(machine, hdc);
    auto peek = peek_shot(machine, hdc, session, DV_HDC_WAIT_ALWAYS);
    ASSERT_FALSE(peek->begin());
    ASSERT_EQ(peek->interrupt(), 1);
    EXPECT_EQ(peek->call.request.result, -512);
}

TEST_F(AbiSurface, HdcRulesKnowTheSessionsDevice) {
    const HdcSession zero = hdc_connect(machine, hdc, 0), one = hdc_connect(machine, hdc, 1);
    machine.add_rule("surface cmd=hdc.peek mode=err code=41 dev=1");
    EXPECT_EQ(peek_shot(machine, hdc, zero)->run(), -21);
    EXPECT_EQ(peek_shot(machine, hdc, one)->run(), -41);
}

TEST_F(AbiSurface, DmpFunctionsLieInTheirReplies) {
    const HdcSession session = hdc_connect(machine, hdc);
    machine.add_rule("surface cmd=dmp.temperature mode=err code=7 times=1");
    DmpAnswer answer = dmp(machine, hdc, session, 0x0003, 0);
    EXPECT_EQ(answer.sent, 0); // the transport works
    ASSERT_TRUE(answer.came);
    EXPECT_EQ(answer.error, 7);
    EXPECT_TRUE(answer.payload.empty());
    machine.add_rule("surface cmd=dmp.temperature mode=deny force=yes times=1");
    EXPECT_EQ(dmp(machine, hdc, session, 0x0003, 0).error, 46);
    machine.add_rule("surface cmd=dmp.temperature mode=err errno=EOPNOTSUPP force=yes times=1");
    EXPECT_EQ(dmp(machine, hdc, session, 0x0003, 0).error, 0xFFFE);
    EXPECT_EQ(dmp(machine, hdc, session, 0x0003, 0).error, 0);
    EXPECT_EQ(dmp(machine, hdc, session, 0x0004, 0).error, 0);
}

TEST_F(AbiSurface, ADelayedDmpReplyIsUnderWay) {
    const HdcSession session = hdc_connect(machine, hdc);
    machine.add_rule("surface cmd=dmp.temperature mode=delay ms=100");
    EXPECT_EQ(abi_next_readable(machine.model()), SIM_NEVER);
    const std::uint64_t sent = machine.model()->now_ns;
    ASSERT_EQ(send_shot(machine, hdc, session, dmp_packet(0x0003, 0))->run(), 0);
    EXPECT_EQ(abi_next_readable(machine.model()), sent + 100000000); // for whoever polls
    EXPECT_EQ(peek_shot(machine, hdc, session)->run(), -21);
    auto peek = peek_shot(machine, hdc, session, DV_HDC_WAIT_TIMEOUT, 3000);
    ASSERT_FALSE(peek->begin());
    machine.advance(100000000);
    ASSERT_TRUE(peek->resume());
    EXPECT_EQ(peek->call.result, 0);
    EXPECT_EQ(value_at<std::uint32_t>(peek->at(kArgument), 28), 44U);
    EXPECT_EQ(abi_next_readable(machine.model()), SIM_NEVER); // it is there
}

TEST_F(AbiSurface, ADmpReplyThatNeverComes) {
    const HdcSession session = hdc_connect(machine, hdc);
    machine.add_rule("surface cmd=dmp.temperature mode=never");
    ASSERT_EQ(send_shot(machine, hdc, session, dmp_packet(0x0003, 0))->run(), 0);
    auto peek = peek_shot(machine, hdc, session, DV_HDC_WAIT_TIMEOUT, 3000);
    ASSERT_FALSE(peek->begin());
    machine.advance(3000000000);
    ASSERT_TRUE(peek->resume());
    EXPECT_EQ(peek->call.result, -27);
}

// Every command that a rule can name obeys one.
TEST_F(AbiSurface, NoCommandEscapes) {
    machine.add_rule("surface cmd=* mode=err errno=EIO force=yes");
    EXPECT_EQ(temperature()->run(), -EIO);
    EXPECT_EQ(status()->run(), -EIO);
    EXPECT_EQ(hdc_connect(machine, hdc).result, -5);
    sim_client* fresh = machine.open(DV_NODE_IS_MANAGER, 0, AbiMachine::ident(1));
    EXPECT_EQ(machine.bind(fresh, "URD"), -EIO);
    EXPECT_EQ(read_events(0)->run(), -EIO);
    EXPECT_EQ(urd_shot(machine, urd, 0x5D, 0, {0, 0, 0, 0}, 0)->run(), -EIO);
    EXPECT_EQ(machine.device(0)->state, DS_STATE_OK);
}

// ---- waits ----

TEST_F(AbiSurface, AnEventReadEndsAtItsOwnTime) {
    auto shot = read_events(1500);
    ASSERT_FALSE(shot->begin());
    std::uint64_t ready_ns = 0;
    machine.advance(5000000000); // found late, due at 1.5 s
    ASSERT_EQ(sim_next_ready(machine.model(), &ready_ns), shot->call.request.ticket);
    EXPECT_EQ(ready_ns, 1500000000U);
    ASSERT_EQ(abi_execute(machine.model(), &shot->call.request), ABI_DONE);
    EXPECT_EQ(shot->call.request.result, -ETIMEDOUT);
}

TEST_F(AbiSurface, OnlyTheReadersThatWantTheEventGoOn) {
    auto all = read_events(-1);
    all->thread = 1;
    dv_event_read read{};
    read.device_id = 1;
    read.timeout_ms = -1;
    auto other = urd_shot(machine, urd, 0x45, 0, bytes_of(read), sizeof(dv_event));
    other->thread = 2;
    ASSERT_FALSE(all->begin());
    ASSERT_FALSE(other->begin());
    ASSERT_EQ(sim_hotplug(machine.model(), 0, DS_HOTPLUG_LOSE), 0);
    sim_settle(machine.model());
    EXPECT_TRUE(all->resume());
    EXPECT_TRUE(other->call.parked);
    EXPECT_EQ(value_at<std::uint32_t>(all->at(kOutput)), DV_EV_HEARTBEAT_LOST);
    EXPECT_EQ(other->interrupt(), 1);
}

TEST_F(AbiSurface, AReadableFileHasAnEvent) {
    EXPECT_EQ(read_events(0)->run(), -ETIMEDOUT);
    EXPECT_EQ(abi_readable(machine.model(), urd), 0);
    // Asking and looking wake nobody, or a host that wakes its pollers would go round for ever.
    const std::uint64_t wakes = machine.model()->wakes;
    EXPECT_EQ(read_events(0)->run(), -ETIMEDOUT);
    machine.advance(1000000000);
    EXPECT_EQ(machine.model()->wakes, wakes);
    ASSERT_EQ(sim_hotplug(machine.model(), 0, DS_HOTPLUG_LOSE), 0);
    sim_settle(machine.model());
    EXPECT_GT(machine.model()->wakes, wakes);
    EXPECT_EQ(abi_readable(machine.model(), urd), 1);
    EXPECT_EQ(abi_readable(machine.model(), devmng), 0);
    EXPECT_EQ(read_events(0)->run(), 0);
    EXPECT_EQ(abi_readable(machine.model(), urd), 0);
}

TEST_F(AbiSurface, SubscribersOfTheLibraryKindEndAtTheirSlots) {
    int result = 0;
    std::uint32_t readers = 0;
    for (std::uint32_t thread = 1; thread < 300 && result != 87; ++thread) {
        auto shot = read_events(0);
        shot->thread = thread;
        result = shot->run();
        readers += result == -ETIMEDOUT ? 1 : 0;
    }
    EXPECT_EQ(result, 87); // driver-abi.md 9: none free
    EXPECT_EQ(readers, 64U);
}

TEST_F(AbiSurface, MoreWaitersThanTicketsAreRefusedNotLost) {
    std::vector<std::unique_ptr<Shot>> waiting;
    machine.add_rule("surface cmd=devmng.device_status mode=never");
    int refused = 0;
    for (int i = 0; i < SIM_TICKETS_MAX + 5; ++i) {
        waiting.push_back(status());
        if (waiting.back()->begin()) {
            EXPECT_EQ(waiting.back()->call.result, -EAGAIN);
            ++refused;
        }
    }
    EXPECT_EQ(refused, 5);
}

} // namespace
} // namespace asc::test
