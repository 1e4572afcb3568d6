// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Which rule fires for a call or at a time, and the set of rules.
#include "faultinject/core/internal.h"
#include "faultinject/core/rules.h"

#define WHEN_PERIOD_NS 100000000ULL // how often a timed rule with when= and no rate looks

uint64_t fi_random(uint64_t seed, uint64_t rule, uint64_t counter) {
    // The finaliser of splitmix64 over each part in turn: a change of one input bit changes half of
    // the output.
    uint64_t value = seed;
    unsigned part;
    for (part = 0; part < 3; ++part) {
        value += 0x9E3779B97F4A7C15ULL + (part == 0 ? 0 : part == 1 ? rule : counter);
        value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9ULL;
        value = (value ^ (value >> 27)) * 0x94D049BB133111EBULL;
        value ^= value >> 31;
    }
    return value;
}

void fi_init(struct fi_set* set, uint64_t seed) {
    memset(set, 0, sizeof *set);
    set->seed = seed;
    set->next_id = 1;
}

static uint64_t later(uint64_t time, uint64_t by) {
    return time + by < time ? FI_TIME_NEVER : time + by;
}

int fi_add(struct fi_set* set, const char* text, uint32_t length, uint64_t now_ns,
           struct fi_error* error) {
    struct fi_rule* rule;
    if (set->count >= FI_RULES_MAX) {
        fi_say_start(error, 0);
        fi_say(error, "all ");
        fi_say_number(error, FI_RULES_MAX);
        fi_say(error, " rules are in use; clear one first (exhausted ones count too)");
        return -2;
    }
    rule = &set->rule[set->count];
    if (fi_parse(text, length, rule, error) != 0)
        return -1;
    rule->id = set->next_id++;
    rule->added_ns = now_ns;
    rule->next_ns = fi_is_timed(rule->kind) ? later(now_ns, rule->after_ns) : FI_TIME_NEVER;
    ++set->count;
    return (int)rule->id;
}

uint32_t fi_clear(struct fi_set* set, uint32_t id) {
    uint32_t from, to = 0, removed;
    for (from = 0; from < set->count; ++from) {
        if (id == 0 || set->rule[from].id == id)
            continue;
        if (to != from)
            memcpy(&set->rule[to], &set->rule[from], sizeof set->rule[to]);
        ++to;
    }
    removed = set->count - to;
    set->count = to;
    return removed;
}

const struct fi_rule* fi_get(const struct fi_set* set, uint32_t id) {
    uint32_t slot; // ids ascend
    for (slot = 0; slot < set->count; ++slot)
        if (set->rule[slot].id >= id)
            return &set->rule[slot];
    return NULL;
}

uint32_t fi_remaining(const struct fi_rule* rule) {
    if (fi_is_timed(rule->kind) && rule->next_ns == FI_TIME_NEVER)
        return 0;
    if (rule->nth)
        return rule->matches < rule->nth ? 1 : 0;
    if (rule->times == FI_UNLIMITED)
        return FI_UNLIMITED;
    return rule->hits < rule->times ? rule->times - (uint32_t)rule->hits : 0;
}

static int load_holds(const struct fi_rule* rule, const struct fi_query* query) {
    if (rule->when_compare == FI_WHEN_NONE)
        return 1;
    if (!query->load || rule->when_load >= FI_LOAD_COUNT)
        return 0; // an unknown load fulfils no condition
    if (rule->when_compare == FI_WHEN_GREATER)
        return query->load[rule->when_load] > rule->when_value;
    return query->load[rule->when_load] < rule->when_value;
}

static int name_equals(const char* name, const char* other) {
    unsigned i;
    for (i = 0; i < 16; ++i) {
        if (name[i] != other[i])
            return 0;
        if (!name[i])
            return 1;
    }
    return 1;
}

static int filters_hold(const struct fi_rule* rule, const struct fi_query* query) {
    if (rule->device != FI_ANY && rule->device != query->device)
        return 0;
    if (rule->client_pid != FI_ANY && rule->client_pid != query->client_pid)
        return 0;
    if (rule->client_name[0] &&
        (!query->client_name || !name_equals(rule->client_name, query->client_name)))
        return 0;
    if (rule->command[0] && (!query->command || !fi_command_matches(rule->command, query->command)))
        return 0;
    return load_holds(rule, query);
}

// What is left of the tests once the filters hold: limits, counting and chance.
static int decide(const struct fi_set* set, struct fi_rule* rule, uint64_t now_ns) {
    uint64_t start = later(rule->added_ns, rule->after_ns), chance;
    if (fi_remaining(rule) == 0 || now_ns < start)
        return 0;
    if (rule->for_ns && now_ns >= later(start, rule->for_ns))
        return 0;
    ++rule->matches;
    if (rule->matches <= rule->space)
        return 0;
    if (++rule->skipped < rule->interval)
        return 0;
    rule->skipped = 0;
    if (rule->nth && rule->matches != rule->nth)
        return 0;
    chance = ((fi_random(set->seed, rule->id, rule->matches) >> 32) * 1000000) >> 32;
    if (chance >= rule->probability_ppm)
        return 0;
    ++rule->hits;
    return 1;
}

const struct fi_rule* fi_fire(struct fi_set* set, enum fi_kind kind, const struct fi_query* query) {
    uint32_t slot;
    for (slot = 0; slot < set->count; ++slot) {
        struct fi_rule* rule = &set->rule[slot];
        if (rule->kind == kind && filters_hold(rule, query) && decide(set, rule, query->now_ns))
            return rule;
    }
    return NULL;
}

// Moves a timed rule past its present tick.
static void advance(struct fi_rule* rule) {
    uint64_t start = later(rule->added_ns, rule->after_ns);
    ++rule->ticks;
    if (rule->period_ns) {
        rule->next_ns = later(rule->next_ns, rule->period_ns);
        rule->phase += rule->period_rest;
        if (rule->period_rest && rule->phase >= rule->ecc_rate_mhz) {
            rule->phase -= rule->ecc_rate_mhz;
            rule->next_ns = later(rule->next_ns, 1);
        }
    } else if (rule->when_compare != FI_WHEN_NONE) {
        rule->next_ns = later(rule->next_ns, WHEN_PERIOD_NS);
    } else if (rule->ticks >= rule->times) { // all ticks at once
        rule->next_ns = FI_TIME_NEVER;
    }
    if (rule->for_ns && rule->next_ns >= later(start, rule->for_ns))
        rule->next_ns = FI_TIME_NEVER;
    if (fi_remaining(rule) == 0)
        rule->next_ns = FI_TIME_NEVER;
}

int fi_due(const struct fi_set* set, enum fi_kind kind, uint32_t slot, uint64_t now_ns) {
    const struct fi_rule* rule;
    if (slot >= set->count)
        return 0;
    rule = &set->rule[slot];
    return rule->kind == kind && rule->next_ns != FI_TIME_NEVER && rule->next_ns <= now_ns;
}

int fi_tick(struct fi_set* set, uint32_t slot, const struct fi_query* query) {
    struct fi_rule* rule = &set->rule[slot];
    // The time that counts is the tick's own, not that of the step that found it.
    int fires = load_holds(rule, query) && decide(set, rule, rule->next_ns);
    advance(rule);
    return fires;
}

void fi_skip(struct fi_set* set, uint32_t slot) {
    advance(&set->rule[slot]);
}

const struct fi_rule* fi_fire_timed(struct fi_set* set, enum fi_kind kind,
                                    const struct fi_query* query, uint32_t* slot) {
    for (; *slot < set->count; ++*slot) {
        uint32_t device = set->rule[*slot].device;
        if (device != FI_ANY && query->device != FI_ANY && device != query->device)
            continue;
        while (fi_due(set, kind, *slot, query->now_ns))
            if (fi_tick(set, *slot, query))
                return &set->rule[*slot];
    }
    return NULL;
}

uint64_t fi_next_time(const struct fi_set* set, uint64_t now_ns) {
    uint64_t next = FI_TIME_NEVER;
    uint32_t slot;
    for (slot = 0; slot < set->count; ++slot) {
        const struct fi_rule* rule = &set->rule[slot];
        if (fi_is_timed(rule->kind) && rule->next_ns > now_ns && rule->next_ns < next)
            next = rule->next_ns;
    }
    return next;
}
