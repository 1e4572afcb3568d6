// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Entry points of the device model. Sans-IO: the caller gives memory, time and seed; nothing here
// allocates, locks, waits, reads a clock or keeps a global. Every function that changes state names
// its scope: S system section, D the device's section. Results: 0 or more, or a negative errno
// (SIM_E*), unless said otherwise.
#ifndef ASC_KMOD_SIM_CORE_SIM_H
#define ASC_KMOD_SIM_CORE_SIM_H

#include "kmod-sim/core/state.h"

#ifdef __cplusplus
extern "C" {
#endif

// Linux errno values, so that freestanding code needs no system header.
#define SIM_EPERM 1
#define SIM_ENOENT 2
#define SIM_EINTR 4
#define SIM_EIO 5
#define SIM_EAGAIN 11
#define SIM_ENOMEM 12
#define SIM_EACCES 13
#define SIM_EFAULT 14
#define SIM_EBUSY 16
#define SIM_EEXIST 17
#define SIM_ENODEV 19
#define SIM_EINVAL 22
#define SIM_ENFILE 23
#define SIM_ENOSPC 28
#define SIM_EOPNOTSUPP 95
#define SIM_ETIMEDOUT 110

struct sim_config {
    struct sim_limits limits;
    uint64_t seed, now_ns, wall_ms;
    uint32_t clock_kind, old_abi;
    uint32_t host_pid;
    uint64_t host_pid_namespace;
    const char *driver_version, *profile, *host;
};

// Bytes of arena for these limits, a multiple of 64; 0 when a limit is out of range. `extra` bytes
// are reserved behind the model for the layer above and their place is given by sim_extra().
size_t sim_arena_size(const struct sim_limits* limits, size_t extra);
int sim_init(struct sim** out, void* arena, size_t size, const struct sim_config* config,
             size_t extra);
void* sim_extra(struct sim* sim);

// [S+D] Puts a device into slot config->device_id, in working order, with its profile's steady
// sensors. ECC history comes from `ecc` (may be NULL); `isolated` pages are taken out of the pool.
int sim_add_device(struct sim* sim, const struct sim_device_config* config,
                   const struct sim_ecc* ecc, const uint32_t* isolated, uint32_t isolated_count);
// [S+D] DS_HOTPLUG_
int sim_hotplug(struct sim* sim, uint32_t device, uint32_t operation);

// [S+all D] The device by id, or NULL when the id has no device. State DS_STATE_ABSENT counts as
// none.
struct sim_device* sim_device(struct sim* sim, uint32_t device);

// [S] Opens a node. EACCES: not visible; EBUSY: occupied by another mount namespace; ENODEV;
// ENFILE: table full.
int sim_open(struct sim* sim, uint32_t node, uint32_t index, const struct sim_ident* ident,
             struct sim_client** out);
// [S+all D] End of an open file: subscriptions, tickets, and its allocations, unless a zombie rule
// keeps those.
void sim_release(struct sim* sim, struct sim_client* client);
struct sim_client* sim_client_by_ordinal(struct sim* sim, uint32_t ordinal);

// [S+all D] Lets time pass up to now_ns: timed rules, boot steps, scrubbing, sensors, tickets.
// Returns the next deadline (SIM_NEVER when nothing will happen by itself). Time never goes back;
// an older now is taken as the present.
uint64_t sim_step(struct sim* sim, uint64_t now_ns);

// [S+all D] Distributes what device sections raised and wakes readers. Hosts call it after every
// execute and step.
void sim_settle(struct sim* sim);

// [S] Parked calls. park gives a ticket id (0: table full). cancel returns 1 when the ticket
// existed and may be interrupted.
uint32_t sim_park(struct sim* sim, struct sim_client* client, enum sim_wait wait, uint32_t key,
                  uint64_t due_ns, int uninterruptible);
int sim_cancel(struct sim* sim, uint32_t ticket);
void sim_unpark(struct sim* sim, uint32_t ticket);
// Next ready ticket; each is given once. 0 when none. The host then executes the call again.
uint32_t sim_next_ready(struct sim* sim, uint64_t* ready_ns);
void sim_wake(struct sim* sim, enum sim_wait wait, uint32_t key);

// ---- memory ----
// [S+D] Owner is the client's process. ENOMEM counts as an OOM; ENOSPC: a table is full. With
// DS_ALLOC_CONTEXT the context's cost is charged once a process. Address and handle are out.
int sim_alloc(struct sim* sim, struct sim_client* client, uint32_t device, uint64_t bytes,
              uint32_t flags, uint32_t* handle, uint64_t* address);
int sim_free(struct sim* sim, struct sim_client* client, uint32_t device, uint32_t handle);
// [S+D] Words inside the client's own allocation. A load decodes: EIO with *bad on an uncorrectable
// word.
int sim_access(struct sim* sim, struct sim_client* client, uint32_t device,
               struct ds_access* access);
uint64_t sim_hbm_total_bytes(const struct sim_device* device);
uint64_t sim_hbm_used_bytes(const struct sim_device* device);
uint64_t sim_hbm_unowned_bytes(const struct sim_device* device);
// Pid of `owner` as `viewer` sees it; 0 when it has none there.
uint32_t sim_owner_pid_for(const struct sim* sim, const struct sim_owner* owner,
                           const struct sim_ident* viewer);

// ---- ECC (core/secded.c, core/ecc.c) ----
uint8_t secded_encode(uint64_t data);
enum secded_result { SECDED_CLEAN = 0, SECDED_CORRECTED, SECDED_DETECTED };
// Decodes a stored word; *data becomes what the hardware delivers (miscorrections included).
enum secded_result secded_decode(uint64_t* data, uint8_t check, uint8_t* syndrome);
// [S+D] Flips bits of the stored word at `address` (multiple of 8): bit 0..63 data, 64..71 check.
int sim_flip(struct sim* sim, uint32_t device, uint64_t address, const uint8_t* bits,
             uint32_t bit_count);
// [S+D] Clears the counters since reset and the records, as DMP 0x0682 does; lifetime stays.
void sim_ecc_clear(struct sim* sim, struct sim_device* device);

// ---- sensors and load ----
void sim_load(const struct sim* sim, const struct sim_device* device, uint32_t load[FI_LOAD_COUNT]);
int32_t sim_temperature_c(const struct sim_device* device);
int32_t sim_hbm_temperature_c(const struct sim_device* device);
uint32_t sim_power_dw(const struct sim_device* device);
uint32_t sim_hbm_bandwidth_percent(const struct sim_device* device);

// ---- reset ----
// [S+all D] Starts a reset of one device or of all (DV_RESET_ALL_DEVICES). EBUSY: a live holder;
// EAGAIN: one is running. Memory of the device is cleared, volatile counters too; lifetime
// counters, isolated pages and firmware stay.
int sim_reset(struct sim* sim, uint32_t device, const struct sim_client* caller);
// 1 when an open handle other than `except`'s process keeps the device busy.
int sim_busy(const struct sim* sim, uint32_t device, const struct sim_client* except);

// ---- events and health ----
// [D] Raises (once while active), recovers, or notes a one-off event.
void sim_raise(struct sim* sim, struct sim_device* device, uint32_t event_id, uint8_t assertion,
               uint32_t pid, const char* info);
uint8_t sim_event_severity(uint32_t event_id);
const char* sim_event_text(uint32_t event_id);
uint32_t sim_health(const struct sim_device* device); // DV_HEALTH_
// [S] One event for the subscriber of (client's pid, thread): 1 and *out; 0 none yet; registers at
// the first call. ENOSPC: no slot is free.
int sim_event_next(struct sim* sim, struct sim_client* client, uint32_t thread,
                   const struct dv_event_read* filter, struct sim_event* out,
                   uint32_t* notify_serial, uint32_t* subscriber);
void sim_event_to_wire(const struct sim* sim, const struct sim_event* event, uint32_t notify_serial,
                       struct dv_event* out);

// ---- journal ----
void sim_journal(struct sim* sim, uint32_t device, uint16_t kind, uint16_t command, uint32_t client,
                 uint32_t code, uint64_t a, uint64_t b);

uint64_t sim_wall_ms(const struct sim* sim); // since the epoch

#ifdef __cplusplus
}
#endif

#endif
