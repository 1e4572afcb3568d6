// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Fault events: the blocking read, codes, texts, history, what is active (driver-abi.md 9).
#include "kmod-sim/abi/internal.h"

// Blocks until an event arrives or the time is over. The first read of a thread registers it.
static int32_t event_read(struct abi_call* call) {
    struct abi_request* request = call->request;
    struct dv_event_read query;
    struct sim_event event;
    struct dv_event wire;
    uint32_t serial = 0, subscriber = 0;
    int found;
    memcpy(&query, call->in, sizeof(query));
    if ((query.source != DV_EVENT_SOURCE_DSMI && query.source != DV_EVENT_SOURCE_HAL) ||
        query.timeout_ms < -1 || query.timeout_ms > DV_EVENT_TIMEOUT_MAX)
        return DV_E_PARAMETER;
    if (query.device_id != -1 && !abi_visible(call->client, (uint32_t)query.device_id))
        return -SIM_ENODEV;
    found = sim_event_next(call->sim, call->client, request->thread, &query, &event, &serial,
                           &subscriber);
    if (found < 0)
        return found == -SIM_ENOSPC ? DV_E_OCCUPIED : found;
    if (found) {
        sim_event_to_wire(call->sim, &event, serial, &wire);
        memcpy(call->out, &wire, sizeof(wire));
        return 0;
    }
    if (!(request->scratch[SCRATCH_FLAGS] & ABI_F_WAITED)) {
        request->scratch[SCRATCH_FLAGS] |= ABI_F_WAITED;
        request->scratch[SCRATCH_DEADLINE] =
            query.timeout_ms < 0 ? SIM_NEVER
                                 : call->sim->now_ns + (uint64_t)query.timeout_ms * 1000000U;
    }
    if (call->sim->now_ns >= request->scratch[SCRATCH_DEADLINE])
        return -SIM_ETIMEDOUT;
    return abi_park(call, SIM_WAIT_EVENT, subscriber, request->scratch[SCRATCH_DEADLINE], 0);
}

static int32_t event_codes(struct abi_call* call) {
    struct dv_event_codes codes;
    uint32_t index;
    memset(&codes, 0, sizeof(codes));
    codes.device_id = call->device->config.device_id;
    for (index = 0; index < SIM_FAULTS_MAX; ++index)
        if (call->device->fault[index].event_id)
            codes.code[codes.count++] = call->device->fault[index].event_id;
    memcpy(call->out, &codes, sizeof(codes));
    return 0;
}

static int32_t event_string(struct abi_call* call) {
    const char* text = sim_event_text(abi_get32(call->in + 4));
    uint32_t room = (uint32_t)call->request->scratch[SCRATCH_OUTPUT_LENGTH];
    if (!text || !text[0])
        return DV_E_NOT_EXIST;
    memcpy(call->out, text, abi_text_length(text, room - 1)); // the rest is zero
    return 0;
}

static int32_t event_switch(struct abi_call* call, int off) {
    uint32_t code = abi_get32(call->in + 4);
    int result = off ? sim_event_disable(call->sim, call->device, code)
                     : sim_event_enable(call->sim, call->device, code);
    if (result == -SIM_ENOSPC)
        return DV_E_NO_RESOURCES;
    return result == -SIM_ENOENT ? DV_E_NOT_EXIST : result;
}

static int32_t event_current(struct abi_call* call) {
    struct sim_event event;
    struct dv_event wire;
    uint32_t index, count = 0;
    for (index = 0; index < SIM_FAULTS_MAX; ++index) {
        if (!call->device->fault[index].event_id)
            continue;
        sim_fault_event(call->device, &call->device->fault[index], &event);
        sim_event_to_wire(call->sim, &event, 0, &wire);
        memcpy(call->out + offsetof(struct dv_event_current, record) + count * sizeof(wire), &wire,
               sizeof(wire));
        ++count;
    }
    abi_put32(call->out, count);
    return 0;
}

static int shown(const struct abi_call* call, const struct sim_event* event, uint32_t device) {
    return event && abi_visible(call->client, event->device) &&
           (device == FI_ANY || event->device == device);
}

// Oldest first; when there are more than fit, the latest. The rest of the room is zero. Device -1:
// all that the caller sees.
static int32_t event_history(struct abi_call* call) {
    struct sim* sim = call->sim;
    uint32_t device = abi_get32(call->in), matching = 0, skip, used = 0;
    uint32_t room = (uint32_t)div_u64_u32(call->request->scratch[SCRATCH_OUTPUT_LENGTH],
                                          sizeof(struct dv_event), NULL);
    uint64_t first = sim->history_head > SIM_HISTORY_MAX ? sim->history_head - SIM_HISTORY_MAX : 0;
    uint64_t at;
    struct dv_event wire;
    if (device != FI_ANY && abi_find_device(call, device))
        return -SIM_ENODEV;
    if (!room)
        return -SIM_EINVAL;
    for (at = first; at < sim->history_head; ++at)
        matching += shown(call, sim_history(sim, at), device) != 0;
    skip = matching > room ? matching - room : 0;
    for (at = first; at < sim->history_head; ++at) {
        const struct sim_event* event = sim_history(sim, at);
        if (!shown(call, event, device) || (skip && skip--))
            continue;
        sim_event_to_wire(sim, event, 0, &wire);
        memcpy(call->out + used * sizeof(wire), &wire, sizeof(wire));
        ++used;
    }
    return 0;
}

int32_t abi_event_execute(struct abi_call* call) {
    switch (call->info->id) {
    case DV_CMD_URD_EVENT_READ:
        return event_read(call);
    case DV_CMD_URD_EVENT_CODES:
        return event_codes(call);
    case DV_CMD_URD_EVENT_STRING:
        return event_string(call);
    case DV_CMD_URD_EVENT_CLEAR:
        sim_event_clear(call->sim, call->device);
        return 0;
    case DV_CMD_URD_EVENT_DISABLE:
        return event_switch(call, 1);
    case DV_CMD_URD_EVENT_ENABLE:
        return event_switch(call, 0);
    case DV_CMD_URD_EVENT_HISTORY:
        return event_history(call);
    case DV_CMD_URD_EVENT_CURRENT:
        return event_current(call);
    default:
        return -SIM_EOPNOTSUPP;
    }
}

DV_STATIC_ASSERT(SIM_FAULTS_MAX <= DV_EVENT_CURRENT_MAX && SIM_FAULTS_MAX <= 128,
                 "active events fit their answers");
