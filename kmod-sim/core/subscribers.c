// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The history of events and those who read it. A subscriber's queue is a range of the history: from
// its cursor to the head, the events that match its filter.
#include "kmod-sim/core/internal.h"

#define HISTORY_MASK (SIM_HISTORY_MAX - 1)
#define DSMI_SLOTS 64 // driver-abi.md 9

DV_STATIC_ASSERT((SIM_HISTORY_MAX & HISTORY_MASK) == 0, "the ring is indexed by mask");

const struct sim_event* sim_history(const struct sim* sim, uint64_t index) {
    if (index >= sim->history_head || sim->history_head - index > SIM_HISTORY_MAX)
        return NULL;
    return &sim->history[index & HISTORY_MASK];
}

// The severity filter takes one severity and the tgid filter the reader's own process: the facts
// name the flags alone.
static int wants(const struct sim_subscriber* subscriber, const struct sim_event* event) {
    const struct dv_event_read* filter = &subscriber->filter;
    if (!((subscriber->visible >> event->device) & 1))
        return 0;
    if (filter->device_id >= 0 && (uint32_t)filter->device_id != event->device)
        return 0;
    if ((filter->flags & DV_EVENT_FILTER_ID) && filter->event_id != event->event_id)
        return 0;
    if ((filter->flags & DV_EVENT_FILTER_SEVERITY) && filter->severity != event->severity)
        return 0;
    if ((filter->flags & DV_EVENT_FILTER_NODE) &&
        filter->node_type != ((event->event_id >> 17) & 0x7FFU))
        return 0;
    return !(filter->flags & DV_EVENT_FILTER_TGID) || subscriber->pid == event->pid;
}

// Moves the cursor past the next event that the subscriber wants; returns it, NULL at the head.
static const struct sim_event* take_next(struct sim* sim, struct sim_subscriber* subscriber) {
    while (subscriber->cursor < sim->history_head) {
        const struct sim_event* event = &sim->history[subscriber->cursor++ & HISTORY_MASK];
        if (wants(subscriber, event)) {
            --subscriber->pending;
            return event;
        }
    }
    subscriber->pending = 0;
    return NULL;
}

// The slot that the next event takes holds the oldest one: who has not read it loses it.
static void make_room(struct sim* sim, struct sim_subscriber* subscriber) {
    if (sim->history_head - subscriber->cursor < SIM_HISTORY_MAX)
        return;
    if (wants(subscriber, &sim->history[subscriber->cursor & HISTORY_MASK])) {
        --subscriber->pending;
        ++subscriber->lost;
    }
    ++subscriber->cursor;
}

static void deliver(struct sim* sim, struct sim_subscriber* subscriber, uint32_t index,
                    const struct sim_event* event) {
    if (!subscriber->pending) { // nothing of the past is waited for: the search starts here
        subscriber->cursor = sim->history_head - 1;
        if (!wants(subscriber, event)) {
            ++subscriber->cursor;
            return;
        }
    } else if (!wants(subscriber, event)) {
        return;
    }
    ++subscriber->pending;
    if (subscriber->pending > DV_EVENT_QUEUE_DEPTH) {
        take_next(sim, subscriber);
        ++subscriber->lost;
    }
    sim_wake(sim, SIM_WAIT_EVENT, index);
}

static void publish(struct sim* sim, const struct sim_event* event) {
    const struct sim_event* kept;
    uint32_t index;
    for (index = 0; index < SIM_SUBSCRIBERS_MAX; ++index)
        if (sim->subscriber[index].used)
            make_room(sim, &sim->subscriber[index]);
    sim->history[sim->history_head & HISTORY_MASK] = *event;
    kept = &sim->history[sim->history_head++ & HISTORY_MASK];
    for (index = 0; index < SIM_SUBSCRIBERS_MAX; ++index)
        if (sim->subscriber[index].used)
            deliver(sim, &sim->subscriber[index], index, kept);
    sim_journal(sim, event->device, DS_J_EVENT, 0, 0, event->event_id, event->assertion,
                (uint64_t)event->serial);
}

void sim_distribute(struct sim* sim, struct sim_device* device) {
    uint32_t index;
    for (index = 0; index < device->outbox_count; ++index)
        publish(sim, &device->outbox[index]);
    device->outbox_count = 0;
    if (device->outbox_lost)
        sim_journal(sim, device->config.device_id, DS_J_LOST, 0, 0, 0, device->outbox_lost, 0);
    device->outbox_lost = 0;
}

// ---- readers ----

void sim_subscribers_drop(struct sim* sim, uint32_t client_ordinal) {
    uint32_t index;
    for (index = 0; index < SIM_SUBSCRIBERS_MAX; ++index)
        if (sim->subscriber[index].used && sim->subscriber[index].client == client_ordinal)
            memset(&sim->subscriber[index], 0, sizeof(sim->subscriber[index]));
}

static uint32_t find(const struct sim* sim, uint32_t pid, uint32_t thread) {
    uint32_t index = 0;
    while (index < SIM_SUBSCRIBERS_MAX &&
           !(sim->subscriber[index].used && sim->subscriber[index].pid == pid &&
             sim->subscriber[index].thread == thread))
        ++index;
    return index;
}

static uint32_t enrol(struct sim* sim, const struct sim_client* client, uint32_t thread,
                      const struct dv_event_read* filter) {
    uint32_t index, free_slot = SIM_SUBSCRIBERS_MAX, of_dsmi = 0;
    struct sim_subscriber* subscriber;
    for (index = SIM_SUBSCRIBERS_MAX; index > 0; --index) {
        if (!sim->subscriber[index - 1].used)
            free_slot = index - 1;
        else
            of_dsmi += sim->subscriber[index - 1].source == DV_EVENT_SOURCE_DSMI;
    }
    if (free_slot == SIM_SUBSCRIBERS_MAX ||
        (filter->source == DV_EVENT_SOURCE_DSMI && of_dsmi >= DSMI_SLOTS))
        return SIM_SUBSCRIBERS_MAX;
    subscriber = &sim->subscriber[free_slot];
    memset(subscriber, 0, sizeof(*subscriber));
    subscriber->used = 1;
    subscriber->pid = client->ident.pid;
    subscriber->thread = thread;
    subscriber->source = (uint32_t)filter->source;
    subscriber->visible = client->ident.visible;
    subscriber->filter = *filter;
    subscriber->cursor = sim->history_head;
    return free_slot;
}

int sim_event_next(struct sim* sim, struct sim_client* client, uint32_t thread,
                   const struct dv_event_read* filter, struct sim_event* out,
                   uint32_t* notify_serial, uint32_t* subscriber) {
    uint32_t index = find(sim, client->ident.pid, thread);
    struct sim_subscriber* reader;
    const struct sim_event* event;
    if (index == SIM_SUBSCRIBERS_MAX)
        index = enrol(sim, client, thread, filter);
    if (index == SIM_SUBSCRIBERS_MAX)
        return -SIM_ENOSPC;
    reader = &sim->subscriber[index];
    reader->client = client->ordinal; // lives as long as the file it was last read through
    *subscriber = index;
    event = reader->pending ? take_next(sim, reader) : NULL;
    if (!event)
        return 0;
    *out = *event;
    *notify_serial = ++reader->notify_serial;
    return 1;
}

int sim_event_waiting(const struct sim* sim, const struct sim_client* client) {
    uint32_t index;
    for (index = 0; index < SIM_SUBSCRIBERS_MAX; ++index)
        if (sim->subscriber[index].used && sim->subscriber[index].client == client->ordinal &&
            sim->subscriber[index].pending)
            return 1;
    return 0;
}
