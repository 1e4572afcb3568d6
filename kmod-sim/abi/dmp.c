// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// DMP, the management protocol of HDC service 0: packets, slices, replies in parts (driver-abi.md
// 10.2, 10.4). What cannot be answered because its message id is not there is dropped.
#include "kmod-sim/abi/hdc.h"

#define PACKET_MAX 4096U
#define HEAD ((uint32_t)sizeof(struct dv_dmp_packet))
#define DATA_HEAD ((uint32_t)sizeof(struct dv_dmp_request))
#define PAYLOAD_MAX (32767U - 1U - DATA_HEAD) // of a request in slices

struct dmp_exchange {
    struct abi_call* call;
    struct dmp_state* dmp;
    uint32_t session;
    uint64_t ready_ns; // when the reply is there
    struct dv_dmp_packet packet;
    struct dv_dmp_request request;
    struct dmp_key key;
};

static int same(const struct dmp_key* a, const struct dmp_key* b) {
    return a->used && a->pid == b->pid && a->device == b->device && a->opcode == b->opcode;
}

static int32_t find(const struct dmp_key* table, uint32_t count, const struct dmp_key* key) {
    uint32_t index;
    for (index = 0; index < count; ++index)
        if (same(&table[index], key))
            return (int32_t)index;
    return -1;
}

// A free place, or the one that has been left alone the longest.
static uint32_t place(const struct dmp_key* table, uint32_t count) {
    uint32_t index, best = 0;
    for (index = 0; index < count; ++index) {
        if (!table[index].used)
            return index;
        if (table[index].touched_ns < table[best].touched_ns)
            best = index;
    }
    return best;
}

void dmp_forget(struct hdc_state* hdc, uint32_t pid) {
    uint32_t index;
    for (index = 0; index < DMP_ASSEMBLIES; ++index)
        if (hdc->dmp.assembly[index].pid == pid)
            hdc->dmp.assembly[index].used = 0;
    for (index = 0; index < DMP_REPLIES; ++index)
        if (hdc->dmp.reply[index].pid == pid)
            hdc->dmp.reply[index].used = 0;
}

// Sends one part of a reply of `total` bytes.
static void answer(struct dmp_exchange* exchange, uint32_t error, const uint8_t* part,
                   uint32_t length, uint32_t total) {
    uint8_t* out = exchange->dmp->datagram;
    struct dv_dmp_packet packet = exchange->packet;
    struct dv_dmp_response response;
    packet.peer_device = exchange->packet.source_device;
    packet.source_device = exchange->packet.peer_device;
    packet.type = 1;
    packet.data_len = (uint16_t)(DATA_HEAD + length);
    response.error = (uint16_t)error;
    response.opcode = exchange->request.opcode;
    response.total_length = total;
    response.length = length;
    memcpy(out, &packet, HEAD);
    memcpy(out + HEAD, &response, sizeof(response));
    memcpy(out + HEAD + sizeof(response), part, length);
    hdc_queue(exchange->call->sim, exchange->session, out,
              HEAD + (uint32_t)sizeof(response) + length, exchange->ready_ns);
}

static void refuse(struct dmp_exchange* exchange, uint32_t error) {
    answer(exchange, error, exchange->dmp->payload, 0, 0);
}

// The whole reply: what does not fit is kept until the client asks for it.
static void reply(struct dmp_exchange* exchange, uint32_t total) {
    struct dmp_state* dmp = exchange->dmp;
    uint32_t part = total < DV_DMP_PAYLOAD_MAX ? total : DV_DMP_PAYLOAD_MAX;
    int32_t at = find(dmp->reply, DMP_REPLIES, &exchange->key);
    if (part < total) {
        uint32_t slot = at >= 0 ? (uint32_t)at : place(dmp->reply, DMP_REPLIES);
        dmp->reply[slot] = exchange->key;
        dmp->reply[slot].length = total;
        memcpy(dmp->reply_data[slot], dmp->payload, total);
    } else if (at >= 0) {
        dmp->reply[at].used = 0;
    }
    answer(exchange, 0, dmp->payload, part, total);
}

// The client repeats its request with the number of bytes it has: 1 when a reply was waiting.
static int continue_reply(struct dmp_exchange* exchange) {
    struct dmp_state* dmp = exchange->dmp;
    int32_t at = find(dmp->reply, DMP_REPLIES, &exchange->key);
    uint32_t offset = exchange->request.offset, part;
    if (at < 0 || offset >= dmp->reply[at].length)
        return 0;
    part = dmp->reply[at].length - offset;
    if (part > DV_DMP_PAYLOAD_MAX)
        part = DV_DMP_PAYLOAD_MAX;
    dmp->reply[at].touched_ns = exchange->key.touched_ns;
    answer(exchange, 0, dmp->reply_data[at] + offset, part, dmp->reply[at].length);
    return 1;
}

// Adds a slice to its request. 1: whole now, *payload and *length are it; 0: answered.
static int assemble(struct dmp_exchange* exchange, const uint8_t** payload, uint32_t* length) {
    struct dmp_state* dmp = exchange->dmp;
    int last = (exchange->request.lun & DV_DMP_LAST_SLICE) != 0;
    int32_t at = find(dmp->assembly, DMP_ASSEMBLIES, &exchange->key);
    struct dmp_key* slot;
    if (exchange->request.offset == 0) {
        if (at >= 0)
            dmp->assembly[at].used = 0; // begun anew
        if (last)
            return 1;
        at = (int32_t)place(dmp->assembly, DMP_ASSEMBLIES);
        dmp->assembly[at] = exchange->key;
        dmp->assembly[at].length = 0;
    } else if (at < 0) {
        if (!last || !continue_reply(exchange))
            refuse(exchange, DV_E_PARAMETER);
        return 0;
    }
    slot = &dmp->assembly[at];
    if (exchange->request.offset != slot->length || slot->length + *length > PAYLOAD_MAX) {
        slot->used = 0;
        refuse(exchange, DV_E_PARAMETER);
        return 0;
    }
    memcpy(dmp->assembly_data[at] + slot->length, *payload, *length);
    slot->length += *length;
    slot->touched_ns = exchange->key.touched_ns;
    if (!last) {
        refuse(exchange, DV_OK); // taken: error 0 and nothing more
        return 0;
    }
    *payload = dmp->assembly_data[at];
    *length = slot->length;
    slot->used = 0;
    return 1;
}

static uint32_t driver_error(int32_t error) {
    switch (error) {
    case -SIM_EPERM:
    case -SIM_EACCES:
        return DV_E_NOT_PERMITTED;
    case -SIM_EOPNOTSUPP:
        return DV_E_NOT_SUPPORTED;
    case -SIM_ENODEV:
        return DV_E_NO_DEVICE;
    case -SIM_EINVAL:
        return DV_E_PARAMETER;
    case -SIM_EBUSY:
        return DV_E_BUSY;
    case -SIM_ENOMEM:
        return DV_E_OUT_OF_MEMORY;
    case -SIM_ETIMEDOUT:
        return DV_E_TIMEOUT;
    default:
        return error > 0 && error <= 0xFFFF ? (uint32_t)error : (uint32_t)DV_E_INNER;
    }
}

// Rules for this function: *error is what to refuse with; 0 is returned when no reply ever comes.
static int surface(struct dmp_exchange* exchange, const struct dv_command_info* function,
                   uint32_t* error) {
    struct abi_surface rule;
    if (!fi_active(&exchange->call->sim->rules))
        return 1;
    switch (abi_surface(exchange->call, function->name, exchange->key.device, &rule)) {
    case ABI_SURFACE_ERROR:
        *error = driver_error(rule.error);
        return 1;
    case ABI_SURFACE_DENY:
        *error = DV_E_NOT_PERMITTED;
        return 1;
    case ABI_SURFACE_DELAY:
        exchange->ready_ns += rule.delay_ns;
        return 1;
    case ABI_SURFACE_NEVER:
        return 0;
    default:
        return 1;
    }
}

static uint32_t operation_of(unsigned id) {
    switch (id) {
#define DV_DMP_FUNCTION(id_, opcode, operation, ...)                                               \
    case DV_CMD_DMP_##id_:                                                                         \
        return operation;
#include "ioctl/wire/commands.def"
    default:
        return 0;
    }
}

static void run(struct dmp_exchange* exchange, const uint8_t* payload, uint32_t length) {
    const struct dv_command_info* function = dv_find_dmp(exchange->request.opcode);
    struct abi_call* call = exchange->call;
    uint32_t error = DV_OK, total = 0;
    if (function->id == DV_CMD_UNKNOWN) {
        refuse(exchange, DV_E_NOT_SUPPORTED);
        return;
    }
    if (!surface(exchange, function, &error))
        return;
    if (error == DV_OK && !abi_permitted(&call->client->ident, function->mask))
        error = DV_E_NOT_PERMITTED;
    if (error == DV_OK && (exchange->request.operation != operation_of(function->id) ||
                           (function->in_len != DV_LEN_ANY && length != function->in_len)))
        error = DV_E_PARAMETER;
    if (error == DV_OK)
        error = dmp_run(call, function, payload, length, exchange->dmp->payload, &total);
    if (function->effect != DV_EFFECT_READ)
        sim_journal(call->sim, exchange->key.device, DS_J_CALL, function->id, call->client->ordinal,
                    error, exchange->request.opcode, 0);
    if (error)
        refuse(exchange, error);
    else
        reply(exchange, total);
}

int32_t dmp_receive(struct abi_call* call, uint32_t session, const uint8_t* data, uint32_t length) {
    struct hdc_state* hdc = hdc_of(call->sim);
    struct dmp_exchange exchange;
    const uint8_t* payload = data + HEAD + DATA_HEAD;
    uint32_t payload_length;
    memset(&exchange, 0, sizeof(exchange));
    exchange.call = call;
    exchange.dmp = &hdc->dmp;
    exchange.session = session;
    exchange.ready_ns = call->sim->now_ns;
    if (length < HEAD)
        return 0;
    memcpy(&exchange.packet, data, HEAD);
    if (exchange.packet.type != 0)
        return 0;
    if (length < HEAD + DATA_HEAD || length > PACKET_MAX ||
        exchange.packet.data_len != length - HEAD) {
        if (length >= HEAD + 4) // enough to name the opcode
            memcpy(&exchange.request, data + HEAD, 4);
        refuse(&exchange, DV_E_PARAMETER);
        return 0;
    }
    memcpy(&exchange.request, data + HEAD, DATA_HEAD);
    exchange.key.used = 1;
    exchange.key.pid = call->client->ident.pid;
    exchange.key.device = hdc->session[session].device;
    exchange.key.opcode = exchange.request.opcode;
    exchange.key.touched_ns = call->sim->now_ns;
    payload_length = length - HEAD - DATA_HEAD; // the field is informative: data_len rules
    if (abi_find_device(call, exchange.key.device)) {
        refuse(&exchange, DV_E_NO_DEVICE);
        return 0;
    }
    if (assemble(&exchange, &payload, &payload_length))
        run(&exchange, payload, payload_length);
    return 0;
}
