// SPDX-License-Identifier: GPL-2.0-only
// PCI functions of the devices, behind host bridges made of software: what lspci, udev and the
// tools' own walk through sysfs find. A function has its identity, a PCI Express link and AER
// counters, and neither memory nor interrupts.
#include <linux/pci.h>
#include <linux/slab.h>

#include "kmod-sim/linux/driver.h"

#define CONFIG_BYTES 4096
#define EXPRESS_AT 0x40
#define AER_AT 0x100
#define CLASS_ACCELERATOR 0x120000U

#ifdef CONFIG_X86
#define HAVE_SOFTWARE_BRIDGE 1
#endif

struct davsim_bridge {
#ifdef HAVE_SOFTWARE_BRIDGE
    struct pci_sysdata sysdata; // first: the bus's sysdata
#endif
    struct pci_bus* bus;
    struct pci_dev* function;
    struct resource numbers;
    u32 devfn;
    bool lost;
    u8 config[CONFIG_BYTES];
};

#ifdef HAVE_SOFTWARE_BRIDGE

static void put16(struct davsim_bridge* bridge, u32 at, u16 value) {
    bridge->config[at] = (u8)value;
    bridge->config[at + 1] = (u8)(value >> 8);
}

static void put32(struct davsim_bridge* bridge, u32 at, u32 value) {
    put16(bridge, at, (u16)value);
    put16(bridge, at + 2, (u16)(value >> 16));
}

static void fill_config(struct davsim_bridge* bridge, const struct sim_device_config* config) {
    put16(bridge, PCI_VENDOR_ID, (u16)config->pci_vendor);
    put16(bridge, PCI_DEVICE_ID, (u16)config->pci_device);
    put16(bridge, PCI_STATUS, PCI_STATUS_CAP_LIST);
    put32(bridge, PCI_CLASS_REVISION, CLASS_ACCELERATOR << 8 | 0x20);
    put16(bridge, PCI_SUBSYSTEM_VENDOR_ID, (u16)config->pci_subsystem_vendor);
    put16(bridge, PCI_SUBSYSTEM_ID, (u16)config->pci_subsystem_device);
    bridge->config[PCI_CAPABILITY_LIST] = EXPRESS_AT;
    bridge->config[EXPRESS_AT] = PCI_CAP_ID_EXP;
    put16(bridge, EXPRESS_AT + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4);
    put32(bridge, EXPRESS_AT + PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_SLS_16_0GB | 16 << 4);
    put16(bridge, EXPRESS_AT + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_CLS_16_0GB | 16 << 4);
    put32(bridge, EXPRESS_AT + PCI_EXP_LNKCAP2,
          PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB | PCI_EXP_LNKCAP2_SLS_8_0GB |
              PCI_EXP_LNKCAP2_SLS_16_0GB);
    put32(bridge, AER_AT, PCI_EXT_CAP_ID_ERR | 2 << 16);
}

// Both run under the PCI core's spinlock with interrupts off: no section is taken.
static int read_config(struct pci_bus* bus, unsigned int devfn, int where, int size, u32* value) {
    const struct davsim_bridge* bridge = bus->sysdata;
    int byte;
    *value = ~0U;
    if (devfn != bridge->devfn || where + size > CONFIG_BYTES)
        return PCIBIOS_DEVICE_NOT_FOUND;
    if (READ_ONCE(bridge->lost)) // nothing answers: all ones, as from a card that fell off
        return PCIBIOS_SUCCESSFUL;
    *value = 0;
    for (byte = 0; byte < size; ++byte)
        *value |= (u32)bridge->config[where + byte] << (8 * byte);
    return PCIBIOS_SUCCESSFUL;
}

// Writable bits of the few registers that have any.
static u8 writable(int where) {
    switch (where) {
    case PCI_COMMAND:
        return PCI_COMMAND_MASTER;
    case PCI_COMMAND + 1:
        return PCI_COMMAND_INTX_DISABLE >> 8;
    case PCI_CACHE_LINE_SIZE:
    case PCI_LATENCY_TIMER:
    case PCI_INTERRUPT_LINE:
        return 0xFF;
    case EXPRESS_AT + PCI_EXP_DEVCTL:
        return 0xFF;
    default:
        return 0;
    }
}

static int write_config(struct pci_bus* bus, unsigned int devfn, int where, int size, u32 value) {
    struct davsim_bridge* bridge = bus->sysdata;
    int byte;
    if (devfn != bridge->devfn || where + size > CONFIG_BYTES)
        return PCIBIOS_DEVICE_NOT_FOUND;
    for (byte = 0; byte < size && !READ_ONCE(bridge->lost); ++byte) {
        u8 mask = writable(where + byte);
        u8* at = &bridge->config[where + byte];
        *at = (*at & ~mask) | ((u8)(value >> (8 * byte)) & mask);
    }
    return PCIBIOS_SUCCESSFUL;
}

static struct pci_ops operations = {.read = read_config, .write = write_config};

struct davsim_bridge* davsim_pci_add(u32 index, const struct sim_device_config* config) {
    struct davsim_bridge* bridge;
    LIST_HEAD(windows);
    if (!config->pci_vendor || config->pci_bus > 0xFF || config->pci_domain > 0xFFFF)
        return NULL;
    pci_lock_rescan_remove();
    if (pci_find_bus((int)config->pci_domain, (int)config->pci_bus)) {
        pci_unlock_rescan_remove();
        pr_warn("davinci: this machine has a PCI bus %04x:%02x of its own; davinci%u gets no PCI "
                "function\n",
                config->pci_domain, config->pci_bus, index);
        return NULL;
    }
    bridge = kzalloc(sizeof(*bridge), GFP_KERNEL);
    if (!bridge)
        goto none;
    fill_config(bridge, config);
    bridge->devfn = PCI_DEVFN(config->pci_slot, config->pci_function);
    bridge->sysdata.domain = (int)config->pci_domain;
    bridge->sysdata.node =
        node_possible((int)config->numa_node) ? (int)config->numa_node : NUMA_NO_NODE;
    bridge->numbers = (struct resource){.name = DAVSIM_NAME,
                                        .start = config->pci_bus,
                                        .end = config->pci_bus,
                                        .flags = IORESOURCE_BUS};
    pci_add_resource(&windows, &bridge->numbers);
    bridge->bus =
        pci_create_root_bus(NULL, (int)config->pci_bus, &operations, &bridge->sysdata, &windows);
    if (!bridge->bus) {
        pci_free_resource_list(&windows);
        kfree(bridge);
        goto none;
    }
    pci_scan_child_bus(bridge->bus);
    pci_bus_add_devices(bridge->bus);
    bridge->function = pci_get_slot(bridge->bus, bridge->devfn);
    pci_unlock_rescan_remove();
    return bridge;
none:
    pci_unlock_rescan_remove();
    pr_warn("davinci: no PCI function for davinci%u\n", index);
    return NULL;
}

struct device* davsim_pci_device(struct davsim_bridge* bridge) {
    return bridge && bridge->function ? &bridge->function->dev : NULL;
}

void davsim_pci_set_lost(struct davsim_bridge* bridge, bool lost) {
    if (bridge)
        WRITE_ONCE(bridge->lost, lost);
}

void davsim_pci_remove(struct davsim_bridge* bridge) {
    if (!bridge)
        return;
    pci_lock_rescan_remove();
    pci_dev_put(bridge->function);
    pci_stop_root_bus(bridge->bus);
    pci_remove_root_bus(bridge->bus);
    pci_unlock_rescan_remove();
    kfree(bridge);
}

// ---- the driver that such a function is bound to ----

// Never a real card: only functions behind our own bridges are taken.
static int probe(struct pci_dev* function, const struct pci_device_id* id) {
    return function->bus->ops == &operations ? 0 : -ENODEV;
}

static const struct pci_device_id known[] = {{PCI_DEVICE(PCI_VENDOR_ID_HUAWEI, PCI_ANY_ID),
                                              .class = CLASS_ACCELERATOR, .class_mask = 0xFFFF00},
                                             {}};

static struct pci_driver driver = {.name = DAVSIM_NAME, .id_table = known, .probe = probe};

int davsim_pci_init(void) {
    return davsim_with_pci ? pci_register_driver(&driver) : 0;
}

void davsim_pci_exit(void) {
    if (davsim_with_pci)
        pci_unregister_driver(&driver);
}

#else // no bridge of software on this architecture yet

struct davsim_bridge* davsim_pci_add(u32 index, const struct sim_device_config* config) {
    return NULL;
}
struct device* davsim_pci_device(struct davsim_bridge* bridge) {
    return NULL;
}
void davsim_pci_set_lost(struct davsim_bridge* bridge, bool lost) {}
void davsim_pci_remove(struct davsim_bridge* bridge) {}
int davsim_pci_init(void) {
    return 0;
}
void davsim_pci_exit(void) {}

#endif
