// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Rule engine: one text grammar, fault_attr semantics, counter-based random. Freestanding; externs
// memcpy, memset, memcmp only.
//
// Grammar: one rule, parted by blanks, keys in any order, printable ASCII, at most 255 characters.
//   zombie                      release skips the reclaim of the client's memory
//   lost dev=N                  the device stops answering
//   ecc bits=N [addr=A|page=P|random] [rate=R]
//                               flips N (1 to 72) bits of a stored HBM word: once (or times=), or R
//                               times a second; addr is in bytes, page a page number (decimal or
//                               0x), both need dev=; without dev= each firing picks a device
//   isolation-fails             taking a page with a double-bit error out of use fails
//   surface cmd=NAME mode=err errno=NAME|code=N [force=yes]
//   surface cmd=NAME mode=deny [force=yes]     EACCES; 41 of HDC, 46 of DMP
//   surface cmd=NAME mode=delay ms=N [interruptible=yes|no]
//   surface cmd=NAME mode=never [interruptible=yes|no]
// For every rule: dev=N probability=PERCENT interval=N times=N space=N nth=N after=TIME for=TIME
// when=NAME>N; for zombie, isolation-fails and surface also client=PID|NAME.
//   cmd    a name of commands.def, a UDIS value as udis.<key> with '#' a digit; a '*' at the end
//          matches any rest. An error that commands.def does not list for it needs force=yes.
//   TIME   300ms, 2s, 5m, 1h, 10us; a bare number is seconds; fractions are allowed
//   when   hbm_bw hbm_used aicore (percent), temperature (degrees), power (watts, one decimal); '>'
//          or '<'
//   nth    is a rule of its own: not with interval, space or times
// Order of the tests (kernel fault_attr): filters and when, times exhausted, after/for window,
// space, interval, nth, probability, then fire and count down. Matches are counted once past the
// window; probability is decided by hash(seed, rule id, match number).
// Rules that act in time (lost, ecc) have ticks in place of calls: with rate= one every 1/R seconds
// from the window's start on; with when= and no rate one every 100 ms; else `times` ticks (1 unless
// given) at the window's start, after which the rule is at its end. Those without a rate fire once
// unless times= says otherwise.
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
#define FI_DEVICES_MAX 64
#define FI_TIME_NEVER 0xFFFFFFFFFFFFFFFFULL

enum fi_kind {
    FI_NONE = 0,
    FI_ZOMBIE,
    FI_LOST,
    FI_ECC,
    FI_SURFACE,
    FI_ISOLATION_FAILS,
    FI_KIND_COUNT
};
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
    // ticks of a timed rule: period_ns and period_rest / ecc_rate_mhz of a ns; 0 all at once
    uint64_t period_ns;
    uint32_t period_rest;
    // state
    uint32_t phase;             // rests added up, below ecc_rate_mhz
    uint32_t skipped;           // matches since interval= fired last
    uint64_t added_ns, next_ns; // next_ns: next tick of a timed rule, FI_TIME_NEVER at its end
    uint64_t ticks;             // that are past
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

// Like fi_fire, for rules that act by themselves in time (lost, ecc): a rule whose tick is due at
// query->now_ns and fires on query->device (FI_ANY: on the rule's own). Consumes the tick. `slot`
// walks the set: start with 0, call until NULL.
const struct fi_rule* fi_fire_timed(struct fi_set* set, enum fi_kind kind,
                                    const struct fi_query* query, uint32_t* slot);

// The parts of fi_fire_timed, for a caller that picks the device itself: is rule[slot] of `kind`
// and due; consume its tick and tell whether it fires; consume it as one that met nothing.
int fi_due(const struct fi_set* set, enum fi_kind kind, uint32_t slot, uint64_t now_ns);
int fi_tick(struct fi_set* set, uint32_t slot, const struct fi_query* query);
void fi_skip(struct fi_set* set, uint32_t slot);

// Earliest time after now at which a timed rule has a tick; FI_TIME_NEVER when none has. Ticks at
// or before now had their chance and are left out.
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
