// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// BASIC functions (main command 'E') that are not about events (driver-abi.md 6.5, 8).
#include "kmod-sim/abi/internal.h"

#define PCI_DEVICE_910B 0xd802U // driver-abi.md 2.5: its cards are linked by HCCS

// During a reset or on a lost device health cannot be told: driver error 51, value "not present".
static int32_t health(struct abi_call* call) {
    if (call->device->state != DS_STATE_OK) {
        abi_put32(call->out, DV_HEALTH_ABSENT);
        call->request->scratch[SCRATCH_FLAGS] |= ABI_F_KEEP_OUT;
        return DV_E_TRY_AGAIN;
    }
    abi_put32(call->out, sim_health(call->device));
    return 0;
}

static int32_t pcie_info(struct abi_call* call) {
    const struct sim_device_config* config = &call->device->config;
    struct dv_pcie_info info;
    info.vendor = config->pci_vendor;
    info.subsystem_vendor = config->pci_subsystem_vendor;
    info.device = config->pci_device;
    info.subsystem_device = config->pci_subsystem_device;
    info.bus = config->pci_bus;
    info.slot = config->pci_slot;
    info.function = config->pci_function;
    info.davinci_id = config->device_id;
    memcpy(call->out, &info, sizeof(info));
    return 0;
}

static int32_t chip_info(struct abi_call* call) {
    const struct sim_device_config* config = &call->device->config;
    struct dv_chip_info info;
    memset(&info, 0, sizeof(info));
    info.device_id = config->device_id;
    memcpy(info.type, config->chip_type, sizeof(info.type));
    memcpy(info.name, config->chip_name, sizeof(info.name));
    memcpy(info.version, config->chip_version, sizeof(info.version));
    memcpy(call->out, &info, sizeof(info));
    return 0;
}

static uint32_t topology_of(const struct sim_device_config* a, const struct sim_device_config* b) {
    if (a->device_id == b->device_id)
        return DV_TOPOLOGY_SELF;
    if (a->card == b->card)
        return DV_TOPOLOGY_SIO;
    if (a->pci_device == PCI_DEVICE_910B && b->pci_device == PCI_DEVICE_910B)
        return DV_TOPOLOGY_HCCS;
    return a->numa_node == b->numa_node ? DV_TOPOLOGY_PHB : DV_TOPOLOGY_SYS;
}

static int32_t topology(struct abi_call* call, int physical) {
    struct sim_device* pair[2];
    uint32_t index;
    for (index = 0; index < 2; ++index) {
        uint32_t id = abi_get32(call->in + index * sizeof(uint32_t));
        int32_t result = physical ? abi_find_physical(call, id) : abi_find_device(call, id);
        if (result)
            return result;
        pair[index] = call->device;
    }
    abi_put32(call->out, topology_of(&pair[0]->config, &pair[1]->config));
    return 0;
}

static int32_t probed_list(struct abi_call* call) {
    uint32_t id, count = 0;
    for (id = 0; id < call->sim->limits.device_count; ++id)
        if (abi_find_device(call, id) == 0)
            abi_put32(call->out + sizeof(uint32_t) * ++count, id);
    abi_put32(call->out, count);
    return 0;
}

static int32_t probed_count(struct abi_call* call) {
    uint32_t id, count = 0;
    for (id = 0; id < call->sim->limits.device_count; ++id)
        count += abi_find_device(call, id) == 0;
    abi_put32(call->out, count);
    return 0;
}

int32_t abi_basic_execute(struct abi_call* call) {
    switch (call->info->id) {
    case DV_CMD_URD_HEALTH:
        return health(call);
    case DV_CMD_URD_PCIE_INFO:
        return pcie_info(call);
    case DV_CMD_URD_TOPOLOGY:
        return topology(call, 0);
    case DV_CMD_URD_TOPOLOGY_PHYSICAL:
        return topology(call, 1);
    case DV_CMD_URD_CHIP_INFO:
        return chip_info(call);
    case DV_CMD_URD_BOARD_ID:
        abi_put32(call->out, call->device->config.board_id);
        return 0;
    case DV_CMD_URD_SLOT_ID:
        abi_put32(call->out, call->device->config.slot_id);
        return 0;
    case DV_CMD_URD_BOM_ID:
        abi_put32(call->out, call->device->config.bom_id);
        return 0;
    case DV_CMD_URD_PCB_ID:
        abi_put32(call->out, call->device->config.pcb_id);
        return 0;
    case DV_CMD_URD_BOOT_STATUS:
        abi_put32(call->out, call->device->boot_status);
        return 0;
    case DV_CMD_URD_PROBED_COUNT:
        return probed_count(call);
    case DV_CMD_URD_PROBED_LIST:
        return probed_list(call);
    default:
        return -SIM_EOPNOTSUPP;
    }
}
