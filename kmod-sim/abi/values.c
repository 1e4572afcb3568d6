// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// What the telemetry shows of a device, for UDIS and DMP alike.
#include "kmod-sim/abi/internal.h"

uint32_t abi_ai_core_percent(const struct sim* sim, const struct sim_device* device) {
    uint32_t load[FI_LOAD_COUNT];
    sim_load(sim, device, load);
    return load[FI_LOAD_AICORE];
}

// Declared by the profile, as long as the residents that make the load live.
uint32_t abi_vector_percent(const struct sim_device* device) {
    return device->declared_load_on ? device->config.load_vector : 0;
}

uint32_t abi_ai_cpu_percent(const struct sim_device* device) {
    return device->declared_load_on ? device->config.load_ai_cpu : 0;
}

uint32_t abi_control_cpu_percent(const struct sim_device* device) {
    return device->declared_load_on ? device->config.load_control_cpu : 0;
}

uint32_t abi_hbm_percent(const struct sim_device* device) {
    uint32_t total = (uint32_t)(sim_hbm_total_bytes(device) >> 20);
    uint64_t used = sim_hbm_used_bytes(device) >> 20;
    return total ? (uint32_t)mul_div_u64(used, 100, total) : 0;
}

uint64_t abi_updated_ms(const struct sim* sim, const struct sim_device* device) {
    return sim->wall_offset_ms + div_u64_u32(device->sensors.updated_ns, 1000000U, NULL);
}

uint32_t abi_text_length(const char* text, uint32_t room) {
    uint32_t length = 0;
    while (length < room && text[length])
        ++length;
    return length;
}

const struct sim_owner* abi_owner_of(const struct abi_call* call, uint32_t pid) {
    uint32_t index;
    if (!pid)
        return NULL;
    for (index = sim_next_owner(call->device, 0); index < SIM_OWNERS_MAX;
         index = sim_next_owner(call->device, index + 1)) {
        const struct sim_owner* owner = &call->device->owner[index];
        if (sim_owner_pid_for(call->sim, owner, &call->client->ident) == pid)
            return owner;
    }
    return NULL;
}

uint32_t abi_hbm_controller(uint64_t address) {
    return (uint32_t)(address >> SIM_PAGE_SHIFT) & (ABI_HBM_CONTROLLERS - 1);
}
