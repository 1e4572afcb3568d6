// SPDX-License-Identifier: GPL-2.0-only
// Who opens a node, as the driver sees it; and which devices it may see: those that its device
// cgroup allows, less what a container's grant leaves out. The environment of a process plays no
// part.
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/device_cgroup.h>
#include <linux/math64.h>
#include <linux/nsproxy.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/siphash.h>

#include "kmod-sim/linux/driver.h"

#define GRANTS_MAX 64
#define TICKS_PER_SECOND 100 // USER_HZ, in which proc(5) gives start times

static struct {
    u64 mount_namespace; // 0: free
    u64 devices;
    u32 pid; // that it was granted by, for the list
} grants[GRANTS_MAX];
static DEFINE_MUTEX(grants_lock);
static siphash_key_t namespace_key;

// A mount namespace has no number that a module can read: an opaque id made of its place.
static u64 mount_namespace_of(struct task_struct* task) {
    u64 id = 0;
    task_lock(task);
    if (task->nsproxy) {
        get_random_once(&namespace_key, sizeof(namespace_key));
        id = siphash_1u64((u64)(unsigned long)task->nsproxy->mnt_ns, &namespace_key) | 1;
    }
    task_unlock(task);
    return id;
}

static u32 environment(void) {
    if (task_active_pid_ns(current) == &init_pid_ns)
        return DV_ACC_ENV_PHYSICAL;
    return ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN) ? DV_ACC_ENV_ADMIN_CONTAINER
                                                            : DV_ACC_ENV_CONTAINER;
}

static u32 caller(void) {
    u32 bits = DV_ACC_USER, index;
    if (uid_eq(current_euid(), GLOBAL_ROOT_UID)) {
        bits |= DV_ACC_ROOT;
        if (ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN))
            bits |= DS_ACC_SIM_OWNER;
    }
    for (index = 0; index < ARRAY_SIZE(davsim_operate_gid); ++index)
        if (davsim_operate_gid[index] && in_egroup_p(KGIDT_INIT(davsim_operate_gid[index])))
            bits |= DV_ACC_OPERATE;
    return bits;
}

static u64 visible(u64 mount_namespace) {
    u64 devices = 0;
    u32 index;
    for (index = 0; index < davsim.slots; ++index) {
        dev_t number = davsim_device_number(index);
        if (!devcgroup_check_permission(DEVCG_DEV_CHAR, MAJOR(number), MINOR(number),
                                        DEVCG_ACC_READ))
            devices |= BIT_ULL(index);
    }
    mutex_lock(&grants_lock);
    for (index = 0; index < GRANTS_MAX; ++index)
        if (grants[index].mount_namespace && grants[index].mount_namespace == mount_namespace)
            devices &= grants[index].devices;
    mutex_unlock(&grants_lock);
    return devices;
}

void davsim_identify(struct sim_ident* ident) {
    struct task_struct* leader = current->group_leader;
    memset(ident, 0, sizeof(*ident));
    ident->pid = (u32)task_tgid_nr(current);
    ident->ns_pid = (u32)task_tgid_vnr(current);
    ident->uid = from_kuid_munged(&init_user_ns, current_euid());
    ident->gid = from_kgid_munged(&init_user_ns, current_egid());
    ident->start_time = div_u64(leader->start_boottime, NSEC_PER_SEC / TICKS_PER_SECOND);
    ident->pid_namespace = task_active_pid_ns(current)->ns.inum;
    ident->mount_namespace = mount_namespace_of(current);
    ident->environment = environment();
    ident->caller = caller();
    ident->visible = visible(ident->mount_namespace);
    get_task_comm(ident->name, leader);
    BUILD_BUG_ON(sizeof(ident->name) != TASK_COMM_LEN);
}

// ---- grants ----

static int grant(u32 pid, u64 devices) {
    struct task_struct* task;
    u64 id, host;
    u32 index, at = GRANTS_MAX;
    rcu_read_lock();
    task = pid_task(find_pid_ns((pid_t)pid, &init_pid_ns), PIDTYPE_PID);
    if (task)
        get_task_struct(task);
    rcu_read_unlock();
    if (!task)
        return -ESRCH;
    id = mount_namespace_of(task);
    put_task_struct(task);
    host = mount_namespace_of(current);
    if (!id || id == host) // that would be everybody on the host
        return -EINVAL;
    mutex_lock(&grants_lock);
    for (index = 0; index < GRANTS_MAX; ++index) {
        if (grants[index].mount_namespace == id)
            break;
        if (!grants[index].mount_namespace && at == GRANTS_MAX)
            at = index;
    }
    if (index == GRANTS_MAX)
        index = at;
    if (index < GRANTS_MAX) {
        grants[index].mount_namespace = id;
        grants[index].devices = devices;
        grants[index].pid = pid;
    }
    mutex_unlock(&grants_lock);
    return index < GRANTS_MAX ? 0 : -ENOSPC;
}

int davsim_grant(const char* text) {
    DECLARE_BITMAP(list, SIM_DEVICES_MAX);
    char devices[128];
    u32 pid;
    u64 mask;
    int result;
    if (sysfs_streq(text, "clear")) {
        mutex_lock(&grants_lock);
        memset(grants, 0, sizeof(grants));
        mutex_unlock(&grants_lock);
        return 0;
    }
    if (sscanf(text, "pid=%u devices=%127s", &pid, devices) != 2)
        return -EINVAL;
    result = bitmap_parselist(devices, list, SIM_DEVICES_MAX);
    if (result)
        return result;
    bitmap_to_arr64(&mask, list, SIM_DEVICES_MAX);
    return grant(pid, mask);
}

size_t davsim_grants_show(char* text, size_t room) {
    size_t used = 0;
    u32 index;
    mutex_lock(&grants_lock);
    for (index = 0; index < GRANTS_MAX; ++index) {
        DECLARE_BITMAP(list, SIM_DEVICES_MAX);
        if (!grants[index].mount_namespace)
            continue;
        bitmap_from_arr64(list, &grants[index].devices, SIM_DEVICES_MAX);
        used += scnprintf(text + used, room - used, "pid=%u devices=%*pbl\n", grants[index].pid,
                          SIM_DEVICES_MAX, list);
    }
    mutex_unlock(&grants_lock);
    return used;
}
