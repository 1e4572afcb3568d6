// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// UDIS: the cached metrics behind E/56 (driver-abi.md 7).
#include "kmod-sim/abi/internal.h"

#define DATA_OFFSET ((uint32_t)sizeof(struct dv_udis_reply)) // in `out`
#define WORDS_MAX (DV_UDIS_DATA_MAX >> 2)
#define NO_VALUE 0xFFFFFFFFU

// Number behind a name like "single_ecc12"; the table has checked that digits stand there.
static uint32_t trailing_number(const struct dv_udis_get* get) {
    uint32_t index = 0, number = 0;
    while (index < DV_UDIS_NAME_LEN && get->name[index] &&
           (get->name[index] < '0' || get->name[index] > '9'))
        ++index;
    while (index < DV_UDIS_NAME_LEN && get->name[index] >= '0' && get->name[index] <= '9')
        number = number * 10 + (uint32_t)(get->name[index++] - '0');
    return number;
}

static uint32_t put_u32(uint8_t* data, uint32_t value) {
    abi_put32(data, value);
    return sizeof(value);
}

static uint32_t put_temperature(uint8_t* data, int32_t celsius) {
    int16_t value = (int16_t)celsius;
    memcpy(data, &value, sizeof(value));
    return sizeof(value);
}

static uint32_t put_per_core(uint8_t* data, uint32_t count, uint32_t percent) {
    uint32_t index;
    if (count > WORDS_MAX)
        count = WORDS_MAX;
    for (index = 0; index < count; ++index)
        abi_put32(data + index * sizeof(uint32_t), percent);
    return count * (uint32_t)sizeof(uint32_t);
}

static uint32_t put_cores(uint8_t* data, uint32_t count, uint32_t percent) {
    struct dv_core_utilisation cores;
    memset(&cores, 0, sizeof(cores));
    cores.core_count = count > sizeof(cores.percent) ? (uint32_t)sizeof(cores.percent) : count;
    memset(cores.percent, (int)percent, cores.core_count);
    memcpy(data, &cores, sizeof(cores));
    return sizeof(cores);
}

// Text with its terminator; an empty one has no data at all and counts as absent.
static uint32_t put_text(uint8_t* data, const char* text, uint32_t room) {
    uint32_t length = abi_text_length(text, room);
    memcpy(data, text, length);
    data[length] = 0;
    return length ? length + 1 : 0;
}

static uint32_t put_memory(uint8_t* data, const struct sim_device* device) {
    struct dv_hbm_mem_info info;
    memset(&info, 0, sizeof(info));
    info.part[DV_MEMORY_PART_HBM].total_kb = sim_hbm_total_bytes(device) >> 10;
    info.part[DV_MEMORY_PART_HBM].free_kb =
        (sim_hbm_total_bytes(device) - sim_hbm_used_bytes(device)) >> 10;
    memcpy(data, &info, sizeof(info));
    return sizeof(info);
}

static uint32_t put_single(uint8_t* data, const struct sim_ecc* ecc, uint32_t part) {
    struct dv_single_record record;
    uint32_t index, at;
    if (part >= 8)
        return NO_VALUE;
    for (index = 0; index < 8; ++index) {
        at = part * 8 + index;
        memset(&record, 0, sizeof(record));
        if (at < ecc->single_record_count) {
            record.hbmc_id = abi_hbm_controller(ecc->single_record[at].address);
            record.count = ecc->single_record[at].count;
            record.address_low = (uint32_t)ecc->single_record[at].address;
            record.address_high = (uint32_t)(ecc->single_record[at].address >> 32);
            record.last_time = (uint32_t)ecc->single_record[at].time;
        }
        memcpy(data + index * sizeof(record), &record, sizeof(record));
    }
    return 8 * (uint32_t)sizeof(record);
}

static uint32_t put_multi(uint8_t* data, const struct sim_ecc* ecc, uint32_t part) {
    struct dv_multi_record record;
    uint32_t index, at;
    if (part >= 16)
        return NO_VALUE;
    for (index = 0; index < 4; ++index) {
        at = part * 4 + index;
        memset(&record, 0, sizeof(record));
        if (at < ecc->double_record_count) {
            record.address = ecc->double_record[at].address;
            record.module_id = (uint16_t)abi_hbm_controller(record.address);
            record.time = ecc->double_record[at].time;
        }
        memcpy(data + index * sizeof(record), &record, sizeof(record));
    }
    return 4 * (uint32_t)sizeof(record);
}

static uint32_t put_times(uint8_t* data, const struct sim_ecc* ecc, uint32_t part) {
    uint32_t index, at;
    if (part >= 2)
        return NO_VALUE;
    for (index = 0; index < 32; ++index) {
        at = part * 32 + index;
        abi_put32(data + index * sizeof(uint32_t),
                  at < ecc->double_record_count ? (uint32_t)ecc->double_record[at].time : 0);
    }
    return 32 * (uint32_t)sizeof(uint32_t);
}

static uint32_t put_ecc_now(uint8_t* data, const struct sim_ecc* ecc) {
    struct dv_ecc_now now = {ecc->single_now, ecc->double_now, 1};
    memcpy(data, &now, sizeof(now));
    return sizeof(now);
}

static uint32_t put_ecc_history(uint8_t* data, const struct sim_ecc* ecc) {
    struct dv_ecc_history history = {ecc->single_lifetime, ecc->double_lifetime,
                                     ecc->isolated_single, ecc->isolated_double};
    memcpy(data, &history, sizeof(history));
    return sizeof(history);
}

// "<8 hex digits of the pid>mem", the pid as the caller's namespace knows it.
static uint32_t put_process_memory(const struct abi_call* call, const struct dv_udis_get* get,
                                   uint8_t* data) {
    const struct sim_owner* owner;
    uint32_t index, pid = 0;
    for (index = 0; index < 8; ++index) {
        char digit = get->name[index];
        pid = (pid << 4) | (uint32_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
    }
    owner = abi_owner_of(call, pid);
    if (!owner)
        return NO_VALUE;
    abi_put64(data, owner->bytes);
    return sizeof(uint64_t);
}

static uint32_t put_value(const struct abi_call* call, const struct dv_udis_get* get,
                          uint8_t* data) {
    const struct sim_device* device = call->device;
    const struct sim_device_config* config = &device->config;
    switch (call->info->id) {
    case DV_CMD_UDIS_SOC_MAX_TEMP:
        return put_temperature(data, sim_temperature_c(device));
    case DV_CMD_UDIS_HBM_TEMP:
        return put_temperature(data, sim_hbm_temperature_c(device));
    case DV_CMD_UDIS_POWER:
        return put_u32(data, sim_power_dw(device));
    case DV_CMD_UDIS_AIC_VOLT:
        return put_u32(data, device->sensors.voltage_mv);
    case DV_CMD_UDIS_AIC0_FREQ:
    case DV_CMD_UDIS_AIC1_FREQ:
        return put_u32(data, device->sensors.ai_core_mhz);
    case DV_CMD_UDIS_HBM_FREQ:
        return put_u32(data, config->hbm_mhz);
    case DV_CMD_UDIS_HBM_MEM_INFO:
        return put_memory(data, device);
    case DV_CMD_UDIS_HBM_MFR_ID:
        return put_u32(data, config->hbm_manufacturer);
    case DV_CMD_UDIS_AICPU_UTIL:
        return put_per_core(data, config->ai_cpu_count, abi_ai_cpu_percent(device));
    case DV_CMD_UDIS_CCPU_UTIL:
        return put_per_core(data, config->control_cpu_count, abi_control_cpu_percent(device));
    case DV_CMD_UDIS_SYSTEM_VER:
        return put_text(data, config->firmware_version, sizeof(config->firmware_version));
    case DV_CMD_UDIS_HOT_PATCH_VER:
        return 0; // no patch is loaded
    case DV_CMD_UDIS_ECC_RLT_CNT:
        return put_ecc_now(data, &device->ecc);
    case DV_CMD_UDIS_ECC_HIS_CNT:
        return put_ecc_history(data, &device->ecc);
    case DV_CMD_UDIS_SINGLE_ECC:
        return put_single(data, &device->ecc, trailing_number(get));
    case DV_CMD_UDIS_MULTI_ECC:
        return put_multi(data, &device->ecc, trailing_number(get));
    case DV_CMD_UDIS_MULTI_TIME:
        return put_times(data, &device->ecc, trailing_number(get));
    case DV_CMD_UDIS_MUL_ECC_CNT:
        return put_u32(data, device->ecc.double_record_count);
    case DV_CMD_UDIS_AIC_UTIL:
        return put_cores(data, config->ai_core_count, abi_ai_core_percent(call->sim, device));
    case DV_CMD_UDIS_AIV_UTIL:
        return put_cores(data, config->vector_core_count, abi_vector_percent(device));
    case DV_CMD_UDIS_AICORE_UTIL:
    case DV_CMD_UDIS_STARS_UTIL:
        data[0] = (uint8_t)abi_ai_core_percent(call->sim, device);
        return 1;
    case DV_CMD_UDIS_PROCESS_MEM:
        return put_process_memory(call, get, data);
    default:
        return NO_VALUE;
    }
}

int32_t abi_udis_execute(struct abi_call* call) {
    struct dv_udis_get get;
    struct dv_udis_reply reply;
    uint32_t length;
    memcpy(&get, call->in, sizeof(get));
    length = put_value(call, &get, call->out + DATA_OFFSET);
    if (length == NO_VALUE)
        return -SIM_EOPNOTSUPP;
    if (length > call->request->scratch[SCRATCH_ROOM])
        return -SIM_EINVAL;
    reply.last_update_time = abi_updated_ms(call->sim, call->device);
    reply.access_control = 0;
    reply.length = length;
    memcpy(call->out, &reply, sizeof(reply));
    call->request->piece[0].length = length;
    return 0;
}
