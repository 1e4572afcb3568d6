// SPDX-License-Identifier: GPL-2.0-only
// Temperature, power and voltage of each device for programs that know hwmon. An addition of this
// driver; the vendor's has none.
#include <linux/err.h>
#include <linux/hwmon.h>

#include "kmod-sim/linux/compat.h"
#include "kmod-sim/linux/driver.h"

enum temperature { SOC, HBM };

static umode_t visible(const void* data, enum hwmon_sensor_types type, u32 attribute, int channel) {
    return 0444;
}

static int value_of(const struct sim_device* device, enum hwmon_sensor_types type, u32 attribute,
                    int channel, long* value) {
    const struct sim_device_config* config = &device->config;
    if (attribute == hwmon_temp_crit && type == hwmon_temp) {
        *value = (long)(channel == SOC ? config->thermal_limit_c : config->hbm_fatal_c) * 1000;
        return 0;
    }
    if (attribute == hwmon_temp_max && type == hwmon_temp) {
        *value = (long)config->hbm_hot_c * 1000;
        return 0;
    }
    if (attribute == hwmon_power_cap && type == hwmon_power) {
        if (!config->power_limit_dw)
            return -ENODATA; // unknown, not 0
        *value = (long)config->power_limit_dw * 100000;
        return 0;
    }
    if (device->state == DS_STATE_LOST)
        return -EIO;
    if (device->state != DS_STATE_OK)
        return -EAGAIN;
    switch (type) {
    case hwmon_temp:
        *value =
            channel == SOC ? device->sensors.temperature_mc : device->sensors.hbm_temperature_mc;
        return 0;
    case hwmon_power: // microwatt
        *value = (long)device->sensors.power_mw * 1000;
        return 0;
    case hwmon_in:
        *value = device->sensors.voltage_mv;
        return 0;
    default:
        return -EOPNOTSUPP;
    }
}

static int read_value(struct device* dev, enum hwmon_sensor_types type, u32 attribute, int channel,
                      long* value) {
    u32 index = (u32)(unsigned long)dev_get_drvdata(dev);
    const struct sim_device* device;
    int result = -ENODEV;
    davsim_freshen();
    davsim_lock_device(index);
    device = sim_device(davsim.sim, index);
    if (device)
        result = value_of(device, type, attribute, channel, value);
    davsim_unlock_device(index);
    return result;
}

static int read_label(struct device* dev, enum hwmon_sensor_types type, u32 attribute, int channel,
                      const char** text) {
    switch (type) {
    case hwmon_temp:
        *text = channel == SOC ? "NPU" : "HBM";
        return 0;
    case hwmon_power:
        *text = "board";
        return 0;
    default:
        *text = "AI core";
        return 0;
    }
}

static const struct hwmon_ops operations = {
    .is_visible = visible, .read = read_value, .read_string = read_label};

static const struct hwmon_channel_info temperatures = {
    .type = hwmon_temp,
    .config = (const u32[]){HWMON_T_INPUT | HWMON_T_CRIT | HWMON_T_LABEL,
                            HWMON_T_INPUT | HWMON_T_MAX | HWMON_T_CRIT | HWMON_T_LABEL, 0}};
static const struct hwmon_channel_info power = {
    .type = hwmon_power, .config = (const u32[]){HWMON_P_INPUT | HWMON_P_CAP | HWMON_P_LABEL, 0}};
static const struct hwmon_channel_info voltage = {
    .type = hwmon_in, .config = (const u32[]){HWMON_I_INPUT | HWMON_I_LABEL, 0}};

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
static const struct hwmon_channel_info* channels[] = {&temperatures, &power, &voltage, NULL};
#else
static const struct hwmon_channel_info* const channels[] = {&temperatures, &power, &voltage, NULL};
#endif
static const struct hwmon_chip_info chip = {.ops = &operations, .info = channels};

struct device* davsim_hwmon_add(u32 index, struct device* parent) {
    struct device* hwmon = hwmon_device_register_with_info(
        parent, "davinci", (void*)(unsigned long)index, &chip, NULL);
    return IS_ERR(hwmon) ? NULL : hwmon;
}

void davsim_hwmon_remove(struct device* hwmon) {
    if (hwmon)
        hwmon_device_unregister(hwmon);
}
