// SPDX-License-Identifier: Apache-2.0
// Masks (driver-abi.md 6.3), what is visible, and what a device answers in each state.
#include "tests/unit/abi_calls.hpp"

#include <gtest/gtest.h>

namespace asc::test {
namespace {

constexpr const char* kTwo = R"(
[[device]]
[[device]]
id = 1
bus_id = "0000:02:00.0"
)";

std::vector<std::uint8_t> words(std::initializer_list<std::uint32_t> values) {
    std::vector<std::uint8_t> bytes;
    for (const std::uint32_t value : values)
        for (int shift = 0; shift < 32; shift += 8)
            bytes.push_back(static_cast<std::uint8_t>(value >> shift));
    return bytes;
}

struct Function {
    std::uint32_t main_command, sub_command;
    std::vector<std::uint8_t> input;
    std::uint32_t output;
    std::uint32_t mask; // typed from driver-abi.md 6.3 and 8
};

const Function kFunctions[] = {
    {0x45, 0, std::vector<std::uint8_t>(64), 344, 0x0FF},
    {0x45, 1, words({0}), 528, 0x7FF},
    {0x45, 2, words({0}), 4, 0x7FF},
    {0x45, 4, words({0}), 0, 0x131},
    {0x45, 5, words({0, 0x80E18400}), 0, 0x131},
    {0x45, 29, words({0}), 112, 0x17FF},
    {0x45, 31, words({0}), 4, 0x7FF},
    {0x45, 35, words({0}), 4, 0x7FF},
    {0x45, 38, {}, 4, 0x7FF},
    {0x5D, 8, words({0}), 0, 0x091},
    {0x5D, 6, words({0}), 0, 0x091},
    {0x5D, 0, words({0}), 0, 0x091},
};

TEST(AbiMasks, EveryCallerInEveryEnvironment) {
    for (const Function& function : kFunctions)
        for (const std::uint32_t caller : {0x1U, 0x2U, 0x4U, 0x8U, 0x1000U})
            for (const std::uint32_t environment : {0x10U, 0x20U, 0x40U, 0x80U}) {
                AbiMachine machine(profile_of(kTwo));
                sim_client* urd =
                    machine.open_bound("URD", AbiMachine::ident(7, caller, environment));
                ASSERT_NE(urd, nullptr);
                const bool allowed =
                    (function.mask & caller) != 0 && (function.mask & environment) != 0;
                const int result = urd_shot(machine, urd, function.main_command,
                                            function.sub_command, function.input, function.output)
                                       ->run();
                EXPECT_EQ(result == -EACCES, !allowed)
                    << std::hex << function.main_command << "/" << function.sub_command
                    << " caller " << caller << " environment " << environment << " result "
                    << std::dec << result;
            }
}

TEST(AbiMasks, TheSimulatorsControlsAreTheOwnersOrRoots) {
    for (const std::uint32_t caller :
         {DV_ACC_USER, DV_ACC_OPERATE, DV_ACC_ROOT, DS_ACC_SIM_OWNER}) {
        AbiMachine machine(profile_of(kTwo));
        sim_client* file = machine.open_bound("davsim", AbiMachine::ident(7, caller));
        const int denied = caller == DV_ACC_ROOT || caller == DS_ACC_SIM_OWNER ? 0 : -EACCES;
        ds_rule_add rule{};
        rule.size = sizeof(rule);
        rule.length = 6;
        std::memcpy(rule.text, "zombie", 6);
        EXPECT_EQ(machine.ask(file, DS_RULE_ADD, rule), denied);
        ds_rule_clear clear{sizeof(clear), 0};
        EXPECT_EQ(machine.ask(file, DS_RULE_CLEAR, clear), denied);
        ds_hotplug plug{sizeof(plug), 1, DS_HOTPLUG_REMOVE, 0};
        EXPECT_EQ(machine.ask(file, DS_HOTPLUG, plug), denied);
        ds_clock clock{};
        clock.size = sizeof(clock);
        clock.operation = DS_CLOCK_ADVANCE;
        EXPECT_EQ(machine.ask(file, DS_CLOCK, clock), denied);
        clock.operation = DS_CLOCK_GET;
        EXPECT_EQ(machine.ask(file, DS_CLOCK, clock), 0); // reading the time is for all
        auto journal = std::make_unique<ds_journal_read>();
        journal->size = sizeof(*journal);
        EXPECT_EQ(machine.ask(file, DS_JOURNAL_READ, *journal), denied);
    }
}

TEST(AbiVisibility, ADeviceOutsideDoesNotExist) {
    AbiMachine machine(profile_of(kTwo));
    sim_ident who = AbiMachine::ident(7);
    who.visible = 2;
    sim_client* urd = machine.open_bound("URD", who);
    sim_client* devmng = machine.open_bound("DEVMNG", who);
    sim_client* extension = machine.open_bound("davsim", who);
    for (const std::uint32_t device : {0U, 1U, 2U, 63U, 64U, 0xFFFFFFFFU}) {
        const int expected = device == 1 ? 0 : -ENODEV;
        EXPECT_EQ(urd_shot(machine, urd, 0x45, 31, words({device}), 4)->run(), expected) << device;
        EXPECT_EQ(udis_shot(machine, urd, DV_UDIS_LP, "soc_max_temp", device)->run(), expected);
        EXPECT_EQ(flat_shot(machine, devmng, DV_IO('M', 7), words({device}))->run(), expected);
        ds_device facts{};
        facts.size = sizeof(facts);
        facts.device_id = device;
        EXPECT_EQ(machine.ask(extension, DS_DEVICE, facts), expected);
        ds_hotplug plug{sizeof(plug), device, DS_HOTPLUG_LOSE, 0};
        if (device != 1) {
            EXPECT_EQ(machine.ask(extension, DS_HOTPLUG, plug), -ENODEV);
        }
    }
    auto pair = urd_shot(machine, urd, 0x45, 14, words({0, 1}), 4);
    EXPECT_EQ(pair->run(), -ENODEV);
    ds_info info{};
    info.size = sizeof(info);
    EXPECT_EQ(machine.ask(extension, DS_INFO, info), 0);
    EXPECT_EQ(info.device_count, 1U);
}

TEST(AbiVisibility, EventsOfOthersDevicesAreNotTold) {
    AbiMachine machine(profile_of(kTwo));
    sim_ident who = AbiMachine::ident(7);
    who.visible = 2;
    sim_client* urd = machine.open_bound("URD", who);
    dv_event_read read{};
    read.device_id = -1;
    auto shot = urd_shot(machine, urd, 0x45, 0, bytes_of(read), sizeof(dv_event));
    EXPECT_EQ(shot->run(), -ETIMEDOUT);
    ASSERT_EQ(sim_hotplug(machine.model(), 0, DS_HOTPLUG_LOSE), 0);
    sim_settle(machine.model());
    EXPECT_EQ(urd_shot(machine, urd, 0x45, 0, bytes_of(read), sizeof(dv_event))->run(), -ETIMEDOUT);
    auto history = urd_shot(machine, urd, 0x45, 20, words({0xFFFFFFFF}), 4 * sizeof(dv_event));
    ASSERT_EQ(history->run(), 0);
    EXPECT_EQ(value_at<std::uint32_t>(history->at(kOutput)), 0U);
    read.device_id = 0;
    EXPECT_EQ(urd_shot(machine, urd, 0x45, 0, bytes_of(read), sizeof(dv_event))->run(), -ENODEV);
    ASSERT_EQ(sim_hotplug(machine.model(), 1, DS_HOTPLUG_LOSE), 0);
    sim_settle(machine.model());
    read.device_id = -1;
    EXPECT_EQ(urd_shot(machine, urd, 0x45, 0, bytes_of(read), sizeof(dv_event))->run(), 0);
}

TEST(AbiStates, LostResettingAbsent) {
    AbiMachine machine(profile_of(kTwo));
    sim_client* urd = machine.open_bound("URD", AbiMachine::ident(7));
    sim_client* devmng = machine.open_bound("DEVMNG", AbiMachine::ident(7));
    const auto results = [&] {
        std::vector<int> all;
        for (const std::uint32_t sub : {31U, 29U, 7U, 1U})
            all.push_back(urd_shot(machine, urd, 0x45, sub, words({0}),
                                   sub == 29  ? 112
                                   : sub == 7 ? 32
                                   : sub == 1 ? 528
                                              : 4)
                              ->run());
        all.push_back(udis_shot(machine, urd, DV_UDIS_LP, "soc_max_temp")->run());
        for (const std::uint32_t number : {1U, 17U, 20U})
            all.push_back(flat_shot(machine, devmng, DV_IO('M', number),
                                    std::vector<std::uint8_t>(number == 1    ? 8
                                                              : number == 17 ? 24
                                                                             : 320))
                              ->run());
        return all;
    };
    EXPECT_EQ(results(), std::vector<int>(8, 0));
    ASSERT_EQ(sim_reset(machine.model(), 0, nullptr), 0);
    EXPECT_EQ(results(), std::vector<int>(8, 45));
    machine.advance(2000000000);
    EXPECT_EQ(results(), std::vector<int>(8, 0));
    ASSERT_EQ(sim_hotplug(machine.model(), 0, DS_HOTPLUG_LOSE), 0);
    EXPECT_EQ(results(), std::vector<int>(8, -ENODEV));
    ASSERT_EQ(sim_hotplug(machine.model(), 0, DS_HOTPLUG_REMOVE), 0);
    EXPECT_EQ(results(), std::vector<int>(8, -ENODEV));
    // gone altogether: not even a status
    EXPECT_EQ(flat_shot(machine, devmng, DV_IO('M', 7), words({0}))->run(), -ENODEV);
    EXPECT_EQ(flat_shot(machine, devmng, DV_IO('M', 7), words({1}))->run(), 0);
}

TEST(AbiProcesses, PidsAreThoseOfTheCallersNamespace) {
    AbiMachine machine(profile_of(kTwo));
    sim_ident holder = AbiMachine::ident(5000, DV_ACC_USER, DV_ACC_ENV_CONTAINER);
    holder.ns_pid = 12;
    holder.pid_namespace = 9;
    sim_client* owner = machine.open_bound("davsim", holder);
    ds_alloc alloc{};
    alloc.size = sizeof(alloc);
    alloc.bytes = 64U << 20U;
    ASSERT_EQ(machine.ask(owner, DS_ALLOC, alloc), 0);

    const auto list = [&](const sim_ident& who) {
        sim_client* file = machine.open_bound("DEVMNG", who);
        dv_resource resource{};
        resource.owner_type = DV_OWNER_PROCESS;
        resource.resource_type = DV_RESOURCE_PROCESS_LIST;
        resource.buffer_len = 256;
        EXPECT_EQ(machine.ask(file, DV_IO('M', 175), resource), 0);
        std::vector<std::int32_t> pids(resource.buffer_len / 4);
        std::copy_n(resource.buffer, resource.buffer_len, reinterpret_cast<char*>(pids.data()));
        machine.close(file);
        return pids;
    };
    const auto memory_of = [&](const sim_ident& who, const char* name) {
        sim_client* file = machine.open_bound("URD", who);
        auto shot = udis_shot(machine, file, DV_UDIS_SVM, name);
        const int result = shot->run();
        machine.close(file);
        return result == 0 ? value_at<std::uint64_t>(shot->at(kData)) : 0;
    };
    const sim_ident host = AbiMachine::ident(7);
    sim_ident inside = holder;
    inside.pid = 5001;
    inside.ns_pid = 13;
    sim_ident elsewhere = inside;
    elsewhere.pid_namespace = 10;
    EXPECT_EQ(list(host), std::vector<std::int32_t>{5000});
    EXPECT_EQ(list(inside), std::vector<std::int32_t>{12});
    EXPECT_EQ(list(elsewhere), std::vector<std::int32_t>{}); // not resolvable there
    EXPECT_EQ(memory_of(host, "00001388mem"), 64ULL << 20U);
    EXPECT_EQ(memory_of(inside, "0000000cmem"), 64ULL << 20U);
    EXPECT_EQ(memory_of(inside, "00001388mem"), 0U);
    EXPECT_EQ(memory_of(elsewhere, "0000000cmem"), 0U);
}

TEST(AbiProcesses, TheListHoldsSixtyFour) {
    AbiMachine machine(profile_of(kTwo), {.client_limit = 128});
    for (std::uint32_t i = 0; i < 70; ++i) {
        sim_client* owner = machine.open_bound("davsim", AbiMachine::ident(1000 + i));
        ds_alloc alloc{};
        alloc.size = sizeof(alloc);
        alloc.flags = DS_ALLOC_CONTEXT;
        ASSERT_EQ(machine.ask(owner, DS_ALLOC, alloc), 0) << i;
        dv_resource resource{};
        resource.owner_type = DV_OWNER_PROCESS;
        resource.resource_type = DV_RESOURCE_PROCESS_LIST;
        resource.buffer_len = 256;
        sim_client* file = machine.open_bound("DEVMNG", AbiMachine::ident(7));
        ASSERT_EQ(machine.ask(file, DV_IO('M', 175), resource), 0);
        EXPECT_EQ(resource.buffer_len, 4 * std::min(i + 1, 64U));
        machine.close(file);
    }
    ds_device facts{};
    facts.size = sizeof(facts);
    sim_client* file = machine.open_bound("davsim", AbiMachine::ident(7));
    ASSERT_EQ(machine.ask(file, DS_DEVICE, facts), 0);
    EXPECT_EQ(facts.owner_count, 70U);
    EXPECT_EQ(facts.known & DS_KNOWN_PROCESSES, 0U);
}

} // namespace
} // namespace asc::test
