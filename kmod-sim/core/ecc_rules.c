// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Rules of kind ecc: when they flip bits, on which device, where, and which ones. Every choice is a
// hash of seed, rule and match number.
#include "kmod-sim/core/words.h"

#define DRAW_SALT 0x45434352554C45ULL
#define DEVICE_SALT 0x444556494345ULL
#define PLACE_DRAW 80  // draws before it are for the bits
#define PLACE_TRIES 40 // random pages before a search in order

struct draws { // the random numbers of one firing: 128 of them
    const struct sim* sim;
    const struct fi_rule* rule;
};

static uint64_t draw(const struct draws* draws, uint32_t number) {
    return fi_random(draws->sim->seed ^ DRAW_SALT, draws->rule->id,
                     (draws->rule->matches << 7) + number);
}

// Uniform in [0, bound) but for 1 part in 2^32.
static uint32_t below(uint64_t random, uint64_t bound) {
    return (uint32_t)(((random >> 32) * bound) >> 32);
}

// ---- where ----

static uint64_t allocated_pages(const struct sim_device* device) {
    uint64_t pages = 0;
    uint32_t index;
    for (index = 0; index < device->extent_count; ++index)
        if (!device->extent[index].context) // a context's memory is the driver's: no load meets it
            pages += device->extent[index].page_count;
    return pages;
}

// Page number `index` of the allocated ones, and how many of its words its owner can reach.
static uint32_t allocated_page(const struct sim_device* device, uint64_t index, uint32_t* words) {
    uint32_t at;
    for (at = 0; at < device->extent_count; ++at) {
        const struct sim_extent* extent = &device->extent[at];
        uint64_t left;
        if (extent->context)
            continue;
        if (index >= extent->page_count) {
            index -= extent->page_count;
            continue;
        }
        left = (extent->bytes - (index << SIM_PAGE_SHIFT)) >> 3;
        if (left && left < *words)
            *words = (uint32_t)left;
        return extent->first_page + (uint32_t)index;
    }
    return 0;
}

// Address of a word in a page that is in use: allocated memory when there is any, so that a load
// meets it. SIM_NEVER when no page is left.
static uint64_t random_place(const struct sim_device* device, const struct draws* draws) {
    uint64_t allocated = allocated_pages(device), pages = allocated, index = 0;
    uint32_t attempt;
    if (!pages)
        pages = device->total_pages;
    // The table of pages is bounded, so the search in order meets a good page if there is one.
    for (attempt = 0; attempt < PLACE_TRIES + SIM_PAGES_MAX + 1 && pages; ++attempt) {
        uint32_t words = 1U << WORDS_PER_PAGE_SHIFT, number;
        if (attempt < PLACE_TRIES)
            index = below(draw(draws, PLACE_DRAW + attempt), pages);
        else if (++index >= pages)
            index = 0;
        number = allocated ? allocated_page(device, index, &words) : (uint32_t)index;
        if (sim_page_state(device, number) == SIM_PAGE_ISOLATED)
            continue;
        return ((uint64_t)number << SIM_PAGE_SHIFT) +
               ((uint64_t)below(draw(draws, PLACE_DRAW + PLACE_TRIES), words) << 3);
    }
    return SIM_NEVER;
}

static uint64_t place(const struct sim_device* device, const struct fi_rule* rule,
                      const struct draws* draws) {
    if (rule->ecc_place == FI_PLACE_ADDRESS)
        return rule->ecc_address;
    if (rule->ecc_place == FI_PLACE_PAGE)
        return (rule->ecc_address << SIM_PAGE_SHIFT) +
               ((uint64_t)below(draw(draws, PLACE_DRAW + PLACE_TRIES), 1U << WORDS_PER_PAGE_SHIFT)
                << 3);
    return random_place(device, draws);
}

// ---- which bits, and the firing ----

static void fire(struct sim* sim, struct sim_device* device, const struct fi_rule* rule) {
    struct draws draws = {sim, rule};
    uint64_t address = place(device, rule, &draws), data = 0;
    uint32_t check = 0, index;
    uint8_t bit[72];
    for (index = 0; index < 72; ++index)
        bit[index] = (uint8_t)index;
    for (index = 0; index < rule->ecc_bits; ++index) { // the first steps of a shuffle
        uint32_t other = index + below(draw(&draws, index), 72 - index);
        uint8_t chosen = bit[other];
        bit[other] = bit[index];
        bit[index] = chosen;
        if (chosen < 64)
            data ^= (uint64_t)1 << chosen;
        else
            check ^= 1U << (chosen - 64);
    }
    if (address != SIM_NEVER && sim_flip_word(sim, device, address, data, (uint8_t)check) != 0)
        address = SIM_NEVER; // no such word, out of use, or the table is full: nothing was hit
    sim_journal(sim, device->config.device_id, DS_J_FAULT, 0, 0, rule->id, rule->matches, address);
}

// ---- when, and on which device ----

static int works(const struct sim* sim, uint32_t device) {
    return device < sim->limits.device_count && sim_present(&sim->device[device]) &&
           sim->device[device].state == DS_STATE_OK;
}

// The device that the rule's next tick is for; FI_ANY when it does not work.
static uint32_t target_of(const struct sim* sim, const struct fi_rule* rule) {
    uint32_t device, count = 0, chosen;
    if (rule->device != FI_ANY)
        return works(sim, rule->device) ? rule->device : FI_ANY;
    for (device = 0; device < sim->limits.device_count; ++device)
        count += (uint32_t)works(sim, device);
    if (!count)
        return FI_ANY;
    chosen = below(fi_random(sim->seed ^ DEVICE_SALT, rule->id, rule->ticks), count);
    for (device = 0; device < sim->limits.device_count; ++device)
        if (works(sim, device) && chosen-- == 0)
            break;
    return device;
}

// Ticks that come again pass by a device that does not work; one that comes once waits for it.
static int waits(const struct fi_rule* rule) {
    return !rule->period_ns && rule->when_compare == FI_WHEN_NONE;
}

void sim_ecc_rules_step(struct sim* sim, struct sim_device* device, uint64_t due_ns) {
    struct fi_set* set = &sim->rules;
    struct fi_query query = {due_ns, device->config.device_id, FI_ANY, NULL, NULL, NULL};
    uint32_t load[FI_LOAD_COUNT], slot;
    if (!fi_active(set))
        return;
    for (slot = 0; slot < set->count; ++slot) {
        while (fi_due(set, FI_ECC, slot, due_ns)) {
            const struct fi_rule* rule = &set->rule[slot];
            uint32_t target = target_of(sim, rule);
            if (target == FI_ANY && !waits(rule)) {
                fi_skip(set, slot);
                continue;
            }
            if (target != device->config.device_id)
                break;
            sim_load(sim, device, load);
            query.load = load;
            if (fi_tick(set, slot, &query))
                fire(sim, device, rule);
        }
    }
}

uint64_t sim_ecc_rules_next(const struct sim* sim, const struct sim_device* device) {
    uint64_t next = SIM_NEVER;
    uint32_t slot;
    for (slot = 0; slot < sim->rules.count; ++slot) {
        const struct fi_rule* rule = &sim->rules.rule[slot];
        uint32_t target;
        if (rule->kind != FI_ECC || rule->next_ns >= next)
            continue;
        target = target_of(sim, rule);
        if (target == device->config.device_id || (target == FI_ANY && !waits(rule)))
            next = rule->next_ns;
    }
    return next;
}
