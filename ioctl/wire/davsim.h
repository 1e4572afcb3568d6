// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The simulator's own extension: a module name that binds only on this project's driver. Flat
// structs, a size field first, fixed widths, explicit padding, reserved fields zero, the same on 32
// and 64 bit. A struct whose size field is wrong is refused with EINVAL; unknown nonzero reserved
// fields too.
#ifndef ASC_IOCTL_WIRE_DAVSIM_H
#define ASC_IOCTL_WIRE_DAVSIM_H

#include "ioctl/wire/types.h"

#define DS_MODULE_NAME "davsim"
#define DS_ABI_VERSION 1U

#define DS_IOWR(number, type) DV_IOC(DV_IOC_READ | DV_IOC_WRITE, 'S', number, sizeof(type))

// Caller bit beside DV_ACC_*: the simulator's owner, who may set rules, clock and state.
#define DS_ACC_SIM_OWNER 0x10000U

#define DS_TEXT_MAX 256

// Values that the simulator may not know are absent: their bit in `known` is clear.
#define DS_KNOWN_BASELINE 0x1ULL
#define DS_KNOWN_POWER_LIMIT 0x2ULL
#define DS_KNOWN_OOM_COUNT 0x4ULL
#define DS_KNOWN_PROCESSES 0x8ULL // clear: the process table is not the whole truth (list full)

#define DS_CLOCK_REAL 0U
#define DS_CLOCK_VIRTUAL 1U

struct ds_info { // what simulator this is
    uint32_t size, abi_version;
    uint32_t device_count, clock_kind;
    uint64_t now_ns, wall_ms, seed;
    char driver_version[64];
    char profile[64];
    char host[32]; // "in-process", "socket", "kernel"
    uint32_t host_pid, reserved[7];
};
DV_ASSERT_SIZE(struct ds_info, 232);

#define DS_STATE_OK 0U
#define DS_STATE_RESETTING 1U
#define DS_STATE_LOST 2U
#define DS_STATE_ABSENT 3U

struct ds_device { // per device facts that the vendor's wire does not carry
    uint32_t size, device_id;
    uint64_t known; // DS_KNOWN_
    uint32_t state, boot_status;
    uint32_t card, chip, chips_on_card, physical_id;
    uint32_t numa_node, pci_domain;
    uint64_t hbm_total_kib, hbm_used_kib, hbm_baseline_kib;
    uint64_t hbm_unowned_kib; // held by owners that have ended
    uint32_t power_limit_dw;  // 0.1 W
    uint32_t oom_count;
    uint32_t pages_pending, pages_isolated;
    uint32_t reset_count, reset_outcome; // outcome of the last reset: DS_RESET_
    uint32_t allocation_count, owner_count;
    char serial[32];
    uint32_t context_kib, reserved[7];
};
DV_ASSERT_SIZE(struct ds_device, 176);

#define DS_RESET_NONE 0U
#define DS_RESET_RUNNING 1U
#define DS_RESET_DONE 2U
#define DS_RESET_FAILED 3U

#define DS_PROCESS_ENDED 0x1U        // its last handle is gone; what it holds was not reclaimed
#define DS_PROCESS_UNRESOLVABLE 0x2U // no id for it in the caller's pid namespace
#define DS_PROCESS_CONTEXT 0x4U      // has a context on the device
#define DS_PROCESS_SCRIPTED 0x8U     // replayed by an in-process host, never was a real process

struct ds_process {
    uint32_t host_pid;   // in the simulator's pid namespace
    uint32_t caller_pid; // in the caller's; 0 when DS_PROCESS_UNRESOLVABLE
    uint64_t start_time; // clock ticks since boot (proc(5) stat field 22); 0 unknown
    uint64_t bytes;      // on this device, context included
    uint32_t flags, uid;
    char name[16]; // as the host read it at open
};
DV_ASSERT_SIZE(struct ds_process, 48);

#define DS_PROCESS_PAGE 32
struct ds_process_list {
    uint32_t size, device_id;
    uint32_t cursor;       // in: first entry, out: next or 0 at the end
    uint32_t count, total; // out
    uint32_t reserved;
    struct ds_process entry[DS_PROCESS_PAGE];
};
DV_ASSERT_SIZE(struct ds_process_list, 1560);

#define DS_HOLDER_NODE 0x1U    // opened /dev/davinciN
#define DS_HOLDER_MEMORY 0x2U  // holds memory or a context there
#define DS_HOLDER_SESSION 0x4U // an open HDC session

struct ds_holder {   // an open handle that keeps the device busy
    uint64_t cookie; // the host's name of the handle: on the socket host the inode of its end
    uint64_t start_time;
    uint32_t host_pid, flags;
};
DV_ASSERT_SIZE(struct ds_holder, 24);

#define DS_HOLDER_PAGE 64
struct ds_holder_list {
    uint32_t size, device_id;
    uint32_t cursor, count, total, reserved;
    struct ds_holder entry[DS_HOLDER_PAGE];
};
DV_ASSERT_SIZE(struct ds_holder_list, 1560);

#define DS_ALLOC_CONTEXT 0x1U // also opens a context for the caller

struct ds_alloc { // HBM for the calling process; bytes 0 with DS_ALLOC_CONTEXT opens only the
                  // context
    uint32_t size, device_id;
    uint64_t bytes;
    uint32_t flags, handle; // out: names the allocation on this device
    uint64_t address;       // out: device address
};
DV_ASSERT_SIZE(struct ds_alloc, 32);

struct ds_free {
    uint32_t size, device_id, handle, reserved;
};

#define DS_ACCESS_LOAD 0U  // decodes ECC
#define DS_ACCESS_STORE 1U // encodes ECC
#define DS_ACCESS_RAW 2U   // one word as stored, bits as they stand: value and, in corrected, check

struct ds_access { // 64-bit words of the caller's own memory. EIO: uncorrectable or out of use, see
                   // bad_address
    uint32_t size, device_id;
    uint64_t address;
    uint64_t count; // words
    uint64_t value; // store: pattern; load of one word: what was read
    uint64_t bad_address;
    uint32_t store;     // DS_ACCESS_
    uint32_t corrected; // load: words that were corrected
};
DV_ASSERT_SIZE(struct ds_access, 48);

struct ds_rule_add {
    uint32_t size, id; // out: id
    uint32_t length, error_position;
    char text[DS_TEXT_MAX];
    char error[DS_TEXT_MAX]; // out on EINVAL: what is wrong at error_position
};
DV_ASSERT_SIZE(struct ds_rule_add, 528);

struct ds_rule_clear {
    uint32_t size, id; // 0 clears all
};

#define DS_RULE_UNLIMITED 0xFFFFFFFFU
struct ds_rule_get { // reads the rule with the smallest id >= `id`; ENOENT at the end
    uint32_t size, id;
    uint64_t matches, hits;
    uint32_t remaining; // DS_RULE_UNLIMITED, or how often it still fires
    uint32_t length;
    char text[DS_TEXT_MAX];
};
DV_ASSERT_SIZE(struct ds_rule_get, 288);

#define DS_CLOCK_GET 0U
#define DS_CLOCK_ADVANCE 1U

struct ds_clock {
    uint32_t size, operation;
    uint64_t advance_ns;      // only in virtual time, else EINVAL
    uint64_t now_ns, wall_ms; // out
    uint32_t kind, reserved;  // out: DS_CLOCK_REAL, DS_CLOCK_VIRTUAL
};
DV_ASSERT_SIZE(struct ds_clock, 40);

#define DS_HOTPLUG_REMOVE 0U
#define DS_HOTPLUG_RESTORE 1U
#define DS_HOTPLUG_LOSE 2U

struct ds_hotplug { // devices leave and come back; ids of the others never move
    uint32_t size, device_id, operation, reserved;
};

// Journal records are 48 bytes and drained in order by cursor.
struct ds_journal_record {
    uint64_t sequence; // per device; device 0xFFFFFFFF is the system
    uint64_t time_ns;
    uint32_t device_id;
    uint16_t kind, command; // DS_J_, enum dv_command_id
    uint32_t client;        // ordinal of the open, 0 none
    uint32_t code;
    uint64_t a, b;
};
DV_ASSERT_SIZE(struct ds_journal_record, 48);

enum ds_journal_kind {
    DS_J_OPEN = 1, // a: node, b: index
    DS_J_RELEASE,  // a: bytes reclaimed, b: bytes left behind
    DS_J_CALL,     // code: result; a: ioctl number
    DS_J_FAULT,    // code: rule id; a: match number
    DS_J_ALLOC,    // a: bytes, b: address
    DS_J_FREE,     // a: bytes
    DS_J_OOM,      // a: bytes asked
    DS_J_ECC,      // code: 1 corrected, 2 detected, 3 miscorrected; a: address, b: syndrome
    DS_J_PAGE,     // code: DS_PAGE state entered; a: page address
    DS_J_EVENT,    // code: event id; a: assertion, b: serial
    DS_J_STATE,    // code: DS_STATE_ entered
    DS_J_RESET,    // code: DS_RESET_; a: boot status
    DS_J_CLOCK,    // a: advanced by
    DS_J_LOST,     // records lost because nobody drained: a: how many
};

#define DS_JOURNAL_PAGE 32
struct ds_journal_read {
    uint32_t size, count; // out
    uint64_t cursor;      // in: records to skip since start, out: next cursor
    uint64_t lost;        // out: records overwritten before they were read
    struct ds_journal_record record[DS_JOURNAL_PAGE];
};
DV_ASSERT_SIZE(struct ds_journal_read, 1560);

#define DS_INFO DS_IOWR(0, struct ds_info)
#define DS_DEVICE DS_IOWR(1, struct ds_device)
#define DS_PROCESS_LIST DS_IOWR(2, struct ds_process_list)
#define DS_HOLDER_LIST DS_IOWR(3, struct ds_holder_list)
#define DS_ALLOC DS_IOWR(4, struct ds_alloc)
#define DS_FREE DS_IOWR(5, struct ds_free)
#define DS_ACCESS DS_IOWR(6, struct ds_access)
#define DS_RULE_ADD DS_IOWR(7, struct ds_rule_add)
#define DS_RULE_CLEAR DS_IOWR(8, struct ds_rule_clear)
#define DS_RULE_GET DS_IOWR(9, struct ds_rule_get)
#define DS_CLOCK DS_IOWR(10, struct ds_clock)
#define DS_HOTPLUG DS_IOWR(11, struct ds_hotplug)
#define DS_JOURNAL_READ DS_IOWR(12, struct ds_journal_read)

#endif
