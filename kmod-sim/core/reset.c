// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Reset in band: what it takes, and the way back through the boot states.
#include "kmod-sim/core/internal.h"

#define BOOT_DONE_EVENT 0x8C2FA009U // device OS has started (firmware-and-faults.md 4.3)

// These end with the memory's own part of the reset.
static int belongs_to_ecc(uint32_t event_id) {
    switch (event_id) {
    case DV_EV_HBM_ISOLATED:
    case DV_EV_HBM_ISOLATION_FAILED:
    case DV_EV_HBM_SCRUB_DOUBLE:
    case DV_EV_HBM_ROWS_16:
    case DV_EV_HBM_ROWS_64:
    case DV_EV_HBM_SINGLE_LIMIT:
        return 1;
    default:
        return 0;
    }
}

void sim_power_cycle(struct sim* sim, struct sim_device* device) {
    uint32_t slot = 0;
    sim_memory_clear(sim, device);
    device->declared_load_on = 0;
    sim_sensors_aim(sim, device);
    while (slot < device->fault_count) {
        uint32_t event_id = device->fault[slot].event_id;
        if (belongs_to_ecc(event_id))
            ++slot;
        else
            sim_raise(sim, device, event_id, DV_ASSERTION_RECOVERY, 0, NULL);
    }
    sim_distribute(sim, device); // as many events as faults may stand in the outbox by now
    sim_ecc_reset(sim, device);
}

static uint64_t boot_step_ns(const struct sim_device* device) {
    uint32_t quarter = device->config.reset_ms >> 2;
    uint32_t step = device->config.boot_step_ms;
    return (uint64_t)(step && step < quarter ? step : quarter) * NS_PER_MS;
}

static void journal_boot(struct sim* sim, const struct sim_device* device) {
    sim_journal(sim, device->config.device_id, DS_J_RESET, 0, 0, device->reset_outcome,
                device->boot_status, 0);
}

static void start(struct sim* sim, struct sim_device* device) {
    sim_enter(sim, device, DS_STATE_RESETTING);
    device->boot_status = DV_BOOT_UNINITIALISED;
    device->dmp_started = 0;
    device->status_bits = 0;
    device->reset_flag = 0;
    device->reset_outcome = DS_RESET_RUNNING;
    device->reset_next_ns = sim_later(sim->now_ns, boot_step_ns(device));
    journal_boot(sim, device);
    sim_power_cycle(sim, device);
}

void sim_reset_step(struct sim* sim, struct sim_device* device) {
    uint64_t step = boot_step_ns(device);
    switch (device->boot_status) {
    case DV_BOOT_UNINITIALISED:
        device->boot_status = DV_BOOT_BIOS;
        break;
    case DV_BOOT_BIOS:
        device->boot_status = DV_BOOT_OS;
        break;
    case DV_BOOT_OS: // the last step takes what is left of the whole
        device->boot_status = DV_BOOT_FINISHED;
        step = (uint64_t)device->config.reset_ms * NS_PER_MS - 3 * step;
        break;
    default:
        device->boot_status = DV_BOOT_STARTED;
        device->dmp_started = 1;
        device->reset_outcome = DS_RESET_DONE;
        ++device->reset_count;
        device->reset_next_ns = SIM_NEVER;
        journal_boot(sim, device);
        sim_enter(sim, device, DS_STATE_OK);
        sim_raise(sim, device, BOOT_DONE_EVENT, DV_ASSERTION_ONE_OFF, 0, NULL);
        return;
    }
    journal_boot(sim, device);
    device->reset_next_ns = sim_later(device->reset_next_ns, step);
}

static int visible(const struct sim_client* caller, uint32_t device) {
    return !caller || ((caller->ident.visible >> device) & 1);
}

static int resettable(const struct sim* sim, uint32_t device, const struct sim_client* caller) {
    if (device >= sim->limits.device_count || !sim_present(&sim->device[device]))
        return -SIM_ENODEV;
    if (!visible(caller, device))
        return -SIM_EACCES;
    if (sim->device[device].state == DS_STATE_LOST)
        return -SIM_EIO;
    if (sim->device[device].state == DS_STATE_RESETTING)
        return -SIM_EAGAIN;
    return sim_busy(sim, device, caller) ? -SIM_EBUSY : 0;
}

static int reset_all(struct sim* sim, const struct sim_client* caller) {
    uint32_t id, ready = 0;
    int lost = 0;
    for (id = 0; id < sim->limits.device_count; ++id) {
        int result;
        if (!visible(caller, id) || !sim_present(&sim->device[id]))
            continue;
        result = resettable(sim, id, caller);
        if (result == -SIM_EIO)
            lost = 1;
        else if (result)
            return result;
        else
            ++ready;
    }
    if (!ready)
        return lost ? -SIM_EIO : -SIM_ENODEV;
    for (id = 0; id < sim->limits.device_count; ++id)
        if (resettable(sim, id, caller) == 0)
            start(sim, &sim->device[id]);
    return 0;
}

int sim_reset(struct sim* sim, uint32_t device, const struct sim_client* caller) {
    int result;
    if (device == DV_RESET_ALL_DEVICES)
        return reset_all(sim, caller);
    result = resettable(sim, device, caller);
    if (result == 0)
        start(sim, &sim->device[device]);
    return result;
}
