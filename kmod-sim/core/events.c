// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Fault events of a device: raised, active, recovered; and the health that follows.
#include "kmod-sim/core/internal.h"

static uint32_t fault_slot(const struct sim_device* device, uint32_t event_id) {
    uint32_t slot = 0;
    while (slot < device->fault_count && device->fault[slot].event_id != event_id)
        ++slot;
    return slot;
}

static uint32_t disabled_slot(const struct sim_device* device, uint32_t event_id) {
    uint32_t slot = 0;
    while (slot < device->disabled_count && device->disabled[slot] != event_id)
        ++slot;
    return slot;
}

static void post(struct sim_device* device, const struct sim_fault* fault, uint8_t assertion,
                 uint64_t now_ms) {
    struct sim_event* event;
    if (device->outbox_count >= SIM_OUTBOX_MAX) {
        ++device->outbox_lost;
        return;
    }
    event = &device->outbox[device->outbox_count++];
    sim_fault_event(device, fault, event);
    event->assertion = assertion;
    event->raised_ms = now_ms;
}

static void recover(struct sim* sim, struct sim_device* device, uint32_t slot) {
    post(device, &device->fault[slot], DV_ASSERTION_RECOVERY, sim_wall_ms(sim));
    for (--device->fault_count; slot < device->fault_count; ++slot)
        device->fault[slot] = device->fault[slot + 1];
    memset(&device->fault[device->fault_count], 0, sizeof(device->fault[0]));
}

void sim_raise(struct sim* sim, struct sim_device* device, uint32_t event_id, uint8_t assertion,
               uint32_t pid, const char* info) {
    uint32_t slot = fault_slot(device, event_id);
    struct sim_fault fault;
    if (assertion == DV_ASSERTION_RECOVERY) {
        if (slot < device->fault_count)
            recover(sim, device, slot);
        return;
    }
    if (disabled_slot(device, event_id) < device->disabled_count ||
        (assertion == DV_ASSERTION_OCCURRENCE && slot < device->fault_count))
        return;
    memset(&fault, 0, sizeof(fault));
    fault.event_id = event_id;
    fault.serial = (int32_t)(++device->next_serial & 0x7FFFFFFFU);
    fault.raised_ms = sim_wall_ms(sim);
    fault.pid = pid;
    fault.severity = sim_event_severity(event_id);
    sim_copy_text(fault.info, sizeof(fault.info), info);
    if (assertion == DV_ASSERTION_OCCURRENCE) {
        if (device->fault_count >= SIM_FAULTS_MAX) { // could never recover: not raised, but counted
            ++device->outbox_lost;
            return;
        }
        device->fault[device->fault_count++] = fault;
    }
    post(device, &fault, assertion, fault.raised_ms);
}

void sim_event_clear(struct sim* sim, struct sim_device* device) {
    while (device->fault_count)
        recover(sim, device, 0);
}

int sim_event_disable(struct sim* sim, struct sim_device* device, uint32_t event_id) {
    if (disabled_slot(device, event_id) < device->disabled_count)
        return 0;
    if (device->disabled_count >= SIM_DISABLED_MAX)
        return -SIM_ENOSPC;
    sim_raise(sim, device, event_id, DV_ASSERTION_RECOVERY, 0, NULL);
    device->disabled[device->disabled_count++] = event_id;
    return 0;
}

int sim_event_enable(struct sim* sim, struct sim_device* device, uint32_t event_id) {
    uint32_t slot = disabled_slot(device, event_id);
    (void)sim;
    if (slot == device->disabled_count)
        return -SIM_ENOENT;
    device->disabled[slot] = device->disabled[--device->disabled_count];
    device->disabled[device->disabled_count] = 0;
    return 0;
}

void sim_fault_event(const struct sim_device* device, const struct sim_fault* fault,
                     struct sim_event* out) {
    memset(out, 0, sizeof(*out));
    out->event_id = fault->event_id;
    out->serial = fault->serial;
    out->raised_ms = fault->raised_ms;
    out->device = device->config.device_id;
    out->pid = fault->pid;
    out->severity = fault->severity;
    out->assertion = DV_ASSERTION_OCCURRENCE;
    memcpy(out->info, fault->info, sizeof(out->info));
}

uint32_t sim_health(const struct sim_device* device) {
    uint32_t health = DV_HEALTH_NORMAL, index;
    if (!sim_present(device) || device->state == DS_STATE_LOST)
        return DV_HEALTH_ABSENT;
    for (index = 0; index < device->fault_count; ++index)
        if (device->fault[index].severity > health)
            health = device->fault[index].severity;
    // Data has been spoilt and the page is still in use.
    for (index = 0; index < device->page_count && health < DV_HEALTH_MAJOR; ++index)
        if (device->page[index].state == SIM_PAGE_PENDING && device->page[index].cause == 2)
            health = DV_HEALTH_MAJOR;
    return health;
}
