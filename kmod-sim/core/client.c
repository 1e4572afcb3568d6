// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Open files: who may open what, and what their end takes along.
#include "kmod-sim/core/internal.h"

struct sim_client* sim_client_by_ordinal(struct sim* sim, uint32_t ordinal) {
    uint32_t slot;
    for (slot = 0; ordinal && slot < sim->limits.client_count; ++slot)
        if (sim->client[slot].ordinal == ordinal)
            return &sim->client[slot];
    return NULL;
}

// A device node belongs to the mount namespace that has it open (driver-abi.md 5.3). An unknown
// namespace conflicts with none.
static int occupied(const struct sim* sim, uint32_t device, const struct sim_ident* ident) {
    uint32_t slot;
    if (!sim->device[device].holder_nodes || !ident->mount_namespace)
        return 0;
    for (slot = 0; slot < sim->limits.client_count; ++slot) {
        const struct sim_client* other = &sim->client[slot];
        if (other->ordinal && other->node == DV_NODE_IS_DEVICE && other->index == device &&
            other->ident.mount_namespace && other->ident.mount_namespace != ident->mount_namespace)
            return 1;
    }
    return 0;
}

static int admit(const struct sim* sim, uint32_t node, uint32_t index,
                 const struct sim_ident* ident) {
    if (node > DV_NODE_IS_SVM)
        return -SIM_ENODEV;
    if (node != DV_NODE_IS_DEVICE)
        return 0;
    if (index >= sim->limits.device_count || !sim_present(&sim->device[index]))
        return -SIM_ENODEV;
    if (!((ident->visible >> index) & 1))
        return -SIM_EACCES;
    return occupied(sim, index, ident) ? -SIM_EBUSY : 0;
}

static uint32_t new_ordinal(struct sim* sim) {
    do
        ++sim->next_ordinal;
    while (sim->next_ordinal == 0 || sim_client_by_ordinal(sim, sim->next_ordinal));
    return sim->next_ordinal;
}

int sim_open(struct sim* sim, uint32_t node, uint32_t index, const struct sim_ident* ident,
             struct sim_client** out) {
    struct sim_client* client;
    uint32_t slot = 0;
    int result = admit(sim, node, index, ident);
    *out = NULL;
    if (result)
        return result;
    while (slot < sim->limits.client_count && sim->client[slot].ordinal)
        ++slot;
    if (slot == sim->limits.client_count)
        return -SIM_ENFILE;
    client = &sim->client[slot];
    memset(client, 0, sizeof(*client));
    client->ordinal = new_ordinal(sim);
    client->node = (uint16_t)node;
    client->module = DV_MOD_NONE;
    client->index = node == DV_NODE_IS_DEVICE ? index : 0;
    client->ident = *ident;
    client->ident.name[sizeof(client->ident.name) - 1] = '\0';
    if (node == DV_NODE_IS_DEVICE)
        ++sim->device[index].holder_nodes;
    sim_journal(sim, node == DV_NODE_IS_DEVICE ? index : SYSTEM_JOURNAL, DS_J_OPEN, 0,
                client->ordinal, 0, node, client->index);
    *out = client;
    return 0;
}

void sim_release(struct sim* sim, struct sim_client* client) {
    uint32_t device;
    int said = 0;
    if (!client->ordinal)
        return;
    sim_tickets_drop(sim, client->ordinal);
    sim_subscribers_drop(sim, client->ordinal);
    for (device = 0; device < sim->limits.device_count; ++device)
        said |= sim_memory_release(sim, &sim->device[device], client);
    if (!said)
        sim_journal(sim, client->node == DV_NODE_IS_DEVICE ? client->index : SYSTEM_JOURNAL,
                    DS_J_RELEASE, 0, client->ordinal, 0, 0, 0);
    if (client->node == DV_NODE_IS_DEVICE)
        --sim->device[client->index].holder_nodes;
    memset(client, 0, sizeof(*client));
}
