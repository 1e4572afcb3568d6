// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The telemetry page (ioctl/wire/telemetry.h): who may map which, and what stands in it.
#include "kmod-sim/abi/internal.h"

int32_t abi_telemetry_may_map(const struct sim* sim, const struct sim_client* client,
                              uint64_t device, uint64_t bytes, uint64_t page_bytes, int writable) {
    if (abi_module(client) != DV_MOD_DAVSIM)
        return -SIM_ENODEV; // what other modules map is theirs; none of them is simulated
    if (bytes != page_bytes)
        return -SIM_EINVAL;
    if (device >= sim->limits.device_count || !abi_visible(client, (uint32_t)device))
        return -SIM_ENODEV;
    return writable ? -SIM_EACCES : 0;
}

static void put_sensors(const struct sim* sim, const struct sim_device* device,
                        struct ds_telemetry_values* values) {
    values->known |= DS_TELEMETRY_KNOWN_SENSORS;
    values->updated_ns = device->sensors.updated_ns;
    values->temperature_mc = device->sensors.temperature_mc;
    values->hbm_temperature_mc = device->sensors.hbm_temperature_mc;
    values->power_mw = device->sensors.power_mw;
    values->voltage_mv = device->sensors.voltage_mv;
    values->ai_core_mhz = device->sensors.ai_core_mhz;
    values->ai_core_percent = abi_ai_core_percent(sim, device);
    values->vector_percent = abi_vector_percent(device);
    values->ai_cpu_percent = abi_ai_cpu_percent(device);
    values->control_cpu_percent = abi_control_cpu_percent(device);
    values->hbm_bandwidth_percent = sim_hbm_bandwidth_percent(device);
}

static void put_memory(const struct sim_device* device, struct ds_telemetry_values* values) {
    values->known |= DS_TELEMETRY_KNOWN_MEMORY;
    values->hbm_total_kib = sim_hbm_total_bytes(device) >> 10;
    values->hbm_used_kib = sim_hbm_used_bytes(device) >> 10;
    values->hbm_unowned_kib = sim_hbm_unowned_bytes(device) >> 10;
    values->owner_count = sim_owner_count(device);
    values->reset_count = device->reset_count;
    values->ecc_single = device->ecc.single_now;
    values->ecc_double = device->ecc.double_now;
    values->pages_isolated = device->pages_isolated;
    values->pages_pending = device->pages_pending;
}

void abi_telemetry_publish(struct sim* sim, uint32_t id, struct ds_telemetry* page) {
    const struct sim_device* device = sim_device(sim, id);
    struct ds_telemetry_values values;
    memset(&values, 0, sizeof(values));
    values.now_ns = sim->now_ns;
    values.device_id = id;
    values.state = device ? device->state : DS_STATE_ABSENT;
    values.health = device ? sim_health(device) : DV_HEALTH_ABSENT;
    // As the commands have it: sensors answer on a working device alone.
    if (device && abi_working(device) == 0)
        put_sensors(sim, device, &values);
    if (device)
        put_memory(device, &values);
    ds_telemetry_write(page, &values);
}
