// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Rule engine: one text grammar, fault_attr semantics, counter-based random. Freestanding; externs
// memcpy, memset, memcmp only.
//
// Grammar, one rule a line:   name key=value ...
//   zombie                       release skips the reclaim of the client's memory
//   lost                         the device stops answering
//   ecc bits=N [addr=A|page=P|random] [rate=R]   flips bits of stored HBM words (R per second while
//   the rule lives) surface mode=err|deny|delay|never cmd=NAME [errno=NAME|code=N] [ms=N]
//   [interruptible=yes|no]
// and for every rule: dev=N client=N(pid)|NAME cmd=NAME(trailing '*' matches any rest)
// probability=PERCENT interval=N times=N
//   space=N nth=N after=TIME for=TIME when=NAME>N. TIME: 300ms, 2s, 5m, a bare number is seconds.
// Order of the tests (kernel fault_attr): filters, times exhausted, after/for window, space,
// interval, nth, probability, then fire and count down.
#ifndef ASC_FAULTINJECT_CORE_RULES_H
#define ASC_FAULTINJECT_CORE_RULES_H

#include "ioctl/wire/commands.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FI_RULES_MAX 64
#define FI_NAME_MAX 32
#define FI_ANY 0xFFFFFFFFU
#define FI_UNLIMITED 0xFFFFFFFFU

enum fi_kind { FI_NONE = 0, FI_ZOMBIE, FI_LOST, FI_ECC, FI_SURFACE, FI_KIND_COUNT };
enum fi_mode { FI_MODE_NONE = 0, FI_MODE_ERR, FI_MODE_DENY, FI_MODE_DELAY, FI_MODE_NEVER };
enum fi_compare { FI_WHEN_NONE = 0, FI_WHEN_GREATER, FI_WHEN_LESS };
// Load conditions a rule can wait for; the model gives their value in percent, degrees or deciwatt.
enum fi_load {
    FI_LOAD_HBM_BW = 0,
    FI_LOAD_HBM_USED,
    FI_LOAD_AICORE,
    FI_LOAD_TEMPERATURE,
    FI_LOAD_POWER,
    FI_LOAD_COUNT
};

struct fi_rule {
    uint32_t id;   // from 1, never reused
    uint16_t kind; // enum fi_kind
    uint16_t mode; // enum fi_mode
    // filters
    uint32_t device;           // FI_ANY
    uint32_t client_pid;       // FI_ANY
    char client_name[16];      // "" any
    char command[FI_NAME_MAX]; // "" any
    // fault_attr
    uint32_t probability_ppm;  // 1000000 always
    uint32_t interval;         // fires on every interval-th match; 1
    uint32_t times;            // FI_UNLIMITED
    uint32_t space;            // matches let through first
    uint32_t nth;              // 0 no, else only the nth match fires
    uint64_t after_ns, for_ns; // window since the rule was added; for 0: no end
    uint16_t when_load, when_compare;
    uint32_t when_value;
    // what it does
    int32_t error; // surface err: negative errno, or positive driver error
    uint32_t delay_ms;
    uint8_t uninterruptible, ecc_place; // ecc_place: enum fi_place
    uint16_t ecc_bits;
    uint64_t ecc_address;  // byte address or page number, by ecc_place
    uint32_t ecc_rate_mhz; // flips per 1000 s; 0 once per firing
    // state
    uint64_t added_ns, next_ns; // next_ns: next timed firing of a rate, 0 none
    uint64_t matches, hits;
    uint16_t text_length;
    char text[DS_TEXT_MAX];
};

enum fi_place { FI_PLACE_RANDOM = 0, FI_PLACE_ADDRESS, FI_PLACE_PAGE };

struct fi_set {
    uint64_t seed;
    uint32_t count, next_id;
    struct fi_rule rule[FI_RULES_MAX];
};

struct fi_error {
    uint32_t position;      // of the offending character in the text
    char text[DS_TEXT_MAX]; // what, and what is allowed
};

// What a caller asks the engine with. Fields that do not apply: FI_ANY, NULL.
struct fi_query {
    uint64_t now_ns;
    uint32_t device;
    uint32_t client_pid;
    const char* client_name; // 16 bytes, terminated
    const char* command;     // e.g. "udis.soc_max_temp"
    const uint32_t* load;    // [FI_LOAD_COUNT] of the device, or NULL
};

void fi_init(struct fi_set* set, uint64_t seed);

// Parses one rule from (text, length); 0, or -1 with `error` filled. Never reads past length.
int fi_parse(const char* text, uint32_t length, struct fi_rule* out, struct fi_error* error);

// Parses and adds; the new id (> 0), -1 on a bad text, -2 when the table is full (error says so in
// both cases).
int fi_add(struct fi_set* set, const char* text, uint32_t length, uint64_t now_ns,
           struct fi_error* error);

// Removes rule `id`, or all for 0; how many were removed.
uint32_t fi_clear(struct fi_set* set, uint32_t id);

// Rule with the smallest id >= `id`, or NULL.
const struct fi_rule* fi_get(const struct fi_set* set, uint32_t id);

// How often the rule still fires; FI_UNLIMITED without a limit.
uint32_t fi_remaining(const struct fi_rule* rule);

// First rule of `kind` that matches and fires; counts the match. NULL when none does.
const struct fi_rule* fi_fire(struct fi_set* set, enum fi_kind kind, const struct fi_query* query);

// Like fi_fire, but only for rules that act by themselves in time (lost, ecc). `slot` walks the
// set: start with 0, NULL at the end.
const struct fi_rule* fi_fire_timed(struct fi_set* set, const struct fi_query* query,
                                    uint32_t* slot);

// Earliest time after now at which a timed rule could fire; UINT64_MAX when none will.
uint64_t fi_next_time(const struct fi_set* set, uint64_t now_ns);

// Counter-based random: the same (seed, rule, counter) gives the same value on every host.
uint64_t fi_random(uint64_t seed, uint64_t rule, uint64_t counter);

static inline int fi_active(const struct fi_set* set) {
    return set->count != 0;
}

#ifdef __cplusplus
}
#endif

#endif
