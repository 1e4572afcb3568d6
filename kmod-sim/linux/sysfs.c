// SPDX-License-Identifier: GPL-2.0-only
// One attribute group on /sys/class/devdrv-class/davinciN: what the simulator knows of the device.
// The vendor's driver has nothing of the kind (driver-abi.md 2.4).
#include <linux/sysfs.h>

#include "kmod-sim/linux/driver.h"

typedef ssize_t (*print_value)(const struct sim_device* device, char* text);

static ssize_t show(struct device* dev, char* text, print_value print) {
    const struct davsim_node* node = dev_get_drvdata(dev);
    ssize_t length = -ENODEV;
    const struct sim_device* device;
    davsim_freshen();
    davsim_lock_device(node->index);
    device = sim_device(davsim.sim, node->index);
    if (device)
        length = print(device, text);
    davsim_unlock_device(node->index);
    return length;
}

#define VALUE(name, format, ...)                                                                   \
    static ssize_t print_##name(const struct sim_device* device, char* text) {                     \
        return sysfs_emit(text, format "\n", __VA_ARGS__);                                         \
    }                                                                                              \
    static ssize_t name##_show(struct device* dev, struct device_attribute* attribute,             \
                               char* text) {                                                       \
        return show(dev, text, print_##name);                                                      \
    }                                                                                              \
    static DEVICE_ATTR_RO(name)

static const char* state_name(const struct sim_device* device) {
    static const char* const names[] = {[DS_STATE_OK] = "ok",
                                        [DS_STATE_RESETTING] = "resetting",
                                        [DS_STATE_LOST] = "lost",
                                        [DS_STATE_ABSENT] = "absent"};
    return device->state < ARRAY_SIZE(names) ? names[device->state] : "unknown";
}

static const char* health_name(const struct sim_device* device) {
    switch (sim_health(device)) {
    case DV_HEALTH_NORMAL:
        return "ok";
    case DV_HEALTH_MINOR:
        return "warning";
    case DV_HEALTH_MAJOR:
        return "alarm";
    case DV_HEALTH_CRITICAL:
        return "critical";
    default:
        return "unknown";
    }
}

VALUE(state, "%s", state_name(device));
VALUE(health, "%s", health_name(device));
VALUE(boot_status, "%u", device->boot_status);
VALUE(chip_name, "%s", device->config.chip_name);
VALUE(soc_version, "%s", device->config.soc_version);
VALUE(serial, "%s", device->config.serial);
VALUE(firmware_version, "%s", device->config.firmware_version);
VALUE(bus_id, "%04x:%02x:%02x.%x", device->config.pci_domain, device->config.pci_bus,
      device->config.pci_slot, device->config.pci_function);
VALUE(hbm_total_kib, "%llu", (unsigned long long)sim_hbm_total_bytes(device) >> 10);
VALUE(hbm_used_kib, "%llu", (unsigned long long)sim_hbm_used_bytes(device) >> 10);
VALUE(hbm_unowned_kib, "%llu", (unsigned long long)sim_hbm_unowned_bytes(device) >> 10);
VALUE(ecc_single, "%u", device->ecc.single_now);
VALUE(ecc_double, "%u", device->ecc.double_now);
VALUE(pages_isolated, "%u", device->pages_isolated);
VALUE(pages_pending, "%u", device->pages_pending);
VALUE(oom_count, "%u", device->oom_count);
VALUE(owners, "%u", sim_owner_count(device));
VALUE(reset_count, "%u", device->reset_count);

static struct attribute* attributes[] = {&dev_attr_state.attr,
                                         &dev_attr_health.attr,
                                         &dev_attr_boot_status.attr,
                                         &dev_attr_chip_name.attr,
                                         &dev_attr_soc_version.attr,
                                         &dev_attr_serial.attr,
                                         &dev_attr_firmware_version.attr,
                                         &dev_attr_bus_id.attr,
                                         &dev_attr_hbm_total_kib.attr,
                                         &dev_attr_hbm_used_kib.attr,
                                         &dev_attr_hbm_unowned_kib.attr,
                                         &dev_attr_ecc_single.attr,
                                         &dev_attr_ecc_double.attr,
                                         &dev_attr_pages_isolated.attr,
                                         &dev_attr_pages_pending.attr,
                                         &dev_attr_oom_count.attr,
                                         &dev_attr_owners.attr,
                                         &dev_attr_reset_count.attr,
                                         NULL};

static const struct attribute_group group = {.name = "simulator", .attrs = attributes};
const struct attribute_group* davsim_device_groups[] = {&group, NULL};
