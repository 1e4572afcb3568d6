// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Devices come, are lost and come back.
#include "kmod-sim/core/internal.h"

#define PAGES_PER_MIB 16U
#define HBM_MIB_MAX 0x0FFFFFFFU // pages stay 32-bit numbers
#define POWER_DW_MAX 1000000U   // 100 kW; milliwatts stay 31-bit
#define TEMPERATURE_MAX_C 1000

static int celsius(int32_t value) {
    return value >= -TEMPERATURE_MAX_C && value <= TEMPERATURE_MAX_C;
}

// Nothing that the profile says may overflow later.
static int plausible(const struct sim_device_config* config) {
    return config->hbm_mib <= HBM_MIB_MAX && config->baseline_mib <= config->hbm_mib &&
           config->context_mib <= HBM_MIB_MAX && config->power_dw <= POWER_DW_MAX &&
           config->power_idle_dw <= POWER_DW_MAX && celsius(config->temperature_c) &&
           celsius(config->temperature_idle_c) && celsius(config->hbm_temperature_c) &&
           celsius(config->hbm_temperature_idle_c) &&
           config->thermal_limit_c <= TEMPERATURE_MAX_C && config->hbm_hot_c <= TEMPERATURE_MAX_C &&
           config->hbm_fatal_c <= TEMPERATURE_MAX_C;
}

void sim_enter(struct sim* sim, struct sim_device* device, uint32_t state) {
    device->state = state; // and with it what is due
    sim_touch(sim);
    sim_journal(sim, device->config.device_id, DS_J_STATE, 0, 0, state, 0, 0);
}

static void started(struct sim_device* device) {
    device->boot_status = DV_BOOT_STARTED;
    device->dmp_started = 1;
    device->reset_next_ns = SIM_NEVER;
}

// An empty slot; its numbers go on.
static void clear_slot(struct sim_device* device, uint32_t id) {
    uint32_t serial = device->next_serial, sequence = device->journal_sequence;
    uint32_t nodes = device->holder_nodes; // open ones outlive the device
    memset(device, 0, sizeof(*device));
    device->config.device_id = id;
    device->state = DS_STATE_ABSENT;
    device->next_serial = serial;
    device->journal_sequence = sequence;
    device->holder_nodes = nodes;
    device->reset_next_ns = device->scrub_next_ns = device->sensor_next_ns = SIM_NEVER;
}

int sim_add_device(struct sim* sim, const struct sim_device_config* config,
                   const struct sim_ecc* ecc, const uint32_t* isolated, uint32_t isolated_count) {
    struct sim_device* device;
    int result;
    if (config->device_id >= sim->limits.device_count || !plausible(config))
        return -SIM_EINVAL;
    device = &sim->device[config->device_id];
    if (sim_present(device))
        return -SIM_EEXIST;
    clear_slot(device, config->device_id);
    memcpy(&device->config, config, sizeof(*config));
    device->total_pages = (uint64_t)config->hbm_mib * PAGES_PER_MIB;
    device->baseline_pages = (uint64_t)config->baseline_mib * PAGES_PER_MIB;
    device->used_pages = device->baseline_pages;
    device->oom_count = config->oom_count;
    started(device);
    if (ecc)
        memcpy(&device->ecc, ecc, sizeof(*ecc));
    result = isolated_count ? sim_page_restore(sim, device, isolated, isolated_count) : 0;
    if (result) {
        clear_slot(device, config->device_id);
        return result;
    }
    device->filled = 1;
    device->declared_load_on = 1;
    sim_enter(sim, device, DS_STATE_OK);
    sim_sensors_start(sim, device);
    return 0;
}

struct sim_device* sim_device(struct sim* sim, uint32_t device) {
    if (device >= sim->limits.device_count || !sim_present(&sim->device[device]))
        return NULL;
    return &sim->device[device];
}

void sim_residents_settled(struct sim* sim) {
    sim->residents_settled = 1;
}

// ---- lost and back ----

static void lose(struct sim* sim, struct sim_device* device, uint32_t rule) {
    if (device->state == DS_STATE_RESETTING) { // it never comes to its end
        device->reset_outcome = DS_RESET_FAILED;
        sim_journal(sim, device->config.device_id, DS_J_RESET, 0, 0, DS_RESET_FAILED,
                    device->boot_status, 0);
    }
    device->reset_next_ns = SIM_NEVER;
    device->status_bits |= DV_STATUS_HEARTBEAT_LOST;
    device->lost_rule = rule;
    sim_enter(sim, device, DS_STATE_LOST);
    sim_raise(sim, device, DV_EV_HEARTBEAT_LOST, DV_ASSERTION_OCCURRENCE, 0, NULL);
}

static void find_again(struct sim* sim, struct sim_device* device) {
    device->status_bits &= ~DV_STATUS_HEARTBEAT_LOST;
    device->lost_rule = 0;
    started(device);
    sim_enter(sim, device, DS_STATE_OK);
    sim_raise(sim, device, DV_EV_HEARTBEAT_LOST, DV_ASSERTION_RECOVERY, 0, NULL);
}

// When the rule that holds the device lost is over: 0 when it has been cleared.
static uint64_t rule_end(const struct sim* sim, uint32_t id) {
    const struct fi_rule* rule = fi_get(&sim->rules, id);
    if (!rule || rule->id != id)
        return 0;
    if (!rule->for_ns)
        return SIM_NEVER;
    return sim_later(sim_later(rule->added_ns, rule->after_ns), rule->for_ns);
}

static int lost_by_rule(const struct sim_device* device) {
    return device->state == DS_STATE_LOST && device->lost_rule != 0;
}

uint64_t sim_lost_next(const struct sim* sim, const struct sim_device* device) {
    return lost_by_rule(device) ? rule_end(sim, device->lost_rule) : SIM_NEVER;
}

void sim_lost_fire(struct sim* sim) {
    uint32_t load[FI_LOAD_COUNT], id, slot = 0;
    struct fi_query query;
    const struct fi_rule* rule;
    while (slot < sim->rules.count && !fi_due(&sim->rules, FI_LOST, slot, sim->now_ns))
        ++slot;
    if (slot == sim->rules.count)
        return;
    for (id = 0; id < sim->limits.device_count; ++id) {
        struct sim_device* device = &sim->device[id];
        if (!sim_present(device))
            continue;
        sim_load(sim, device, load);
        query.now_ns = sim->now_ns;
        query.device = id;
        query.client_pid = FI_ANY;
        query.client_name = NULL;
        query.command = NULL;
        query.load = load;
        slot = 0;
        while ((rule = fi_fire_timed(&sim->rules, FI_LOST, &query, &slot)) != NULL) {
            if (device->state == DS_STATE_LOST)
                continue;
            sim_journal(sim, id, DS_J_FAULT, 0, 0, rule->id, rule->matches, 0);
            lose(sim, device, rule->id);
        }
    }
}

void sim_lost_return(struct sim* sim) {
    uint32_t id;
    for (id = 0; id < sim->limits.device_count; ++id) {
        struct sim_device* device = &sim->device[id];
        if (lost_by_rule(device) && rule_end(sim, device->lost_rule) <= sim->now_ns)
            find_again(sim, device);
    }
}

int sim_hotplug(struct sim* sim, uint32_t device, uint32_t operation) {
    struct sim_device* target;
    if (device >= sim->limits.device_count || !sim->device[device].filled)
        return -SIM_ENODEV;
    target = &sim->device[device];
    switch (operation) {
    case DS_HOTPLUG_REMOVE:
        if (target->state == DS_STATE_ABSENT)
            return 0;
        sim_raise(sim, target, DV_EV_HEARTBEAT_LOST, DV_ASSERTION_RECOVERY, 0, NULL);
        sim_power_cycle(sim, target);
        target->lost_rule = 0;
        target->status_bits = 0;
        target->reset_next_ns = SIM_NEVER;
        target->boot_status = DV_BOOT_UNINITIALISED;
        target->dmp_started = 0;
        sim_enter(sim, target, DS_STATE_ABSENT);
        return 0;
    case DS_HOTPLUG_RESTORE:
        if (lost_by_rule(target))
            return -SIM_EINVAL;
        if (target->state == DS_STATE_LOST) {
            find_again(sim, target);
        } else if (target->state == DS_STATE_ABSENT) {
            started(target);
            sim_enter(sim, target, DS_STATE_OK);
            sim_sensors_start(sim, target);
        }
        return 0;
    case DS_HOTPLUG_LOSE:
        if (target->state == DS_STATE_ABSENT)
            return -SIM_ENODEV;
        if (target->state != DS_STATE_LOST)
            lose(sim, target, 0);
        return 0;
    default:
        return -SIM_EINVAL;
    }
}
