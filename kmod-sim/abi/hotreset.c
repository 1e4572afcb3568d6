// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Reset: main command 0x5D, and the steps 'M' 44 and 45 (driver-abi.md 11).
#include "kmod-sim/abi/hdc.h"
#include "kmod-sim/abi/internal.h"

static int32_t start_reset(struct abi_call* call, uint32_t device) {
    int result = sim_reset(call->sim, device, call->client);
    if (result == -SIM_EBUSY)
        return DV_E_OCCUPIED; // somebody alive holds it
    if (result == -SIM_EAGAIN)
        return DV_E_RESETTING;
    if (result == -SIM_EIO || result == -SIM_EACCES)
        return -SIM_ENODEV; // lost, or not one of the caller's
    if (result == 0)
        abi_hdc_wake(call->sim);
    return result;
}

// The driver lets go of the device, so that it can be reset from outside: it must be idle.
int32_t abi_pre_reset(struct abi_call* call) {
    if (call->device->state == DS_STATE_RESETTING)
        return DV_E_RESETTING;
    if (sim_busy(call->sim, call->device->config.device_id, call->client))
        return DV_E_OCCUPIED;
    call->device->reset_flag = 1;
    return 0;
}

// Takes the device in again. What was let go comes up as after a reset; nothing happens else.
int32_t abi_rescan(struct abi_call* call) {
    int32_t result;
    if (!call->device->reset_flag)
        return 0;
    result = start_reset(call, call->device->config.device_id);
    if (result == 0)
        call->device->reset_flag = 0;
    return result;
}

int32_t abi_reset_execute(struct abi_call* call) {
    uint32_t id = call->request->device;
    int32_t result;
    if (call->info->id == DV_CMD_URD_RESET && id == DV_RESET_ALL_DEVICES)
        return start_reset(call, DV_RESET_ALL_DEVICES); // all that the caller sees
    result = abi_find_device(call, id);
    if (result)
        return result;
    switch (call->info->id) {
    case DV_CMD_URD_RESET:
        return start_reset(call, id);
    case DV_CMD_URD_RESET_SET_FLAG:
    case DV_CMD_URD_RESET_PREPARE:
        return abi_pre_reset(call);
    case DV_CMD_URD_RESET_CLEAR_FLAG:
        call->device->reset_flag = 0;
        return 0;
    case DV_CMD_URD_RESET_RESCAN:
        return abi_rescan(call);
    default:
        return -SIM_EOPNOTSUPP;
    }
}
