// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Who holds what: owners of memory as callers see them, and open files that keep a device busy.
#include "kmod-sim/core/internal.h"

uint32_t sim_next_owner(const struct sim_device* device, uint32_t from) {
    while (from < SIM_OWNERS_MAX && !device->owner[from].used)
        ++from;
    return from < SIM_OWNERS_MAX ? from : SIM_OWNERS_MAX;
}

uint32_t sim_owner_count(const struct sim_device* device) {
    uint32_t index, count = 0;
    for (index = 0; index < SIM_OWNERS_MAX; ++index)
        count += device->owner[index].used != 0;
    return count;
}

int sim_processes_known(const struct sim_device* device) {
    return sim_owner_count(device) <= SIM_WIRE_PROCESSES;
}

uint64_t sim_hbm_unowned_bytes(const struct sim_device* device) {
    uint64_t bytes = 0;
    uint32_t index;
    for (index = 0; index < SIM_OWNERS_MAX; ++index)
        if (device->owner[index].used && device->owner[index].ended)
            bytes += device->owner[index].bytes;
    return bytes;
}

uint32_t sim_owner_pid_for(const struct sim* sim, const struct sim_owner* owner,
                           const struct sim_ident* viewer) {
    // 0 on both sides: a host without pid namespaces.
    if (viewer->pid_namespace == sim->host_pid_namespace)
        return owner->pid;
    if (viewer->pid_namespace && viewer->pid_namespace == owner->pid_namespace)
        return owner->ns_pid;
    return 0;
}

uint32_t sim_holding(const struct sim* sim, const struct sim_client* client, uint32_t device) {
    const struct sim_device* target;
    uint32_t flags = 0, index;
    if (!client->ordinal || device >= sim->limits.device_count)
        return 0;
    target = &sim->device[device];
    if (client->node == DV_NODE_IS_DEVICE && client->index == device)
        flags |= DS_HOLDER_NODE;
    for (index = 0; index < target->extent_count; ++index)
        if (target->extent[index].client == client->ordinal)
            return flags | DS_HOLDER_MEMORY;
    return flags;
}

const struct sim_client* sim_next_holder(const struct sim* sim, uint32_t device, uint32_t* cursor,
                                         uint32_t* flags) {
    while (*cursor < sim->limits.client_count) {
        const struct sim_client* client = &sim->client[(*cursor)++];
        *flags = sim_holding(sim, client, device);
        if (*flags)
            return client;
    }
    return NULL;
}

int sim_busy(const struct sim* sim, uint32_t device, const struct sim_client* except) {
    const struct sim_client* holder;
    uint32_t cursor = 0, flags;
    while ((holder = sim_next_holder(sim, device, &cursor, &flags)) != NULL)
        if (!except || !sim_same_process(&holder->ident, &except->ident))
            return 1;
    return 0;
}
