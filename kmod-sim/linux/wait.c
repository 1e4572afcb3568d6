// SPDX-License-Identifier: GPL-2.0-only
// Parked calls: the caller's thread sleeps until the model gives its ticket. A call that a rule
// makes uninterruptible sleeps as a thread stuck in a real driver does: no signal reaches it.
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "kmod-sim/linux/driver.h"

static bool uninterruptible(u32 ticket) {
    u32 slot;
    for (slot = 0; slot < davsim.sim->ticket_count; ++slot)
        if (davsim.sim->ticket[slot].id == ticket)
            return davsim.sim->ticket[slot].uninterruptible;
    return false;
}

void davsim_wait_begin(struct davsim_waiter* waiter, const struct abi_request* request) {
    waiter->ticket = request->ticket;
    waiter->uninterruptible = uninterruptible(request->ticket);
    waiter->let_go = false;
    init_completion(&waiter->ready);
    hash_add(davsim.waiting, &waiter->link, waiter->ticket);
}

void davsim_wake_ready(void) {
    struct davsim_waiter* waiter;
    u32 ticket;
    while ((ticket = sim_next_ready(davsim.sim, NULL)) != 0) {
        hash_for_each_possible(davsim.waiting, waiter, link, ticket) {
            if (waiter->ticket != ticket)
                continue;
            hash_del(&waiter->link);
            complete(&waiter->ready); // the last word: it may be gone now
            break;
        }
    }
    // Only when something came: poll itself takes the section, and would go round for ever.
    if (davsim.wakes == davsim.sim->wakes && davsim.readable_ns > davsim.sim->now_ns)
        return;
    davsim.wakes = davsim.sim->wakes;
    davsim.readable_ns = abi_next_readable(davsim.sim);
    if (wq_has_sleeper(&davsim.readers))
        wake_up_interruptible(&davsim.readers);
}

int davsim_wait_end(struct davsim_waiter* waiter, struct abi_request* request) {
    int result = 0;
    if (waiter->uninterruptible)
        wait_for_completion(&waiter->ready);
    else
        result = wait_for_completion_interruptible(&waiter->ready);
    if (!result && !waiter->let_go)
        return 0;
    davsim_lock_system();
    if (waiter->let_go) {
        sim_unpark(davsim.sim, request->ticket);
        result = -EIO;
    } else if (hash_hashed(&waiter->link)) {
        hash_del(&waiter->link);
        abi_interrupt(davsim.sim, request);
    } else {
        result = 0; // made ready at the same moment: the call goes on
    }
    davsim_unlock_system();
    return result;
}

// So that the module can be unloaded: a thread that never returns holds its file open.
unsigned int davsim_let_go(void) {
    struct davsim_waiter* waiter;
    struct hlist_node* next;
    unsigned int bucket, count = 0;
    davsim_lock_system();
    hash_for_each_safe(davsim.waiting, bucket, next, waiter, link) {
        u32 slot;
        for (slot = 0; slot < davsim.sim->ticket_count; ++slot)
            if (davsim.sim->ticket[slot].id == waiter->ticket &&
                davsim.sim->ticket[slot].wait == SIM_WAIT_NEVER)
                break;
        if (slot == davsim.sim->ticket_count)
            continue;
        hash_del(&waiter->link);
        waiter->let_go = true;
        complete(&waiter->ready);
        ++count;
    }
    davsim_unlock_system();
    return count;
}
