// SPDX-License-Identifier: GPL-2.0-only
// The driver's nodes (driver-abi.md 2.1). An open file is a client of the model and its release is
// the client's true end.
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "kmod-sim/linux/compat.h"
#include "kmod-sim/linux/driver.h"

#define CONTROL_MINORS 4 // the control nodes' minors stand before the devices'

static dev_t first_number;
static struct class *device_class, *control_class;

dev_t davsim_device_number(u32 index) {
    return MKDEV(MAJOR(first_number), MINOR(first_number) + CONTROL_MINORS + index);
}

static struct davsim_node* node_of(struct inode* inode) {
    return container_of(inode->i_cdev, struct davsim_node, cdev);
}

static int open_node(struct inode* inode, struct file* file) {
    const struct davsim_node* node = node_of(inode);
    struct sim_client* client;
    struct sim_ident ident;
    int result;
    davsim_identify(&ident);
    davsim_lock_system();
    davsim_present();
    result = sim_open(davsim.sim, node->kind, node->index, &ident, &client);
    davsim_unlock_system();
    if (result)
        return result;
    file->private_data = client;
    return stream_open(inode, file);
}

static int release_node(struct inode* inode, struct file* file) {
    struct sim_client* client = file->private_data;
    davsim_lock_system();
    davsim_present();
    davsim_lock_devices();
    abi_release(davsim.sim, client);
    sim_release(davsim.sim, client);
    davsim_unlock_devices();
    davsim_settle();
    davsim_unlock_system();
    return 0;
}

static long ioctl_node(struct file* file, unsigned int number, unsigned long argument) {
    return davsim_call(file->private_data, number, argument);
}

static __poll_t poll_node(struct file* file, poll_table* wait) {
    int readable;
    poll_wait(file, &davsim.readers, wait);
    davsim_lock_system();
    davsim_present();
    readable = abi_readable(davsim.sim, file->private_data);
    davsim_unlock_system();
    return readable ? EPOLLIN | EPOLLRDNORM : 0;
}

// 64-bit callers only: there is no compat_ioctl (driver-abi.md 1).
static const struct file_operations node_operations = {
    .owner = THIS_MODULE,
    .open = open_node,
    .release = release_node,
    .unlocked_ioctl = ioctl_node,
    .poll = poll_node,
    .mmap = davsim_mmap,
};

// ---- nodes ----

static void release_memory(struct device* device) {
    kfree(container_of(device, struct davsim_node, device));
}

static char* devnode(DAVSIM_CONST_DEVICE* device, umode_t* mode, kuid_t* uid, kgid_t* gid) {
    if (mode)
        *mode = (umode_t)davsim_node_mode;
    if (uid)
        *uid = make_kuid(&init_user_ns, davsim_node_uid);
    if (gid)
        *gid = make_kgid(&init_user_ns, davsim_node_gid);
    return NULL;
}

static const struct device_type node_type = {.name = "davinci_node", .devnode = devnode};

struct davsim_node* davsim_node_add(u32 kind, u32 index, struct device* parent) {
    static const char* const names[] = {[DV_NODE_IS_MANAGER] = "davinci_manager",
                                        [DV_NODE_IS_HDC] = "hisi_hdc",
                                        [DV_NODE_IS_SVM] = "devmm_svm"};
    bool control = kind != DV_NODE_IS_DEVICE;
    struct davsim_node* node = kzalloc(sizeof(*node), GFP_KERNEL);
    int result;
    if (!node)
        return ERR_PTR(-ENOMEM);
    node->kind = kind;
    node->index = index;
    device_initialize(&node->device);
    node->device.class = control ? control_class : device_class;
    node->device.type = &node_type;
    node->device.parent = parent;
    node->device.groups = control ? NULL : davsim_device_groups;
    node->device.release = release_memory;
    node->device.devt = control ? MKDEV(MAJOR(first_number), MINOR(first_number) + kind)
                                : davsim_device_number(index);
    dev_set_drvdata(&node->device, node);
    result = control ? dev_set_name(&node->device, "%s", names[kind])
                     : dev_set_name(&node->device, "davinci%u", index);
    if (!result) {
        cdev_init(&node->cdev, &node_operations);
        node->cdev.owner = THIS_MODULE;
        result = cdev_device_add(&node->cdev, &node->device);
    }
    if (result) {
        put_device(&node->device);
        return ERR_PTR(result);
    }
    return node;
}

void davsim_node_remove(struct davsim_node* node) {
    if (IS_ERR_OR_NULL(node))
        return;
    cdev_device_del(&node->cdev, &node->device);
    put_device(&node->device);
}

int davsim_chardev_init(void) {
    int result =
        alloc_chrdev_region(&first_number, 0, CONTROL_MINORS + SIM_DEVICES_MAX, "devdrv-cdev");
    if (result)
        return result;
    device_class = davsim_class_create("devdrv-class");
    control_class = davsim_class_create("devdrv_manager");
    result = IS_ERR(device_class) ? (int)PTR_ERR(device_class) : PTR_ERR_OR_ZERO(control_class);
    if (result)
        davsim_chardev_exit();
    return result;
}

void davsim_chardev_exit(void) {
    if (!IS_ERR_OR_NULL(control_class))
        class_destroy(control_class);
    if (!IS_ERR_OR_NULL(device_class))
        class_destroy(device_class);
    unregister_chrdev_region(first_number, CONTROL_MINORS + SIM_DEVICES_MAX);
}

int davsim_control_nodes_init(void) {
    u32 kind;
    BUILD_BUG_ON(ARRAY_SIZE(davsim.control) > CONTROL_MINORS);
    for (kind = 0; kind < ARRAY_SIZE(davsim.control); ++kind) {
        struct davsim_node* node;
        if (kind == DV_NODE_IS_DEVICE)
            continue;
        node = davsim_node_add(kind, 0, NULL);
        if (IS_ERR(node)) {
            davsim_control_nodes_exit();
            return (int)PTR_ERR(node);
        }
        davsim.control[kind] = node;
    }
    return 0;
}

void davsim_control_nodes_exit(void) {
    u32 kind;
    for (kind = 0; kind < ARRAY_SIZE(davsim.control); ++kind) {
        davsim_node_remove(davsim.control[kind]);
        davsim.control[kind] = NULL;
    }
}
