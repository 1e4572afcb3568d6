// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Binding of the control node: one open file speaks for one module (driver-abi.md 3).
#include "kmod-sim/abi/internal.h"

// Which modules this driver registers. The older generation knows neither "uda" nor "URD" and the
// current one no "DMS" (driver-abi.md 15).
static int registered(const struct sim* sim, unsigned module) {
    switch (module) {
    case DV_MOD_DEVMNG:
    case DV_MOD_DAVSIM:
        return 1;
    case DV_MOD_UDA:
    case DV_MOD_URD:
        return !sim->old_abi;
    case DV_MOD_DMS:
        return sim->old_abi != 0;
    default:
        return 0;
    }
}

int32_t abi_bind(struct abi_call* call) {
    struct sim_client* client = call->client;
    const char* name = (const char*)call->in;
    unsigned module;
    if (client->module != DV_MOD_NONE)
        return -SIM_EBUSY;
    if (abi_text_length(name, DV_MODULE_NAME_LEN) == DV_MODULE_NAME_LEN || name[0] == '\0')
        return -SIM_EINVAL;
    module = dv_module_of(name);
    if (!registered(call->sim, module))
        return -SIM_ENODEV;
    client->index = abi_get32(call->in + DV_MODULE_NAME_LEN);
    __atomic_store_n(&client->module, (uint16_t)module, __ATOMIC_RELAXED);
    return 0;
}

int32_t abi_unbind(struct abi_call* call) {
    __atomic_store_n(&call->client->module, (uint16_t)DV_MOD_NONE, __ATOMIC_RELAXED);
    return 0;
}

int32_t abi_module_status(struct abi_call* call) {
    int32_t result = abi_find_device(call, abi_get32(call->in + DV_MODULE_NAME_LEN));
    uint32_t bits;
    if (result)
        return result;
    bits = call->device->status_bits;
    if (call->device->state == DS_STATE_LOST)
        bits |= DV_STATUS_HEARTBEAT_LOST | DV_STATUS_LINK_ABNORMAL;
    abi_put32(call->out + DV_MODULE_NAME_LEN, bits);
    return 0;
}
