// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Module DEVMNG: device information (driver-abi.md 4).
#include "kmod-sim/abi/internal.h"

#define CONSOLE_LOG_LEVEL 3U

static int32_t device_status(struct abi_call* call) {
    uint32_t status = DV_DEVICE_WORKING;
    if (call->device->state == DS_STATE_LOST)
        status = DV_DEVICE_LOST;
    else if (call->device->state != DS_STATE_OK)
        status = DV_DEVICE_INITIALISING;
    else if (call->device->status_bits & DV_STATUS_TS_DOWN)
        status = DV_DEVICE_EXCEPTION;
    abi_put32(call->out, status);
    return 0;
}

// A lost device has no start-up status that anybody could believe: clients take anything but 16
// for "not there".
static int32_t startup(struct abi_call* call) {
    struct dv_startup answer = {call->device->config.device_id, 0, 0};
    if (call->device->state != DS_STATE_LOST) {
        answer.process_status = call->device->boot_status;
        answer.dmp_started = call->device->dmp_started;
    }
    memcpy(call->out, &answer, sizeof(answer));
    return 0;
}

static int32_t pci_address(struct abi_call* call) {
    const struct sim_device_config* config = &call->device->config;
    call->out[4] = (uint8_t)config->pci_bus;
    call->out[5] = (uint8_t)config->pci_slot;
    call->out[6] = (uint8_t)config->pci_function;
    call->out[7] = 0;
    return 0;
}

static int32_t core_spec(struct abi_call* call) {
    struct dv_core_spec answer;
    memset(&answer, 0, sizeof(answer));
    answer.device_id = call->device->config.device_id;
    answer.ai_core_count = call->device->config.ai_core_count;
    answer.ai_cpu_count = call->device->config.ai_cpu_count;
    answer.core_count_level = 1;
    answer.frequency_level = 1;
    memcpy(call->out, &answer, sizeof(answer));
    return 0;
}

static int32_t core_in_use(struct abi_call* call) {
    struct dv_core_in_use answer;
    memset(&answer, 0, sizeof(answer));
    answer.device_id = call->device->config.device_id;
    answer.ai_core_count = call->device->config.ai_core_count;
    answer.ai_cpu_count = call->device->config.ai_cpu_count;
    memcpy(call->out, &answer, sizeof(answer));
    return 0;
}

static void core_bitmap(uint64_t bitmap[2], uint32_t count) {
    bitmap[0] = abi_low_bits(count);
    bitmap[1] = count > 64 ? abi_low_bits(count - 64) : 0;
}

static int32_t device_info(struct abi_call* call) {
    const struct sim_device_config* config = &call->device->config;
    struct dv_device_info info;
    memset(&info, 0, sizeof(info));
    info.device_id = config->device_id;
    info.control_cpu_count = config->control_cpu_count;
    info.control_cpu_bitmap = abi_low_bits(config->control_cpu_count);
    info.control_cpu_little_endian = 1;
    info.ts_cpu_core_count = 1;
    info.ai_cpu_core_count = config->ai_cpu_count;
    info.ai_core_count = config->ai_core_count;
    info.ai_cpu_bitmap = abi_low_bits(config->ai_cpu_count) << (config->control_cpu_count & 63U);
    info.ai_cpu_core_id = config->control_cpu_count; // the AI CPUs follow the control CPUs
    info.ts_count = 1;
    info.ai_core_frequency = config->ai_core_rated_mhz;
    info.cpu_system_count = call->sim->now_ns; // a counter of 1 GHz
    info.monotonic_raw_ns = call->sim->now_ns;
    info.vector_core_count = config->vector_core_count;
    info.vector_core_frequency = config->ai_core_rated_mhz;
    info.chip_id = config->card;
    info.die_id = config->chip;
    info.mainboard_id = config->mainboard_id;
    memcpy(info.soc_version, config->soc_version, sizeof(info.soc_version));
    core_bitmap(info.ai_core_bitmap, config->ai_core_count);
    core_bitmap(info.vector_core_bitmap, config->vector_core_count);
    info.product_type = (uint8_t)config->product_type;
    memcpy(call->out, &info, sizeof(info));
    return 0;
}

// pid list of section 4.2: as the caller sees them, processes that it cannot see left out.
// container: in the processes' own namespaces.
static uint32_t process_list(const struct abi_call* call, uint8_t* buffer, uint32_t room,
                             int container) {
    uint32_t index, used = 0;
    for (index = sim_next_owner(call->device, 0);
         index < SIM_OWNERS_MAX && used + sizeof(int32_t) <= room;
         index = sim_next_owner(call->device, index + 1)) {
        const struct sim_owner* owner = &call->device->owner[index];
        uint32_t pid =
            container ? owner->ns_pid : sim_owner_pid_for(call->sim, owner, &call->client->ident);
        if (pid) {
            abi_put32(buffer + used, pid);
            used += sizeof(int32_t);
        }
    }
    return used;
}

static int32_t resource_u64(struct dv_resource* resource, uint64_t value) {
    if (resource->buffer_len < sizeof(value))
        return -SIM_EINVAL;
    abi_put64(resource->buffer, value);
    resource->buffer_len = sizeof(value);
    return 0;
}

static int32_t process_resource(struct abi_call* call, struct dv_resource* resource) {
    const struct sim_owner* owner;
    uint32_t room = resource->buffer_len;
    switch (resource->resource_type) {
    case DV_RESOURCE_PROCESS_LIST:
        resource->buffer_len = process_list(call, resource->buffer, room, 0);
        return 0;
    case DV_RESOURCE_CONTAINER_PROCESS_LIST:
        if (!(call->client->ident.environment & DV_ACC_ENV_ADMIN_CONTAINER))
            return -SIM_EOPNOTSUPP; // "admin container builds" alone
        resource->buffer_len = process_list(call, resource->buffer, room, 1);
        return 0;
    case DV_RESOURCE_PROCESS_MEMORY:
        owner = abi_owner_of(call, resource->owner_id);
        return owner ? resource_u64(resource, owner->bytes) : -SIM_EINVAL;
    default:
        return -SIM_EINVAL;
    }
}

static int32_t resource_information(struct abi_call* call) {
    struct dv_resource resource;
    const struct sim_device* device = call->device;
    int32_t result;
    memcpy(&resource, call->in, sizeof(resource));
    if (resource.owner_type > DV_OWNER_PROCESS || resource.buffer_len > sizeof(resource.buffer))
        return -SIM_EINVAL;
    memset(resource.buffer, 0, sizeof(resource.buffer));
    switch (resource.resource_type) {
    case 0: // stream, event, notify and model ids are not counted here
    case 1:
    case 2:
    case 3:
    case DV_RESOURCE_DDR_TOTAL: // the chip has no DDR
    case DV_RESOURCE_DDR_FREE:
        return -SIM_EOPNOTSUPP;
    case DV_RESOURCE_HBM_TOTAL:
        result = resource_u64(&resource, sim_hbm_total_bytes(device));
        break;
    case DV_RESOURCE_HBM_FREE:
        result = resource_u64(&resource, sim_hbm_total_bytes(device) - sim_hbm_used_bytes(device));
        break;
    default:
        if (resource.owner_type != DV_OWNER_PROCESS)
            return -SIM_EINVAL;
        result = process_resource(call, &resource);
        break;
    }
    if (result == 0)
        memcpy(call->out, &resource, sizeof(resource));
    return result;
}

static int32_t signature(struct abi_call* call) {
    static const char digits[] = "0123456789abcdef";
    const struct sim_ident* ident = &call->client->ident;
    struct dv_signature answer;
    uint32_t index;
    memset(&answer, 0, sizeof(answer));
    answer.tgid = (int32_t)(ident->ns_pid ? ident->ns_pid : ident->pid);
    for (index = 0; index < sizeof(answer.sign) - 1; ++index)
        answer.sign[index] =
            digits[fi_random(call->sim->seed, ident->pid, ident->start_time + index) & 15U];
    memcpy(call->out, &answer, sizeof(answer));
    return 0;
}

static int32_t host_kind(struct abi_call* call) {
    uint32_t environment = call->client->ident.environment, flag = DV_HOST_PHYSICAL;
    if (environment & (DV_ACC_ENV_CONTAINER | DV_ACC_ENV_ADMIN_CONTAINER))
        flag = DV_HOST_CONTAINER;
    else if (environment & DV_ACC_ENV_VM)
        flag = DV_HOST_VIRTUAL_MACHINE;
    abi_put32(call->out + 4, flag);
    return 0;
}

// The caller's ids as the host sees them. A thread's can be told where both speak of one namespace.
static int32_t container_command(struct abi_call* call) {
    const struct sim_ident* ident = &call->client->ident;
    switch (abi_get32(call->in + 4)) {
    case DV_CONTAINER_HOST_TGID:
        abi_put32(call->out, ident->pid);
        return 0;
    case DV_CONTAINER_HOST_PID:
        if (ident->ns_pid && ident->ns_pid != ident->pid)
            return -SIM_EOPNOTSUPP;
        abi_put32(call->out, call->request->thread);
        return 0;
    case DV_CONTAINER_DEVICE_LIST:
        return -SIM_EOPNOTSUPP; // its layout is not in the facts
    default:
        return -SIM_EINVAL;
    }
}

static int32_t old_devices(struct abi_call* call) {
    struct dv_old_device_list list;
    uint32_t id;
    if (!call->sim->old_abi)
        return -SIM_EOPNOTSUPP; // retired numbers
    memset(&list, 0, sizeof(list));
    for (id = 0; id < call->sim->limits.device_count; ++id)
        if (abi_find_device(call, id) == 0)
            list.ids[list.count++] = id;
    if (call->info->id == DV_CMD_OLD_COUNT)
        abi_put32(call->out, list.count);
    else
        memcpy(call->out, &list, sizeof(list));
    return 0;
}

static int32_t system_call_of(struct abi_call* call) {
    switch (call->info->id) {
    case DV_CMD_CONTAINER:
        return container_command(call);
    case DV_CMD_HOST_KIND:
        return host_kind(call);
    case DV_CMD_CONTAINER_FLAG:
        abi_put32(call->out, (call->client->ident.environment & DV_ACC_ENV_CONTAINER) != 0);
        return 0;
    case DV_CMD_SIGNATURE:
        return signature(call);
    case DV_CMD_CONSOLE_LOG:
        abi_put32(call->out, CONSOLE_LOG_LEVEL);
        return 0;
    case DV_CMD_OLD_COUNT:
    case DV_CMD_OLD_LIST:
        return old_devices(call);
    default:
        return -SIM_EOPNOTSUPP;
    }
}

int32_t abi_devmng_execute(struct abi_call* call) {
    int32_t result;
    if (!(call->info->scope & DV_SCOPE_DEVICE))
        return system_call_of(call);
    result = abi_find_device(call, call->request->device);
    if (result)
        // driver-abi.md 4: here alone an unknown id is an invalid value
        return call->info->id == DV_CMD_BLACKBOX ? -SIM_EINVAL : result;
    switch (call->info->id) { // what a lost or starting device answers, too
    case DV_CMD_DEVICE_STATUS:
        return device_status(call);
    case DV_CMD_STARTUP:
        return startup(call);
    case DV_CMD_BLACKBOX:
        return 0;
    case DV_CMD_PRE_RESET:
        return abi_pre_reset(call);
    case DV_CMD_RESCAN:
        return abi_rescan(call);
    default:
        break;
    }
    result = abi_working(call->device);
    if (result)
        return result;
    switch (call->info->id) {
    case DV_CMD_PCI_ADDRESS:
        return pci_address(call);
    case DV_CMD_CORE_SPEC:
        return core_spec(call);
    case DV_CMD_CORE_IN_USE:
        return core_in_use(call);
    case DV_CMD_DEVICE_INFO:
        return device_info(call);
    case DV_CMD_RESOURCE:
        return resource_information(call);
    default:
        return -SIM_EOPNOTSUPP;
    }
}
