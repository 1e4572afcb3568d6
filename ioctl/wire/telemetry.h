// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// A device's values in memory that the simulator keeps up to date and its clients only read: no
// system call and no lock. A file bound to "davsim" maps one page, read-only and shared, at offset
// device id * page size. ENODEV where the host has no such pages: then the commands serve.
//
// The sequence is odd while the values change. A reader that saw it even and unchanged has values
// that belong together.
#ifndef ASC_IOCTL_WIRE_TELEMETRY_H
#define ASC_IOCTL_WIRE_TELEMETRY_H

#include "ioctl/wire/types.h"

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

// What is not known is 0 and has its bit clear.
#define DS_TELEMETRY_KNOWN_SENSORS 0x1U // temperatures, power, voltage, clock, use
#define DS_TELEMETRY_KNOWN_MEMORY 0x2U  // HBM, owners, error counters

#define DS_TELEMETRY_PERIOD_MS 100U // no older than this while somebody has the page

struct ds_telemetry_values {
    uint64_t now_ns;     // model time of this state
    uint64_t updated_ns; // model time at which the sensors were read
    uint32_t device_id, known;
    uint32_t state, health;                     // DS_STATE_, DV_HEALTH_
    int32_t temperature_mc, hbm_temperature_mc; // 0.001 C
    int32_t power_mw;
    uint32_t voltage_mv, ai_core_mhz;
    uint32_t ai_core_percent, vector_percent, ai_cpu_percent, control_cpu_percent;
    uint32_t hbm_bandwidth_percent;
    uint64_t hbm_total_kib, hbm_used_kib, hbm_unowned_kib;
    uint32_t owner_count, reset_count;
    uint32_t ecc_single, ecc_double; // since the reset
    uint32_t pages_isolated, pages_pending;
};
DV_ASSERT_SIZE(struct ds_telemetry_values, 120);

struct ds_telemetry {
    uint32_t size; // of the values
    uint32_t sequence;
    struct ds_telemetry_values values;
};
DV_ASSERT_SIZE(struct ds_telemetry, 128);

// Single words move whole; the sequence tells whether they belong together.
typedef unsigned long ds_telemetry_word __attribute__((may_alias));
#define DS_TELEMETRY_WORDS (sizeof(struct ds_telemetry_values) / sizeof(ds_telemetry_word))

// One writer at a time.
static inline void ds_telemetry_write(struct ds_telemetry* page,
                                      const struct ds_telemetry_values* values) {
    const ds_telemetry_word* from = (const ds_telemetry_word*)values;
    ds_telemetry_word* to = (ds_telemetry_word*)&page->values;
    uint32_t sequence = __atomic_load_n(&page->sequence, __ATOMIC_RELAXED);
    uint32_t index;
    __atomic_store_n(&page->size, (uint32_t)sizeof(*values), __ATOMIC_RELAXED);
    __atomic_store_n(&page->sequence, sequence + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    for (index = 0; index < DS_TELEMETRY_WORDS; ++index)
        __atomic_store_n(&to[index], from[index], __ATOMIC_RELAXED);
    __atomic_store_n(&page->sequence, sequence + 2, __ATOMIC_RELEASE);
}

// How often it had to begin again, or -1 when the values did not stand still in `tries`.
static inline int ds_telemetry_read(const struct ds_telemetry* page,
                                    struct ds_telemetry_values* values, int tries) {
    const ds_telemetry_word* from = (const ds_telemetry_word*)&page->values;
    ds_telemetry_word* to = (ds_telemetry_word*)values;
    int again;
    for (again = 0; again < tries; ++again) {
        uint32_t sequence = __atomic_load_n(&page->sequence, __ATOMIC_ACQUIRE);
        uint32_t index;
        if (sequence & 1U)
            continue;
        for (index = 0; index < DS_TELEMETRY_WORDS; ++index)
            to[index] = __atomic_load_n(&from[index], __ATOMIC_RELAXED);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (__atomic_load_n(&page->sequence, __ATOMIC_RELAXED) == sequence)
            return again;
    }
    return -1;
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#endif
