// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Module uda: device ids (driver-abi.md 5). Logic, unique and remote ids are the same number here;
// the physical id is the profile's.
#include "kmod-sim/abi/internal.h"

// The records go where the argument points to; the argument itself is not written back.
int abi_uda_list_gather(struct sim* sim, struct abi_request* request,
                        const struct abi_memory* memory) {
    struct dv_device_list list;
    uint32_t length;
    (void)sim;
    if (abi_settle_room(request, sizeof(list), 0) != ABI_GATHERED)
        return ABI_NEED_ROOM;
    if (abi_read(request, memory, 0, request->argument, sizeof(list)))
        return abi_refuse(request, -SIM_EFAULT);
    memcpy(&list, abi_in(request), sizeof(list));
    if (list.end < list.start || list.end > DV_MAX_UNIQUE_DEVICES)
        return abi_refuse(request, -SIM_EINVAL);
    length = (list.end - list.start) * (uint32_t)sizeof(struct dv_logic_device);
    if (abi_settle_room(request, sizeof(list), length) != ABI_GATHERED)
        return ABI_NEED_ROOM;
    memset(abi_out(request), 0, length);
    abi_piece(request, list.records, 0, length);
    return ABI_GATHERED;
}

static int32_t user_info(struct abi_call* call) {
    struct dv_user_info info;
    memset(&info, 0, sizeof(info));
    info.admin_flag = !(call->client->ident.environment & DV_ACC_ENV_CONTAINER);
    info.local_flag = 1;
    info.max_device_count = DV_MAX_DEVICES_HOST;
    info.max_unique_count = DV_MAX_UNIQUE_DEVICES;
    info.unique_management = 1;
    memcpy(call->out, &info, sizeof(info));
    return 0;
}

static int32_t device_list(struct abi_call* call) {
    struct dv_device_list list;
    uint32_t id;
    memcpy(&list, call->in, sizeof(list));
    for (id = list.start; id < list.end && id < call->sim->limits.device_count; ++id) {
        struct dv_logic_device record;
        if (abi_find_device(call, id))
            continue;
        record.valid_and_type = 1;
        record.sub_device_id = 0;
        record.physical_id = (uint16_t)call->device->config.physical_id;
        record.device_id = (uint16_t)id;
        record.unique_id = (uint16_t)id;
        memcpy(call->out + (id - list.start) * sizeof(record), &record, sizeof(record));
    }
    return 0;
}

int32_t abi_uda_execute(struct abi_call* call) {
    uint32_t raw = abi_get32(call->in);
    int32_t result;
    switch (call->info->id) {
    case DV_CMD_UDA_USER_INFO:
        return user_info(call);
    case DV_CMD_UDA_SETUP:
        return raw >= 1 && raw <= DV_MAX_UNIQUE_DEVICES ? 0 : -SIM_EINVAL;
    case DV_CMD_UDA_LIST:
        return device_list(call);
    default: // the four translations
        result = abi_find_device(call, raw);
        if (result == 0)
            abi_put32(call->out + sizeof(uint32_t), raw);
        return result;
    }
}
