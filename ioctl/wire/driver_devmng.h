// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Modules DEVMNG and uda: device information and device ids (driver-abi.md 4, 5).
#ifndef ASC_IOCTL_WIRE_DRIVER_DEVMNG_H
#define ASC_IOCTL_WIRE_DRIVER_DEVMNG_H

#include "ioctl/wire/types.h"

// Section 4. of driver-abi.md.
#define DV_M_PCI_ADDRESS 1
#define DV_M_PLATFORM 3
#define DV_M_DEVICE_STATUS 7
#define DV_M_CORE_SPEC 17
#define DV_M_CORE_IN_USE 18
#define DV_M_DEVICE_INFO 20
#define DV_M_BLACKBOX_INFORM 35
#define DV_M_PRE_RESET 44
#define DV_M_RESCAN 45
#define DV_M_CONTAINER 58
#define DV_M_HOST_KIND 59
#define DV_M_CONTAINER_FLAG 108
#define DV_M_SIGNATURE 112
#define DV_M_CONSOLE_LOG_LEVEL 154
#define DV_M_STARTUP 163
#define DV_M_RESOURCE 175
#define DV_M_LAST 208

// 'M' 7 answers
#define DV_DEVICE_INITIALISING 0
#define DV_DEVICE_WORKING 1
#define DV_DEVICE_EXCEPTION 2
#define DV_DEVICE_SLEEP 3
#define DV_DEVICE_LOST 4

// 'M' 59 flags
#define DV_HOST_PHYSICAL 0x5A6B7C8DU
#define DV_HOST_VIRTUAL_MACHINE 0x1A2B3C4DU
#define DV_HOST_CONTAINER 0xA4B3C2D1U

#define DV_STARTUP_FINISHED 16U

struct dv_pci_address { // 'M' 1
    uint32_t device_id;
    uint8_t bus, device, function, pad;
};
DV_ASSERT_SIZE(struct dv_pci_address, 8);

struct dv_core_spec { // 'M' 17, section 4.3
    uint32_t device_id;
    uint32_t ai_core_count, first_ai_core;
    uint32_t ai_cpu_count, first_ai_cpu;
    uint8_t core_count_level; // 0 invalid
    uint8_t frequency_level;
    uint8_t pad[2];
};
DV_ASSERT_SIZE(struct dv_core_spec, 24);

struct dv_core_in_use { // 'M' 18, section 4.3: 20 bytes, not 24
    uint32_t device_id;
    uint32_t ai_core_count, ai_core_error_bitmap;
    uint32_t ai_cpu_count, ai_cpu_error_bitmap;
};
DV_ASSERT_SIZE(struct dv_core_in_use, 20);

struct dv_container_command { // 'M' 58, section 4.3
    uint32_t device_id;
    uint32_t command; // 0 device list, 1 host pid, 2 host tgid
    uint64_t in, out;
    uint32_t admin, pad;
};
DV_ASSERT_SIZE(struct dv_container_command, 32);
DV_ASSERT_OFFSET(struct dv_container_command, out, 16);
#define DV_CONTAINER_DEVICE_LIST 0
#define DV_CONTAINER_HOST_PID 1
#define DV_CONTAINER_HOST_TGID 2

struct dv_host_kind { // 'M' 59
    uint32_t device_id, flag;
};
DV_ASSERT_SIZE(struct dv_host_kind, 8);

struct dv_signature { // 'M' 112
    int32_t tgid;
    char sign[49];
    uint8_t reserved[7];
};
DV_ASSERT_SIZE(struct dv_signature, 60);

struct dv_startup { // 'M' 163
    uint32_t device_id, process_status, dmp_started;
};
DV_ASSERT_SIZE(struct dv_startup, 12);

struct dv_device_info { // 'M' 20, section 4.1
    uint8_t env_type, pad0[3];
    uint32_t device_id; // in
    uint32_t control_cpu_ip, control_cpu_id, control_cpu_count;
    uint32_t pad1;
    uint64_t control_cpu_bitmap;
    uint32_t control_cpu_little_endian;
    uint32_t ts_cpu_core_count, ai_cpu_core_count, ai_core_count;
    uint64_t ai_cpu_bitmap;
    uint32_t ai_core_id, ai_cpu_core_id;
    uint32_t hardware_version, ts_count;
    uint64_t ai_core_frequency;
    uint64_t cpu_system_count;
    uint64_t monotonic_raw_ns;
    uint32_t vector_core_count, pad2;
    uint64_t vector_core_frequency;
    uint64_t computing_power[1];
    uint32_t ffts_type;
    uint32_t chip_id, die_id;
    uint32_t address_mode;
    uint32_t host_device_connect_type;
    uint32_t mainboard_id;
    char soc_version[32];
    uint64_t ai_core_bitmap[2];
    uint64_t vector_core_bitmap[2];
    uint8_t product_type, pad3[3];
    uint32_t reserved[27];
};
DV_ASSERT_SIZE(struct dv_device_info, 320);
DV_ASSERT_OFFSET(struct dv_device_info, device_id, 4);
DV_ASSERT_OFFSET(struct dv_device_info, control_cpu_count, 16);
DV_ASSERT_OFFSET(struct dv_device_info, control_cpu_bitmap, 24);
DV_ASSERT_OFFSET(struct dv_device_info, ai_cpu_core_count, 40);
DV_ASSERT_OFFSET(struct dv_device_info, ai_core_count, 44);
DV_ASSERT_OFFSET(struct dv_device_info, ai_core_id, 56);
DV_ASSERT_OFFSET(struct dv_device_info, hardware_version, 64);
DV_ASSERT_OFFSET(struct dv_device_info, ai_core_frequency, 72);
DV_ASSERT_OFFSET(struct dv_device_info, cpu_system_count, 80);
DV_ASSERT_OFFSET(struct dv_device_info, monotonic_raw_ns, 88);
DV_ASSERT_OFFSET(struct dv_device_info, vector_core_count, 96);
DV_ASSERT_OFFSET(struct dv_device_info, vector_core_frequency, 104);
DV_ASSERT_OFFSET(struct dv_device_info, computing_power, 112);
DV_ASSERT_OFFSET(struct dv_device_info, ffts_type, 120);
DV_ASSERT_OFFSET(struct dv_device_info, chip_id, 124);
DV_ASSERT_OFFSET(struct dv_device_info, die_id, 128);
DV_ASSERT_OFFSET(struct dv_device_info, address_mode, 132);
DV_ASSERT_OFFSET(struct dv_device_info, host_device_connect_type, 136);
DV_ASSERT_OFFSET(struct dv_device_info, mainboard_id, 140);
DV_ASSERT_OFFSET(struct dv_device_info, soc_version, 144);
DV_ASSERT_OFFSET(struct dv_device_info, ai_core_bitmap, 176);
DV_ASSERT_OFFSET(struct dv_device_info, vector_core_bitmap, 192);
DV_ASSERT_OFFSET(struct dv_device_info, product_type, 208);
DV_ASSERT_OFFSET(struct dv_device_info, reserved, 212);

struct dv_resource { // 'M' 175, section 4.2
    uint32_t device_id;
    uint32_t owner_type, owner_id, resource_type, ts_id;
    uint32_t buffer_len; // in: room, out: bytes filled
    uint8_t buffer[256];
};
DV_ASSERT_SIZE(struct dv_resource, 280);
DV_ASSERT_OFFSET(struct dv_resource, buffer_len, 20);
DV_ASSERT_OFFSET(struct dv_resource, buffer, 24);
#define DV_OWNER_DEVICE 0
#define DV_OWNER_VIRTUAL_DEVICE 1
#define DV_OWNER_PROCESS 2
#define DV_RESOURCE_HBM_TOTAL 4
#define DV_RESOURCE_HBM_FREE 5
#define DV_RESOURCE_DDR_TOTAL 6
#define DV_RESOURCE_DDR_FREE 7
#define DV_RESOURCE_PROCESS_LIST 8
#define DV_RESOURCE_PROCESS_MEMORY 9
#define DV_RESOURCE_CONTAINER_PROCESS_LIST 10
#define DV_PROCESS_LIST_MAX 64

// 'M' 2 and 19 of the older generation (section 15) tell count and list of devices. Their fields
// are not in the facts: u32 count for 2, this for 19, is this project's choice for a simulated
// driver.
struct dv_old_device_list {
    uint32_t count, ids[64];
};
DV_ASSERT_SIZE(struct dv_old_device_list, 260);

// Section 5. of driver-abi.md.
#define DV_U_USER_INFO DV_IOC(DV_IOC_READ, 'U', 0, 20)
#define DV_U_SETUP_TABLE DV_IOC(DV_IOC_WRITE, 'U', 1, 4)
#define DV_U_DEVICE_LIST DV_IOC(DV_IOC_READ | DV_IOC_WRITE, 'U', 2, 16)
#define DV_U_UNIQUE_TO_LOGIC DV_IOC(DV_IOC_READ | DV_IOC_WRITE, 'U', 3, 8)
#define DV_U_LOGIC_TO_UNIQUE DV_IOC(DV_IOC_READ | DV_IOC_WRITE, 'U', 4, 8)
#define DV_U_LOCAL_TO_REMOTE DV_IOC(DV_IOC_READ | DV_IOC_WRITE, 'U', 5, 8)
#define DV_U_REMOTE_TO_LOCAL DV_IOC(DV_IOC_READ | DV_IOC_WRITE, 'U', 6, 8)
DV_STATIC_ASSERT(DV_U_USER_INFO == 0x80145500U, "USER_INFO");
DV_STATIC_ASSERT(DV_U_SETUP_TABLE == 0x40045501U, "SETUP_TABLE");
DV_STATIC_ASSERT(DV_U_DEVICE_LIST == 0xC0105502U, "DEVICE_LIST");
DV_STATIC_ASSERT(DV_U_UNIQUE_TO_LOGIC == 0xC0085503U, "UNIQUE_TO_LOGIC");

#define DV_MAX_DEVICES_HOST 100 // section 5.2
#define DV_MAX_UNIQUE_DEVICES 1124

struct dv_user_info {
    uint32_t admin_flag, local_flag, max_device_count, max_unique_count, unique_management;
};
DV_ASSERT_SIZE(struct dv_user_info, 20);

struct dv_device_list {
    uint32_t start, end; // logic ids, end exclusive
    uint64_t records;    // struct dv_logic_device[end - start]
};
DV_ASSERT_SIZE(struct dv_device_list, 16);

struct dv_logic_device {
    uint8_t valid_and_type; // bit 0 valid, bits 1-7 hardware type
    uint8_t sub_device_id;
    uint16_t physical_id, device_id, unique_id;
};
DV_ASSERT_SIZE(struct dv_logic_device, 8);

struct dv_id_translation {
    uint32_t raw, translated;
};
DV_ASSERT_SIZE(struct dv_id_translation, 8);

#endif
