// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Which memory of the caller a command may read and write, so that one message can carry it. Used
// by the socket channel, by the helper process of the chardev channel and by the foreign front
// ends.
#ifndef ASC_IOCTL_WIRE_MARSHAL_H
#define ASC_IOCTL_WIRE_MARSHAL_H

#include "ioctl/wire/commands.h"

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

#define DV_RANGE_IN 1U  // the driver may read it: its bytes travel with the call
#define DV_RANGE_OUT 2U // the driver may write it: what was written travels back
#define DV_RANGES_MAX 8

struct dv_range {
    uint64_t address;
    uint32_t length, direction;
};

// Copies caller memory; 0, or -1 when it cannot be read.
typedef int (*dv_read_memory)(void* context, void* destination, uint64_t address, uint32_t length);

static inline void dv_add_range(struct dv_range* ranges, int* count, uint64_t address,
                                uint32_t length, uint32_t direction) {
    if (address && length && *count < DV_RANGES_MAX) {
        ranges[*count].address = address;
        ranges[*count].length = length;
        ranges[*count].direction = direction;
        ++*count;
    }
}

// Fills `ranges` (room DV_RANGES_MAX) for an ioctl on a file bound to `module`; returns how many,
// or -1 when the argument cannot be read. An unknown number gives 0 ranges: the driver refuses it
// without memory. The lengths are the caller's claims, bounded by the wire's own limits.
static inline int dv_marshal_ranges(unsigned module, uint32_t number, uint64_t argument,
                                    dv_read_memory read, void* context, struct dv_range* ranges) {
    const struct dv_command_info* info = dv_find_ioctl(module, number);
    int count = 0;
    if (module == DV_MOD_URD || module == DV_MOD_DMS) {
        struct dv_urd urd;
        uint32_t size = module == DV_MOD_DMS ? sizeof(struct dv_urd_old) : sizeof(struct dv_urd);
        if (info->id == DV_CMD_UNBIND || info->id == DV_CMD_MODULE_STATUS) {
            dv_add_range(ranges, &count, argument, info->in_len, DV_RANGE_IN | DV_RANGE_OUT);
            return count;
        }
        // Any other number may be that of a function (driver-abi.md 6.1); the driver decides.
        // The older form is the current one without its first 8 bytes.
        if (!argument || read(context, (uint8_t*)&urd + (sizeof(urd) - size), argument, size))
            return info->id == DV_CMD_UNKNOWN && module == DV_MOD_URD ? 0 : -1;
        dv_add_range(ranges, &count, argument, size, DV_RANGE_IN);
        dv_add_range(ranges, &count, urd.filter,
                     urd.filter_len > DV_URD_FILTER_MAX ? DV_URD_FILTER_MAX : urd.filter_len,
                     DV_RANGE_IN);
        dv_add_range(ranges, &count, urd.input,
                     urd.input_len > DV_URD_BUFFER_MAX ? DV_URD_BUFFER_MAX : urd.input_len,
                     DV_RANGE_IN);
        dv_add_range(ranges, &count, urd.output,
                     urd.output_len > DV_URD_BIG_OUTPUT_MAX ? DV_URD_BIG_OUTPUT_MAX
                                                            : urd.output_len,
                     DV_RANGE_OUT);
        if (urd.main_command == DV_MAIN_BASIC && urd.sub_command == DV_BASIC_UDIS_GET &&
            urd.input_len == sizeof(struct dv_udis_get) && urd.input) {
            struct dv_udis_get get;
            if (read(context, &get, urd.input, sizeof(get)))
                return -1;
            dv_add_range(ranges, &count, get.data,
                         get.room > DV_UDIS_DATA_MAX ? DV_UDIS_DATA_MAX : get.room, DV_RANGE_OUT);
        }
        return count;
    }
    if (info->id == DV_CMD_UNKNOWN)
        return 0;
    dv_add_range(ranges, &count, argument, info->in_len, DV_RANGE_IN | DV_RANGE_OUT);
    if (info->pointers == DV_PTR_UDA_LIST) {
        struct dv_device_list list;
        if (!argument || read(context, &list, argument, sizeof(list)))
            return -1;
        if (list.end > list.start && list.end - list.start <= DV_MAX_UNIQUE_DEVICES)
            dv_add_range(ranges, &count, list.records,
                         (list.end - list.start) * (uint32_t)sizeof(struct dv_logic_device),
                         DV_RANGE_OUT);
    } else if (info->pointers == DV_PTR_CONTAINER) {
        struct dv_container_command command;
        if (!argument || read(context, &command, argument, sizeof(command)))
            return -1;
        dv_add_range(ranges, &count, command.out, sizeof(int32_t), DV_RANGE_OUT);
    } else if (info->pointers == DV_PTR_HDC_SEND || info->pointers == DV_PTR_HDC_RECEIVE) {
        union dv_hdc_argument hdc;
        if (!argument || read(context, &hdc, argument, sizeof(hdc)))
            return -1;
        if (info->pointers == DV_PTR_HDC_SEND && hdc.send.length > 0 &&
            (uint32_t)hdc.send.length <= DV_HDC_SEGMENT_MAX)
            dv_add_range(ranges, &count, hdc.send.source, (uint32_t)hdc.send.length, DV_RANGE_IN);
        if (info->pointers == DV_PTR_HDC_RECEIVE && hdc.receive.room > 0 &&
            (uint32_t)hdc.receive.room <= DV_HDC_SEGMENT_MAX)
            dv_add_range(ranges, &count, hdc.receive.destination, (uint32_t)hdc.receive.room,
                         DV_RANGE_OUT);
    }
    return count;
}

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif

#endif
