// SPDX-License-Identifier: Apache-2.0
// Events: severity and health, subscribers with their queues, the record on the wire, limits.
#include "tests/unit/core_machine.hpp"

namespace asc::test {
namespace {

constexpr std::uint32_t kPcie = 0x80B98000U;   // severity 2
constexpr std::uint32_t kAiCore = 0x80C98008U; // severity 1

void raise(Arena& machine, std::uint32_t id, std::uint32_t event,
           std::uint8_t assertion = DV_ASSERTION_OCCURRENCE, std::uint32_t pid = 0) {
    sim_raise(machine.model, &machine.device(id), event, assertion, pid, "detail");
    sim_settle(machine.model);
}

struct Reader {
    Arena& machine;
    sim_client* client;
    std::uint32_t thread;
    dv_event_read filter{};
    sim_event event{};
    std::uint32_t serial = 0, subscriber = 0;

    Reader(Arena& of, std::uint32_t pid, std::int32_t device = -1, std::uint32_t with_thread = 1)
        : machine(of), client(of.open(process(pid))), thread(with_thread) {
        filter.source = DV_EVENT_SOURCE_HAL;
        filter.device_id = device;
    }
    int next() {
        return sim_event_next(machine.model, client, thread, &filter, &event, &serial, &subscriber);
    }
};

TEST(CoreEvents, SeveritiesAreThoseOfTheProductsList) {
    EXPECT_EQ(3, sim_event_severity(0x40F84E00U));
    EXPECT_EQ(3, sim_event_severity(0x80E01801U));
    EXPECT_EQ(1, sim_event_severity(0x80E18400U));
    EXPECT_EQ(0, sim_event_severity(0x80E01809U));
    EXPECT_EQ(0, sim_event_severity(0x80E18401U));
    EXPECT_EQ(3, sim_event_severity(0x80E18402U));
    EXPECT_EQ(1, sim_event_severity(0x80E00209U));
    EXPECT_EQ(3, sim_event_severity(0x80E0020BU));
    EXPECT_EQ(2, sim_event_severity(0x80E20207U));
    EXPECT_EQ(0, sim_event_severity(0x80E01805U));
    EXPECT_EQ(0, sim_event_severity(0x12345678U)) << "a code that is not listed is low";
    EXPECT_EQ(nullptr, sim_event_text(0x12345678U));
    EXPECT_NE(nullptr, sim_event_text(0x80E18400U));
}

TEST(CoreEvents, HealthIsTheWorstActiveFault) {
    Arena machine;
    EXPECT_EQ(DV_HEALTH_NORMAL, sim_health(&machine.device(0)));
    raise(machine, 0, DV_EV_HBM_SCRUB_DOUBLE);
    EXPECT_EQ(DV_HEALTH_NORMAL, sim_health(&machine.device(0))) << "a warning is no fault";
    raise(machine, 0, kAiCore);
    EXPECT_EQ(DV_HEALTH_MINOR, sim_health(&machine.device(0)));
    raise(machine, 0, DV_EV_HBM_ISOLATION_FAILED);
    EXPECT_EQ(DV_HEALTH_CRITICAL, sim_health(&machine.device(0)));
    EXPECT_EQ(DV_HEALTH_NORMAL, sim_health(&machine.device(1)));
    raise(machine, 0, DV_EV_HBM_ISOLATION_FAILED, DV_ASSERTION_RECOVERY);
    raise(machine, 0, kPcie, DV_ASSERTION_ONE_OFF);
    EXPECT_EQ(DV_HEALTH_MINOR, sim_health(&machine.device(0))) << "a one-off event is not active";
    sim_event_clear(machine.model, &machine.device(0));
    EXPECT_EQ(DV_HEALTH_NORMAL, sim_health(&machine.device(0)));
}

TEST(CoreEvents, AnActiveFaultIsRaisedOnceAndRecoversOnce) {
    Arena machine;
    Reader reader(machine, 1);
    EXPECT_EQ(0, reader.next());
    raise(machine, 2, kPcie, DV_ASSERTION_OCCURRENCE, 77);
    raise(machine, 2, kPcie);
    raise(machine, 2, kPcie, DV_ASSERTION_RECOVERY);
    raise(machine, 2, kPcie, DV_ASSERTION_RECOVERY);
    raise(machine, 2, kPcie);
    ASSERT_EQ(1, reader.next());
    const sim_event first = reader.event;
    EXPECT_EQ(kPcie, first.event_id);
    EXPECT_EQ(2U, first.device);
    EXPECT_EQ(77U, first.pid);
    EXPECT_EQ(2, first.severity);
    EXPECT_STREQ("detail", first.info);
    EXPECT_EQ(1U, reader.serial);
    ASSERT_EQ(1, reader.next());
    EXPECT_EQ(DV_ASSERTION_RECOVERY, reader.event.assertion);
    EXPECT_EQ(first.serial, reader.event.serial);
    EXPECT_EQ(2U, reader.serial);
    ASSERT_EQ(1, reader.next());
    EXPECT_NE(first.serial, reader.event.serial) << "another occurrence";
    EXPECT_EQ(0, reader.next());
}

TEST(CoreEvents, AReaderHearsWhatComesAfterItsFirstReadAndMayWait) {
    Arena machine;
    raise(machine, 0, kAiCore);
    Reader reader(machine, 1);
    ASSERT_EQ(0, reader.next()) << "the past is not told";
    EXPECT_FALSE(sim_event_waiting(machine.model, reader.client));
    const std::uint32_t ticket =
        sim_park(machine.model, reader.client, SIM_WAIT_EVENT, reader.subscriber, SIM_NEVER, 0);
    machine.pass(3 * kSecond);
    EXPECT_EQ(0U, sim_next_ready(machine.model, nullptr));
    raise(machine, 1, kPcie);
    std::uint64_t ready = 0;
    EXPECT_EQ(ticket, sim_next_ready(machine.model, &ready));
    EXPECT_EQ(3 * kSecond, ready);
    EXPECT_TRUE(sim_event_waiting(machine.model, reader.client));
    ASSERT_EQ(1, reader.next());
    EXPECT_EQ(kWallMs + 3000, reader.event.raised_ms);
    EXPECT_FALSE(sim_event_waiting(machine.model, reader.client));
}

TEST(CoreEvents, FiltersAndVisibilityHold) {
    Arena machine;
    Reader by_device(machine, 1, 1), by_id(machine, 2), by_severity(machine, 3),
        by_node(machine, 4), by_pid(machine, 5), half_blind(machine, 6);
    by_id.filter.flags = DV_EVENT_FILTER_ID;
    by_id.filter.event_id = kPcie;
    by_severity.filter.flags = DV_EVENT_FILTER_SEVERITY;
    by_severity.filter.severity = 1;
    by_node.filter.flags = DV_EVENT_FILTER_NODE;
    by_node.filter.node_type = 0x64;
    by_pid.filter.flags = DV_EVENT_FILTER_TGID;
    half_blind.client->ident.visible = 0b10;
    for (Reader* reader : {&by_device, &by_id, &by_severity, &by_node, &by_pid, &half_blind})
        ASSERT_EQ(0, reader->next());
    raise(machine, 0, kPcie, DV_ASSERTION_OCCURRENCE, 5);
    raise(machine, 1, kAiCore);
    const auto only = [](Reader& reader, std::uint32_t event) {
        EXPECT_EQ(1, reader.next());
        EXPECT_EQ(event, reader.event.event_id);
        EXPECT_EQ(0, reader.next());
    };
    only(by_device, kAiCore);
    only(by_id, kPcie);
    only(by_severity, kAiCore);
    only(by_node, kAiCore);
    only(by_pid, kPcie);
    only(half_blind, kAiCore);
}

TEST(CoreEvents, AFullQueueLosesTheOldestAndCounts) {
    Arena machine;
    Reader slow(machine, 1, 0), other(machine, 2, 3);
    ASSERT_EQ(0, slow.next());
    ASSERT_EQ(0, other.next());
    raise(machine, 3, kPcie);
    for (int i = 0; i < DV_EVENT_QUEUE_DEPTH + 10; ++i)
        raise(machine, 0, kAiCore, DV_ASSERTION_ONE_OFF);
    EXPECT_EQ(10U, machine.model->subscriber[slow.subscriber].lost);
    int read = 0;
    ASSERT_EQ(1, slow.next());
    EXPECT_EQ(11, slow.event.serial) << "the first ten are gone";
    for (read = 1; slow.next() == 1; ++read)
        ;
    EXPECT_EQ(DV_EVENT_QUEUE_DEPTH, read);
    EXPECT_EQ(DV_EVENT_QUEUE_DEPTH + 10, slow.event.serial);
    ASSERT_EQ(1, other.next()) << "who has few events loses none";
    EXPECT_EQ(0U, machine.model->subscriber[other.subscriber].lost);
}

TEST(CoreEvents, WhatTheHistoryDropsIsCountedToo) {
    Arena machine;
    Reader slow(machine, 1, 3);
    ASSERT_EQ(0, slow.next());
    raise(machine, 3, kPcie);
    for (int i = 0; i < SIM_HISTORY_MAX - 1; ++i)
        raise(machine, 0, kAiCore, DV_ASSERTION_ONE_OFF);
    EXPECT_EQ(0U, machine.model->subscriber[slow.subscriber].lost);
    EXPECT_NE(nullptr, sim_history(machine.model, 0));
    raise(machine, 0, kAiCore, DV_ASSERTION_ONE_OFF);
    EXPECT_EQ(1U, machine.model->subscriber[slow.subscriber].lost);
    EXPECT_EQ(nullptr, sim_history(machine.model, 0));
    EXPECT_NE(nullptr, sim_history(machine.model, 1));
    EXPECT_EQ(nullptr, sim_history(machine.model, SIM_HISTORY_MAX + 1));
    EXPECT_EQ(0, slow.next());
    raise(machine, 3, kPcie, DV_ASSERTION_RECOVERY);
    ASSERT_EQ(1, slow.next());
    EXPECT_EQ(DV_ASSERTION_RECOVERY, slow.event.assertion);
}

TEST(CoreEvents, SubscribersAreBoundedByThreadAndSource) {
    Arena machine(1, 1, 256);
    sim_event event{};
    std::uint32_t serial = 0, subscriber = 0;
    dv_event_read filter{};
    filter.source = DV_EVENT_SOURCE_DSMI;
    filter.device_id = -1;
    sim_client* client = machine.open(process(1));
    for (std::uint32_t thread = 0; thread < 64; ++thread)
        ASSERT_EQ(0, sim_event_next(machine.model, client, thread, &filter, &event, &serial,
                                    &subscriber));
    EXPECT_EQ(-SIM_ENOSPC,
              sim_event_next(machine.model, client, 64, &filter, &event, &serial, &subscriber));
    EXPECT_EQ(0, sim_event_next(machine.model, client, 63, &filter, &event, &serial, &subscriber))
        << "known already";
    filter.source = DV_EVENT_SOURCE_HAL;
    for (std::uint32_t thread = 64; thread < SIM_SUBSCRIBERS_MAX; ++thread)
        ASSERT_EQ(0, sim_event_next(machine.model, client, thread, &filter, &event, &serial,
                                    &subscriber));
    EXPECT_EQ(-SIM_ENOSPC,
              sim_event_next(machine.model, client, 999, &filter, &event, &serial, &subscriber));
    sim_release(machine.model, client);
    client = machine.open(process(1));
    EXPECT_EQ(0, sim_event_next(machine.model, client, 999, &filter, &event, &serial, &subscriber))
        << "subscriptions end with their file";
}

TEST(CoreEvents, ACodeThatIsOffIsNotRaised) {
    Arena machine;
    raise(machine, 0, kPcie);
    ASSERT_EQ(0, sim_event_disable(machine.model, &machine.device(0), kPcie));
    ASSERT_EQ(0, sim_event_disable(machine.model, &machine.device(0), kPcie));
    EXPECT_EQ(DV_HEALTH_NORMAL, sim_health(&machine.device(0)));
    raise(machine, 0, kPcie);
    raise(machine, 0, kPcie, DV_ASSERTION_ONE_OFF);
    raise(machine, 1, kPcie);
    EXPECT_EQ(0U, machine.device(0).fault_count);
    EXPECT_EQ(1U, machine.device(1).fault_count);
    EXPECT_EQ(2U, machine.journal(DS_J_EVENT, 0).size()) << "raised, recovered when switched off";
    ASSERT_EQ(0, sim_event_enable(machine.model, &machine.device(0), kPcie));
    EXPECT_EQ(-SIM_ENOENT, sim_event_enable(machine.model, &machine.device(0), kPcie));
    raise(machine, 0, kPcie);
    EXPECT_EQ(1U, machine.device(0).fault_count);
    for (std::uint32_t i = 0; i < SIM_DISABLED_MAX; ++i)
        ASSERT_EQ(0, sim_event_disable(machine.model, &machine.device(1), i + 1));
    EXPECT_EQ(-SIM_ENOSPC, sim_event_disable(machine.model, &machine.device(1), 1000));
}

TEST(CoreEvents, WhatADeviceCannotKeepIsCountedLoudly) {
    Arena machine;
    for (std::uint32_t i = 0; i < SIM_FAULTS_MAX + 5; ++i)
        sim_raise(machine.model, &machine.device(0), 0x80000000U + i, DV_ASSERTION_OCCURRENCE, 0,
                  nullptr);
    EXPECT_EQ(static_cast<std::uint32_t>(SIM_FAULTS_MAX), machine.device(0).fault_count);
    sim_settle(machine.model);
    auto lost = machine.journal(DS_J_LOST, 0);
    ASSERT_EQ(1U, lost.size());
    EXPECT_EQ(5U, lost[0].a);
    for (std::uint32_t i = 0; i < SIM_OUTBOX_MAX + 3; ++i)
        sim_raise(machine.model, &machine.device(1), kPcie, DV_ASSERTION_ONE_OFF, 0, nullptr);
    sim_settle(machine.model);
    lost = machine.journal(DS_J_LOST, 1);
    ASSERT_EQ(1U, lost.size());
    EXPECT_EQ(3U, lost[0].a);
}

TEST(CoreEvents, TheRecordOnTheWireSaysWhatTheIdSays) {
    Arena machine(2, 1, 8, false);
    sim_device_config config = device_config(1);
    config.physical_id = 9;
    ASSERT_EQ(0, machine.add(config));
    machine.pass(1500 * kMs);
    sim_raise(machine.model, &machine.device(1), DV_EV_HBM_ISOLATED, DV_ASSERTION_OCCURRENCE, 4321,
              "0x00000000000fff08, longer than the room of it");
    sim_settle(machine.model);
    const sim_event* event = sim_history(machine.model, 0);
    ASSERT_NE(nullptr, event);
    dv_event wire;
    std::memset(&wire, 0xAA, sizeof(wire));
    sim_event_to_wire(machine.model, event, 12, &wire);
    EXPECT_EQ(0x80E18400U, wire.event_code);
    EXPECT_EQ(0x80E18400U, wire.event_id);
    EXPECT_EQ(4321, wire.pid);
    EXPECT_EQ(9, wire.device_id) << "the physical id";
    EXPECT_EQ(0x70, wire.node_type);
    EXPECT_EQ(0x70, wire.sub_node_type);
    EXPECT_EQ(0, wire.node_id);
    EXPECT_EQ(1, wire.severity);
    EXPECT_EQ(1, wire.assertion);
    EXPECT_EQ(1, wire.event_serial);
    EXPECT_EQ(12, wire.notify_serial);
    EXPECT_EQ(kWallMs + 1500, wire.raised_ms);
    EXPECT_STREQ("node type=HBM, node id=0-0, sensor type=memory error record, sensor name=memory "
                 "error record, event state=HBM multi-bit ECC error, the address has been "
                 "isolated, time=1767225601500 ms, event assertion=occurrence.",
                 wire.name);
    EXPECT_STREQ("0x00000000000fff08, longer than", wire.additional_info);
    EXPECT_EQ(0U, wire.pad3 + wire.pad2 + wire.pad1 + wire.pad0);
    EXPECT_EQ(0, wire.info[0]);
    sim_event other{};
    other.event_id = 0x90000005U;
    other.assertion = 2;
    sim_event_to_wire(machine.model, &other, 1, &wire);
    EXPECT_STREQ("node type=unknown, node id=0-0, sensor type=unknown, sensor name=unknown, event "
                 "state=5, time=0 ms, event assertion=one-off.",
                 wire.name);
}

} // namespace
} // namespace asc::test
