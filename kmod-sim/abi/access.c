// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Who may do what: access masks, and which devices exist for a caller.
#include "kmod-sim/abi/internal.h"

#define VIRTUAL_DEVICE_BITS 0x700U // driver-abi.md 6.3; every device here is a physical one
#define PHYSICAL_DEVICE 0x100U

int abi_permitted(const struct sim_ident* ident, uint32_t mask) {
    uint32_t callers = mask & (DV_ACC_CALLER_BITS | DS_ACC_SIM_OWNER);
    if (callers && !(callers & ident->caller))
        return 0;
    if ((mask & DV_ACC_ENV_BITS) && !(mask & ident->environment & DV_ACC_ENV_BITS))
        return 0;
    return !(mask & VIRTUAL_DEVICE_BITS) || (mask & PHYSICAL_DEVICE) != 0;
}

int abi_visible(const struct sim_client* client, uint32_t device) {
    return device < SIM_DEVICES_MAX && ((client->ident.visible >> device) & 1);
}

int32_t abi_find_device(struct abi_call* call, uint32_t id) {
    call->device = abi_visible(call->client, id) ? sim_device(call->sim, id) : NULL;
    return call->device ? 0 : -SIM_ENODEV;
}

int32_t abi_find_physical(struct abi_call* call, uint32_t physical_id) {
    uint32_t id;
    for (id = 0; id < call->sim->limits.device_count; ++id)
        if (abi_find_device(call, id) == 0 && call->device->config.physical_id == physical_id)
            return 0;
    call->device = NULL;
    return -SIM_ENODEV;
}

int32_t abi_working(const struct sim_device* device) {
    switch (device->state) {
    case DS_STATE_OK:
        return 0;
    case DS_STATE_RESETTING:
        return DV_E_RESETTING;
    default:
        return -SIM_ENODEV;
    }
}

int32_t abi_find_working(struct abi_call* call, uint32_t id) {
    int32_t result = abi_find_device(call, id);
    return result ? result : abi_working(call->device);
}

uint64_t abi_all_devices(const struct sim* sim) {
    return abi_low_bits(sim->limits.device_count);
}
