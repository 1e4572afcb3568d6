// SPDX-License-Identifier: GPL-2.0-only
// The simulated Ascend driver as a module: parameters, and the order in which the parts come and
// go.
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/proc_ns.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "kmod-sim/linux/driver.h"

struct davsim davsim;

static uint devices = 8;
module_param(devices, uint, 0444);
MODULE_PARM_DESC(devices, "devices with default values (default 8); 0: configfs adds them");
static uint slots;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots, "device ids there may be (default: devices + 8, at most 64)");
static uint hbm_mib = 65536;
module_param(hbm_mib, uint, 0444);
MODULE_PARM_DESC(hbm_mib, "HBM of a default device, MiB (default 65536)");
static uint clients = 1024;
module_param(clients, uint, 0444);
MODULE_PARM_DESC(clients, "open files there may be (default 1024)");
static char* clock = "real";
module_param(clock, charp, 0444);
MODULE_PARM_DESC(clock, "real or virtual: does time pass by itself (default real)");
static ulong seed = 1;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "of all random decisions (default 1)");
static bool old_abi;
module_param(old_abi, bool, 0444);
MODULE_PARM_DESC(old_abi, "answer as the older generation of the driver does");
static char* profile = "module";
module_param(profile, charp, 0444);
MODULE_PARM_DESC(profile, "name that the simulator gives for its profile");
static char* driver_version = "25.2.0";
module_param(driver_version, charp, 0444);
MODULE_PARM_DESC(driver_version, "version that the driver gives");

uint davsim_node_mode = 0660, davsim_node_uid, davsim_node_gid;
module_param_named(mode, davsim_node_mode, uint, 0444);
MODULE_PARM_DESC(mode, "of the nodes (default 0660; the vendor's --install-for-all: 0666)");
module_param_named(uid, davsim_node_uid, uint, 0444);
MODULE_PARM_DESC(uid, "owner of the nodes (the vendor's: HwHiAiUser)");
module_param_named(gid, davsim_node_gid, uint, 0444);
MODULE_PARM_DESC(gid, "group of the nodes (the vendor's: HwHiAiUser)");
uint davsim_operate_gid[2];
module_param_array_named(operate_gid, davsim_operate_gid, uint, NULL, 0444);
MODULE_PARM_DESC(operate_gid, "groups whose members may operate devices (HwHiAiUser, HwBaseUser)");
bool davsim_with_pci = true, davsim_with_hwmon = true;
module_param_named(pci, davsim_with_pci, bool, 0444);
MODULE_PARM_DESC(pci, "give each device a PCI function behind a bridge of software (default yes)");
module_param_named(hwmon, davsim_with_hwmon, bool, 0444);
MODULE_PARM_DESC(hwmon, "give each device's sensors to hwmon (default yes)");

static int refuse(const char* parameter, unsigned long value, unsigned long least,
                  unsigned long most) {
    pr_err("davinci_sim: %s=%lu is not in %lu..%lu\n", parameter, value, least, most);
    return -EINVAL;
}

static int check_parameters(void) {
    if (devices > SIM_DEVICES_MAX)
        return refuse("devices", devices, 0, SIM_DEVICES_MAX);
    if (!slots)
        slots = min_t(uint, devices + 8, SIM_DEVICES_MAX);
    if (slots < devices || slots > SIM_DEVICES_MAX)
        return refuse("slots", slots, devices, SIM_DEVICES_MAX);
    if (hbm_mib < 1 || hbm_mib > 1048576)
        return refuse("hbm_mib", hbm_mib, 1, 1048576);
    if (clients < 1 || clients > 65536)
        return refuse("clients", clients, 1, 65536);
    if (davsim_node_mode > 0777)
        return refuse("mode", davsim_node_mode, 0, 0777);
    if (strcmp(clock, "real") && strcmp(clock, "virtual")) {
        pr_err("davinci_sim: clock='%s' is neither 'real' nor 'virtual'\n", clock);
        return -EINVAL;
    }
    return 0;
}

static void* arena;

static int make_model(void) {
    struct sim_config config = {
        .limits = {.device_count = slots, .client_count = clients},
        .seed = seed,
        .wall_ms = (u64)ktime_to_ms(ktime_get_real()),
        .old_abi = old_abi,
        .host_pid_namespace = PROC_PID_INIT_INO,
        .driver_version = driver_version,
        .profile = profile,
        .host = "kernel",
    };
    size_t size = sim_arena_size(&config.limits, abi_extra_size());
    int result;
    davsim.virtual_clock = !strcmp(clock, "virtual");
    config.clock_kind = davsim.virtual_clock ? DS_CLOCK_VIRTUAL : DS_CLOCK_REAL;
    if (davsim.virtual_clock)
        config.wall_ms = 1767225600000ULL; // 2026-01-01, so that the same calls give the same bytes
    arena = vzalloc(size);
    if (!arena)
        return -ENOMEM;
    davsim.slots = slots;
    davsim.start_ns = ktime_get_ns();
    davsim.timer_due_ns = davsim.readable_ns = SIM_NEVER;
    result = sim_init(&davsim.sim, arena, size, &config, abi_extra_size());
    if (result)
        return result;
    abi_init(davsim.sim);
    return 0;
}

static int add_default_devices(void) {
    struct sim_device_config* config = kmalloc(sizeof(*config), GFP_KERNEL);
    int result = config ? 0 : -ENOMEM;
    u32 index;
    for (index = 0; !result && index < devices; ++index) {
        davsim_default_config(config, index);
        config->hbm_mib = hbm_mib;
        result = davsim_add_device(config, NULL, NULL, 0);
    }
    kfree(config);
    return result;
}

// The parts in the order in which they come; they go in the other one.
static const struct {
    int (*init)(void);
    void (*exit)(void);
} parts[] = {
    {davsim_calls_init, davsim_calls_exit},
    {davsim_telemetry_init, davsim_telemetry_exit},
    {davsim_pci_init, davsim_pci_exit},
    {davsim_chardev_init, davsim_chardev_exit},
    {davsim_events_init, davsim_events_exit},
    {davsim_clock_init, davsim_clock_exit},
    {davsim_debugfs_init, davsim_debugfs_exit},
    {add_default_devices, NULL},
    {davsim_configfs_init, davsim_configfs_exit},
    {davsim_control_nodes_init, davsim_control_nodes_exit},
};

static void leave(size_t count) {
    while (count--)
        if (parts[count].exit)
            parts[count].exit();
    if (davsim.queue)
        destroy_workqueue(davsim.queue);
    kfree(davsim.device);
    vfree(arena);
}

static int __init davsim_start(void) {
    size_t count = 0;
    int result = check_parameters();
    if (result)
        return result;
    hash_init(davsim.waiting);
    init_waitqueue_head(&davsim.readers);
    davsim.queue = alloc_workqueue(DAVSIM_NAME, 0, 0);
    result = davsim.queue ? make_model() : -ENOMEM;
    if (!result)
        result = davsim_sections_init();
    while (!result && count < ARRAY_SIZE(parts)) {
        result = parts[count].init();
        if (!result)
            ++count;
    }
    if (result) {
        leave(count);
        return result;
    }
    davsim_upkeep_flush();
    pr_info("davinci_sim: %u simulated devices, %u ids; no hardware stands behind them\n", devices,
            slots);
    return 0;
}

static void __exit davsim_end(void) {
    leave(ARRAY_SIZE(parts));
}

module_init(davsim_start);
module_exit(davsim_end);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Simulated Huawei Ascend NPUs behind the driver's published interface");
MODULE_VERSION("0.1.0");
