// SPDX-License-Identifier: GPL-2.0-only
// Where kernels from 6.1 on differ.
#ifndef ASC_KMOD_SIM_LINUX_COMPAT_H
#define ASC_KMOD_SIM_LINUX_COMPAT_H

#include <linux/device/class.h>
#include <linux/mm.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 4, 0)
#define davsim_class_create(name) class_create(THIS_MODULE, name)
#else
#define davsim_class_create(name) class_create(name)
#endif

// What a device type's devnode function takes.
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define DAVSIM_CONST_DEVICE struct device
#else
#define DAVSIM_CONST_DEVICE const struct device
#endif

static inline void davsim_area_flags(struct vm_area_struct* area, unsigned long set,
                                     unsigned long clear) {
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
    area->vm_flags = (area->vm_flags | set) & ~clear;
#else
    vm_flags_mod(area, set, clear);
#endif
}

#endif
