// SPDX-License-Identifier: GPL-2.0-only
// What the parts of the module share: the one simulated machine, its sections, its nodes.
#ifndef ASC_KMOD_SIM_LINUX_DRIVER_H
#define ASC_KMOD_SIM_LINUX_DRIVER_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "kmod-sim/abi/abi.h"

#define DAVSIM_NAME "davinci_sim"

struct davsim_bridge;
struct davsim_telemetry;

// A node of /dev. Lives until its last reference is gone, which an open file may hold.
struct davsim_node {
    struct device device;
    struct cdev cdev;
    u32 kind, index; // enum dv_node; of /dev/davinciN
};

// What the rest of the kernel sees of one device. Owned by the upkeep work, except where said.
struct davsim_unit {
    struct davsim_node* node;
    struct davsim_bridge* bridge; // its PCI function
    struct device* hwmon;
    u32 state, health; // as they were told last
    u32 known_state;   // [S+D] as the upkeep work will tell
};

struct davsim {
    struct sim* sim; // in an arena of several MB
    u32 slots;
    bool virtual_clock;
    u64 start_ns; // monotonic clock at model time 0

    // Sections of the model (architecture.md): system first, then devices in ascending order.
    struct mutex system;
    struct mutex* device;

    bool closing;     // the module goes: nothing is queued any more
    u64 fresh_until;  // model time up to which a device may be read without a step; see clock.c
    u64 timer_due_ns; // [S] model time that the delayed work comes for
    struct delayed_work step;
    struct workqueue_struct* queue; // ordered

    struct davsim_telemetry* telemetry; // by device
    unsigned int mapped;                // [S] areas that show a telemetry page

    DECLARE_HASHTABLE(waiting, 8); // [S] parked calls by ticket
    wait_queue_head_t readers;     // poll
    u64 wakes;                     // [S] of the model, as the readers know them
    u64 readable_ns;               // [S] when data under way arrives

    struct work_struct upkeep;
    u64 event_cursor; // [S] events of the history that were told
    struct davsim_unit* unit;
    struct davsim_node* control[DV_NODE_IS_SVM + 1]; // by kind; none for DV_NODE_IS_DEVICE
};
extern struct davsim davsim;

// ---- lock.c: never held over user memory or a wait ----
void davsim_lock_system(void);
void davsim_lock_devices(void); // all, with the system section held
void davsim_unlock_devices(void);
void davsim_unlock_system(void); // wakes whom the section made ready, arms the timer
void davsim_lock_device(u32 device);
void davsim_unlock_device(u32 device);
int davsim_sections_init(void);

// ---- clock.c ----
u64 davsim_now(void); // model time
// [S] Brings the model to the present. Takes and gives back the device sections where something is
// due.
void davsim_present(void);
// [S] After a change: distributes what was raised and works out the next deadline.
void davsim_settle(void);
// Before a device is read without the system section: it must not be older than its telemetry's
// period.
void davsim_freshen(void);
int davsim_clock_init(void);
void davsim_clock_exit(void);

// ---- wait.c ----
struct davsim_waiter {
    struct hlist_node link;
    u32 ticket;
    bool uninterruptible, let_go;
    struct completion ready;
};
void davsim_wait_begin(struct davsim_waiter* waiter, const struct abi_request* request); // [S]
// 0 when the call goes on, -ERESTARTSYS when a signal ended it, -EIO when it was let go by hand.
int davsim_wait_end(struct davsim_waiter* waiter, struct abi_request* request);
void davsim_wake_ready(void);     // [S]
unsigned int davsim_let_go(void); // calls that never return do so; how many

// ---- call.c ----
long davsim_call(struct sim_client* client, unsigned int number, unsigned long argument);
int davsim_calls_init(void);
void davsim_calls_exit(void);

// ---- telemetry.c ----
int davsim_mmap(struct file* file, struct vm_area_struct* area);
void davsim_telemetry_publish(void); // [S+all D] where a page is mapped
u64 davsim_telemetry_due(u64 now);   // [S] model time of the next one; SIM_NEVER: nobody looks
int davsim_telemetry_init(void);
void davsim_telemetry_exit(void);

// ---- ident.c ----
void davsim_identify(struct sim_ident* ident);
int davsim_grant(const char* text); // "pid=N devices=LIST", "clear"
size_t davsim_grants_show(char* text, size_t room);

// ---- chardev.c ----
int davsim_chardev_init(void);
void davsim_chardev_exit(void);
int davsim_control_nodes_init(void); // last: from here on there are clients
void davsim_control_nodes_exit(void);
struct davsim_node* davsim_node_add(u32 kind, u32 index, struct device* parent);
void davsim_node_remove(struct davsim_node* node);
dev_t davsim_device_number(u32 index); // of /dev/davinciN

// ---- sysfs.c ----
extern const struct attribute_group* davsim_device_groups[];

// ---- event.c ----
int davsim_events_init(void);
void davsim_events_exit(void);
void davsim_notice(void);       // [S+all D] queues the upkeep work when there is something to tell
void davsim_upkeep_flush(void); // waits until everything that is known now was told

// ---- hwmon.c ----
struct device* davsim_hwmon_add(u32 index, struct device* parent);
void davsim_hwmon_remove(struct device* hwmon);

// ---- pci.c: NULL where there is none; that is no error ----
int davsim_pci_init(void);
void davsim_pci_exit(void);
struct davsim_bridge* davsim_pci_add(u32 index, const struct sim_device_config* config);
struct device* davsim_pci_device(struct davsim_bridge* bridge);
void davsim_pci_remove(struct davsim_bridge* bridge);
void davsim_pci_set_lost(struct davsim_bridge* bridge, bool lost);

// ---- configfs.c, device.c, debugfs.c ----
int davsim_configfs_init(void);
void davsim_configfs_exit(void);
void davsim_default_config(struct sim_device_config* config, u32 index);
int davsim_add_device(const struct sim_device_config* config, const struct sim_ecc* ecc,
                      const u32* isolated, u32 isolated_count);
int davsim_hotplug(u32 device, u32 operation); // DS_HOTPLUG_
int davsim_debugfs_init(void);
void davsim_debugfs_exit(void);

// ---- main.c: parameters ----
extern uint davsim_node_mode, davsim_node_uid, davsim_node_gid;
extern uint davsim_operate_gid[2];
extern bool davsim_with_pci, davsim_with_hwmon;

#endif
