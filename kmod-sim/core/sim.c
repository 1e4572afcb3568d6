// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The arena and the passing of time.
#include "kmod-sim/core/internal.h"

#define CLIENTS_MAX 65536U
#define EXTRA_MAX 0x10000000U
#define ALIGNMENT 64U

static size_t rounded(size_t bytes) {
    return (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

static size_t clients_at(void) {
    return rounded(sizeof(struct sim));
}

static size_t devices_at(const struct sim_limits* limits) {
    return clients_at() + rounded(sizeof(struct sim_client) * limits->client_count);
}

static size_t extra_at(const struct sim_limits* limits) {
    return devices_at(limits) + rounded(sizeof(struct sim_device) * limits->device_count);
}

size_t sim_arena_size(const struct sim_limits* limits, size_t extra) {
    if (limits->device_count < 1 || limits->device_count > SIM_DEVICES_MAX ||
        limits->client_count < 1 || limits->client_count > CLIENTS_MAX || extra > EXTRA_MAX)
        return 0;
    return extra_at(limits) + rounded(extra);
}

int sim_init(struct sim** out, void* arena, size_t size, const struct sim_config* config,
             size_t extra) {
    size_t needed = sim_arena_size(&config->limits, extra);
    struct sim* sim = arena;
    uint32_t id;
    *out = NULL;
    if (!arena || !needed || size < needed || ((uintptr_t)arena & 7))
        return -SIM_EINVAL;
    memset(arena, 0, needed);
    sim->limits = config->limits;
    sim->now_ns = config->now_ns;
    sim->wall_offset_ms = config->wall_ms - div_u64_u32(config->now_ns, NS_PER_MS, NULL);
    sim->clock_kind = config->clock_kind;
    sim->seed = config->seed;
    sim->host_pid = config->host_pid;
    sim->host_pid_namespace = config->host_pid_namespace;
    sim->old_abi = config->old_abi;
    sim_copy_text(sim->driver_version, sizeof(sim->driver_version), config->driver_version);
    sim_copy_text(sim->profile, sizeof(sim->profile), config->profile);
    sim_copy_text(sim->host, sizeof(sim->host), config->host);
    fi_init(&sim->rules, config->seed);
    sim->client = (void*)((char*)arena + clients_at());
    sim->device = (void*)((char*)arena + devices_at(&config->limits));
    for (id = 0; id < sim->limits.device_count; ++id) {
        struct sim_device* device = &sim->device[id];
        device->config.device_id = id;
        device->state = DS_STATE_ABSENT;
        device->reset_next_ns = device->scrub_next_ns = device->sensor_next_ns = SIM_NEVER;
    }
    *out = sim;
    return 0;
}

void* sim_extra(struct sim* sim) {
    return (char*)sim + extra_at(&sim->limits);
}

uint64_t sim_wall_ms(const struct sim* sim) {
    return sim->wall_offset_ms + div_u64_u32(sim->now_ns, NS_PER_MS, NULL);
}

// ---- time ----

static uint64_t device_next(const struct sim* sim, const struct sim_device* device) {
    uint64_t next = sim_earlier_of(device->reset_next_ns, device->sensor_next_ns);
    next = sim_earlier_of(next, sim_lost_next(sim, device));
    return sim_earlier_of(next, sim_ecc_next(sim, device));
}

static uint64_t next_deadline(const struct sim* sim) {
    uint64_t next = sim_tickets_next(sim);
    uint32_t id;
    for (id = 0; id < sim->limits.device_count; ++id)
        if (sim_present(&sim->device[id]))
            next = sim_earlier_of(next, device_next(sim, &sim->device[id]));
    return fi_active(&sim->rules) ? sim_earlier_of(next, fi_next_time(&sim->rules, sim->now_ns))
                                  : next;
}

// Everything that is due now, in one order on every host: rules that lose devices, then device by
// device, then calls that only waited for the time.
static void happen(struct sim* sim) {
    uint32_t id;
    sim_lost_return(sim);
    sim_lost_fire(sim);
    for (id = 0; id < sim->limits.device_count; ++id) {
        struct sim_device* device = &sim->device[id];
        if (!sim_present(device))
            continue;
        if (device->reset_next_ns <= sim->now_ns)
            sim_reset_step(sim, device);
        if (device->sensor_next_ns <= sim->now_ns)
            sim_sensors_step(sim, device);
        if (sim_ecc_next(sim, device) <= sim->now_ns)
            sim_ecc_step(sim, device, sim->now_ns);
        sim_distribute(sim, device);
    }
    sim_tickets_due(sim, sim->now_ns);
}

void sim_touch(struct sim* sim) {
    sim->quiet_until_ns = 0;
}

static int rules_as_remembered(const struct sim* sim) {
    return sim->rules.next_id == sim->quiet_rule_id && sim->rules.count == sim->quiet_rule_count;
}

int sim_quiet(struct sim* sim, uint64_t now_ns) {
    if (now_ns >= sim->quiet_until_ns || !rules_as_remembered(sim))
        return 0;
    if (now_ns > sim->now_ns)
        sim->now_ns = now_ns;
    return 1;
}

uint64_t sim_step(struct sim* sim, uint64_t now_ns) {
    uint64_t next;
    uint32_t left = SIM_STEP_MAX, id;
    if (now_ns < sim->now_ns)
        now_ns = sim->now_ns;
    if (sim_quiet(sim, now_ns))
        return sim->quiet_next_ns;
    for (;;) {
        happen(sim);
        next = next_deadline(sim);
        if (next > now_ns || --left == 0)
            break;
        if (next > sim->now_ns)
            sim->now_ns = next;
    }
    if (next > now_ns)
        sim->now_ns = now_ns;
    for (id = 0; id < sim->limits.device_count; ++id)
        if (sim_present(&sim->device[id]))
            sim_sensors_refresh(&sim->device[id], sim->now_ns);
    sim->quiet_next_ns = next;
    sim->quiet_until_ns = sim_earlier_of(next, sim_sensors_stale(sim->now_ns));
    sim->quiet_rule_id = sim->rules.next_id;
    sim->quiet_rule_count = sim->rules.count;
    return next;
}

void sim_settle(struct sim* sim) {
    uint32_t id;
    sim_lost_return(sim); // a rule may have been cleared
    for (id = 0; id < sim->limits.device_count; ++id)
        if (sim->device[id].outbox_count || sim->device[id].outbox_lost)
            sim_distribute(sim, &sim->device[id]);
}
