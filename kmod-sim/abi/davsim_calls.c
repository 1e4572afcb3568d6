// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The simulator's own extension (davsim.h): facts that the vendor's wire does not carry, memory,
// rules, clock, hot-plug, journal.
#include "kmod-sim/abi/hdc.h"
#include "kmod-sim/abi/internal.h"

static void put_text(char* to, const char* from, uint32_t room) {
    uint32_t length = abi_text_length(from, room - 1);
    memset(to, 0, room);
    memcpy(to, from, length);
}

// [from, to) of the argument must be zero.
static int zero(const struct abi_call* call, size_t from, size_t to) {
    for (; from < to; ++from)
        if (call->in[from])
            return 0;
    return 1;
}

static int32_t info(struct abi_call* call) {
    const struct sim* sim = call->sim;
    struct ds_info answer;
    uint32_t id;
    if (!zero(call, offsetof(struct ds_info, reserved), sizeof(answer)))
        return -SIM_EINVAL;
    memset(&answer, 0, sizeof(answer));
    answer.size = sizeof(answer);
    answer.abi_version = DS_ABI_VERSION;
    for (id = 0; id < sim->limits.device_count; ++id)
        answer.device_count += abi_find_device(call, id) == 0;
    answer.clock_kind = sim->clock_kind;
    answer.now_ns = sim->now_ns;
    answer.wall_ms = sim_wall_ms(sim);
    answer.seed = sim->seed;
    put_text(answer.driver_version, sim->driver_version, sizeof(answer.driver_version));
    put_text(answer.profile, sim->profile, sizeof(answer.profile));
    put_text(answer.host, sim->host, sizeof(answer.host));
    answer.host_pid = sim->host_pid;
    memcpy(call->out, &answer, sizeof(answer));
    return 0;
}

static int32_t device_facts(struct abi_call* call) {
    const struct sim_device* device = call->device;
    const struct sim_device_config* config = &device->config;
    struct ds_device answer;
    if (!zero(call, offsetof(struct ds_device, reserved), sizeof(answer)))
        return -SIM_EINVAL;
    memset(&answer, 0, sizeof(answer));
    answer.size = sizeof(answer);
    answer.device_id = config->device_id;
    answer.owner_count = sim_owner_count(device);
    answer.known = DS_KNOWN_OOM_COUNT | (config->baseline_known ? DS_KNOWN_BASELINE : 0) |
                   (config->power_limit_dw ? DS_KNOWN_POWER_LIMIT : 0) |
                   (sim_processes_known(device) ? DS_KNOWN_PROCESSES : 0);
    answer.state = device->state;
    answer.boot_status = device->boot_status;
    answer.card = config->card;
    answer.chip = config->chip;
    answer.chips_on_card = config->chips_on_card;
    answer.physical_id = config->physical_id;
    answer.numa_node = config->numa_node;
    answer.pci_domain = config->pci_domain;
    answer.hbm_total_kib = sim_hbm_total_bytes(device) >> 10;
    answer.hbm_used_kib = sim_hbm_used_bytes(device) >> 10;
    if (config->baseline_known)
        answer.hbm_baseline_kib = device->baseline_pages << (SIM_PAGE_SHIFT - 10);
    answer.hbm_unowned_kib = sim_hbm_unowned_bytes(device) >> 10;
    answer.power_limit_dw = config->power_limit_dw;
    answer.oom_count = device->oom_count;
    answer.pages_pending = device->pages_pending;
    answer.pages_isolated = device->pages_isolated;
    answer.reset_count = device->reset_count;
    answer.reset_outcome = device->reset_outcome;
    answer.allocation_count = device->extent_count;
    put_text(answer.serial, config->serial, sizeof(answer.serial));
    answer.context_kib = config->context_mib << 10;
    memcpy(call->out, &answer, sizeof(answer));
    return 0;
}

// Head of both list structs.
struct page_head {
    uint32_t size, device_id, cursor, count, total, reserved;
};
DV_STATIC_ASSERT(sizeof(struct page_head) == offsetof(struct ds_process_list, entry) &&
                     sizeof(struct page_head) == offsetof(struct ds_holder_list, entry),
                 "one head for both lists");

// One page of the owners, in the order of their table; the cursor is an index into it.
static int32_t process_list(struct abi_call* call) {
    struct page_head head;
    struct ds_process entry;
    uint32_t index;
    memcpy(&head, call->in, sizeof(head));
    if (head.reserved || head.cursor >= SIM_OWNERS_MAX)
        return -SIM_EINVAL;
    memset(call->out + sizeof(head), 0, sizeof(struct ds_process_list) - sizeof(head));
    head.count = 0;
    head.total = sim_owner_count(call->device);
    index = sim_next_owner(call->device, head.cursor);
    for (head.cursor = 0; index < SIM_OWNERS_MAX; index = sim_next_owner(call->device, index + 1)) {
        const struct sim_owner* owner = &call->device->owner[index];
        if (head.count == DS_PROCESS_PAGE) {
            head.cursor = index;
            break;
        }
        memset(&entry, 0, sizeof(entry));
        entry.host_pid = owner->pid;
        entry.caller_pid = sim_owner_pid_for(call->sim, owner, &call->client->ident);
        entry.start_time = owner->start_time;
        entry.bytes = owner->bytes;
        entry.flags = (owner->ended ? DS_PROCESS_ENDED : 0) |
                      (entry.caller_pid ? 0 : DS_PROCESS_UNRESOLVABLE) |
                      (owner->context ? DS_PROCESS_CONTEXT : 0) |
                      (owner->scripted ? DS_PROCESS_SCRIPTED : 0);
        entry.uid = owner->uid;
        put_text(entry.name, owner->name, sizeof(entry.name));
        memcpy(call->out + sizeof(head) + head.count * sizeof(entry), &entry, sizeof(entry));
        ++head.count;
    }
    memcpy(call->out, &head, sizeof(head));
    return 0;
}

// One page of the open files that keep the device busy; the cursor is an index into the clients.
static int32_t holder_list(struct abi_call* call) {
    struct page_head head;
    struct ds_holder entry;
    uint32_t index, start, id = call->device->config.device_id;
    memcpy(&head, call->in, sizeof(head));
    if (head.reserved || head.cursor > call->sim->limits.client_count)
        return -SIM_EINVAL;
    memset(call->out + sizeof(head), 0, sizeof(struct ds_holder_list) - sizeof(head));
    start = head.cursor;
    head.cursor = head.count = head.total = 0;
    for (index = 0; index < call->sim->limits.client_count; ++index) {
        const struct sim_client* client = &call->sim->client[index];
        if (!client->ordinal)
            continue;
        memset(&entry, 0, sizeof(entry));
        entry.flags = sim_holding(call->sim, client, id) |
                      (abi_hdc_holds(call->sim, client, id) ? DS_HOLDER_SESSION : 0);
        if (!entry.flags)
            continue;
        ++head.total;
        if (index < start)
            continue;
        if (head.count == DS_HOLDER_PAGE) {
            head.cursor = head.cursor ? head.cursor : index; // goes on to count them
            continue;
        }
        entry.cookie = client->ident.cookie;
        entry.start_time = client->ident.start_time;
        entry.host_pid = client->ident.pid;
        memcpy(call->out + sizeof(head) + head.count * sizeof(entry), &entry, sizeof(entry));
        ++head.count;
    }
    memcpy(call->out, &head, sizeof(head));
    return 0;
}

static int32_t alloc(struct abi_call* call) {
    struct ds_alloc argument;
    int32_t result;
    memcpy(&argument, call->in, sizeof(argument));
    if (argument.flags & ~DS_ALLOC_CONTEXT)
        return -SIM_EINVAL;
    result = sim_alloc(call->sim, call->client, argument.device_id, argument.bytes, argument.flags,
                       &argument.handle, &argument.address);
    memcpy(call->out, &argument, sizeof(argument));
    return result;
}

static int32_t release(struct abi_call* call) {
    struct ds_free argument;
    memcpy(&argument, call->in, sizeof(argument));
    return argument.reserved
               ? -SIM_EINVAL
               : sim_free(call->sim, call->client, argument.device_id, argument.handle);
}

static int32_t load_or_store(struct abi_call* call) {
    struct ds_access argument;
    int32_t result;
    memcpy(&argument, call->in, sizeof(argument));
    if (argument.store > DS_ACCESS_RAW)
        return -SIM_EINVAL;
    result = sim_access(call->sim, call->client, argument.device_id, &argument);
    memcpy(call->out, &argument, sizeof(argument));
    if (result == -SIM_EIO) // bad_address tells where
        call->request->scratch[SCRATCH_FLAGS] |= ABI_F_KEEP_OUT;
    return result;
}

static int32_t rule_add(struct abi_call* call) {
    struct fi_error error;
    uint32_t length = abi_get32(call->in + offsetof(struct ds_rule_add, length));
    const char* text = (const char*)call->in + offsetof(struct ds_rule_add, text);
    uint8_t* out = call->out;
    int id;
    if (length > DS_TEXT_MAX)
        return -SIM_EINVAL;
    memset(&error, 0, sizeof(error));
    id = fi_add(&call->sim->rules, text, length, call->sim->now_ns, &error);
    memset(out + offsetof(struct ds_rule_add, error), 0, DS_TEXT_MAX);
    abi_put32(out + offsetof(struct ds_rule_add, id), id > 0 ? (uint32_t)id : 0);
    abi_put32(out + offsetof(struct ds_rule_add, error_position), 0);
    if (id > 0)
        return 0;
    abi_put32(out + offsetof(struct ds_rule_add, error_position), error.position);
    memcpy(out + offsetof(struct ds_rule_add, error), error.text, DS_TEXT_MAX);
    call->request->scratch[SCRATCH_FLAGS] |= ABI_F_KEEP_OUT;
    return id == -2 ? -SIM_ENOSPC : -SIM_EINVAL;
}

static int32_t rule_get(struct abi_call* call) {
    const struct fi_rule* rule =
        fi_get(&call->sim->rules, abi_get32(call->in + offsetof(struct ds_rule_get, id)));
    struct ds_rule_get answer;
    if (!rule)
        return -SIM_ENOENT;
    memset(&answer, 0, sizeof(answer));
    answer.size = sizeof(answer);
    answer.id = rule->id;
    answer.matches = rule->matches;
    answer.hits = rule->hits;
    answer.remaining = fi_remaining(rule);
    answer.length = rule->text_length;
    memcpy(answer.text, rule->text, rule->text_length);
    memcpy(call->out, &answer, sizeof(answer));
    return 0;
}

static int32_t rule_clear(struct abi_call* call) {
    uint32_t id = abi_get32(call->in + offsetof(struct ds_rule_clear, id));
    return fi_clear(&call->sim->rules, id) || id == 0 ? 0 : -SIM_ENOENT;
}

// Deadline by deadline; what each raised is told before the next.
static void advance(struct sim* sim, uint64_t to) {
    uint64_t next;
    do {
        next = sim_step(sim, to);
        sim_settle(sim);
    } while (next <= to && sim->now_ns < to);
}

static int32_t clock(struct abi_call* call) {
    struct ds_clock argument;
    memcpy(&argument, call->in, sizeof(argument));
    if (argument.reserved)
        return -SIM_EINVAL;
    if (argument.operation == DS_CLOCK_ADVANCE) {
        if (!abi_permitted(&call->client->ident, DV_ACC_ROOT | DS_ACC_SIM_OWNER))
            return -SIM_EACCES;
        if (call->sim->clock_kind != DS_CLOCK_VIRTUAL ||
            argument.advance_ns > SIM_NEVER - 1 - call->sim->now_ns)
            return -SIM_EINVAL;
        advance(call->sim, call->sim->now_ns + argument.advance_ns);
        sim_journal(call->sim, FI_ANY, DS_J_CLOCK, DV_CMD_SIM_CLOCK, call->client->ordinal, 0,
                    argument.advance_ns, 0);
    } else if (argument.operation == DS_CLOCK_GET) {
        call->request->scratch[SCRATCH_FLAGS] |= ABI_F_QUIET;
    } else {
        return -SIM_EINVAL;
    }
    argument.now_ns = call->sim->now_ns;
    argument.wall_ms = sim_wall_ms(call->sim);
    argument.kind = call->sim->clock_kind;
    memcpy(call->out, &argument, sizeof(argument));
    return 0;
}

static int32_t hotplug(struct abi_call* call) {
    struct ds_hotplug argument;
    int32_t result;
    memcpy(&argument, call->in, sizeof(argument));
    if (argument.reserved || argument.operation > DS_HOTPLUG_LOSE)
        return -SIM_EINVAL;
    if (!abi_visible(call->client, argument.device_id)) // an absent one can come back
        return -SIM_ENODEV;
    result = sim_hotplug(call->sim, argument.device_id, argument.operation);
    if (result == 0)
        abi_hdc_wake(call->sim);
    return result;
}

static int32_t journal_read(struct abi_call* call) {
    struct ds_journal_record record;
    uint64_t cursor, lost, lost_all = 0;
    uint32_t count = 0;
    memcpy(&cursor, call->in + offsetof(struct ds_journal_read, cursor), sizeof(cursor));
    memset(call->out + offsetof(struct ds_journal_read, record), 0,
           DS_JOURNAL_PAGE * sizeof(record));
    while (count < DS_JOURNAL_PAGE &&
           sim_journal_read(call->sim, &cursor, &lost, &record, 1) == 1) {
        memcpy(call->out + offsetof(struct ds_journal_read, record) + count * sizeof(record),
               &record, sizeof(record));
        lost_all += lost;
        ++count;
    }
    abi_put32(call->out + offsetof(struct ds_journal_read, count), count);
    abi_put64(call->out + offsetof(struct ds_journal_read, cursor), cursor);
    abi_put64(call->out + offsetof(struct ds_journal_read, lost), lost_all);
    return 0;
}

int32_t abi_davsim_execute(struct abi_call* call) {
    const struct dv_command_info* command = call->info;
    int32_t result = 0;
    if (abi_get32(call->in) != command->in_len)
        return -SIM_EINVAL; // another version's struct
    switch (command->id) {
    case DV_CMD_SIM_INFO:
        return info(call);
    case DV_CMD_SIM_RULE_ADD:
        return rule_add(call);
    case DV_CMD_SIM_RULE_CLEAR:
        return rule_clear(call);
    case DV_CMD_SIM_RULE_GET:
        return rule_get(call);
    case DV_CMD_SIM_CLOCK:
        return clock(call);
    case DV_CMD_SIM_HOTPLUG:
        return hotplug(call);
    case DV_CMD_SIM_JOURNAL:
        return journal_read(call);
    default:
        break;
    }
    result = abi_find_device(call, call->request->device);
    if (result)
        return result;
    switch (command->id) { // what the host knows of a lost device, too
    case DV_CMD_SIM_DEVICE:
        return device_facts(call);
    case DV_CMD_SIM_PROCESSES:
        return process_list(call);
    case DV_CMD_SIM_HOLDERS:
        return holder_list(call);
    case DV_CMD_SIM_FREE:
        return release(call);
    default:
        break;
    }
    result = abi_working(call->device);
    if (result)
        return result;
    switch (command->id) {
    case DV_CMD_SIM_ALLOC:
        return alloc(call);
    case DV_CMD_SIM_ACCESS:
        return load_or_store(call);
    default:
        return -SIM_EOPNOTSUPP;
    }
}
