// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// What the files of the device model share with each other.
#ifndef ASC_KMOD_SIM_CORE_INTERNAL_H
#define ASC_KMOD_SIM_CORE_INTERNAL_H

#include "ioctl/wire/memory.h"
#include "kmod-sim/core/div.h"
#include "kmod-sim/core/ecc.h"
#include "kmod-sim/core/sim.h"

#define NS_PER_MS 1000000U
#define SYSTEM_JOURNAL FI_ANY // device id of journal records that belong to no device

// time + by, SIM_NEVER instead of an overflow.
static inline uint64_t sim_later(uint64_t time, uint64_t by) {
    return time + by < time ? SIM_NEVER : time + by;
}

static inline uint64_t sim_earlier_of(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

// Copies a terminated text (NULL: none) and fills the rest of `to` with 0; cut to room - 1.
static inline void sim_copy_text(char* to, size_t room, const char* from) {
    size_t i = 0;
    for (; from && from[i] && i + 1 < room; ++i)
        to[i] = from[i];
    for (; i < room; ++i)
        to[i] = '\0';
}

static inline int sim_same_process(const struct sim_ident* a, const struct sim_ident* b) {
    return a->pid == b->pid && a->start_time == b->start_time &&
           a->pid_namespace == b->pid_namespace;
}

// The device is there, whether or not it works.
static inline int sim_present(const struct sim_device* device) {
    return device->filled && device->state != DS_STATE_ABSENT;
}

// ---- ticket.c ----
void sim_tickets_due(struct sim* sim, uint64_t at_ns);           // [S]
uint64_t sim_tickets_next(const struct sim* sim);                // earliest due time
void sim_tickets_drop(struct sim* sim, uint32_t client_ordinal); // [S]

// ---- memory.c ----
// [S+D] Ends what `client` holds on the device, or leaves it behind when a zombie rule fires.
// Returns 1 when it held something and journals it.
int sim_memory_release(struct sim* sim, struct sim_device* device, struct sim_client* client);
// [S+D] Forgets every allocation and owner, those left behind as well.
void sim_memory_clear(struct sim* sim, struct sim_device* device);

// ---- sensors.c ----
void sim_sensors_start(struct sim* sim, struct sim_device* device); // [D] at the fixed point
void sim_sensors_aim(struct sim* sim, struct sim_device* device);   // [D] the load has changed
void sim_sensors_step(struct sim* sim, struct sim_device* device);  // [D] one period, when due
// [D] Marks settled sensors as read anew at the last period before at_ns.
void sim_sensors_refresh(struct sim_device* device, uint64_t at_ns);
uint64_t sim_sensors_stale(uint64_t at_ns); // when the period of at_ns ends

// ---- device.c ----
// [S+all D] Devices of lost rules go when a rule fires and come back when it is over.
void sim_lost_fire(struct sim* sim);
void sim_lost_return(struct sim* sim);
uint64_t sim_lost_next(const struct sim* sim, const struct sim_device* device);
// [S+D] Enters a state and journals it.
void sim_enter(struct sim* sim, struct sim_device* device, uint32_t state);

// ---- reset.c ----
// [S+D] What a reset or a loss of power takes: memory, declared load, active faults, counters since
// reset.
void sim_power_cycle(struct sim* sim, struct sim_device* device);
void sim_reset_step(struct sim* sim, struct sim_device* device); // [S+D] one boot step, when due

// ---- events.c ----
// [S+D] What the device raised goes to the history, the subscribers and the journal.
void sim_distribute(struct sim* sim, struct sim_device* device);
void sim_subscribers_drop(struct sim* sim, uint32_t client_ordinal); // [S]

#endif
