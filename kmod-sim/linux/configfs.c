// SPDX-License-Identifier: GPL-2.0-only
// /sys/kernel/config/davinci_sim: the machine by hand. Its attributes are names,
// `residents_settled` and `wall_ms`. mkdir N takes a free id; its attributes are the fields of the
// device (kmod-sim/core/device_fields.def), its error history and, last, `enable`. What is wrong is
// refused by the write that says it; rmdir takes the device out again.
#include <linux/configfs.h>
#include <linux/ctype.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "kmod-sim/linux/driver.h"

#if IS_ENABLED(CONFIG_CONFIGFS_FS)

#define ISOLATED_MAX SIM_PAGES_MAX

struct device_item {
    struct config_group group;
    struct mutex lock;
    bool enabled;
    struct sim_device_config config;
    struct sim_ecc ecc;
    u32 isolated[ISOLATED_MAX], isolated_count;
};

static struct device_item* item_of(struct config_item* item) {
    return container_of(to_config_group(item), struct device_item, group);
}

// ---- fields ----

// Takes the lock when the device may still be changed; else EBUSY.
static int begin_change(struct device_item* device) {
    mutex_lock(&device->lock);
    if (!device->enabled)
        return 0;
    mutex_unlock(&device->lock);
    return -EBUSY;
}

static ssize_t store_u32(struct device_item* device, u32* field, u32 least, u32 most,
                         const char* text, size_t length) {
    u32 value;
    int result = kstrtou32(text, 0, &value);
    if (result)
        return result;
    if (value < least || value > most)
        return -ERANGE;
    result = begin_change(device);
    if (result)
        return result;
    *field = value;
    mutex_unlock(&device->lock);
    return (ssize_t)length;
}

static ssize_t store_s32(struct device_item* device, s32* field, s32 least, s32 most,
                         const char* text, size_t length) {
    s32 value;
    int result = kstrtos32(text, 0, &value);
    if (result)
        return result;
    if (value < least || value > most)
        return -ERANGE;
    result = begin_change(device);
    if (result)
        return result;
    *field = value;
    mutex_unlock(&device->lock);
    return (ssize_t)length;
}

static ssize_t store_text(struct device_item* device, char* field, size_t room, const char* text,
                          size_t length) {
    size_t used = length, index;
    int result;
    if (used && text[used - 1] == '\n')
        --used;
    if (used >= room)
        return -E2BIG;
    for (index = 0; index < used; ++index)
        if (!isprint(text[index]))
            return -EINVAL;
    result = begin_change(device);
    if (result)
        return result;
    memset(field, 0, room);
    memcpy(field, text, used);
    mutex_unlock(&device->lock);
    return (ssize_t)length;
}

#define FIELD(name, format, take, ...)                                                             \
    static ssize_t device_##name##_show(struct config_item* item, char* text) {                    \
        return sysfs_emit(text, format "\n", item_of(item)->config.name);                          \
    }                                                                                              \
    static ssize_t device_##name##_store(struct config_item* item, const char* text,               \
                                         size_t length) {                                          \
        struct device_item* device = item_of(item);                                                \
        return take(device, __VA_ARGS__, text, length);                                            \
    }                                                                                              \
    CONFIGFS_ATTR(device_, name);
#define U32(name, least, most, value)                                                              \
    FIELD(name, "%u", store_u32, &device->config.name, least, most)
#define S32(name, least, most, value)                                                              \
    FIELD(name, "%d", store_s32, &device->config.name, least, most)
#define TEXT(name, value)                                                                          \
    FIELD(name, "%s", store_text, device->config.name, sizeof(device->config.name))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtype-limits"
#include "kmod-sim/core/device_fields.def"
#pragma GCC diagnostic pop

// ---- error history ----

#define COUNTER(name, field)                                                                       \
    static ssize_t device_##name##_show(struct config_item* item, char* text) {                    \
        return sysfs_emit(text, "%u\n", item_of(item)->ecc.field);                                 \
    }                                                                                              \
    static ssize_t device_##name##_store(struct config_item* item, const char* text,               \
                                         size_t length) {                                          \
        struct device_item* device = item_of(item);                                                \
        return store_u32(device, &device->ecc.field, 0, U32_MAX, text, length);                    \
    }                                                                                              \
    CONFIGFS_ATTR(device_, name);

COUNTER(ecc_single, single_now)
COUNTER(ecc_double, double_now)
COUNTER(ecc_single_lifetime, single_lifetime)
COUNTER(ecc_double_lifetime, double_lifetime)
COUNTER(ecc_isolated_single, isolated_single)
COUNTER(ecc_isolated_double, isolated_double)

// "ADDRESS COUNT SECONDS": one record more, the time in seconds since the epoch.
static ssize_t add_record(struct device_item* device, struct sim_record* records, u32* count,
                          const char* text, size_t length) {
    struct sim_record record;
    unsigned long long address;
    int result;
    if (sscanf(text, "%lli %u %d", &address, &record.count, &record.time) != 3)
        return -EINVAL;
    record.address = address;
    result = begin_change(device);
    if (result)
        return result;
    result = *count < SIM_RECORDS_MAX ? 0 : -ENOSPC;
    if (!result)
        records[(*count)++] = record;
    mutex_unlock(&device->lock);
    return result ? result : (ssize_t)length;
}

static ssize_t device_ecc_single_record_store(struct config_item* item, const char* text,
                                              size_t length) {
    struct device_item* device = item_of(item);
    return add_record(device, device->ecc.single_record, &device->ecc.single_record_count, text,
                      length);
}
CONFIGFS_ATTR_WO(device_, ecc_single_record);

static ssize_t device_ecc_double_record_store(struct config_item* item, const char* text,
                                              size_t length) {
    struct device_item* device = item_of(item);
    return add_record(device, device->ecc.double_record, &device->ecc.double_record_count, text,
                      length);
}
CONFIGFS_ATTR_WO(device_, ecc_double_record);

// One page more that is out of use from the start.
static ssize_t device_isolated_page_store(struct config_item* item, const char* text,
                                          size_t length) {
    struct device_item* device = item_of(item);
    u32 page;
    int result = kstrtou32(text, 0, &page);
    if (!result)
        result = begin_change(device);
    if (result)
        return result;
    if (page >= ((u64)device->config.hbm_mib << 20) >> SIM_PAGE_SHIFT)
        result = -ERANGE; // of the HBM as it is set now
    else if (device->isolated_count == ISOLATED_MAX)
        result = -ENOSPC;
    if (!result)
        device->isolated[device->isolated_count++] = page;
    mutex_unlock(&device->lock);
    return result ? result : (ssize_t)length;
}
CONFIGFS_ATTR_WO(device_, isolated_page);

// ---- enable ----

static ssize_t device_enable_show(struct config_item* item, char* text) {
    return sysfs_emit(text, "%d\n", item_of(item)->enabled);
}

static ssize_t device_enable_store(struct config_item* item, const char* text, size_t length) {
    struct device_item* device = item_of(item);
    bool on;
    int result = kstrtobool(text, &on);
    if (result)
        return result;
    if (!on)
        return -EINVAL; // rmdir takes it out
    result = begin_change(device);
    if (result)
        return result;
    result =
        davsim_add_device(&device->config, &device->ecc,
                          device->isolated_count ? device->isolated : NULL, device->isolated_count);
    device->enabled = !result;
    mutex_unlock(&device->lock);
    davsim_upkeep_flush();
    return result ? result : (ssize_t)length;
}
CONFIGFS_ATTR(device_, enable);

static struct configfs_attribute* device_attributes[] = {
#define U32(name, ...) &device_attr_##name,
#define S32(name, ...) &device_attr_##name,
#define TEXT(name, ...) &device_attr_##name,
#include "kmod-sim/core/device_fields.def"
    &device_attr_ecc_single,
    &device_attr_ecc_double,
    &device_attr_ecc_single_lifetime,
    &device_attr_ecc_double_lifetime,
    &device_attr_ecc_isolated_single,
    &device_attr_ecc_isolated_double,
    &device_attr_ecc_single_record,
    &device_attr_ecc_double_record,
    &device_attr_isolated_page,
    &device_attr_enable,
    NULL};

static void release_device(struct config_item* item) {
    kfree(item_of(item));
}

static struct configfs_item_operations device_operations = {.release = release_device};
static const struct config_item_type device_type = {
    .ct_item_ops = &device_operations, .ct_attrs = device_attributes, .ct_owner = THIS_MODULE};

// ---- the folder of devices ----

static struct config_group* make_device(struct config_group* parent, const char* name) {
    struct device_item* device;
    u32 index;
    bool taken;
    if (kstrtou32(name, 10, &index) || (name[0] == '0' && name[1]))
        return ERR_PTR(-EINVAL);
    if (index >= davsim.slots)
        return ERR_PTR(-ERANGE);
    davsim_lock_device(index);
    taken = sim_device(davsim.sim, index) != NULL;
    davsim_unlock_device(index);
    if (taken)
        return ERR_PTR(-EEXIST);
    device = kzalloc(sizeof(*device), GFP_KERNEL);
    if (!device)
        return ERR_PTR(-ENOMEM);
    mutex_init(&device->lock);
    davsim_default_config(&device->config, index);
    config_group_init_type_name(&device->group, name, &device_type);
    return &device->group;
}

static void drop_device(struct config_group* parent, struct config_item* item) {
    struct device_item* device = item_of(item);
    bool enabled;
    mutex_lock(&device->lock);
    enabled = device->enabled;
    mutex_unlock(&device->lock);
    if (enabled) {
        davsim_hotplug(device->config.device_id, DS_HOTPLUG_REMOVE);
        davsim_upkeep_flush();
    }
    config_item_put(item);
}

// ---- the machine's own attributes ----

static ssize_t store_name(char* field, size_t room, const char* text, size_t length) {
    size_t used = length, index;
    if (used && text[used - 1] == '\n')
        --used;
    if (used >= room)
        return -E2BIG;
    for (index = 0; index < used; ++index)
        if (!isprint(text[index]))
            return -EINVAL;
    davsim_lock_system();
    memset(field, 0, room);
    memcpy(field, text, used);
    davsim_unlock_system();
    return (ssize_t)length;
}

#define NAME(name)                                                                                 \
    static ssize_t machine_##name##_show(struct config_item* item, char* text) {                   \
        ssize_t length;                                                                            \
        davsim_lock_system();                                                                      \
        length = sysfs_emit(text, "%s\n", davsim.sim->name);                                       \
        davsim_unlock_system();                                                                    \
        return length;                                                                             \
    }                                                                                              \
    static ssize_t machine_##name##_store(struct config_item* item, const char* text,              \
                                          size_t length) {                                         \
        return store_name(davsim.sim->name, sizeof(davsim.sim->name), text, length);               \
    }                                                                                              \
    CONFIGFS_ATTR(machine_, name);

NAME(profile)
NAME(driver_version)

static ssize_t machine_residents_settled_show(struct config_item* item, char* text) {
    return sysfs_emit(text, "%u\n", READ_ONCE(davsim.sim->residents_settled));
}

// The processes that hold memory now are the profile's own: the declared load goes with them.
static ssize_t machine_residents_settled_store(struct config_item* item, const char* text,
                                               size_t length) {
    bool on;
    int result = kstrtobool(text, &on);
    if (result)
        return result;
    if (!on)
        return -EINVAL; // there is no way back
    davsim_lock_system();
    sim_residents_settled(davsim.sim);
    davsim_unlock_system();
    return (ssize_t)length;
}
CONFIGFS_ATTR(machine_, residents_settled);

// Milliseconds since the epoch by the machine's own clock: what the times of records count from.
static ssize_t machine_wall_ms_show(struct config_item* item, char* text) {
    u64 wall_ms;
    davsim_lock_system();
    davsim_present();
    wall_ms = sim_wall_ms(davsim.sim);
    davsim_unlock_system();
    return sysfs_emit(text, "%llu\n", (unsigned long long)wall_ms);
}
CONFIGFS_ATTR_RO(machine_, wall_ms);

static struct configfs_attribute* machine_attributes[] = {
    &machine_attr_profile, &machine_attr_driver_version, &machine_attr_residents_settled,
    &machine_attr_wall_ms, NULL};

static struct configfs_group_operations folder_operations = {.make_group = make_device,
                                                             .drop_item = drop_device};
static const struct config_item_type folder_type = {
    .ct_group_ops = &folder_operations, .ct_attrs = machine_attributes, .ct_owner = THIS_MODULE};
static struct configfs_subsystem subsystem = {
    .su_group = {.cg_item = {.ci_namebuf = DAVSIM_NAME, .ci_type = &folder_type}}};

int davsim_configfs_init(void) {
    config_group_init(&subsystem.su_group);
    mutex_init(&subsystem.su_mutex);
    return configfs_register_subsystem(&subsystem);
}

void davsim_configfs_exit(void) {
    configfs_unregister_subsystem(&subsystem);
}

#else

int davsim_configfs_init(void) {
    return 0;
}
void davsim_configfs_exit(void) {}

#endif
