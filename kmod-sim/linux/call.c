// SPDX-License-Identifier: GPL-2.0-only
// One ioctl from begin to end: gather, execute in the sections it declares, wait while it is
// parked, scatter.
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "kmod-sim/linux/driver.h"

#define ROOM_MAX (8U << 20) // of one transfer
#define GATHERS_MAX 4       // another thread may change the lengths between two

static struct kmem_cache* requests;

static int read_user(void* context, void* destination, uint64_t address, uint32_t length) {
    if (address > ULONG_MAX)
        return -1;
    return copy_from_user(destination, (const void __user*)(unsigned long)address, length) ? -1 : 0;
}

static int write_user(void* context, uint64_t address, const void* source, uint32_t length) {
    if (address > ULONG_MAX)
        return -1;
    return copy_to_user((void __user*)(unsigned long)address, source, length) ? -1 : 0;
}

static const struct abi_memory user_memory = {read_user, write_user, NULL};

static void give_back_room(struct abi_request* request) {
    kvfree(request->big_in);
    kvfree(request->big_out);
    request->big_in = request->big_out = NULL;
    request->big_in_size = request->big_out_size = 0;
}

static int gather(struct abi_request* request) {
    int attempt, outcome = ABI_NEED_ROOM;
    for (attempt = 0; attempt < GATHERS_MAX; ++attempt) {
        outcome = abi_gather(davsim.sim, request, &user_memory);
        if (outcome != ABI_NEED_ROOM)
            return outcome;
        give_back_room(request);
        if (request->in_need > ROOM_MAX || request->out_need > ROOM_MAX)
            break;
        request->big_in = kvzalloc(max(request->in_need, 1U), GFP_KERNEL_ACCOUNT);
        request->big_out = kvzalloc(max(request->out_need, 1U), GFP_KERNEL_ACCOUNT);
        if (!request->big_in || !request->big_out)
            break;
        request->big_in_size = request->in_need;
        request->big_out_size = request->out_need;
    }
    request->result = attempt == GATHERS_MAX ? -EFAULT : -ENOMEM;
    return ABI_REFUSED;
}

// Rules are looked at by calls that hold one device section alone, so they change with all of them
// held; what destroys may reach past the device that it names.
static bool takes_all(const struct abi_request* request) {
    return request->command == DV_CMD_SIM_RULE_ADD || request->command == DV_CMD_SIM_RULE_CLEAR ||
           dv_command(request->command)->effect == DV_EFFECT_DESTROY;
}

static bool on_one_device(const struct abi_request* request) {
    return (request->scope & DV_SCOPE_DEVICE) && request->device < davsim.slots;
}

// A query of one device while no rule is set: its section alone.
static bool execute_on_device(struct abi_request* request, int* outcome) {
    bool done = false;
    if (request->scope != DV_SCOPE_DEVICE || !on_one_device(request))
        return false;
    davsim_freshen();
    davsim_lock_device(request->device);
    if (!fi_active(&davsim.sim->rules)) {
        *outcome = abi_execute(davsim.sim, request);
        done = true;
    }
    davsim_unlock_device(request->device);
    return done;
}

// What is asked inside HDC may be a query, but a reply is under way then.
static bool changes(const struct abi_request* request) {
    return dv_command(request->command)->effect != DV_EFFECT_READ ||
           request->client->node == DV_NODE_IS_HDC;
}

static int execute(struct abi_request* request, struct davsim_waiter* waiter) {
    bool one, all;
    int outcome;
    if (execute_on_device(request, &outcome)) {
        // No command of a device alone waits by itself.
        if (WARN_ON_ONCE(outcome == ABI_PARKED)) {
            request->result = -EIO;
            request->piece_count = 0;
        }
        return ABI_DONE;
    }
    davsim_lock_system();
    davsim_present();
    one = on_one_device(request);
    all = takes_all(request) || (!one && (request->scope & DV_SCOPE_DEVICE));
    if (all)
        davsim_lock_devices();
    else if (one)
        mutex_lock_nest_lock(&davsim.device[request->device], &davsim.system);
    outcome = abi_execute(davsim.sim, request);
    if (all)
        davsim_unlock_devices();
    else if (one)
        davsim_unlock_device(request->device);
    if (outcome == ABI_PARKED)
        davsim_wait_begin(waiter, request);
    if (outcome == ABI_PARKED || changes(request))
        davsim_settle();
    davsim_unlock_system();
    return outcome;
}

long davsim_call(struct sim_client* client, unsigned int number, unsigned long argument) {
    struct abi_request* request = kmem_cache_alloc(requests, GFP_KERNEL);
    struct davsim_waiter waiter;
    long result;
    if (!request)
        return -ENOMEM;
    request->client = client;
    request->number = number;
    request->thread = (u32)task_pid_nr(current);
    request->argument = argument;
    request->big_in = request->big_out = NULL;
    request->big_in_size = request->big_out_size = 0;
    if (gather(request) == ABI_REFUSED) {
        result = request->result;
        goto end;
    }
    while (execute(request, &waiter) == ABI_PARKED) {
        result = davsim_wait_end(&waiter, request);
        if (result)
            goto end;
    }
    result = abi_scatter(request, &user_memory);
end:
    give_back_room(request);
    kmem_cache_free(requests, request);
    return result;
}

int davsim_calls_init(void) {
    // The caller's bytes are copied into and out of these buffers alone.
    requests = kmem_cache_create_usercopy(
        DAVSIM_NAME "_request", sizeof(struct abi_request), 0, 0, offsetof(struct abi_request, in),
        sizeof_field(struct abi_request, in) + sizeof_field(struct abi_request, out), NULL);
    BUILD_BUG_ON(offsetof(struct abi_request, out) !=
                 offsetof(struct abi_request, in) + ABI_INLINE_IN);
    return requests ? 0 : -ENOMEM;
}

void davsim_calls_exit(void) {
    kmem_cache_destroy(requests);
}
