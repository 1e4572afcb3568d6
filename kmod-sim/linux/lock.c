// SPDX-License-Identifier: GPL-2.0-only
// The model's sections as mutexes: the system's first, then the devices' in ascending order. None
// is held over user memory or a wait.
#include <linux/slab.h>

#include "kmod-sim/linux/driver.h"

int davsim_sections_init(void) {
    u32 id;
    davsim.device = kcalloc(davsim.slots, sizeof(*davsim.device), GFP_KERNEL);
    if (!davsim.device)
        return -ENOMEM;
    mutex_init(&davsim.system);
    for (id = 0; id < davsim.slots; ++id)
        mutex_init(&davsim.device[id]); // one class: nested ones are taken under the system section
    return 0;
}

void davsim_lock_system(void) {
    mutex_lock(&davsim.system);
}

void davsim_unlock_system(void) {
    // What a reader may see without a step, for those that take a device section alone.
    WRITE_ONCE(davsim.fresh_until, davsim.sim->quiet_until_ns);
    davsim_wake_ready();
    mutex_unlock(&davsim.system);
}

void davsim_lock_devices(void) {
    u32 id;
    for (id = 0; id < davsim.slots; ++id)
        mutex_lock_nest_lock(&davsim.device[id], &davsim.system);
}

void davsim_unlock_devices(void) {
    u32 id = davsim.slots;
    while (id)
        mutex_unlock(&davsim.device[--id]);
}

void davsim_lock_device(u32 device) {
    mutex_lock(&davsim.device[device]);
}

void davsim_unlock_device(u32 device) {
    mutex_unlock(&davsim.device[device]);
}
