// SPDX-License-Identifier: GPL-2.0-only
// Telemetry pages by mmap (ioctl/wire/telemetry.h): one a device, made when it is first mapped,
// kept up to date while somebody has it, never writable from outside.
#include <linux/mm.h>
#include <linux/slab.h>

#include "kmod-sim/linux/compat.h"
#include "kmod-sim/linux/driver.h"

struct davsim_telemetry { // [S]
    struct page* page;
    unsigned int mapped;
};

static void count(struct davsim_telemetry* telemetry, bool more) {
    davsim_lock_system();
    telemetry->mapped += more ? 1 : -1;
    davsim.mapped += more ? 1 : -1;
    if (more) {
        davsim_present();
        davsim_settle(); // the values of now, and the timer
    }
    davsim_unlock_system();
}

// A child or a moved mapping has it as well.
static void open_area(struct vm_area_struct* area) {
    count(area->vm_private_data, true);
}

static void close_area(struct vm_area_struct* area) {
    count(area->vm_private_data, false);
}

static const struct vm_operations_struct area_operations = {.open = open_area, .close = close_area};

// Two at once may both bring a page: the first one's stays.
static int provide_page(struct davsim_telemetry* telemetry) {
    struct page* page = NULL;
    bool there;
    davsim_lock_system();
    there = telemetry->page != NULL;
    davsim_unlock_system();
    if (there)
        return 0;
    page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
    if (!page)
        return -ENOMEM;
    davsim_lock_system();
    if (!telemetry->page)
        swap(telemetry->page, page);
    davsim_unlock_system();
    if (page)
        put_page(page);
    return 0;
}

int davsim_mmap(struct file* file, struct vm_area_struct* area) {
    struct davsim_telemetry* telemetry;
    int result;
    davsim_lock_system();
    result = abi_telemetry_may_map(davsim.sim, file->private_data, area->vm_pgoff,
                                   area->vm_end - area->vm_start, PAGE_SIZE,
                                   (area->vm_flags & (VM_WRITE | VM_EXEC)) != 0);
    davsim_unlock_system();
    if (result)
        return result;
    telemetry = &davsim.telemetry[area->vm_pgoff];
    result = provide_page(telemetry);
    if (result)
        return result;
    // Not by mprotect either.
    davsim_area_flags(area, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
    result = vm_insert_page(area, area->vm_start, telemetry->page);
    if (result)
        return result;
    area->vm_private_data = telemetry;
    area->vm_ops = &area_operations;
    count(telemetry, true);
    return 0;
}

void davsim_telemetry_publish(void) {
    u32 index;
    if (!davsim.mapped)
        return;
    for (index = 0; index < davsim.slots; ++index)
        if (davsim.telemetry[index].mapped)
            abi_telemetry_publish(davsim.sim, index, page_address(davsim.telemetry[index].page));
}

u64 davsim_telemetry_due(u64 now) {
    return davsim.mapped ? now + (u64)DS_TELEMETRY_PERIOD_MS * NSEC_PER_MSEC : SIM_NEVER;
}

int davsim_telemetry_init(void) {
    davsim.telemetry = kcalloc(davsim.slots, sizeof(*davsim.telemetry), GFP_KERNEL);
    return davsim.telemetry ? 0 : -ENOMEM;
}

void davsim_telemetry_exit(void) {
    u32 index;
    for (index = 0; index < davsim.slots; ++index)
        if (davsim.telemetry[index].page)
            put_page(davsim.telemetry[index].page);
    kfree(davsim.telemetry);
}
