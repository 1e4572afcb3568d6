// SPDX-License-Identifier: GPL-2.0-only
// Devices are put into the machine: with default values, or as configfs was told.
#include <linux/kernel.h>
#include <linux/string.h>

#include "kmod-sim/abi/hdc.h"
#include "kmod-sim/linux/driver.h"

void davsim_default_config(struct sim_device_config* config, u32 index) {
    memset(config, 0, sizeof(*config));
#define U32(name, least, most, value) config->name = value;
#define S32(name, least, most, value) config->name = value;
#define TEXT(name, value) strscpy(config->name, value, sizeof(config->name));
#include "kmod-sim/core/device_fields.def"
    config->device_id = config->physical_id = config->card = index;
    config->bandwidth_domain = config->slot_id = index;
    config->pci_bus = index + 1;
    snprintf(config->serial, sizeof(config->serial), "SIM%08u", index);
}

int davsim_add_device(const struct sim_device_config* config, const struct sim_ecc* ecc,
                      const u32* isolated, u32 isolated_count) {
    int result;
    davsim_lock_system();
    davsim_present();
    davsim_lock_devices();
    result = sim_add_device(davsim.sim, config, ecc, isolated, isolated_count);
    davsim_unlock_devices();
    davsim_settle();
    davsim_unlock_system();
    return result;
}

int davsim_hotplug(u32 device, u32 operation) {
    int result;
    davsim_lock_system();
    davsim_present();
    davsim_lock_devices();
    result = sim_hotplug(davsim.sim, device, operation);
    if (!result)
        abi_hdc_wake(davsim.sim);
    davsim_unlock_devices();
    davsim_settle();
    davsim_unlock_system();
    return result;
}
