// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Keys and the state of the parser, shared by parse.c (words and what holds between them) and
// setting.c (the value of each key).
#ifndef ASC_FAULTINJECT_CORE_GRAMMAR_H
#define ASC_FAULTINJECT_CORE_GRAMMAR_H

#include "faultinject/core/internal.h"

enum key {
    K_DEV = 0,
    K_CLIENT,
    K_PROBABILITY,
    K_INTERVAL,
    K_TIMES,
    K_SPACE,
    K_NTH,
    K_AFTER,
    K_FOR,
    K_WHEN,
    K_CMD,
    K_BITS,
    K_ADDR,
    K_PAGE,
    K_RANDOM,
    K_RATE,
    K_MODE,
    K_ERRNO,
    K_CODE,
    K_MS,
    K_INTERRUPTIBLE,
    K_FORCE,
    K_COUNT
};
#define KEY_BIT(key) (1U << (key))

struct fault {
    const char* name;
    uint8_t kind, timed;
    uint32_t takes, needs; // keys beside the common ones; keys that must be there
};

struct parse {
    struct fi_rule* rule;
    struct fi_error* error;
    const struct fault* fault;
    uint32_t seen;                // KEY_BIT() of the keys that were there
    struct fi_span span[K_COUNT]; // and their values
    uint32_t start[K_COUNT];      // and where they began
};

extern const struct fi_key { const char *name, *usage; } fi_keys[K_COUNT];

// Starts an error at `position` with a first text; -1.
int fi_complain(struct parse* parse, uint32_t position, const char* text);
// The value of `key` is none of those `allowed` tells; -1.
int fi_wrong_choice(struct parse* parse, enum key key, const char* allowed);
// Puts the value parse->span[key] into the rule; 0, or -1 with the error filled.
int fi_set_value(struct parse* parse, enum key key);

#endif
