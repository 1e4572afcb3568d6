// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The frame of a call: gather, surface rules, dispatch, scatter.
#include "kmod-sim/abi/hdc.h"
#include "kmod-sim/abi/internal.h"

unsigned abi_module(const struct sim_client* client) {
    switch (client->node) {
    case DV_NODE_IS_MANAGER:
        // Another thread may bind the same file just now.
        return __atomic_load_n(&client->module, __ATOMIC_RELAXED);
    case DV_NODE_IS_HDC:
        return DV_MOD_HDC;
    default:
        return DV_MOD_NONE;
    }
}

uint8_t* abi_in(struct abi_request* request) {
    return request->in_need > ABI_INLINE_IN ? request->big_in : request->in;
}

uint8_t* abi_out(struct abi_request* request) {
    return request->out_need > ABI_INLINE_OUT ? request->big_out : request->out;
}

int abi_refuse(struct abi_request* request, int32_t result) {
    request->result = result;
    request->piece_count = 0;
    return ABI_REFUSED;
}

int abi_settle_room(struct abi_request* request, uint32_t in_need, uint32_t out_need) {
    request->in_need = in_need;
    request->out_need = out_need;
    if (in_need > ABI_INLINE_IN && (!request->big_in || request->big_in_size < in_need))
        return ABI_NEED_ROOM;
    if (out_need > ABI_INLINE_OUT && (!request->big_out || request->big_out_size < out_need))
        return ABI_NEED_ROOM;
    request->in_length = in_need;
    request->out_length = out_need;
    return ABI_GATHERED;
}

int abi_read(struct abi_request* request, const struct abi_memory* memory, uint32_t offset,
             uint64_t address, uint32_t length) {
    if (length == 0)
        return 0;
    if (address == 0 || address + length < address)
        return -1;
    return memory->read(memory->context, abi_in(request) + offset, address, length) ? -1 : 0;
}

void abi_piece(struct abi_request* request, uint64_t address, uint32_t offset, uint32_t length) {
    if (request->piece_count < sizeof(request->piece) / sizeof(request->piece[0])) {
        request->piece[request->piece_count].address = address;
        request->piece[request->piece_count].offset = offset;
        request->piece[request->piece_count].length = length;
        ++request->piece_count;
    }
}

void abi_command_name(const struct abi_request* request, char name[FI_NAME_MAX]) {
    const struct dv_command_info* info = dv_command(request->command);
    const char *prefix = info->kind == DV_KIND_UDIS ? "udis." : "", *rest = info->name;
    uint32_t used = 0;
    while (*prefix)
        name[used++] = *prefix++;
    while (*rest && used < FI_NAME_MAX - 1)
        name[used++] = *rest++;
    name[used] = '\0';
}

int32_t abi_park(struct abi_call* call, enum sim_wait wait, uint32_t key, uint64_t due_ns,
                 int uninterruptible) {
    struct abi_request* request = call->request;
    request->ticket = sim_park(call->sim, call->client, wait, key, due_ns, uninterruptible);
    if (!request->ticket)
        return request->scratch[SCRATCH_MODULE] == DV_MOD_HDC ? -DV_HDC_MEMORY : -SIM_EAGAIN;
    request->scope |= DV_SCOPE_SYSTEM;
    return ABI_PARK;
}

// Where a flat argument names its device; -1: it names none.
static int device_offset(const struct dv_command_info* info) {
    if (!(info->scope & DV_SCOPE_DEVICE) || info->id == DV_CMD_SIM_CLOCK)
        return -1;
    switch (info->id) {
    case DV_CMD_MODULE_STATUS:
        return DV_MODULE_NAME_LEN;
    case DV_CMD_DEVICE_INFO:
        return 4;
    default:
        return info->module == DV_MOD_DAVSIM ? 4 : 0;
    }
}

static int write_only(unsigned id) {
    switch (id) {
    case DV_CMD_BIND:
    case DV_CMD_UNBIND:
    case DV_CMD_UDA_SETUP:
    case DV_CMD_BLACKBOX:
    case DV_CMD_PRE_RESET:
    case DV_CMD_RESCAN:
        return 1;
    default:
        return 0;
    }
}

// The argument is one struct that is read whole and written back whole.
static int gather_flat(struct sim* sim, struct abi_request* request,
                       const struct abi_memory* memory, const struct dv_command_info* info) {
    int offset = device_offset(info);
    if (abi_settle_room(request, info->in_len, info->in_len) != ABI_GATHERED)
        return ABI_NEED_ROOM;
    if (abi_read(request, memory, 0, request->argument, info->in_len))
        return abi_refuse(request, -SIM_EFAULT);
    memcpy(abi_out(request), abi_in(request), info->in_len);
    request->scratch[SCRATCH_INPUT_LENGTH] = info->in_len;
    if (offset >= 0) {
        request->device = abi_get32(abi_in(request) + offset);
        // A device that cannot exist needs no section of its own.
        if (request->device >= sim->limits.device_count && request->device != FI_ANY)
            request->scope = DV_SCOPE_SYSTEM;
    }
    if (info->pointers == DV_PTR_CONTAINER) {
        struct dv_container_command command;
        memcpy(&command, abi_in(request), sizeof(command));
        abi_piece(request, command.out, 0, sizeof(int32_t));
    } else if (!write_only(info->id)) {
        abi_piece(request, request->argument, 0, info->in_len);
    }
    return ABI_GATHERED;
}

static int32_t unknown_number(unsigned module, uint32_t number) {
    // driver-abi.md 4: the numbers 1..208 exist, the rest never did.
    if (module == DV_MOD_DEVMNG)
        return number > DV_IO('M', 0) && number <= DV_IO('M', DV_M_LAST) ? -SIM_EOPNOTSUPP
                                                                         : -SIM_EINVAL;
    return module == DV_MOD_DAVSIM ? -SIM_EOPNOTSUPP : -SIM_EINVAL;
}

int abi_gather(struct sim* sim, struct abi_request* request, const struct abi_memory* memory) {
    unsigned module = abi_module(request->client), bound = module;
    const struct dv_command_info* info;
    request->in_need = request->out_need = request->in_length = request->out_length = 0;
    request->scope = DV_SCOPE_SYSTEM;
    request->device = FI_ANY;
    request->command = DV_CMD_UNKNOWN;
    request->result = 0;
    request->ticket = 0;
    request->piece_count = 0;
    memset(request->scratch, 0, sizeof(request->scratch));
    request->scratch[SCRATCH_MODULE] = module;
    if (module == DV_MOD_HDC)
        return abi_hdc_gather(sim, request, memory);
    if (request->number == DV_IOCTL_BIND && request->client->node == DV_NODE_IS_MANAGER)
        bound = DV_MOD_NONE; // a second bind is found out when it is executed
    else if (module == DV_MOD_NONE)
        return abi_refuse(request, -SIM_EINVAL); // driver-abi.md 3: fails before the bind
    info = dv_find_ioctl(bound, request->number);
    if ((bound == DV_MOD_URD || bound == DV_MOD_DMS) && info->id != DV_CMD_UNBIND &&
        info->id != DV_CMD_MODULE_STATUS)
        return abi_urd_gather(sim, request, memory);
    if (info->id == DV_CMD_UNKNOWN)
        return abi_refuse(request, unknown_number(module, request->number));
    request->scratch[SCRATCH_HANDLER] = request->command = info->id;
    request->scope = info->scope;
    if (!abi_permitted(&request->client->ident, info->mask))
        return abi_refuse(request, -SIM_EACCES);
    if (info->pointers == DV_PTR_UDA_LIST)
        return abi_uda_list_gather(sim, request, memory);
    return gather_flat(sim, request, memory, info);
}

static int32_t dispatch(struct abi_call* call) {
    const struct dv_command_info* info = call->info;
    switch (info->id) {
    case DV_CMD_BIND:
        return abi_bind(call);
    case DV_CMD_UNBIND:
        return abi_unbind(call);
    case DV_CMD_MODULE_STATUS:
        return abi_module_status(call);
    default:
        break;
    }
    if (info->kind != DV_KIND_IOCTL)
        return abi_urd_execute(call);
    switch (info->module) {
    case DV_MOD_UDA:
        return abi_uda_execute(call);
    case DV_MOD_DEVMNG:
        return abi_devmng_execute(call);
    case DV_MOD_HDC:
        return abi_hdc_execute(call);
    case DV_MOD_DAVSIM:
        return abi_davsim_execute(call);
    default:
        return -SIM_EOPNOTSUPP;
    }
}

// HDC results are its own numbers, given as errno; 4 would make clients repeat for ever
// (driver-abi.md 10.1).
static int32_t hdc_result_of(int32_t error) {
    int32_t number = error < 0 ? -error : error;
    return number == 4 ? -DV_HDC_GENERAL : -number;
}

// Results of a rule for this call, ABI_PARK, or 0 when the call goes on.
static int32_t apply_surface(struct abi_call* call, int* done) {
    struct abi_request* request = call->request;
    struct abi_surface rule;
    char name[FI_NAME_MAX];
    int hdc = request->scratch[SCRATCH_MODULE] == DV_MOD_HDC;
    uint64_t due = SIM_NEVER;
    *done = 1;
    request->scratch[SCRATCH_FLAGS] |= ABI_F_SURFACED;
    // What travels inside HDC has its own turn where it arrives (dmp.c).
    abi_command_name(request, name);
    switch (abi_surface(call, hdc ? call->info->name : name, request->device, &rule)) {
    case ABI_SURFACE_ERROR:
        return hdc ? hdc_result_of(rule.error) : rule.error;
    case ABI_SURFACE_DENY:
        return hdc ? -DV_HDC_PERMISSION : -SIM_EACCES;
    case ABI_SURFACE_DELAY:
        due = call->sim->now_ns + rule.delay_ns;
        return abi_park(call, SIM_WAIT_TIME, 0, due, rule.uninterruptible);
    case ABI_SURFACE_NEVER:
        return abi_park(call, SIM_WAIT_NEVER, 0, SIM_NEVER, rule.uninterruptible);
    default:
        *done = 0;
        return 0;
    }
}

// Reads leave no trace in the journal: they run in a device's section alone. HDC tells of itself.
static void journal_call(struct abi_call* call) {
    const struct abi_request* request = call->request;
    if (call->info->effect == DV_EFFECT_READ || call->info->module == DV_MOD_HDC ||
        !(request->scope & DV_SCOPE_SYSTEM) || (request->scratch[SCRATCH_FLAGS] & ABI_F_QUIET))
        return;
    sim_journal(call->sim, request->device, DS_J_CALL, request->command, call->client->ordinal,
                (uint32_t)request->result, request->number, 0);
}

// Which device a call means that does not name it by its logical id: for rules and the journal.
static void locate(struct abi_call* call) {
    if (call->request->device != FI_ANY)
        return;
    if (call->info->module == DV_MOD_HDC)
        call->request->device = abi_hdc_device(call);
    else if (call->info->id == DV_CMD_URD_BOOT_STATUS &&
             abi_find_physical(call, abi_get32(call->in)) == 0)
        call->request->device = call->device->config.device_id;
}

// A rule must never keep its owner from taking it back.
static int controls_simulator(const struct abi_call* call) {
    const struct dv_command_info* info = call->info;
    if (info->id == DV_CMD_BIND)
        return dv_module_of((const char*)call->in) == DV_MOD_DAVSIM;
    return info->module == DV_MOD_DAVSIM && info->kind == DV_KIND_IOCTL &&
           ((info->mask & DS_ACC_SIM_OWNER) || info->id == DV_CMD_SIM_RULE_GET ||
            info->id == DV_CMD_SIM_CLOCK);
}

int abi_execute(struct sim* sim, struct abi_request* request) {
    struct abi_call call = {sim, request, request->client, NULL, NULL, NULL, NULL};
    int32_t result = 0;
    int done = 0;
    if (request->ticket) {
        sim_unpark(sim, request->ticket);
        request->ticket = 0;
    }
    call.info = dv_command((unsigned)request->scratch[SCRATCH_HANDLER]);
    call.in = abi_in(request);
    call.out = abi_out(request);
    locate(&call);
    if (abi_module(request->client) != request->scratch[SCRATCH_MODULE]) {
        result = -SIM_EINVAL; // bound anew since it was gathered
        done = 1;
    } else if (fi_active(&sim->rules) && !(request->scratch[SCRATCH_FLAGS] & ABI_F_SURFACED) &&
               !controls_simulator(&call)) {
        result = apply_surface(&call, &done);
    }
    if (!done)
        result = dispatch(&call);
    if (result == ABI_PARK)
        return ABI_PARKED;
    request->result = result;
    if (result != 0 && !(request->scratch[SCRATCH_FLAGS] & ABI_F_KEEP_OUT))
        request->piece_count = 0;
    journal_call(&call);
    return ABI_DONE;
}

int abi_scatter(const struct abi_request* request, const struct abi_memory* memory) {
    const uint8_t* out = request->out_need > ABI_INLINE_OUT ? request->big_out : request->out;
    uint32_t index;
    for (index = 0; index < request->piece_count; ++index) {
        uint64_t address = request->piece[index].address;
        uint32_t length = request->piece[index].length;
        if (length == 0)
            continue;
        if (address == 0 || address + length < address ||
            memory->write(memory->context, address, out + request->piece[index].offset, length))
            // HDC has a number of its own for this, 4, which must never be returned.
            return request->scratch[SCRATCH_MODULE] == DV_MOD_HDC ? -DV_HDC_GENERAL : -SIM_EFAULT;
    }
    return request->result;
}

int abi_interrupt(struct sim* sim, struct abi_request* request) {
    if (!request->ticket || !sim_cancel(sim, request->ticket))
        return 0;
    sim_unpark(sim, request->ticket);
    request->ticket = 0;
    request->piece_count = 0;
    // HDC's 4 means another thing (driver-abi.md 10.1): there a signal gives ERESTARTSYS.
    request->result =
        request->scratch[SCRATCH_MODULE] == DV_MOD_HDC ? -ABI_ERESTARTSYS : -SIM_EINTR;
    return 1;
}

size_t abi_extra_size(void) {
    return sizeof(struct hdc_state);
}

void abi_init(struct sim* sim) {
    sim->hdc = sim_extra(sim);
    abi_hdc_init(sim->hdc);
}

void abi_release(struct sim* sim, struct sim_client* client) {
    abi_hdc_release(sim, client);
}

uint64_t abi_next_readable(const struct sim* sim) {
    return abi_hdc_next(sim);
}

int abi_readable(const struct sim* sim, const struct sim_client* client) {
    return client->node == DV_NODE_IS_HDC ? abi_hdc_readable(sim, client)
                                          : sim_event_waiting(sim, client);
}
