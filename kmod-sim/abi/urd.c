// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Module URD: the request dispatcher (driver-abi.md 6.1), and the older generation's DMS (15).
#include "kmod-sim/abi/internal.h"

// Functions are registered under a text `fun_0x<main>_0x<sub>`, with `_<filter>` behind it when
// there is one. main and sub stand for the first part; filters are compared as text.
struct registered {
    uint32_t main_command, sub_command;
    const char* filter;
    uint16_t id;
};

static const struct dv_command_info* find_filtered(const struct dv_urd* urd, const char* filter,
                                                   uint32_t length) {
    static const struct registered table[] = {
#define DV_URD_FUNCTION(id, main, sub, filter, ...) {main, sub, filter, DV_CMD_URD_##id},
#include "ioctl/wire/commands.def"
    };
    uint32_t index;
    for (index = 0; index < sizeof(table) / sizeof(table[0]); ++index) {
        const struct registered* entry = &table[index];
        if (entry->main_command == urd->main_command && entry->sub_command == urd->sub_command &&
            abi_text_length(entry->filter, DV_URD_FILTER_MAX) == length &&
            memcmp(entry->filter, filter, length) == 0)
            return dv_command(entry->id);
    }
    return dv_command(DV_CMD_UNKNOWN);
}

static uint32_t hex_digits(uint32_t value) {
    uint32_t digits = 1;
    while (value >>= 4)
        ++digits;
    return digits;
}

// `filter_length` 0: there is none. The whole key has at most 256 characters.
static int key_too_long(const struct dv_urd* urd, uint32_t filter_length) {
    uint32_t length = (uint32_t)sizeof("fun_0x_0x") - 1 + hex_digits(urd->main_command) +
                      hex_digits(urd->sub_command);
    return filter_length && length + 1 + filter_length > DV_URD_FILTER_MAX;
}

// Output of more than 4096 bytes is for a few alone (driver-abi.md 6.1).
static uint32_t output_limit(const struct dv_urd* urd) {
    if (urd->main_command == DV_MAIN_BASIC) {
        switch (urd->sub_command) {
        case 20:
        case 28:
        case 30:
        case 39:
        case 44:
        case 51:
            return DV_URD_BIG_OUTPUT_MAX;
        default:
            return DV_URD_BUFFER_MAX;
        }
    }
    return urd->main_command == 'O' && urd->sub_command == 5 ? DV_URD_BIG_OUTPUT_MAX
                                                             : DV_URD_BUFFER_MAX;
}

// The older generation answers what a client needs to know it by: error codes, health, texts.
static int known_to_dms(const struct dv_urd* urd) {
    return urd->main_command == DV_MAIN_BASIC && urd->sub_command >= DV_BASIC_EVENT_CODES &&
           urd->sub_command <= DV_BASIC_EVENT_STRING;
}

// What of the output a function fills; the caller may offer more.
static uint32_t used_output(const struct dv_command_info* info, uint32_t offered) {
    uint32_t most = DV_EVENT_HISTORY_MAX * (uint32_t)sizeof(struct dv_event);
    if (info->id == DV_CMD_URD_EVENT_HISTORY)
        return offered < most ? offered : most;
    return offered;
}

static int exact_lengths(const struct dv_command_info* info, const struct dv_urd* urd) {
    if (urd->input_len != info->in_len)
        return 0;
    if (info->out_len == DV_LEN_ANY || info->out_len == DV_LEN_BIG)
        return urd->output_len != 0;
    return urd->output_len == info->out_len;
}

static int32_t gather_device(struct sim* sim, struct abi_request* request,
                             const struct dv_command_info* info, const struct dv_urd* urd) {
    uint32_t input = info->in_len >= sizeof(uint32_t) ? abi_get32(abi_in(request)) : 0;
    if (!(info->scope & DV_SCOPE_DEVICE) && info->device_from != DV_DEV_INPUT)
        return 0;
    if (info->id == DV_CMD_URD_BOOT_STATUS || info->id == DV_CMD_URD_TOPOLOGY_PHYSICAL)
        return 0; // named by its physical id: found when executed
    request->device = info->device_from == DV_DEV_ENVELOPE ? urd->device_id : input;
    if (request->device >= sim->limits.device_count && request->device != FI_ANY)
        request->scope = DV_SCOPE_SYSTEM;
    return 0;
}

// The UDIS value becomes the command; what it reaches is written before the 16 bytes that tell its
// length, so that no client sees a length without the data.
static int gather_udis(struct abi_request* request, const struct dv_urd* urd) {
    struct dv_udis_get get;
    const struct dv_command_info* info;
    memcpy(&get, abi_in(request), sizeof(get));
    info = dv_find_udis(get.module, get.name);
    if (info->id == DV_CMD_UNKNOWN)
        return abi_refuse(request, -SIM_EOPNOTSUPP);
    request->scratch[SCRATCH_HANDLER] = request->command = info->id;
    if (abi_settle_room(request, sizeof(get), sizeof(struct dv_udis_reply) + DV_UDIS_DATA_MAX) !=
        ABI_GATHERED)
        return ABI_NEED_ROOM;
    memset(abi_out(request), 0, request->out_length);
    request->scratch[SCRATCH_ROOM] = get.room;
    abi_piece(request, get.data, sizeof(struct dv_udis_reply), 0);
    abi_piece(request, urd->output, 0, sizeof(struct dv_udis_reply));
    return ABI_GATHERED;
}

static int gather_function(struct sim* sim, struct abi_request* request,
                           const struct abi_memory* memory, const struct dv_urd* urd,
                           const struct dv_command_info* info) {
    uint32_t output = used_output(info, urd->output_len);
    request->scratch[SCRATCH_HANDLER] = request->command = info->id;
    request->scope = info->scope;
    if (!abi_permitted(&request->client->ident, info->mask))
        return abi_refuse(request, -SIM_EACCES);
    if (!exact_lengths(info, urd))
        return abi_refuse(request,
                          info->id == DV_CMD_URD_EVENT_READ ? DV_E_PARAMETER : -SIM_EINVAL);
    if (abi_settle_room(request, urd->input_len, output) != ABI_GATHERED)
        return ABI_NEED_ROOM;
    if (abi_read(request, memory, 0, urd->input, urd->input_len))
        return abi_refuse(request, -SIM_EFAULT);
    request->scratch[SCRATCH_INPUT_LENGTH] = urd->input_len;
    request->scratch[SCRATCH_OUTPUT_LENGTH] = output;
    gather_device(sim, request, info, urd);
    if (info->id == DV_CMD_URD_UDIS_GET)
        return gather_udis(request, urd);
    memset(abi_out(request), 0, output);
    abi_piece(request, urd->output, 0, output);
    return ABI_GATHERED;
}

int abi_urd_gather(struct sim* sim, struct abi_request* request, const struct abi_memory* memory) {
    int old = request->scratch[SCRATCH_MODULE] == DV_MOD_DMS;
    uint32_t size = old ? sizeof(struct dv_urd_old) : sizeof(struct dv_urd), filter_length = 0;
    const struct dv_command_info* info;
    struct dv_urd urd;
    memset(&urd, 0, sizeof(urd));
    abi_settle_room(request, sizeof(urd), 0);
    if (abi_read(request, memory, 0, request->argument, size))
        // A number that could be nobody's is unknown, whatever its argument is.
        return abi_refuse(request, request->number == DV_IOCTL_URD ||
                                           dv_find_ioctl(DV_MOD_URD, request->number)->id
                                       ? -SIM_EFAULT
                                       : -SIM_ENODEV);
    // The older form is the current one without its first 8 bytes.
    memcpy((uint8_t*)&urd + (sizeof(urd) - size), abi_in(request), size);
    if (request->number != DV_IOCTL_URD &&
        (request->number & 0xFFFFU) != (urd.main_command << 8) + urd.sub_command)
        return abi_refuse(request, -SIM_ENODEV);
    if (urd.filter && urd.filter_len) {
        if (urd.filter_len > DV_URD_FILTER_MAX)
            return abi_refuse(request, -SIM_EINVAL);
        if (abi_read(request, memory, 0, urd.filter, urd.filter_len))
            return abi_refuse(request, -SIM_EFAULT);
        filter_length = abi_text_length((const char*)abi_in(request), urd.filter_len);
    }
    if (key_too_long(&urd, filter_length))
        return abi_refuse(request, -SIM_EINVAL);
    info = filter_length ? find_filtered(&urd, (const char*)abi_in(request), filter_length)
                         : dv_find_urd(urd.main_command, urd.sub_command);
    if (info->id == DV_CMD_UNKNOWN || (old && !known_to_dms(&urd)))
        return abi_refuse(request, -SIM_EOPNOTSUPP);
    if (urd.input_len > DV_URD_BUFFER_MAX || urd.output_len > output_limit(&urd))
        return abi_refuse(request, -SIM_EINVAL);
    return gather_function(sim, request, memory, &urd, info);
}

// Functions that answer for a device that is lost or being reset as well.
static int answers_always(unsigned id) {
    switch (id) {
    case DV_CMD_URD_HEALTH:
    case DV_CMD_URD_RESET:
    case DV_CMD_URD_RESET_SET_FLAG:
    case DV_CMD_URD_RESET_CLEAR_FLAG:
    case DV_CMD_URD_RESET_RESCAN:
    case DV_CMD_URD_RESET_PREPARE:
        return 1;
    default:
        return 0;
    }
}

int32_t abi_urd_execute(struct abi_call* call) {
    const struct dv_command_info* info = call->info;
    int32_t result;
    if (info->kind == DV_KIND_UDIS) {
        result = abi_find_working(call, call->request->device);
        return result ? result : abi_udis_execute(call);
    }
    if (info->number >> 8 == DV_MAIN_HOTRESET)
        return abi_reset_execute(call);
    switch (info->id) {
    case DV_CMD_URD_EVENT_READ:
    case DV_CMD_URD_EVENT_HISTORY:
        return abi_event_execute(call);
    case DV_CMD_URD_BOOT_STATUS: // clients watch it during a reset
        result = abi_find_physical(call, abi_get32(call->in));
        if (result == 0 && call->device->state == DS_STATE_LOST)
            result = -SIM_ENODEV;
        break;
    case DV_CMD_URD_TOPOLOGY:
    case DV_CMD_URD_TOPOLOGY_PHYSICAL:
    case DV_CMD_URD_PROBED_COUNT:
    case DV_CMD_URD_PROBED_LIST:
        result = 0;
        break;
    default:
        result = abi_find_device(call, call->request->device);
        if (result == 0 && !answers_always(info->id))
            result = abi_working(call->device);
        break;
    }
    if (result)
        return result;
    switch (info->id) {
    case DV_CMD_URD_EVENT_CODES:
    case DV_CMD_URD_EVENT_STRING:
    case DV_CMD_URD_EVENT_CLEAR:
    case DV_CMD_URD_EVENT_DISABLE:
    case DV_CMD_URD_EVENT_ENABLE:
    case DV_CMD_URD_EVENT_CURRENT:
        return abi_event_execute(call);
    default:
        return abi_basic_execute(call);
    }
}
