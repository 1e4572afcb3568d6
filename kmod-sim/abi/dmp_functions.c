// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The functions of DMP, answered from the device model (driver-abi.md 10.2). Lengths of requests
// and masks are checked by the caller.
#include "kmod-sim/abi/hdc.h"

#define MODULE_HBM 2U // device types of the ECC functions
// Component types (dcmi.md 5) that a device reports: the boot stages, the system's parts, the
// low-power firmware.
#define COMPONENTS                                                                                 \
    ((1U << 1) | (1U << 3) | (1U << 4) | (1U << 5) | (1U << 6) | (1U << 7) | (1U << 11) |          \
     (1U << 12) | (1U << 13) | (1U << 15))
#define CONTROL_LIST 2U // of the upgrade function
#define FLASH_BYTES (64ULL << 20)
#define FLASH_SECTOR_SHIFT 16
#define FLASH_MANUFACTURER 0x2CU
#define FLASH_DEVICE 0xBB20U

struct reply {
    uint8_t* out;
    uint32_t length;
};

static uint32_t put(struct reply* reply, const void* value, uint32_t length) {
    memcpy(reply->out + reply->length, value, length);
    reply->length += length;
    return DV_OK;
}

static uint32_t put_u8(struct reply* reply, uint32_t value) {
    uint8_t byte = (uint8_t)value;
    return put(reply, &byte, sizeof(byte));
}

static uint32_t put_u16(struct reply* reply, uint32_t value) {
    uint16_t word = (uint16_t)value;
    return put(reply, &word, sizeof(word));
}

static uint32_t put_u32(struct reply* reply, uint32_t value) {
    return put(reply, &value, sizeof(value));
}

// Numbers that belong to a part for good, made from the device's serial number.
static uint32_t part_number(const struct sim_device* device, uint32_t part, uint32_t index) {
    uint64_t name = 0;
    uint32_t at;
    for (at = 0; at < sizeof(device->config.serial) && device->config.serial[at]; ++at)
        name = name * 131 + (uint8_t)device->config.serial[at];
    return (uint32_t)fi_random(name, part, index);
}

static uint32_t die_id(const struct sim_device* device, uint32_t type, struct reply* reply) {
    uint32_t index;
    if (type > 1)
        return DV_E_PARAMETER;
    for (index = 0; index < 8; ++index) // the caller keeps the first five
        put_u32(reply, index < 5 ? part_number(device, type, index) : 0);
    return DV_OK;
}

// Utilisation, frequency, size: device type in the low half, what of it in the high one.
static uint32_t information(const struct abi_call* call, uint32_t what, struct reply* reply) {
    const struct sim_device* device = call->device;
    switch (what) {
    case 0x02:
    case 0x0B:
    case 0x0D:
    case 0x0E:
        return put_u32(reply, abi_ai_core_percent(call->sim, device));
    case 0x03:
        return put_u32(reply, abi_ai_cpu_percent(device));
    case 0x04:
        return put_u32(reply, abi_control_cpu_percent(device));
    case 0x06:
        return put_u32(reply, abi_hbm_percent(device));
    case 0x0A:
        return put_u32(reply, sim_hbm_bandwidth_percent(device));
    case 0x0C:
        return put_u32(reply, abi_vector_percent(device));
    case 0x16:
        return put_u32(reply, device->config.hbm_mhz);
    case 0x12:
    case 0x17:
    case 0x1C:
        return put_u32(reply, device->sensors.ai_core_mhz);
    case 0x19:
        return put_u32(reply, device->config.ai_core_rated_mhz);
    case 0x26:
        return put_u32(reply, (uint32_t)(sim_hbm_total_bytes(device) >> 20));
    default: // DDR is not there; the rest is not in the facts
        return DV_E_NOT_SUPPORTED;
    }
}

static uint32_t frequency(const struct sim_device* device, uint32_t type, struct reply* reply) {
    switch (type) { // dcmi.md 5
    case 6:
        return put_u32(reply, device->config.hbm_mhz);
    case 7:
    case 12:
        return put_u32(reply, device->sensors.ai_core_mhz);
    case 9:
        return put_u32(reply, device->config.ai_core_rated_mhz);
    default:
        return DV_E_NOT_SUPPORTED;
    }
}

static uint32_t flash(const struct sim_device* device, uint32_t index, struct reply* reply) {
    struct dv_dmp_flash part;
    if (index == 0xFF)
        return put_u32(reply, device->config.flash_count);
    if (index >= device->config.flash_count)
        return DV_E_PARAMETER;
    memset(&part, 0, sizeof(part));
    part.id = part_number(device, 0x100, index);
    part.device = FLASH_DEVICE;
    part.vendor = FLASH_MANUFACTURER;
    part.size = FLASH_BYTES;
    part.sectors = FLASH_BYTES >> FLASH_SECTOR_SHIFT;
    part.manufacturer = FLASH_MANUFACTURER;
    return put(reply, &part, sizeof(part));
}

static uint32_t version(const struct sim_device* device, uint32_t component, struct reply* reply) {
    const char* text = device->config.firmware_version;
    if (component > 31 || !((COMPONENTS >> component) & 1))
        return DV_E_NOT_SUPPORTED;
    return put(reply, text, abi_text_length(text, sizeof(device->config.firmware_version) - 1) + 1);
}

// Upgrades come with the firmware part; what is there already is the list of components.
static uint32_t upgrade(struct abi_call* call, const uint8_t* payload, uint32_t length,
                        struct reply* reply) {
    uint64_t components = COMPONENTS;
    if (length == 0)
        return DV_E_PARAMETER;
    if (payload[0] == CONTROL_LIST)
        return put(reply, &components, sizeof(components));
    // Whatever a client says of itself: from inside a container no firmware is changed.
    if (!abi_permitted(&call->client->ident, DV_ACC_ROOT | DV_ACC_ENV_PHYSICAL))
        return DV_E_NOT_PERMITTED;
    return DV_E_NOT_SUPPORTED;
}

// The model knows the hottest points of chip and HBM; other places have no sensor.
static uint32_t sensor(const struct sim_device* device, uint32_t id, struct reply* reply) {
    switch (id) {
    case 2:  // AI core 0
    case 3:  // AI core 1
    case 11: // SoC maximum
    case 13: // N die
        return put_u8(reply, (uint32_t)sim_temperature_c(device));
    case 7:
        return put_u16(reply, device->config.ai_core_rated_mhz);
    case 14:
        return put_u8(reply, (uint32_t)sim_hbm_temperature_c(device));
    default:
        return id >= 15 ? DV_E_PARAMETER : DV_E_NOT_SUPPORTED;
    }
}

// `size` bytes of text, filled up with zero; the room of the client.
static uint32_t error_text(uint32_t code, uint32_t size, struct reply* reply) {
    const char* text = sim_event_text(code);
    uint32_t length;
    if (!text)
        return DV_E_NOT_EXIST;
    if (size == 0 || size > DV_DMP_REPLY_TOTAL_MAX)
        return DV_E_PARAMETER;
    length = abi_text_length(text, size - 1);
    memset(reply->out, 0, size);
    memcpy(reply->out, text, length);
    reply->length = size;
    return DV_OK;
}

static uint32_t ecc_history(const struct sim_ecc* ecc, uint32_t module, struct reply* reply) {
    struct dv_ecc_history history = {ecc->single_lifetime, ecc->double_lifetime,
                                     ecc->isolated_single, ecc->isolated_double};
    if (module == 4 || module == 5) { // how many addresses are recorded
        memset(&history, 0, sizeof(history));
        history.single = module == 4 ? ecc->single_record_count : ecc->double_record_count;
    } else if (module != MODULE_HBM) {
        return DV_E_NOT_SUPPORTED;
    }
    return put(reply, &history, sizeof(history));
}

static uint32_t ecc_times(const struct sim_ecc* ecc, struct reply* reply) {
    uint32_t index;
    put_u32(reply, ecc->double_record_count);
    for (index = 0; index < SIM_RECORDS_MAX; ++index)
        put_u32(reply,
                index < ecc->double_record_count ? (uint32_t)ecc->double_record[index].time : 0);
    return DV_OK;
}

static uint32_t ecc_record(const struct sim_ecc* ecc, const uint8_t* payload, struct reply* reply) {
    uint32_t index = abi_get32(payload), kind = payload[4], count;
    const struct sim_record* record;
    struct dv_dmp_ecc_record wire;
    if (kind != 1 && kind != 2)
        return DV_E_PARAMETER;
    if (payload[5] != MODULE_HBM)
        return DV_E_NOT_SUPPORTED;
    count = kind == 1 ? ecc->single_record_count : ecc->double_record_count;
    if (index >= count)
        return DV_E_NOT_EXIST;
    record = kind == 1 ? &ecc->single_record[index] : &ecc->double_record[index];
    wire.address = record->address;
    wire.stack_and_channel = abi_hbm_controller(record->address);
    wire.high = (uint32_t)(record->address >> 32);
    wire.low = (uint32_t)record->address;
    wire.count = record->count;
    wire.time = record->time;
    return put(reply, &wire, sizeof(wire));
}

// driver-abi.md 8: not compiled for 910B and 950; the other chips' simulated links make no errors.
static int has_pcie_counters(const struct sim_device* device) {
    return memcmp(device->config.chip_name, "310", 3) == 0;
}

static uint32_t pcie_errors(const struct sim_device* device, int clear, struct reply* reply) {
    if (!has_pcie_counters(device))
        return DV_E_NOT_SUPPORTED;
    if (!clear) {
        memset(reply->out, 0, 12 * sizeof(uint32_t));
        reply->length = 12 * sizeof(uint32_t);
    }
    return DV_OK;
}

uint32_t dmp_run(struct abi_call* call, const struct dv_command_info* function,
                 const uint8_t* payload, uint32_t length, uint8_t* out, uint32_t* out_length) {
    struct sim_device* device = call->device;
    const struct sim_device_config* config = &device->config;
    struct reply reply = {out, 0};
    uint32_t error = DV_OK, counts[2] = {device->ecc.single_now, device->ecc.double_now};
    switch (function->id) {
    case DV_CMD_DMP_HEALTH:
        put_u8(&reply, sim_health(device));
        break;
    case DV_CMD_DMP_TEMPERATURE:
        put_u16(&reply, (uint32_t)sim_temperature_c(device));
        break;
    case DV_CMD_DMP_POWER:
        put_u16(&reply, sim_power_dw(device));
        break;
    case DV_CMD_DMP_VOLTAGE:
        put_u16(&reply, (uint32_t)div_u64_u32(device->sensors.voltage_mv, 10, NULL));
        break;
    case DV_CMD_DMP_BOARD_ID:
        put_u16(&reply, config->board_id);
        break;
    case DV_CMD_DMP_PCB_ID:
        put_u8(&reply, config->pcb_id);
        break;
    case DV_CMD_DMP_BOM_OR_SLOT:
        if (payload[0] != 1 && payload[0] != 2)
            return DV_E_PARAMETER;
        put_u32(&reply, payload[0] == 1 ? config->bom_id : config->slot_id);
        break;
    case DV_CMD_DMP_ECC_NOW:
        if (payload[0] != MODULE_HBM)
            return payload[0] & 0xC0 ? DV_E_PARAMETER : DV_E_NOT_SUPPORTED;
        put(&reply, counts, sizeof(counts));
        break;
    case DV_CMD_DMP_SYSTEM_TIME:
        put_u32(&reply, (uint32_t)div_u64_u32(sim_wall_ms(call->sim), 1000, NULL));
        break;
    case DV_CMD_DMP_DIE_ID:
        error = die_id(device, abi_get32(payload), &reply);
        break;
    case DV_CMD_DMP_UPGRADE:
        error = upgrade(call, payload, length, &reply);
        break;
    case DV_CMD_DMP_UPGRADE_STATE:
        put_u16(&reply, 0); // idle, 0 percent
        break;
    case DV_CMD_DMP_UTILISATION:
        error = information(call, payload[0], &reply);
        break;
    case DV_CMD_DMP_FLASH:
        error = flash(device, payload[0], &reply);
        break;
    case DV_CMD_DMP_VERSION:
        error = version(device, payload[0], &reply);
        break;
    case DV_CMD_DMP_SENSOR:
        error = sensor(device, payload[0], &reply);
        break;
    case DV_CMD_DMP_ERROR_TEXT:
        error = error_text(abi_get32(payload), abi_get32(payload + 4), &reply);
        break;
    case DV_CMD_DMP_FREQUENCY:
        error = frequency(device, abi_get32(payload + 4), &reply);
        break;
    case DV_CMD_DMP_ECC_HISTORY:
        error = ecc_history(&device->ecc, payload[0], &reply);
        break;
    case DV_CMD_DMP_ECC_CLEAR:
        sim_ecc_clear(call->sim, device);
        break;
    case DV_CMD_DMP_ECC_TIMES:
        error = ecc_times(&device->ecc, &reply);
        break;
    case DV_CMD_DMP_ECC_RECORD:
        error = ecc_record(&device->ecc, payload, &reply);
        break;
    case DV_CMD_DMP_PCIE_ERRORS:
    case DV_CMD_DMP_PCIE_ERRORS_CLEAR:
        error = pcie_errors(device, function->id == DV_CMD_DMP_PCIE_ERRORS_CLEAR, &reply);
        break;
    default:
        error = DV_E_NOT_SUPPORTED;
        break;
    }
    *out_length = reply.length;
    return error;
}
