// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// What the files of the memory's contents share: words.c (tables), pages.c, ecc.c (decoding,
// scrubbing), ecc_rules.c (flips by rules).
#ifndef ASC_KMOD_SIM_CORE_WORDS_H
#define ASC_KMOD_SIM_CORE_WORDS_H

#include "kmod-sim/core/internal.h"

#define WORDS_PER_PAGE_SHIFT 13U // 8192 words of 8 bytes
#define CAUSE_SINGLE 1
#define CAUSE_DOUBLE 2
#define REPORTED_COUNTED 1
#define REPORTED_ISOLATION_TRIED 2

static inline uint32_t page_of(uint64_t address) {
    return (uint32_t)(address >> SIM_PAGE_SHIFT);
}

// ---- words.c ----
// Index of the first damaged word at or after `address`.
uint32_t sim_word_from(const struct sim_device* device, uint64_t address);
// The entry of a word; one without flips is made when there is none. NULL: the table is full.
struct sim_word* sim_word_take(const struct sim* sim, struct sim_device* device, uint64_t address);
// Forgets the damage of the words of [first, end).
void sim_words_drop(struct sim_device* device, uint64_t first, uint64_t end);

// ---- pages.c ----
// The entry of a page; a good one is made when there is none. NULL: the table is full.
struct sim_page* sim_page_take(struct sim_device* device, uint32_t number);
// Enters a state with its counts and the journal, without the events of 16 and 64 pages.
void sim_page_enter(struct sim* sim, struct sim_device* device, struct sim_page* page,
                    enum sim_page_state state, uint8_t cause);
// Raises or recovers the events of 16 and 64 isolated pages.
void sim_pages_alarm(struct sim* sim, struct sim_device* device);
// First address of [address, end) in a page that double-bit errors took out of use; `end` if none.
uint64_t sim_first_out_of_use(const struct sim_device* device, uint64_t address, uint64_t end);

// ---- ecc.c ----
// Flips bits of a word of a page in use; 0 or a negative errno as sim_flip's.
int sim_flip_word(struct sim* sim, struct sim_device* device, uint64_t address, uint64_t data,
                  uint8_t check);

// ---- ecc_rules.c ----
void sim_ecc_rules_step(struct sim* sim, struct sim_device* device, uint64_t due_ns);
uint64_t sim_ecc_rules_next(const struct sim* sim, const struct sim_device* device);

#endif
