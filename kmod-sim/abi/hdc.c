// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// /dev/hisi_hdc (driver-abi.md 10.1). Results are HDC numbers, given as negative errno; never 4.
// The argument is one union of 200 bytes, written back whole on success by commands that have an
// output.
#include "kmod-sim/abi/hdc.h"

#define SERVICES 128U
#define COUNT_MAX 7 // datagrams of one receive
#define PAGE_SIZE_BYTES 4096U
#define HUGE_PAGE_BYTES 0x200000U
#define PAGE_BITS 12U

static int has_output(unsigned id) {
    switch (id) {
    case DV_CMD_HDC_CLOSE:
    case DV_CMD_HDC_SEND:
    case DV_CMD_HDC_OWNER:
    case DV_CMD_HDC_TIMEOUTS:
        return 0;
    default:
        return 1;
    }
}

// A send that looks like a DMP packet gets the function's name, for traces. Rules and dispatch do
// not rely on it.
static void name_packet(struct abi_request* request, const uint8_t* data, uint32_t length) {
    struct dv_dmp_packet packet;
    struct dv_dmp_request head;
    const struct dv_command_info* function;
    if (length < sizeof(packet) + sizeof(head))
        return;
    memcpy(&packet, data, sizeof(packet));
    memcpy(&head, data + sizeof(packet), sizeof(head));
    function = dv_find_dmp(head.opcode);
    if (packet.type != 0 || packet.data_len != length - sizeof(packet) ||
        function->id == DV_CMD_UNKNOWN)
        return;
    request->command = function->id;
}

// What a receive may have to carry: never more than the services send.
static uint32_t receive_room(const union dv_hdc_argument* argument) {
    uint32_t room = argument->receive.room > 0 ? (uint32_t)argument->receive.room : 0;
    uint32_t count = argument->receive.count > 0 ? (uint32_t)argument->receive.count : 0;
    uint32_t most = (count < COUNT_MAX ? count : COUNT_MAX) * HDC_DATAGRAM_MAX;
    return room < most ? room : most;
}

int abi_hdc_gather(struct sim* sim, struct abi_request* request, const struct abi_memory* memory) {
    const struct dv_command_info* info = dv_find_ioctl(DV_MOD_HDC, request->number);
    union dv_hdc_argument argument;
    uint32_t send = 0, receive = 0;
    if (info->id == DV_CMD_UNKNOWN || info->module != DV_MOD_HDC)
        return abi_refuse(request, -DV_HDC_NOT_SUPPORTED);
    request->scratch[SCRATCH_HANDLER] = request->command = info->id;
    request->scope = info->scope;
    abi_settle_room(request, sizeof(argument), 0);
    if (abi_read(request, memory, 0, request->argument, sizeof(argument)))
        return abi_refuse(request, -DV_HDC_COPY_IN);
    memcpy(&argument, abi_in(request), sizeof(argument));
    if (info->id == DV_CMD_HDC_SEND) {
        if (argument.send.length <= 0 || (uint32_t)argument.send.length > DV_HDC_SEGMENT_MAX)
            return abi_refuse(request, -DV_HDC_BAD_LENGTH);
        send = (uint32_t)argument.send.length;
    } else if (info->id == DV_CMD_HDC_RECEIVE) {
        receive = receive_room(&argument);
    } else if (info->id == DV_CMD_HDC_CONNECT) {
        request->device = (uint32_t)argument.connect.device_id;
        if (request->device >= sim->limits.device_count)
            request->scope = DV_SCOPE_SYSTEM;
    }
    if (abi_settle_room(request, sizeof(argument) + send, sizeof(argument) + receive) !=
        ABI_GATHERED)
        return ABI_NEED_ROOM;
    memcpy(abi_in(request), &argument, sizeof(argument)); // the room may be another one now
    if (send && abi_read(request, memory, sizeof(argument), argument.send.source, send))
        return abi_refuse(request, -DV_HDC_COPY_IN);
    if (send)
        name_packet(request, abi_in(request) + sizeof(argument), send);
    request->scratch[SCRATCH_INPUT_LENGTH] = send;
    memcpy(abi_out(request), &argument, sizeof(argument));
    memset(abi_out(request) + sizeof(argument), 0, receive);
    if (receive)
        abi_piece(request, argument.receive.destination, sizeof(argument), 0);
    if (has_output(info->id))
        abi_piece(request, request->argument, 0, sizeof(argument));
    return ABI_GATHERED;
}

// Where a command names its session; -1: it names none.
static int session_offset(unsigned id) {
    switch (id) {
    case DV_CMD_HDC_CLOSE:
    case DV_CMD_HDC_SEND:
    case DV_CMD_HDC_PEEK:
    case DV_CMD_HDC_RECEIVE:
    case DV_CMD_HDC_TIMEOUTS:
    case DV_CMD_HDC_UID:
        return 24;
    case DV_CMD_HDC_OWNER:
        return 32;
    case DV_CMD_HDC_ATTRIBUTE:
    case DV_CMD_HDC_SESSION:
        return 28;
    default:
        return -1;
    }
}

uint32_t abi_hdc_device(const struct abi_call* call) {
    int offset = session_offset(call->info->id);
    uint32_t session = offset < 0 ? HDC_SESSIONS : abi_get32(call->in + offset);
    return session < HDC_SESSIONS && hdc_of(call->sim)->session[session].open
               ? hdc_of(call->sim)->session[session].device
               : FI_ANY;
}

// 0 when the caller may use the open session.
static int32_t check_session(const struct abi_call* call, const struct hdc_session* session,
                             int32_t when_idle) {
    if (!session->open)
        return -when_idle;
    return session->pid == call->client->ident.pid &&
                   session->start_time == call->client->ident.start_time
               ? 0
               : -DV_HDC_PERMISSION;
}

static void put_head(struct abi_call* call) {
    const struct sim_ident* ident = &call->client->ident;
    int result_offset = call->info->id == DV_CMD_HDC_CONNECT ? 40 : 0;
    abi_put32(call->out + result_offset, 0);
    abi_put64(call->out + offsetof(struct dv_hdc_head, pid),
              ident->ns_pid ? ident->ns_pid : ident->pid);
}

static int32_t hdc_connect(struct abi_call* call) {
    struct dv_hdc_connect argument;
    const struct hdc_service* service;
    const struct sim_ident* ident = &call->client->ident;
    struct hdc_session* session;
    int overflow = (ident->caller & DV_ACC_ROOT) && !(ident->environment & DV_ACC_ENV_CONTAINER);
    int32_t slot;
    memcpy(&argument, call->in, sizeof(argument));
    if (argument.service < 0 || (uint32_t)argument.service >= SERVICES ||
        abi_find_device(call, (uint32_t)argument.device_id))
        return -DV_HDC_PARAMETER;
    if (call->device->state != DS_STATE_OK)
        return -DV_HDC_DEVICE_NOT_READY;
    service = hdc_service_of((uint32_t)argument.service);
    if (!service || (service->number == DV_HDC_SERVICE_DMP && !call->device->dmp_started))
        return -DV_HDC_REMOTE_NOT_LISTENING;
    slot = hdc_take(call->sim, service->is_short, overflow);
    if (slot < 0)
        return -DV_HDC_NO_SESSION;
    session = &hdc_of(call->sim)->session[slot];
    session->device = call->device->config.device_id;
    session->service = service->number;
    session->boot_count = call->device->reset_count;
    session->pid = ident->pid;
    session->start_time = ident->start_time;
    session->connector = call->client->ordinal;
    session->uid = ident->uid;
    session->root = (ident->caller & DV_ACC_ROOT) != 0;
    abi_put32(call->out + offsetof(struct dv_hdc_connect, session), (uint32_t)slot);
    abi_put32(call->out + offsetof(struct dv_hdc_connect, alloc_index), session->alloc_index);
    put_head(call);
    return 0;
}

static int32_t hdc_close(struct abi_call* call, uint32_t index, struct hdc_session* session) {
    int32_t result = check_session(call, session, DV_HDC_SESSION_CLOSED);
    if (result)
        return result;
    if (abi_get32(call->in + offsetof(struct dv_hdc_close, alloc_index)) != session->alloc_index)
        return -DV_HDC_SESSION_CLOSED; // that session is over, the slot is another's
    hdc_end(call->sim, index);
    return 0;
}

// Remembers the end of the call's own wait; SIM_NEVER for "always".
static uint64_t deadline(struct abi_call* call, int32_t wait, int32_t timeout_ms) {
    uint64_t* scratch = call->request->scratch;
    if (!(scratch[SCRATCH_FLAGS] & ABI_F_WAITED)) {
        scratch[SCRATCH_FLAGS] |= ABI_F_WAITED;
        scratch[SCRATCH_DEADLINE] =
            wait == DV_HDC_WAIT_TIMEOUT
                ? call->sim->now_ns + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0) * 1000000U
                : SIM_NEVER;
    }
    return scratch[SCRATCH_DEADLINE];
}

static int32_t hdc_send(struct abi_call* call, uint32_t index, struct hdc_session* session) {
    struct dv_hdc_send argument;
    const struct hdc_service* service;
    int32_t result = check_session(call, session, DV_HDC_REMOTE_CLOSED);
    uint64_t end;
    if (result)
        return result;
    memcpy(&argument, call->in, sizeof(argument));
    service = hdc_service_of(session->service);
    if (!service || !hdc_alive(call->sim, session))
        return -DV_HDC_REMOTE_CLOSED;
    if (hdc_of(call->sim)->free_count >= HDC_DATAGRAM_CHUNKS && session->queued < HDC_QUEUE_MAX)
        return -service->receive(call, index, call->in + sizeof(union dv_hdc_argument),
                                 (uint32_t)call->request->scratch[SCRATCH_INPUT_LENGTH]);
    if (argument.wait == DV_HDC_WAIT_NEVER)
        return -DV_HDC_QUEUE_FULL;
    end = deadline(call, argument.wait, argument.timeout_ms);
    if (call->sim->now_ns >= end)
        return -DV_HDC_TRANSMIT_TIMEOUT;
    return abi_park(call, SIM_WAIT_HDC, HDC_KEY_ROOM, end, 0);
}

static int32_t put_peek(struct abi_call* call, uint32_t length, uint32_t count) {
    abi_put32(call->out + offsetof(struct dv_hdc_peek, length), length);
    abi_put32(call->out + offsetof(struct dv_hdc_peek, count), count);
    put_head(call);
    return 0;
}

static int32_t hdc_peek(struct abi_call* call, uint32_t index, struct hdc_session* session) {
    struct dv_hdc_peek argument;
    uint64_t* scratch = call->request->scratch;
    int waited = (scratch[SCRATCH_FLAGS] & ABI_F_WAITED) != 0;
    int32_t result = check_session(call, session, DV_HDC_SESSION_CLOSED);
    uint64_t next, end;
    uint32_t ready, length = 0, at;
    if (waited && (!session->open || session->alloc_index != scratch[SCRATCH_ALLOC_INDEX]))
        return put_peek(call, 0, 0); // closed while waiting
    if (result)
        return result;
    memcpy(&argument, call->in, sizeof(argument));
    if ((uint32_t)argument.alloc_index != session->alloc_index)
        return -DV_HDC_SESSION_CLOSED;
    ready = hdc_ready(call->sim, session, &next);
    if (ready) { // stays readable although the other side has gone
        if (!argument.group)
            ready = 1;
        for (at = 0; at < ready; ++at)
            length += hdc_length_of(call->sim, session, at);
        return put_peek(call, length, ready);
    }
    if (!hdc_alive(call->sim, session))
        return waited ? put_peek(call, 0, 0) : -DV_HDC_SESSION_CLOSED;
    if (argument.wait == DV_HDC_WAIT_NEVER)
        return -DV_HDC_NO_DATA;
    end = deadline(call, argument.wait, argument.timeout_ms);
    scratch[SCRATCH_ALLOC_INDEX] = session->alloc_index;
    if (call->sim->now_ns >= end)
        return -DV_HDC_RECEIVE_TIMEOUT;
    return abi_park(call, SIM_WAIT_HDC, index, next < end ? next : end, 0);
}

static int32_t hdc_receive(struct abi_call* call, uint32_t index, struct hdc_session* session) {
    struct dv_hdc_receive argument;
    int32_t result = check_session(call, session, DV_HDC_SESSION_CLOSED);
    uint64_t next;
    uint32_t ready, length = 0, taken, at;
    if (result)
        return result;
    memcpy(&argument, call->in, sizeof(argument));
    if (argument.count < 1 || argument.count > COUNT_MAX)
        return -DV_HDC_PARAMETER;
    ready = hdc_ready(call->sim, session, &next);
    if (ready) {
        if (ready < (uint32_t)argument.count)
            return -DV_HDC_PARAMETER;
        for (at = 0; at < (uint32_t)argument.count; ++at)
            length += hdc_length_of(call->sim, session, at);
        if (argument.room < 0 || length > (uint32_t)argument.room)
            return -DV_HDC_BUFFER_SMALL;
        for (at = 0, taken = 0; at < (uint32_t)argument.count; ++at) {
            uint32_t part = hdc_length_of(call->sim, session, 0);
            hdc_dequeue(call->sim, index, call->out + sizeof(union dv_hdc_argument) + taken);
            taken += part;
        }
        call->request->piece[0].length = length;
    }
    abi_put32(call->out + offsetof(struct dv_hdc_receive, length), length);
    put_head(call);
    return 0;
}

// Mostly on a second open file of the same process: its end ends the session.
static int32_t hdc_set_owner(struct abi_call* call, struct hdc_session* session) {
    int32_t result = check_session(call, session, DV_HDC_SESSION_MISMATCH);
    if (result == 0)
        session->owner = call->client->ordinal;
    return result;
}

static int32_t hdc_attribute(struct abi_call* call, struct hdc_session* session) {
    struct dv_hdc_attribute argument;
    int32_t result = check_session(call, session, DV_HDC_SESSION_CLOSED);
    uint32_t value = 0;
    memcpy(&argument, call->in, sizeof(argument));
    if (result && argument.kind != 4)
        return result;
    switch (argument.kind) {
    case 0: // run environment: the host itself
    case 1: // virtual function: none
        break;
    case 2:
        value = call->client->ident.ns_pid ? call->client->ident.ns_pid : session->pid;
        break;
    case 3:
        value = 1; // the device side's daemon
        break;
    case 4:
        value = result == 0 && hdc_alive(call->sim, session);
        break;
    default:
        return -DV_HDC_PARAMETER;
    }
    abi_put32(call->out + offsetof(struct dv_hdc_attribute, value), value);
    put_head(call);
    return 0;
}

static int32_t hdc_uid(struct abi_call* call, struct hdc_session* session) {
    int32_t result = check_session(call, session, DV_HDC_SESSION_CLOSED);
    if (result)
        return result;
    abi_put32(call->out + offsetof(struct dv_hdc_uid, euid), session->uid);
    abi_put32(call->out + offsetof(struct dv_hdc_uid, uid), session->uid);
    abi_put32(call->out + offsetof(struct dv_hdc_uid, root_flag), session->root);
    put_head(call);
    return 0;
}

static int32_t session_call(struct abi_call* call, uint32_t index) {
    struct hdc_session* session = &hdc_of(call->sim)->session[index];
    int32_t result;
    switch (call->info->id) {
    case DV_CMD_HDC_CLOSE:
        return hdc_close(call, index, session);
    case DV_CMD_HDC_SEND:
        return hdc_send(call, index, session);
    case DV_CMD_HDC_PEEK:
        return hdc_peek(call, index, session);
    case DV_CMD_HDC_RECEIVE:
        return hdc_receive(call, index, session);
    case DV_CMD_HDC_OWNER:
        return hdc_set_owner(call, session);
    case DV_CMD_HDC_ATTRIBUTE:
        return hdc_attribute(call, session);
    case DV_CMD_HDC_TIMEOUTS:
        result = check_session(call, session, DV_HDC_SESSION_CLOSED);
        if (result == 0)
            memcpy(session->timeout, call->in + offsetof(struct dv_hdc_timeouts, send),
                   sizeof(session->timeout));
        return result;
    case DV_CMD_HDC_UID:
        return hdc_uid(call, session);
    default: // session information
        result = check_session(call, session, DV_HDC_SESSION_CLOSED);
        if (result == 0) {
            abi_put32(call->out + offsetof(struct dv_hdc_session_info, function), 0);
            put_head(call);
        }
        return result;
    }
}

static int32_t node_call(struct abi_call* call) {
    uint32_t value = abi_get32(call->in + sizeof(struct dv_hdc_head));
    switch (call->info->id) {
    case DV_CMD_HDC_CONNECT:
        return hdc_connect(call);
    case DV_CMD_HDC_PEER:
        value = abi_get32(call->in + offsetof(struct dv_hdc_head, device_id));
        if (abi_find_device(call, value))
            return -DV_HDC_PARAMETER;
        break; // the two ends count the devices alike
    case DV_CMD_HDC_CONFIG:
        if (value == 0 || value > DV_HDC_SEGMENT_MAX)
            value = DV_HDC_SEGMENT_MAX;
        break;
    case DV_CMD_HDC_LEVEL:
        if (value >= SERVICES)
            return -DV_HDC_PARAMETER;
        abi_put32(call->out + offsetof(struct dv_hdc_service_level, level),
                  value < 8 || value > 10);
        break;
    case DV_CMD_HDC_PAGE:
        value = PAGE_SIZE_BYTES;
        abi_put32(call->out + offsetof(struct dv_hdc_page_size, huge_page), HUGE_PAGE_BYTES);
        abi_put32(call->out + offsetof(struct dv_hdc_page_size, page_bits), PAGE_BITS);
        break;
    default:
        return -DV_HDC_NOT_SUPPORTED;
    }
    abi_put32(call->out + sizeof(struct dv_hdc_head), value);
    put_head(call);
    return 0;
}

int32_t abi_hdc_execute(struct abi_call* call) {
    int offset = session_offset(call->info->id);
    uint32_t session;
    if (offset < 0)
        return node_call(call);
    session = abi_get32(call->in + offset);
    return session < HDC_SESSIONS ? session_call(call, session) : -DV_HDC_PARAMETER;
}
