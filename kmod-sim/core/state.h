// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The state of the simulated machine. Everything lives in one arena given by the host. abi/ reads
// these fields under the host's lock and changes them only through the functions of sim.h.
//
// Scopes: `struct sim` up to the devices is the SYSTEM section; each `struct sim_device` is a
// DEVICE section of its own. A host with one lock ignores the difference; a host with many takes
// system first, then devices ascending. While fault rules are set every call takes the system
// section too (fi_active).
#ifndef ASC_KMOD_SIM_CORE_STATE_H
#define ASC_KMOD_SIM_CORE_STATE_H

#include "faultinject/core/rules.h"
#include "ioctl/wire/commands.h"

#define SIM_DEVICES_MAX 64
#define SIM_PAGE_SIZE 65536ULL
#define SIM_PAGE_SHIFT 16
#define SIM_OWNERS_MAX 128 // processes that hold memory or a context, per device; dead ones count
#define SIM_WIRE_PROCESSES 64 // what the wire's list can carry (driver-abi.md 4.2)
#define SIM_EXTENTS_MAX 1024  // allocations per device
#define SIM_WORDS_MAX 1024    // damaged words per device
#define SIM_FILLS_MAX 512     // ranges of stored words per device
#define SIM_PAGES_MAX 512     // pages pending or isolated per device
#define SIM_RECORDS_MAX 64    // ECC records of each kind (driver-abi.md 8)
#define SIM_FAULTS_MAX 64     // active fault events per device
#define SIM_DISABLED_MAX 32   // event codes switched off per device
#define SIM_OUTBOX_MAX 64     // events a device section raised that are not yet distributed
#define SIM_HISTORY_MAX 1024  // events kept for E/20 and the subscribers
#define SIM_SUBSCRIBERS_MAX 128
#define SIM_TICKETS_MAX 1024 // parked calls
#define SIM_JOURNAL_MAX 8192
#define SIM_NEVER UINT64_MAX

// Who stands behind a client. Read by the host when the file is opened; plain values, opaque
// namespace ids.
struct sim_ident {
    uint32_t pid;    // of the process (tgid) in the simulator's namespace
    uint32_t ns_pid; // in its own innermost pid namespace; 0 unknown
    uint32_t uid, gid;
    uint32_t caller;                         // DV_ACC_ROOT, OPERATE, USER ..., DS_ACC_SIM_OWNER
    uint32_t environment;                    // DV_ACC_ENV_
    uint64_t start_time;                     // clock ticks since boot; 0 unknown
    uint64_t pid_namespace, mount_namespace; // 0 unknown
    uint64_t visible;                        // bit per device id: what the driver lets it see
    uint64_t cookie;                         // the host's name of the handle (ds_holder)
    uint32_t flags;                          // DS_PROCESS_SCRIPTED
    char name[16];                           // terminated
};

// An open file.
struct sim_client {
    uint32_t ordinal; // of the open, from 1; 0: slot is free
    uint16_t node;    // enum dv_node
    uint16_t module;  // enum dv_module it is bound to
    uint32_t index;   // of the device node, or the device given at binding
    struct sim_ident ident;
};

// A process that holds something on one device. Lives on while memory is left behind (zombie).
struct sim_owner {
    uint8_t used, ended, context, scripted;
    uint8_t resident; // came before sim_residents_settled: the declared load is theirs
    uint8_t pad[3];
    uint32_t pid, ns_pid, uid;
    uint64_t start_time, pid_namespace;
    uint64_t bytes; // allocations and context, in whole pages
    char name[16];
};

struct sim_extent { // pages [first, first + count)
    uint32_t first_page, page_count;
    uint32_t handle;  // 0: slot is free
    uint32_t client;  // ordinal of the open that allocated
    uint16_t owner;   // index into owners
    uint16_t context; // 1: the owner's context; without cost it has no pages and stands at page 0
    uint64_t bytes;   // asked for
};

// Words [first, end) were stored with `value` by a client. All others hold sim_word_content's hash.
struct sim_fill {
    uint64_t first, end; // addresses, multiples of 8
    uint64_t value;
};

// A stored (72,64) word that differs from what was written.
struct sim_word {
    uint64_t address; // multiple of 8
    uint64_t written; // data that was stored
    uint64_t flipped_data;
    uint8_t flipped_check;
    uint8_t used;
    uint8_t reported; // bit 0: counted; bit 1: hot isolation was tried. 0 again when it changes
    uint8_t pad[5];
};

enum sim_page_state { SIM_PAGE_GOOD = 0, SIM_PAGE_PENDING = 1, SIM_PAGE_ISOLATED = 2 };

struct sim_page { // pages that are not simply good
    uint32_t number;
    uint8_t state;      // enum sim_page_state
    uint8_t cause;      // 1 single-bit, 2 double-bit
    uint16_t corrected; // single-bit errors counted in this page
};

struct sim_record {
    uint64_t address;
    uint32_t count;
    int32_t time; // seconds since the epoch
};

struct sim_ecc {
    uint32_t single_now, double_now; // since reset
    uint32_t single_lifetime, double_lifetime;
    uint32_t isolated_single, isolated_double; // pages
    uint32_t single_record_count, double_record_count;
    struct sim_record
        single_record[SIM_RECORDS_MAX]; // oldest first; a new one pushes the oldest out
    struct sim_record double_record[SIM_RECORDS_MAX];
};

// A fault event that is raised and not yet recovered.
struct sim_fault {
    uint32_t event_id; // 0: slot is free
    int32_t serial;
    uint64_t raised_ms;
    uint32_t pid;
    uint8_t severity, pad[3];
    char info[32];
};

struct sim_event { // compact form of dv_event
    uint32_t event_id;
    int32_t serial; // of the fault: the recovery carries the occurrence's
    uint64_t raised_ms;
    uint32_t device;
    uint32_t pid;
    uint8_t severity, assertion, pad[6];
    char info[32];
};

struct sim_device_config {           // from a profile; never changes afterwards, except firmware
    uint32_t device_id, physical_id; // logical, physical
    uint32_t card, chip, chips_on_card;
    uint32_t pci_domain, pci_bus, pci_slot, pci_function;
    uint32_t pci_vendor, pci_device, pci_subsystem_vendor, pci_subsystem_device;
    uint32_t numa_node, bandwidth_domain;
    uint32_t board_id, pcb_id, bom_id, slot_id, mainboard_id, product_type;
    char serial[32], chip_type[32], chip_name[32], chip_version[32], soc_version[32];
    uint32_t ai_core_count, vector_core_count, ai_cpu_count, control_cpu_count;
    uint32_t ai_core_mhz, ai_core_rated_mhz, hbm_mhz, hbm_manufacturer;
    uint32_t hbm_mib, baseline_mib, baseline_known, context_mib;
    uint32_t power_dw, power_idle_dw, power_limit_dw; // 0.1 W; limit 0: unknown
    int32_t temperature_c, temperature_idle_c, hbm_temperature_c, hbm_temperature_idle_c;
    uint32_t voltage_mv;
    // declared load, percent
    uint32_t load_ai_core, load_vector, load_ai_cpu, load_control_cpu, load_hbm_bandwidth;
    uint32_t flash_count;
    uint32_t reset_ms, scrub_ms, boot_step_ms;
    uint32_t page_threshold; // single-bit errors in one page that retire it
    uint32_t oom_count;
    uint32_t thermal_limit_c, hbm_hot_c, hbm_fatal_c;
    char firmware_version[64];
};

struct sim_sensors {                            // what the telemetry shows now
    int32_t temperature_mc, hbm_temperature_mc; // 0.001 C
    int32_t power_mw;
    uint32_t voltage_mv, ai_core_mhz;
    uint64_t updated_ns;
};

struct sim_device {
    struct sim_device_config config;
    uint32_t filled;      // 1: the slot has been given a device; it may be ABSENT again
    uint32_t state;       // DS_STATE_
    uint32_t lost_rule;   // LOST because of this rule; 0: unplugged with DS_HOTPLUG_LOSE
    uint32_t boot_status; // DV_BOOT_
    uint32_t dmp_started;
    uint32_t status_bits;               // DV_STATUS_
    uint32_t outbox_count, outbox_lost; // see outbox; here, so that sim_settle looks at one place
    // reset
    uint32_t reset_outcome, reset_count, reset_flag; // DS_RESET_; flag: pre-reset asked
    uint64_t reset_next_ns;                          // next boot step; SIM_NEVER
    // memory
    uint64_t total_pages, baseline_pages;
    uint64_t used_pages; // allocations, contexts and baseline
    uint32_t next_handle, oom_count;
    struct sim_owner owner[SIM_OWNERS_MAX];
    struct sim_extent extent[SIM_EXTENTS_MAX]; // ascending by first_page, used ones first
    uint32_t extent_count;
    // ECC
    struct sim_ecc ecc;
    struct sim_word word[SIM_WORDS_MAX]; // ascending by address, used ones first
    uint32_t word_count;
    struct sim_fill fill[SIM_FILLS_MAX]; // ascending, apart from each other
    uint32_t fill_count;
    struct sim_page page[SIM_PAGES_MAX]; // ascending by number
    uint32_t page_count, pages_pending, pages_isolated;
    uint64_t scrub_next_ns; // next pass over damaged words; SIM_NEVER when there is none to look at
    // load and sensors
    uint32_t declared_load_on; // its residents live
    struct sim_sensors sensors;
    uint64_t sensor_next_ns;
    // events
    struct sim_fault fault[SIM_FAULTS_MAX];
    uint32_t fault_count;
    uint32_t disabled[SIM_DISABLED_MAX], disabled_count;
    struct sim_event outbox[SIM_OUTBOX_MAX];
    uint32_t next_serial;
    uint32_t journal_sequence;
    uint32_t holder_nodes; // open /dev/davinciN; guarded by the system section
};

struct sim_subscriber {
    uint32_t used;
    uint32_t pid, thread, source; // driver-abi.md 9: one per (process, thread)
    uint32_t client;              // ordinal
    uint64_t visible;
    struct dv_event_read filter;
    uint64_t cursor;  // next event of the history to look at
    uint32_t pending; // matching events not yet read
    uint32_t lost;    // dropped because the queue was full
    uint32_t notify_serial;
};

// A parked call: what it waits for. The host executes the call again when the ticket is ready.
enum sim_wait { SIM_WAIT_NONE = 0, SIM_WAIT_EVENT, SIM_WAIT_HDC, SIM_WAIT_TIME, SIM_WAIT_NEVER };

struct sim_ticket {
    uint32_t id;     // never reused within 2^32; 0: slot is free
    uint32_t client; // ordinal
    uint16_t wait;   // enum sim_wait
    uint8_t ready, uninterruptible;
    uint32_t key;      // subscriber index, HDC session
    uint64_t due_ns;   // when it is ready by itself; SIM_NEVER
    uint64_t ready_ns; // when it became ready: the time it was due, not the time of the step that
                       // found it
};

struct sim_limits {
    uint32_t device_count; // slots, at most SIM_DEVICES_MAX
    uint32_t client_count; // open files
};

struct sim {
    struct sim_limits limits;
    uint64_t now_ns;
    uint64_t wall_offset_ms; // wall clock = offset + now; fixed at init
    uint32_t clock_kind;     // DS_CLOCK_
    uint64_t seed;
    char driver_version[64], profile[64], host[32];
    uint32_t host_pid;
    uint64_t host_pid_namespace; // callers of this namespace are shown the host pids
    uint32_t old_abi;            // 1: only the older generation's interface (driver-abi.md 15)
    uint32_t residents_settled;  // sim_residents_settled was called
    uint32_t next_ordinal, next_ticket;
    uint64_t wakes; // how often something came that is waited or polled for; not saved
    // sim_step's memory, derived: nothing is due before quiet_until_ns while the rules are these;
    // quiet_next_ns is what it answered. 0: look at everything (sim_touch).
    uint64_t quiet_until_ns, quiet_next_ns;
    uint32_t quiet_rule_id, quiet_rule_count;
    struct fi_set rules;
    struct sim_subscriber subscriber[SIM_SUBSCRIBERS_MAX];
    struct sim_ticket ticket[SIM_TICKETS_MAX]; // used ones first, in no order
    uint32_t ticket_count;
    struct sim_event history[SIM_HISTORY_MAX];         // ring
    uint64_t history_head;                             // events ever distributed
    struct ds_journal_record journal[SIM_JOURNAL_MAX]; // ring
    uint64_t journal_head, journal_read;
    uint32_t journal_system_sequence;
    void* hdc; // abi's sessions, inside the arena (abi/hdc.h)
    struct sim_client* client;
    struct sim_device* device; // [limits.device_count]
};

#endif
