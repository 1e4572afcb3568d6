// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// HDC sessions and their queued datagrams: two pools of slots over one pool of chunks.
#include "kmod-sim/abi/hdc.h"

void abi_hdc_init(void* extra) {
    struct hdc_state* hdc = extra;
    uint32_t index;
    memset(hdc, 0, sizeof(*hdc));
    for (index = 0; index < HDC_CHUNKS; ++index)
        hdc->chunk[index].next_chunk = (uint16_t)(index + 1 < HDC_CHUNKS ? index + 1 : HDC_NONE);
    hdc->free_count = HDC_CHUNKS;
    for (index = 0; index < HDC_SESSIONS; ++index)
        hdc->session[index].first = hdc->session[index].last = HDC_NONE;
}

static uint32_t chunks_for(uint32_t length) {
    return length ? (uint32_t)div_u64_u32(length + HDC_CHUNK_BYTES - 1, HDC_CHUNK_BYTES, NULL) : 1;
}

static void free_chunks(struct sim* sim, uint16_t first) {
    struct hdc_state* hdc = hdc_of(sim);
    while (first != HDC_NONE) {
        uint16_t next = hdc->chunk[first].next_chunk;
        hdc->chunk[first].next_chunk = hdc->free_chunk;
        hdc->free_chunk = first;
        ++hdc->free_count;
        first = next;
    }
    sim_wake(sim, SIM_WAIT_HDC, HDC_KEY_ROOM);
}

int hdc_queue(struct sim* sim, uint32_t session, const uint8_t* data, uint32_t length,
              uint64_t ready_ns) {
    struct hdc_state* hdc = hdc_of(sim);
    struct hdc_session* to = &hdc->session[session];
    uint16_t first = HDC_NONE, last = HDC_NONE;
    uint32_t left = chunks_for(length), offset = 0;
    if (to->queued >= HDC_QUEUE_MAX || left > hdc->free_count)
        return -1;
    for (; left; --left) {
        uint16_t taken = hdc->free_chunk;
        struct hdc_chunk* chunk = &hdc->chunk[taken];
        uint32_t part = length - offset < HDC_CHUNK_BYTES ? length - offset : HDC_CHUNK_BYTES;
        hdc->free_chunk = chunk->next_chunk;
        --hdc->free_count;
        memcpy(chunk->data, data + offset, part);
        offset += part;
        chunk->next_chunk = chunk->next_datagram = HDC_NONE;
        if (first == HDC_NONE)
            first = taken;
        else
            hdc->chunk[last].next_chunk = taken;
        last = taken;
    }
    hdc->chunk[first].length = length;
    hdc->chunk[first].ready_ns = ready_ns;
    if (to->first == HDC_NONE)
        to->first = first;
    else
        hdc->chunk[to->last].next_datagram = first;
    to->last = first;
    ++to->queued;
    sim_wake(sim, SIM_WAIT_HDC, session);
    return 0;
}

// Datagrams keep their order: one that is under way holds up those behind it.
uint32_t hdc_ready(const struct sim* sim, const struct hdc_session* session, uint64_t* next_ns) {
    const struct hdc_state* hdc = hdc_of(sim);
    uint16_t at = session->first;
    uint32_t count = 0;
    *next_ns = SIM_NEVER;
    for (; at != HDC_NONE; at = hdc->chunk[at].next_datagram) {
        if (hdc->chunk[at].ready_ns > sim->now_ns) {
            *next_ns = hdc->chunk[at].ready_ns;
            break;
        }
        ++count;
    }
    return count;
}

uint32_t hdc_length_of(const struct sim* sim, const struct hdc_session* session, uint32_t index) {
    const struct hdc_state* hdc = hdc_of(sim);
    uint16_t at = session->first;
    while (at != HDC_NONE && index--)
        at = hdc->chunk[at].next_datagram;
    return at == HDC_NONE ? 0 : hdc->chunk[at].length;
}

// Takes the first datagram; `to` (NULL: thrown away) has room for its length.
void hdc_dequeue(struct sim* sim, uint32_t session, uint8_t* to) {
    struct hdc_state* hdc = hdc_of(sim);
    struct hdc_session* from = &hdc->session[session];
    uint16_t first = from->first, at;
    uint32_t left;
    if (first == HDC_NONE)
        return;
    left = hdc->chunk[first].length;
    for (at = first; to && at != HDC_NONE; at = hdc->chunk[at].next_chunk) {
        uint32_t part = left < HDC_CHUNK_BYTES ? left : HDC_CHUNK_BYTES;
        memcpy(to, hdc->chunk[at].data, part);
        to += part;
        left -= part;
    }
    from->first = hdc->chunk[first].next_datagram;
    if (from->first == HDC_NONE)
        from->last = HDC_NONE;
    --from->queued;
    free_chunks(sim, first);
}

static int32_t free_slot(const struct hdc_state* hdc, uint32_t from, uint32_t end) {
    for (; from < end; ++from)
        if (!hdc->session[from].open)
            return (int32_t)from;
    return -1;
}

int32_t hdc_take(struct sim* sim, int is_short, int overflow) {
    struct hdc_state* hdc = hdc_of(sim);
    int32_t slot = is_short ? free_slot(hdc, 0, HDC_SHORT_SESSIONS) : -1;
    struct hdc_session* session;
    if (slot < 0 && (!is_short || overflow))
        slot = free_slot(hdc, HDC_SHORT_SESSIONS, HDC_SESSIONS);
    if (slot < 0)
        return -1;
    session = &hdc->session[slot];
    session->open = 1;
    ++session->alloc_index;
    session->connector = session->owner = 0;
    memset(session->timeout, 0, sizeof(session->timeout));
    return slot;
}

void hdc_end(struct sim* sim, uint32_t session) {
    struct hdc_session* ended = &hdc_of(sim)->session[session];
    ended->open = 0;
    while (ended->queued)
        hdc_dequeue(sim, session, NULL);
    sim_wake(sim, SIM_WAIT_HDC, session);
}

int hdc_alive(struct sim* sim, const struct hdc_session* session) {
    const struct sim_device* device = sim_device(sim, session->device);
    return session->open && device && device->state == DS_STATE_OK && device->dmp_started &&
           device->reset_count == session->boot_count;
}

static int process_has_files(const struct sim* sim, const struct sim_client* client) {
    uint32_t index;
    for (index = 0; index < sim->limits.client_count; ++index) {
        const struct sim_client* other = &sim->client[index];
        if (other->ordinal && other != client && other->node == DV_NODE_IS_HDC &&
            other->ident.pid == client->ident.pid)
            return 1;
    }
    return 0;
}

// A session ends with the file that claimed it, else with the one that connected.
void abi_hdc_release(struct sim* sim, const struct sim_client* client) {
    struct hdc_state* hdc = hdc_of(sim);
    const struct hdc_service* service;
    uint32_t index;
    if (client->node != DV_NODE_IS_HDC)
        return;
    for (index = 0; index < HDC_SESSIONS; ++index) {
        const struct hdc_session* session = &hdc->session[index];
        if (session->open &&
            (session->owner ? session->owner : session->connector) == client->ordinal)
            hdc_end(sim, index);
    }
    if (process_has_files(sim, client))
        return;
    for (index = 0; (service = hdc_service_at(index)) != NULL; ++index)
        if (service->forget)
            service->forget(hdc, client->ident.pid);
}

static int belongs(const struct hdc_session* session, const struct sim_client* client) {
    return session->open &&
           (session->connector == client->ordinal || session->owner == client->ordinal);
}

uint64_t abi_hdc_next(const struct sim* sim) {
    const struct hdc_state* hdc = hdc_of(sim);
    uint64_t next, first = SIM_NEVER;
    uint32_t index;
    for (index = 0; index < HDC_SESSIONS; ++index)
        if (hdc->session[index].queued && !hdc_ready(sim, &hdc->session[index], &next) &&
            next < first)
            first = next;
    return first;
}

int abi_hdc_readable(const struct sim* sim, const struct sim_client* client) {
    const struct hdc_state* hdc = hdc_of(sim);
    uint64_t next;
    uint32_t index;
    for (index = 0; index < HDC_SESSIONS; ++index)
        if (belongs(&hdc->session[index], client) && hdc->session[index].queued &&
            hdc_ready(sim, &hdc->session[index], &next))
            return 1;
    return 0;
}

int abi_hdc_holds(const struct sim* sim, const struct sim_client* client, uint32_t device) {
    const struct hdc_state* hdc = hdc_of(sim);
    uint32_t index;
    if (client->node != DV_NODE_IS_HDC)
        return 0;
    for (index = 0; index < HDC_SESSIONS; ++index)
        if (belongs(&hdc->session[index], client) && hdc->session[index].device == device)
            return 1;
    return 0;
}

void abi_hdc_wake(struct sim* sim) {
    const struct hdc_state* hdc = hdc_of(sim);
    uint32_t index;
    for (index = 0; index < HDC_SESSIONS; ++index)
        if (hdc->session[index].open)
            sim_wake(sim, SIM_WAIT_HDC, index);
}
