// SPDX-License-Identifier: Apache-2.0
// Opening: visibility, occupation by mount namespaces, table limits; pids as viewers see them;
// who holds a device.
#include "tests/unit/core_machine.hpp"

#include <map>

namespace asc::test {
namespace {

int try_open(Arena& machine, const sim_ident& ident, std::uint32_t node, std::uint32_t index) {
    sim_client* client = nullptr;
    const int result = sim_open(machine.model, node, index, &ident, &client);
    EXPECT_EQ(result == 0, client != nullptr);
    return result;
}

TEST(CoreClients, SeesTheDevicesOfItsSetAlone) {
    Arena machine;
    sim_ident ident = process(1);
    ident.visible = 0b0101;
    EXPECT_EQ(0, try_open(machine, ident, DV_NODE_IS_DEVICE, 0));
    EXPECT_EQ(-SIM_EACCES, try_open(machine, ident, DV_NODE_IS_DEVICE, 1));
    EXPECT_EQ(0, try_open(machine, ident, DV_NODE_IS_DEVICE, 2));
    EXPECT_EQ(-SIM_ENODEV, try_open(machine, ident, DV_NODE_IS_DEVICE, 4));
    EXPECT_EQ(-SIM_ENODEV, try_open(machine, ident, 9, 0));
    ident.visible = 0;
    EXPECT_EQ(0, try_open(machine, ident, DV_NODE_IS_MANAGER, 0));
    EXPECT_EQ(0, try_open(machine, ident, DV_NODE_IS_HDC, 0));
}

TEST(CoreClients, ADeviceNodeBelongsToOneMountNamespace) {
    Arena machine;
    sim_ident host = process(1), container = process(2), unknown = process(3);
    container.mount_namespace = 2;
    unknown.mount_namespace = 0;
    sim_client* first = machine.open(host, DV_NODE_IS_DEVICE, 0);
    EXPECT_EQ(-SIM_EBUSY, try_open(machine, container, DV_NODE_IS_DEVICE, 0));
    EXPECT_EQ(0, try_open(machine, container, DV_NODE_IS_DEVICE, 1)) << "the other one is free";
    EXPECT_EQ(0, try_open(machine, container, DV_NODE_IS_MANAGER, 0));
    sim_client* second = machine.open(host, DV_NODE_IS_DEVICE, 0);
    EXPECT_EQ(2U, machine.device(0).holder_nodes);
    sim_release(machine.model, first);
    EXPECT_EQ(-SIM_EBUSY, try_open(machine, container, DV_NODE_IS_DEVICE, 0));
    sim_release(machine.model, second);
    EXPECT_EQ(0, try_open(machine, unknown, DV_NODE_IS_DEVICE, 0));
    EXPECT_EQ(0, try_open(machine, container, DV_NODE_IS_DEVICE, 0)) << "unknown occupies nothing";
}

TEST(CoreClients, TheTableOfOpenFilesIsBoundedAndOrdinalsGoOn) {
    Arena machine(1, 1, 3);
    sim_client* first = machine.open(process(1));
    machine.open(process(2));
    sim_client* third = machine.open(process(3));
    EXPECT_EQ(1U, first->ordinal);
    EXPECT_EQ(-SIM_ENFILE, try_open(machine, process(4), DV_NODE_IS_MANAGER, 0));
    sim_release(machine.model, first);
    sim_client* fourth = machine.open(process(4));
    EXPECT_EQ(4U, fourth->ordinal) << "a number names one open for ever";
    EXPECT_EQ(third, sim_client_by_ordinal(machine.model, 3));
    EXPECT_EQ(nullptr, sim_client_by_ordinal(machine.model, 0));
}

TEST(CoreClients, PidsAreThoseOfTheViewersNamespace) {
    Arena machine;
    sim_ident inside = process(500);
    inside.ns_pid = 7;
    inside.pid_namespace = 20;
    sim_client* client = machine.open(inside);
    ASSERT_EQ(0, machine.alloc(client, 0, 1));
    const sim_owner& owner = machine.device(0).owner[sim_next_owner(&machine.device(0), 0)];
    sim_ident viewer = process(1);
    EXPECT_EQ(500U, sim_owner_pid_for(machine.model, &owner, &viewer));
    viewer.pid_namespace = 20;
    EXPECT_EQ(7U, sim_owner_pid_for(machine.model, &owner, &viewer));
    viewer.pid_namespace = 21;
    EXPECT_EQ(0U, sim_owner_pid_for(machine.model, &owner, &viewer));
    viewer.pid_namespace = 0;
    EXPECT_EQ(0U, sim_owner_pid_for(machine.model, &owner, &viewer)) << "unknown is not the host";
    sim_owner unknown = owner;
    unknown.pid_namespace = 0;
    EXPECT_EQ(0U, sim_owner_pid_for(machine.model, &unknown, &viewer)) << "nor unknown's";
}

TEST(CoreClients, HoldersAreCountedByTheirOpenFiles) {
    Arena machine;
    sim_client* caller = machine.open(process(1));
    machine.open(process(2), DV_NODE_IS_DEVICE, 0);
    sim_client* memory = machine.open(process(3));
    ASSERT_EQ(0, machine.alloc(memory, 0, 1));
    sim_client* context = machine.open(process(4));
    ASSERT_EQ(0, machine.alloc(context, 1, 0, DS_ALLOC_CONTEXT));
    std::map<std::uint32_t, std::uint32_t> holders;
    std::uint32_t cursor = 0, flags = 0;
    while (const sim_client* holder = sim_next_holder(machine.model, 0, &cursor, &flags))
        holders[holder->ident.pid] = flags;
    const std::map<std::uint32_t, std::uint32_t> expected{{2, DS_HOLDER_NODE},
                                                          {3, DS_HOLDER_MEMORY}};
    EXPECT_EQ(expected, holders);
    EXPECT_EQ(DS_HOLDER_MEMORY, sim_holding(machine.model, context, 1));
    EXPECT_EQ(0U, sim_holding(machine.model, caller, 0));
    EXPECT_TRUE(sim_busy(machine.model, 0, caller));
    EXPECT_TRUE(sim_busy(machine.model, 1, memory));
    EXPECT_FALSE(sim_busy(machine.model, 1, context)) << "its own handles do not count";
    EXPECT_FALSE(sim_busy(machine.model, 2, nullptr));
}

} // namespace
} // namespace asc::test
