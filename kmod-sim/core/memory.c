// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// HBM: who holds which pages. First fit over pages of 64 KiB that are good.
#include "kmod-sim/core/internal.h"

#define NO_OWNER SIM_OWNERS_MAX

uint64_t sim_hbm_total_bytes(const struct sim_device* device) {
    return device->total_pages << SIM_PAGE_SHIFT;
}

uint64_t sim_hbm_used_bytes(const struct sim_device* device) {
    return device->used_pages << SIM_PAGE_SHIFT;
}

// ---- pages ----

// First page of a run of `pages` that nobody holds and that are all good; total_pages when there
// is none. Extents and the page table both ascend, so one walk over the two does.
static uint64_t find_run(const struct sim_device* device, uint64_t pages) {
    uint64_t start = device->baseline_pages;
    uint32_t extent = 0, page = 0;
    for (;;) {
        uint64_t gap_end = device->total_pages;
        for (; extent < device->extent_count; ++extent) {
            const struct sim_extent* next = &device->extent[extent];
            if (next->first_page > start) {
                gap_end = next->first_page;
                break;
            }
            if ((uint64_t)next->first_page + next->page_count > start)
                start = (uint64_t)next->first_page + next->page_count;
        }
        while (page < device->page_count &&
               (device->page[page].number < start || device->page[page].state == SIM_PAGE_GOOD))
            ++page;
        if (start >= device->total_pages)
            return device->total_pages;
        if (page < device->page_count && device->page[page].number < gap_end &&
            device->page[page].number < start + pages) {
            start = (uint64_t)device->page[page].number + 1;
            continue;
        }
        if (gap_end > start && gap_end - start >= pages)
            return start;
        if (gap_end >= device->total_pages)
            return device->total_pages;
        start = gap_end;
    }
}

static uint32_t new_handle(struct sim_device* device) {
    uint32_t index;
    do {
        ++device->next_handle;
        for (index = 0; index < device->extent_count; ++index)
            if (device->extent[index].handle == device->next_handle)
                break;
    } while (device->next_handle == 0 || index < device->extent_count);
    return device->next_handle;
}

// Room is there. Returns the extent's place in the table.
static uint32_t insert(struct sim_device* device, const struct sim_extent* extent) {
    uint32_t index = device->extent_count++;
    for (; index > 0 && device->extent[index - 1].first_page > extent->first_page; --index)
        device->extent[index] = device->extent[index - 1];
    device->extent[index] = *extent;
    device->used_pages += extent->page_count;
    device->owner[extent->owner].bytes += (uint64_t)extent->page_count << SIM_PAGE_SHIFT;
    if (extent->context)
        device->owner[extent->owner].context = 1;
    return index;
}

// ---- owners ----

static uint32_t owner_of(const struct sim_device* device, const struct sim_ident* ident) {
    uint32_t index;
    for (index = 0; index < SIM_OWNERS_MAX; ++index) {
        const struct sim_owner* owner = &device->owner[index];
        if (owner->used && !owner->ended && owner->pid == ident->pid &&
            owner->start_time == ident->start_time && owner->pid_namespace == ident->pid_namespace)
            return index;
    }
    return NO_OWNER;
}

static uint32_t new_owner(struct sim* sim, struct sim_device* device,
                          const struct sim_ident* ident) {
    uint32_t index = 0;
    struct sim_owner* owner;
    while (index < SIM_OWNERS_MAX && device->owner[index].used)
        ++index;
    if (index == SIM_OWNERS_MAX)
        return NO_OWNER;
    owner = &device->owner[index];
    memset(owner, 0, sizeof(*owner));
    owner->used = 1;
    owner->scripted = (ident->flags & DS_PROCESS_SCRIPTED) != 0;
    owner->resident = !sim->residents_settled;
    owner->pid = ident->pid;
    owner->ns_pid = ident->ns_pid;
    owner->uid = ident->uid;
    owner->start_time = ident->start_time;
    owner->pid_namespace = ident->pid_namespace;
    memcpy(owner->name, ident->name, sizeof(owner->name));
    return index;
}

// A resident has gone or ended: with the last one goes the load that they made.
static void resident_gone(struct sim* sim, struct sim_device* device) {
    uint32_t index;
    if (!sim->residents_settled || !device->declared_load_on)
        return;
    for (index = 0; index < SIM_OWNERS_MAX; ++index) {
        const struct sim_owner* owner = &device->owner[index];
        if (owner->used && !owner->ended && owner->resident)
            return;
    }
    device->declared_load_on = 0;
    sim_sensors_aim(sim, device);
}

static void drop_owner_without_use(struct sim* sim, struct sim_device* device, uint32_t index) {
    struct sim_owner* owner = &device->owner[index];
    int resident = owner->resident;
    if (!owner->used || owner->bytes || owner->context)
        return;
    memset(owner, 0, sizeof(*owner));
    if (resident)
        resident_gone(sim, device);
}

static void remove_extent(struct sim_device* device, uint32_t index) {
    struct sim_extent* extent = &device->extent[index];
    struct sim_owner* owner = &device->owner[extent->owner];
    device->used_pages -= extent->page_count;
    owner->bytes -= (uint64_t)extent->page_count << SIM_PAGE_SHIFT;
    if (extent->context)
        owner->context = 0;
    for (--device->extent_count; index < device->extent_count; ++index)
        device->extent[index] = device->extent[index + 1];
    memset(&device->extent[device->extent_count], 0, sizeof(*extent));
}

// ---- entry points ----

static int usable(const struct sim* sim, const struct sim_client* client, uint32_t device) {
    if (device >= sim->limits.device_count || !sim_present(&sim->device[device]))
        return -SIM_ENODEV;
    if (!((client->ident.visible >> device) & 1))
        return -SIM_EACCES;
    if (sim->device[device].state == DS_STATE_LOST)
        return -SIM_EIO;
    return sim->device[device].state == DS_STATE_RESETTING ? -SIM_EBUSY : 0;
}

// Takes pages for `extent`, whose owner, client and context are set; its place, or -ENOMEM.
static int take(struct sim_device* device, struct sim_extent* extent, uint64_t bytes) {
    uint64_t pages, first = 0;
    if (bytes > sim_hbm_total_bytes(device))
        return -SIM_ENOMEM;
    pages = (bytes + SIM_PAGE_SIZE - 1) >> SIM_PAGE_SHIFT;
    if (pages) {
        first = find_run(device, pages);
        if (first >= device->total_pages)
            return -SIM_ENOMEM;
    }
    extent->first_page = (uint32_t)first;
    extent->page_count = (uint32_t)pages;
    extent->handle = new_handle(device);
    extent->bytes = bytes;
    return (int)insert(device, extent);
}

static uint32_t find_handle(const struct sim_device* device, uint32_t handle) {
    uint32_t index = 0;
    while (index < device->extent_count && device->extent[index].handle != handle)
        ++index;
    return index;
}

static uint32_t find_context(const struct sim_device* device, uint32_t owner) {
    uint32_t index = 0;
    while (index < device->extent_count &&
           !(device->extent[index].context && device->extent[index].owner == owner))
        ++index;
    return index;
}

static void out_of_memory(struct sim* sim, struct sim_device* device,
                          const struct sim_client* client, uint64_t bytes) {
    ++device->oom_count;
    sim_journal(sim, device->config.device_id, DS_J_OOM, 0, client->ordinal, 0, bytes, 0);
}

static uint64_t address_of(const struct sim_extent* extent) {
    return (uint64_t)extent->first_page << SIM_PAGE_SHIFT;
}

static void journal_extent(struct sim* sim, const struct sim_device* device, uint16_t kind,
                           const struct sim_extent* extent) {
    sim_journal(sim, device->config.device_id, kind, 0, extent->client, 0, extent->bytes,
                address_of(extent));
}

int sim_alloc(struct sim* sim, struct sim_client* client, uint32_t device, uint64_t bytes,
              uint32_t flags, uint32_t* handle, uint64_t* address) {
    struct sim_device* target;
    struct sim_extent extent;
    uint32_t owner, context_handle = 0;
    int place, opens, result = usable(sim, client, device);
    if (result)
        return result;
    if ((flags & ~DS_ALLOC_CONTEXT) || (!bytes && !(flags & DS_ALLOC_CONTEXT)))
        return -SIM_EINVAL;
    target = &sim->device[device];
    owner = owner_of(target, &client->ident);
    opens = (flags & DS_ALLOC_CONTEXT) && (owner == NO_OWNER || !target->owner[owner].context);
    if (target->extent_count + (bytes != 0) + (uint32_t)opens > SIM_EXTENTS_MAX)
        return -SIM_ENOSPC;
    if (owner == NO_OWNER)
        owner = new_owner(sim, target, &client->ident);
    if (owner == NO_OWNER)
        return -SIM_ENOSPC;
    memset(&extent, 0, sizeof(extent));
    extent.client = client->ordinal;
    extent.owner = (uint16_t)owner;
    if (opens) {
        extent.context = 1;
        place = take(target, &extent, (uint64_t)target->config.context_mib << 20);
        if (place < 0) {
            drop_owner_without_use(sim, target, owner);
            out_of_memory(sim, target, client, bytes);
            return place;
        }
        context_handle = extent.handle;
        extent.context = 0;
    }
    place = bytes ? take(target, &extent, bytes) : (int)find_context(target, owner);
    if (place < 0) { // neither of the two stays
        if (opens)
            remove_extent(target, find_handle(target, context_handle));
        drop_owner_without_use(sim, target, owner);
        out_of_memory(sim, target, client, bytes);
        return place;
    }
    *handle = target->extent[place].handle;
    *address = address_of(&target->extent[place]);
    if (opens)
        journal_extent(sim, target, DS_J_ALLOC,
                       &target->extent[find_handle(target, context_handle)]);
    if (bytes)
        journal_extent(sim, target, DS_J_ALLOC, &target->extent[place]);
    return 0;
}

int sim_free(struct sim* sim, struct sim_client* client, uint32_t device, uint32_t handle) {
    struct sim_device* target;
    uint32_t index, owner;
    int result = usable(sim, client, device);
    if (result)
        return result;
    target = &sim->device[device];
    index = find_handle(target, handle);
    if (index == target->extent_count || target->extent[index].client != client->ordinal)
        return -SIM_ENOENT;
    owner = target->extent[index].owner;
    journal_extent(sim, target, DS_J_FREE, &target->extent[index]);
    remove_extent(target, index);
    drop_owner_without_use(sim, target, owner);
    return 0;
}

// The rule that keeps the memory of a process that ends, if one fires.
static const struct fi_rule* zombie_rule(struct sim* sim, const struct sim_device* device,
                                         const struct sim_client* client) {
    uint32_t load[FI_LOAD_COUNT];
    struct fi_query query;
    if (!fi_active(&sim->rules))
        return NULL;
    sim_load(sim, device, load);
    query.now_ns = sim->now_ns;
    query.device = device->config.device_id;
    query.client_pid = client->ident.pid;
    query.client_name = client->ident.name;
    query.command = NULL;
    query.load = load;
    return fi_fire(&sim->rules, FI_ZOMBIE, &query);
}

int sim_memory_release(struct sim* sim, struct sim_device* device, struct sim_client* client) {
    const struct fi_rule* rule = NULL;
    uint32_t index, owner = NO_OWNER, id = device->config.device_id;
    uint64_t before;
    int others = 0;
    for (index = 0; index < device->extent_count && owner == NO_OWNER; ++index)
        if (device->extent[index].client == client->ordinal)
            owner = device->extent[index].owner;
    if (owner == NO_OWNER)
        return 0;
    for (index = 0; index < device->extent_count; ++index)
        others |=
            device->extent[index].owner == owner && device->extent[index].client != client->ordinal;
    // A process dies with its last handle: only then there is something to forget.
    if (!others)
        rule = zombie_rule(sim, device, client);
    if (rule) {
        sim_journal(sim, id, DS_J_FAULT, 0, client->ordinal, rule->id, rule->matches, 0);
        sim_journal(sim, id, DS_J_RELEASE, 0, client->ordinal, 0, 0, device->owner[owner].bytes);
        device->owner[owner].ended = 1;
        if (device->owner[owner].resident)
            resident_gone(sim, device);
        return 1;
    }
    before = device->used_pages;
    for (index = device->extent_count; index > 0; --index)
        if (device->extent[index - 1].client == client->ordinal)
            remove_extent(device, index - 1);
    sim_journal(sim, id, DS_J_RELEASE, 0, client->ordinal, 0,
                (before - device->used_pages) << SIM_PAGE_SHIFT, 0);
    drop_owner_without_use(sim, device, owner);
    return 1;
}

void sim_memory_clear(struct sim* sim, struct sim_device* device) {
    uint64_t cleared = device->used_pages - device->baseline_pages;
    if (device->extent_count)
        sim_journal(sim, device->config.device_id, DS_J_FREE, 0, 0, 0, cleared << SIM_PAGE_SHIFT,
                    0);
    memset(device->extent, 0, sizeof(device->extent));
    memset(device->owner, 0, sizeof(device->owner));
    device->extent_count = 0;
    device->used_pages = device->baseline_pages;
}
