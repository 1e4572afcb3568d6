// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// What the files of the rule engine share with each other.
#ifndef ASC_FAULTINJECT_CORE_INTERNAL_H
#define ASC_FAULTINJECT_CORE_INTERNAL_H

#include "faultinject/core/rules.h"
#include "ioctl/wire/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

// A part of a rule's text: [first, first + length).
struct fi_span {
    const char* text; // of the whole rule
    uint32_t first, length;
};

static inline char fi_at(const struct fi_span* span, uint32_t index) {
    return index < span->length ? span->text[span->first + index] : '\0';
}

int fi_span_is(const struct fi_span* span, const char* word);

// ---- text.c: messages ----
// Starts an error at `position` of the text; the parts that follow are cut at the end of the room.
void fi_say_start(struct fi_error* error, uint32_t position);
void fi_say(struct fi_error* error, const char* text);
void fi_say_number(struct fi_error* error, uint64_t number);
void fi_say_span(struct fi_error* error, const struct fi_span* span); // quoted, cut when long
void fi_say_byte(struct fi_error* error, uint8_t byte);
// Edits (insert, delete, replace) that turn one word into the other; 99 when a word is too long.
unsigned fi_distance(const struct fi_span* span, const char* name);

// ---- value.c: numbers; each gives 0, or -1 with `error` filled. `key` is named in messages. ----
// Whole number, decimal or 0x, at most `most`: -1 when it is one, else the index of the character
// that is wrong (0 when it is too large).
int32_t fi_read_number(const struct fi_span* value, uint64_t most, uint64_t* out);
int fi_number(const struct fi_span* value, const char* key, uint64_t least, uint64_t most,
              uint64_t* out, struct fi_error* error);
// Number with up to `decimals` digits behind the point, as a multiple of 10^-decimals. `allowed`
// says in a message what is.
int fi_decimal(const struct fi_span* value, const char* key, unsigned decimals, uint64_t most,
               const char* allowed, uint64_t* out, struct fi_error* error);
int fi_time(const struct fi_span* value, const char* key, uint64_t* out, struct fi_error* error);
// a / b and, in *rest, what is left; without the '/' that 32-bit targets take from a library.
uint64_t fi_divide(uint64_t a, uint32_t b, uint32_t* rest);

// ---- command.c ----
// Both may hold '#' for a digit, the pattern may end in '*'.
int fi_command_matches(const char* pattern, const char* command);
// Some command of commands.def matches; else -1 and the names that are near.
int fi_command_check(const char* pattern, const struct fi_span* span, struct fi_error* error);
// Errno by name, 0 when unknown; fi_say_errnos lists the names.
int fi_errno(const struct fi_span* name);
void fi_say_errnos(struct fi_error* error);
// The error (0: each command's own "not permitted") is legal for every command that the pattern
// matches; else -1 and the legal ones.
int fi_error_check(const char* pattern, int32_t code, const struct fi_span* span,
                   struct fi_error* error);

// ---- parse.c ----
int fi_is_timed(unsigned kind);

#ifdef __cplusplus
}
#endif

#endif
