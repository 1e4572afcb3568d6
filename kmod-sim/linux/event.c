// SPDX-License-Identifier: GPL-2.0-only
// What the rest of the kernel is told, outside of all sections: devices that come and go, one log
// line and one RAS record a fault, a uevent when health or state changes.
#include <linux/aer.h>
#include <linux/slab.h>
#include <linux/uuid.h>
#include <ras/ras_event.h>

#include "kmod-sim/linux/driver.h"

#define BATCH 8

// Section type of the RAS records: a fault event of a simulated Ascend device.
static const guid_t section_type =
    GUID_INIT(0x5f0b9c1d, 0x7a34, 0x4e0f, 0x9d, 0x52, 0x3c, 0x8a, 0x11, 0xe6, 0x40, 0xb7);

static const char* state_text(u32 state) {
    switch (state) {
    case DS_STATE_OK:
        return "ok";
    case DS_STATE_RESETTING:
        return "resetting";
    case DS_STATE_LOST:
        return "lost";
    default:
        return "absent";
    }
}

static const char* health_text(u32 health) {
    switch (health) {
    case DV_HEALTH_NORMAL:
        return "ok";
    case DV_HEALTH_MINOR:
        return "warning";
    case DV_HEALTH_MAJOR:
        return "alarm";
    case DV_HEALTH_CRITICAL:
        return "critical";
    default:
        return "unknown";
    }
}

// ---- faults ----

static void log_event(const struct sim_event* event) {
    static const char* const severities[] = {"warning", "minor", "major", "critical"};
    static const char* const levels[] = {KERN_NOTICE, KERN_WARNING, KERN_ERR, KERN_CRIT};
    u32 severity = min_t(u32, event->severity, DV_SEVERITY_CRITICAL);
    bool over = event->assertion == DV_ASSERTION_RECOVERY;
    const char* text = sim_event_text(event->event_id);
    // One format for every line, so that a log can be searched.
    printk("%sdavinci davinci%u: fault 0x%08X %s, severity %s: %s%s%s\n",
           over ? KERN_INFO : levels[severity], event->device, event->event_id,
           over                                       ? "recovered"
           : event->assertion == DV_ASSERTION_ONE_OFF ? "noted"
                                                      : "raised",
           severities[severity], text ? text : "unknown", event->info[0] ? ", " : "", event->info);
}

static void tell_event(const struct sim_event* event) {
    // as firmware errors have it: corrected, recoverable, fatal
    static const u8 severities[] = {1, 2, 2, 3};
    u32 severity = min_t(u32, event->severity, DV_SEVERITY_CRITICAL);
    char unit[24];
    log_event(event);
    if (event->assertion == DV_ASSERTION_RECOVERY)
        return;
    snprintf(unit, sizeof(unit), "davinci%u", event->device);
    trace_non_standard_event(&section_type, &guid_null, unit, severities[severity],
                             (const u8*)event, sizeof(*event));
}

static void tell_events(void) {
    struct sim_event batch[BATCH];
    u64 lost;
    u32 count, index;
    do {
        count = 0;
        lost = 0;
        davsim_lock_system();
        if (davsim.sim->history_head - davsim.event_cursor > SIM_HISTORY_MAX) {
            lost = davsim.sim->history_head - SIM_HISTORY_MAX - davsim.event_cursor;
            davsim.event_cursor += lost;
        }
        while (count < BATCH && davsim.event_cursor < davsim.sim->history_head)
            batch[count++] = *sim_history(davsim.sim, davsim.event_cursor++);
        davsim_unlock_system();
        if (lost)
            pr_warn("davinci: %llu faults came too fast to be logged\n", lost);
        for (index = 0; index < count; ++index)
            tell_event(&batch[index]);
    } while (count == BATCH);
}

// ---- devices ----

static void change_uevent(struct davsim_unit* unit, u32 index) {
    char device[24], state[32], health[32];
    char* environment[] = {device, state, health, NULL};
    snprintf(device, sizeof(device), "DAVINCI_DEVICE=%u", index);
    snprintf(state, sizeof(state), "DAVINCI_STATE=%s", state_text(unit->state));
    snprintf(health, sizeof(health), "DAVINCI_HEALTH=%s", health_text(unit->health));
    kobject_uevent_env(&unit->node->device.kobj, KOBJ_CHANGE, environment);
}

static void add_unit(struct davsim_unit* unit, u32 index) {
    struct sim_device_config* config = kmalloc(sizeof(*config), GFP_KERNEL);
    struct device* parent;
    if (!config)
        return;
    davsim_lock_device(index);
    *config = davsim.sim->device[index].config;
    davsim_unlock_device(index);
    unit->bridge = davsim_with_pci ? davsim_pci_add(index, config) : NULL;
    kfree(config);
    parent = davsim_pci_device(unit->bridge);
    unit->node = davsim_node_add(DV_NODE_IS_DEVICE, index, parent);
    if (IS_ERR(unit->node)) {
        pr_err("davinci: no node for davinci%u: error %ld\n", index, PTR_ERR(unit->node));
        unit->node = NULL;
        davsim_pci_remove(unit->bridge);
        unit->bridge = NULL;
        return;
    }
    if (davsim_with_hwmon)
        unit->hwmon = davsim_hwmon_add(index, parent ? parent : &unit->node->device);
}

static void remove_unit(struct davsim_unit* unit) {
    davsim_hwmon_remove(unit->hwmon);
    davsim_node_remove(unit->node);
    davsim_pci_remove(unit->bridge);
    unit->hwmon = NULL;
    unit->node = NULL;
    unit->bridge = NULL;
}

static void tell_device(u32 index, u32 state, u32 health) {
    struct davsim_unit* unit = &davsim.unit[index];
    bool was = unit->node != NULL;
    if (state == DS_STATE_ABSENT) {
        if (was) {
            pr_info("davinci davinci%u: removed\n", index);
            remove_unit(unit);
        }
        unit->state = state;
        return;
    }
    if (!was) {
        add_unit(unit, index);
        if (!unit->node)
            return;
    }
    if (unit->state == state && unit->health == health)
        return;
    unit->state = state;
    unit->health = health;
    davsim_pci_set_lost(unit->bridge, state == DS_STATE_LOST);
    if (was) // an added one has had its own uevent
        change_uevent(unit, index);
}

static void upkeep_work(struct work_struct* work) {
    u32 state[SIM_DEVICES_MAX], health[SIM_DEVICES_MAX], index;
    davsim_lock_system();
    davsim_lock_devices();
    for (index = 0; index < davsim.slots; ++index) {
        const struct sim_device* device = sim_device(davsim.sim, index);
        state[index] = device ? device->state : DS_STATE_ABSENT;
        health[index] = device ? sim_health(device) : DV_HEALTH_ABSENT;
    }
    davsim_unlock_devices();
    davsim_unlock_system();
    for (index = 0; index < davsim.slots; ++index)
        tell_device(index, state[index], health[index]);
    tell_events();
}

void davsim_notice(void) {
    bool news = davsim.sim->history_head != davsim.event_cursor;
    u32 index;
    for (index = 0; index < davsim.slots; ++index) {
        const struct sim_device* device = sim_device(davsim.sim, index);
        u32 state = device ? device->state : DS_STATE_ABSENT;
        news |= davsim.unit[index].known_state != state;
        davsim.unit[index].known_state = state;
    }
    if (news && !davsim.closing)
        queue_work(davsim.queue, &davsim.upkeep);
}

void davsim_upkeep_flush(void) {
    flush_work(&davsim.upkeep);
}

int davsim_events_init(void) {
    u32 index;
    davsim.unit = kcalloc(davsim.slots, sizeof(*davsim.unit), GFP_KERNEL);
    if (!davsim.unit)
        return -ENOMEM;
    for (index = 0; index < davsim.slots; ++index)
        davsim.unit[index].state = davsim.unit[index].known_state = DS_STATE_ABSENT;
    INIT_WORK(&davsim.upkeep, upkeep_work);
    return 0;
}

void davsim_events_exit(void) {
    u32 index;
    cancel_work_sync(&davsim.upkeep);
    for (index = 0; index < davsim.slots; ++index)
        remove_unit(&davsim.unit[index]);
    kfree(davsim.unit);
}
