// SPDX-License-Identifier: GPL-2.0-only
// The model's time is the monotonic clock since the module was loaded, or stands still until a
// client advances it. A timer does nothing but queue the work that steps.
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include "kmod-sim/linux/driver.h"

u64 davsim_now(void) {
    return davsim.virtual_clock ? davsim.sim->now_ns : ktime_get_ns() - davsim.start_ns;
}

// [S] The step work comes for `next_ns` at the latest.
static void arm(u64 next_ns) {
    u64 now, delay;
    if (next_ns == SIM_NEVER || davsim.virtual_clock || davsim.closing ||
        next_ns >= davsim.timer_due_ns)
        return;
    davsim.timer_due_ns = next_ns;
    now = davsim_now();
    delay = next_ns > now ? next_ns - now : 0;
    // A jiffy more, so that it is due when the work runs; far ones are taken in parts.
    mod_delayed_work(davsim.queue, &davsim.step,
                     nsecs_to_jiffies(min_t(u64, delay, 3600ULL * NSEC_PER_SEC)) + 1);
}

// [S+all D]
static void step_and_settle(void) {
    u64 now = davsim_now(), next;
    do {
        next = sim_step(davsim.sim, now);
        sim_settle(davsim.sim);
    } while (next <= now && davsim.sim->now_ns < now);
    davsim_telemetry_publish();
    davsim.readable_ns = min(davsim.readable_ns, abi_next_readable(davsim.sim));
    arm(min3(next, davsim_telemetry_due(now), davsim.readable_ns));
    davsim_notice();
}

void davsim_present(void) {
    if (davsim.virtual_clock || sim_quiet(davsim.sim, davsim_now()))
        return;
    davsim_lock_devices();
    step_and_settle();
    davsim_unlock_devices();
}

void davsim_settle(void) {
    davsim_lock_devices();
    sim_settle(davsim.sim);
    step_and_settle();
    davsim_unlock_devices();
}

void davsim_freshen(void) {
    if (davsim.virtual_clock || davsim_now() < READ_ONCE(davsim.fresh_until))
        return;
    davsim_lock_system();
    davsim_present();
    davsim_unlock_system();
}

static void step_work(struct work_struct* work) {
    davsim_lock_system();
    davsim.timer_due_ns = SIM_NEVER;
    davsim_lock_devices();
    step_and_settle();
    davsim_unlock_devices();
    davsim_unlock_system();
}

int davsim_clock_init(void) {
    INIT_DELAYED_WORK(&davsim.step, step_work);
    return 0;
}

// Whoever still reads a value lets time pass, but nobody is called for later any more.
void davsim_clock_exit(void) {
    davsim_lock_system();
    davsim.closing = true;
    davsim_unlock_system();
    cancel_delayed_work_sync(&davsim.step);
}
