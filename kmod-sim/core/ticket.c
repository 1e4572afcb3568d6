// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Parked calls: what each waits for, and the order in which they go on.
#include "kmod-sim/core/internal.h"

static uint32_t slot_of(const struct sim* sim, uint32_t ticket) {
    uint32_t slot = 0;
    while (slot < sim->ticket_count && sim->ticket[slot].id != ticket)
        ++slot;
    return slot;
}

static void drop(struct sim* sim, uint32_t slot) {
    uint32_t last = --sim->ticket_count;
    if (slot != last)
        sim->ticket[slot] = sim->ticket[last];
    memset(&sim->ticket[last], 0, sizeof(sim->ticket[last]));
}

uint32_t sim_park(struct sim* sim, struct sim_client* client, enum sim_wait wait, uint32_t key,
                  uint64_t due_ns, int uninterruptible) {
    struct sim_ticket* ticket;
    if (sim->ticket_count >= SIM_TICKETS_MAX)
        return 0;
    do
        ++sim->next_ticket;
    while (sim->next_ticket == 0 || slot_of(sim, sim->next_ticket) < sim->ticket_count);
    ticket = &sim->ticket[sim->ticket_count++];
    memset(ticket, 0, sizeof(*ticket));
    ticket->id = sim->next_ticket;
    ticket->client = client ? client->ordinal : 0;
    ticket->wait = (uint16_t)wait;
    ticket->uninterruptible = uninterruptible != 0;
    ticket->key = key;
    ticket->due_ns = due_ns;
    ticket->ready_ns = SIM_NEVER;
    sim_touch(sim);
    return ticket->id;
}

int sim_cancel(struct sim* sim, uint32_t ticket) {
    uint32_t slot = slot_of(sim, ticket);
    if (slot == sim->ticket_count || sim->ticket[slot].uninterruptible)
        return 0;
    drop(sim, slot);
    return 1;
}

void sim_unpark(struct sim* sim, uint32_t ticket) {
    uint32_t slot = slot_of(sim, ticket);
    if (slot < sim->ticket_count)
        drop(sim, slot);
}

void sim_tickets_drop(struct sim* sim, uint32_t client_ordinal) {
    uint32_t slot = 0;
    while (slot < sim->ticket_count) {
        if (sim->ticket[slot].client == client_ordinal)
            drop(sim, slot); // the last one stands here now
        else
            ++slot;
    }
}

static void make_ready(struct sim_ticket* ticket, uint64_t at_ns) {
    ticket->ready = 1;
    ticket->ready_ns = at_ns;
}

void sim_wake(struct sim* sim, enum sim_wait wait, uint32_t key) {
    uint32_t slot;
    ++sim->wakes;
    for (slot = 0; slot < sim->ticket_count; ++slot) {
        struct sim_ticket* ticket = &sim->ticket[slot];
        if (!ticket->ready && ticket->wait == wait && ticket->key == key)
            make_ready(ticket, sim->now_ns);
    }
}

void sim_tickets_due(struct sim* sim, uint64_t at_ns) {
    uint32_t slot;
    for (slot = 0; slot < sim->ticket_count; ++slot) {
        struct sim_ticket* ticket = &sim->ticket[slot];
        if (!ticket->ready && ticket->due_ns != SIM_NEVER && ticket->due_ns <= at_ns)
            make_ready(ticket, ticket->due_ns);
    }
}

uint64_t sim_tickets_next(const struct sim* sim) {
    uint64_t next = SIM_NEVER;
    uint32_t slot;
    for (slot = 0; slot < sim->ticket_count; ++slot)
        if (!sim->ticket[slot].ready)
            next = sim_earlier_of(next, sim->ticket[slot].due_ns);
    return next;
}

// Ids are given out in order and may wrap around.
static int before(const struct sim_ticket* a, const struct sim_ticket* b) {
    if (a->ready_ns != b->ready_ns)
        return a->ready_ns < b->ready_ns;
    return (int32_t)(a->id - b->id) < 0;
}

uint32_t sim_next_ready(struct sim* sim, uint64_t* ready_ns) {
    uint32_t slot, best = sim->ticket_count, id;
    for (slot = 0; slot < sim->ticket_count; ++slot)
        if (sim->ticket[slot].ready &&
            (best == sim->ticket_count || before(&sim->ticket[slot], &sim->ticket[best])))
            best = slot;
    if (best == sim->ticket_count)
        return 0;
    id = sim->ticket[best].id;
    if (ready_ns)
        *ready_ns = sim->ticket[best].ready_ns;
    drop(sim, best);
    return id;
}
