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
// [S] The profile's own processes hold what they hold: from now on a device's declared load goes
// with the last of them. Owners that come later are no residents. Before this call no load goes.
void sim_residents_settled(struct sim* sim);
// [S+D] DS_HOTPLUG_. Removal clears the memory as a loss of power does; a removed device comes back
// idle, a lost one as it was. ENODEV: the slot never had a device, or an absent one cannot be lost;
// EINVAL: unknown operation, or a rule holds the device lost.
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
// an older now is taken as the present. One call does the work of at most SIM_STEP_MAX deadlines:
// when it returns a time that is not after now_ns, the present stands at the last one done; call it
// again.
#define SIM_STEP_MAX 4096
uint64_t sim_step(struct sim* sim, uint64_t now_ns);
// [S] Short way of sim_step for hosts with a lock per section: 1 when nothing happens until now_ns,
// which is the present then; 0 when it takes sim_step.
int sim_quiet(struct sim* sim, uint64_t now_ns);
// [S] Fields were written from outside (a state file was loaded): the next step looks at all
// deadlines. The functions here do it by themselves.
void sim_touch(struct sim* sim);

// [S+all D] Distributes what device sections raised and wakes readers. Hosts call it after every
// execute and step.
void sim_settle(struct sim* sim);

// [S] Parked calls. park gives a ticket id (0: table full). cancel returns 1 when the ticket
// existed and may be interrupted; it is gone then. Tickets of a released client go by themselves.
uint32_t sim_park(struct sim* sim, struct sim_client* client, enum sim_wait wait, uint32_t key,
                  uint64_t due_ns, int uninterruptible);
int sim_cancel(struct sim* sim, uint32_t ticket);
void sim_unpark(struct sim* sim, uint32_t ticket);
// Next ready ticket in order of the time it became ready; each is given once and is gone then. 0
// when none. The host then executes the call again. ready_ns may be NULL.
uint32_t sim_next_ready(struct sim* sim, uint64_t* ready_ns);
void sim_wake(struct sim* sim, enum sim_wait wait, uint32_t key);

// ---- memory ----
// Memory is given in whole pages, first fit, in one run that holds no pending or isolated page. It
// belongs to the open file that asked: only that one may free or access it, and its end frees it.
// [S+D] Owner is the client's process. ENOMEM counts as an OOM; ENOSPC: a table is full; EBUSY: the
// device is being reset; EIO: lost; EACCES: not visible; EINVAL: no bytes and no context, unknown
// flags. With DS_ALLOC_CONTEXT the context's cost is charged once a process. Address and handle are
// out: those of the allocation, else those of the process's context.
int sim_alloc(struct sim* sim, struct sim_client* client, uint32_t device, uint64_t bytes,
              uint32_t flags, uint32_t* handle, uint64_t* address);
// ENOENT: not a handle of this open file.
int sim_free(struct sim* sim, struct sim_client* client, uint32_t device, uint32_t handle);
// [S+D] Words inside the client's own allocation (else EFAULT; EINVAL: misaligned, no word, unknown
// kind). A load decodes: EIO with bad_address on an uncorrectable word. Answers are in `access`.
int sim_access(struct sim* sim, struct sim_client* client, uint32_t device,
               struct ds_access* access);
uint64_t sim_hbm_total_bytes(const struct sim_device* device);
uint64_t sim_hbm_used_bytes(const struct sim_device* device);
uint64_t sim_hbm_unowned_bytes(const struct sim_device* device); // of owners that have ended
// ---- owners and holders (core/inventory.c) ----
// Index of the first used owner at or after `from`; SIM_OWNERS_MAX when there is none.
uint32_t sim_next_owner(const struct sim_device* device, uint32_t from);
uint32_t sim_owner_count(const struct sim_device* device); // dead ones count
// 0 when more processes hold memory than the wire's list carries (DS_KNOWN_PROCESSES).
int sim_processes_known(const struct sim_device* device);
// How this open file keeps the device busy: DS_HOLDER_NODE and DS_HOLDER_MEMORY (a context counts);
// 0 not at all. HDC sessions are abi's to add.
uint32_t sim_holding(const struct sim* sim, const struct sim_client* client, uint32_t device);
// Next open file at or after *cursor (start with 0) that holds the device, or NULL; cursor moves
// past it.
const struct sim_client* sim_next_holder(const struct sim* sim, uint32_t device, uint32_t* cursor,
                                         uint32_t* flags);
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
// [S+all D] Starts a reset of one device or of all that the caller sees (DV_RESET_ALL_DEVICES; lost
// ones are left out). EBUSY: a live holder; EAGAIN: one is running; EIO: lost; EACCES: not visible;
// ENODEV. All or none start. `caller` NULL: the machine's owner. Memory of the device is cleared,
// volatile counters too; lifetime counters, isolated pages and firmware stay.
int sim_reset(struct sim* sim, uint32_t device, const struct sim_client* caller);
// 1 when an open handle keeps the device busy that is not one of `except`'s process (may be NULL).
int sim_busy(const struct sim* sim, uint32_t device, const struct sim_client* except);

// ---- events and health ----
// [D] Raises (once while active), recovers, or notes a one-off event.
void sim_raise(struct sim* sim, struct sim_device* device, uint32_t event_id, uint8_t assertion,
               uint32_t pid, const char* info);
uint8_t sim_event_severity(uint32_t event_id);        // DV_SEVERITY_, low for unknown ids
const char* sim_event_text(uint32_t event_id);        // NULL for unknown ids
uint32_t sim_health(const struct sim_device* device); // DV_HEALTH_
// [D] Switches an event code off (ENOSPC: the table is full) and on (ENOENT: it was not off). A
// code that is off is not raised; its active fault recovers.
int sim_event_disable(struct sim* sim, struct sim_device* device, uint32_t event_id);
int sim_event_enable(struct sim* sim, struct sim_device* device, uint32_t event_id);
void sim_event_clear(struct sim* sim, struct sim_device* device); // [D] all active faults recover
// An active fault as its occurrence was.
void sim_fault_event(const struct sim_device* device, const struct sim_fault* fault,
                     struct sim_event* out);
// [S] Event number `index` of the history (0: the first ever), or NULL when it is not kept.
const struct sim_event* sim_history(const struct sim* sim, uint64_t index);
// [S] One event for the subscriber of (client's pid, thread): 1 and *out; 0 none yet; registers at
// the first call. ENOSPC: no slot is free. A queue holds DV_EVENT_QUEUE_DEPTH events; the oldest
// goes, counted, when one more comes. To wait: sim_park(SIM_WAIT_EVENT, *subscriber).
int sim_event_next(struct sim* sim, struct sim_client* client, uint32_t thread,
                   const struct dv_event_read* filter, struct sim_event* out,
                   uint32_t* notify_serial, uint32_t* subscriber);
// 1 when an event waits for a subscriber of this open file.
int sim_event_waiting(const struct sim* sim, const struct sim_client* client);
void sim_event_to_wire(const struct sim* sim, const struct sim_event* event, uint32_t notify_serial,
                       struct dv_event* out);

// ---- journal ----
// [S] Device FI_ANY: the system's own sequence.
void sim_journal(struct sim* sim, uint32_t device, uint16_t kind, uint16_t command, uint32_t client,
                 uint32_t code, uint64_t a, uint64_t b);
// [S] Up to `room` records from number *cursor on (0: the first ever); moves the cursor. *lost: how
// many of them are gone. The first record returned is a DS_J_LOST then.
uint32_t sim_journal_read(struct sim* sim, uint64_t* cursor, uint64_t* lost,
                          struct ds_journal_record* out, uint32_t room);

uint64_t sim_wall_ms(const struct sim* sim); // since the epoch

#ifdef __cplusplus
}
#endif

#endif
