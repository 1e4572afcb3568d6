// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Module URD: the request dispatcher, its results, masks and BASIC functions (driver-abi.md 6, 8,
// 11).
#ifndef ASC_IOCTL_WIRE_DRIVER_URD_H
#define ASC_IOCTL_WIRE_DRIVER_URD_H

#include "ioctl/wire/types.h"

// Section 6. of driver-abi.md.
#define DV_IOCTL_URD DV_IO('V', 1)
#define DV_URD_FILTER_MAX 256
#define DV_URD_BUFFER_MAX 4096
#define DV_URD_BIG_OUTPUT_MAX (2U * 1024U * 1024U)

struct dv_urd { // section 6.1
    uint32_t device_id, pad0;
    uint32_t main_command, sub_command;
    uint64_t filter;
    uint32_t filter_len, pad1;
    uint64_t input;
    uint32_t input_len, pad2;
    uint64_t output;
    uint32_t output_len, pad3;
};
DV_ASSERT_SIZE(struct dv_urd, 64);
DV_ASSERT_OFFSET(struct dv_urd, main_command, 8);
DV_ASSERT_OFFSET(struct dv_urd, filter, 16);
DV_ASSERT_OFFSET(struct dv_urd, input, 32);
DV_ASSERT_OFFSET(struct dv_urd, input_len, 40);
DV_ASSERT_OFFSET(struct dv_urd, output, 48);
DV_ASSERT_OFFSET(struct dv_urd, output_len, 56);

// The older generation's argument (section 15): no device id, bound as "DMS".
struct dv_urd_old {
    uint32_t main_command, sub_command;
    uint64_t filter;
    uint32_t filter_len, pad1;
    uint64_t input;
    uint32_t input_len, pad2;
    uint64_t output;
    uint32_t output_len, pad3;
};
DV_ASSERT_SIZE(struct dv_urd_old, 56);

// Positive driver errors, section 6.2
enum dv_error {
    DV_OK = 0,
    DV_E_NO_DEVICE = 1,
    DV_E_INVALID_DEVICE = 2,
    DV_E_INVALID_VALUE = 3,
    DV_E_INVALID_HANDLE = 4,
    DV_E_OUT_OF_MEMORY = 6,
    DV_E_INNER = 7,
    DV_E_PARAMETER = 8,
    DV_E_NOT_INITIALISED = 9,
    DV_E_NOT_EXIST = 11,
    DV_E_BUSY = 13,
    DV_E_NO_RESOURCES = 14,
    DV_E_TIMEOUT = 16,
    DV_E_IOCTL = 17,
    DV_E_CONNECT = 19,
    DV_E_SESSION_CLOSED = 25,
    DV_E_RECEIVE = 26,
    DV_E_SEND = 27,
    DV_E_NOT_READY = 34,
    DV_E_NOT_LISTENING = 35,
    DV_E_WOULD_BLOCK = 36,
    DV_E_FILE = 38,
    DV_E_ALLOCATION = 40,
    DV_E_PEER_REBOOTED = 43,
    DV_E_NO_SESSION = 44,
    DV_E_RESETTING = 45,
    DV_E_NOT_PERMITTED = 46,
    DV_E_TRY_AGAIN = 51,
    DV_E_NO_EVENT = 73,
    DV_E_PARTITION = 86,
    DV_E_OCCUPIED = 87,
    DV_E_PERMISSION = 88,
    DV_E_NOT_SUPPORTED = 0xfffe,
};

// Access masks, section 6.3
#define DV_ACC_ROOT 0x1U
#define DV_ACC_OPERATE 0x2U
#define DV_ACC_USER 0x4U
#define DV_ACC_DM_USER 0x8U
#define DV_ACC_LIMIT_USER 0x1000U
#define DV_ACC_CALLER_BITS 0x100FU
#define DV_ACC_ENV_PHYSICAL 0x10U
#define DV_ACC_ENV_VM 0x20U
#define DV_ACC_ENV_CONTAINER 0x40U
#define DV_ACC_ENV_ADMIN_CONTAINER 0x80U
#define DV_ACC_ENV_BITS 0xF0U
#define DV_ACC_ALL_USERS 0x7FFU
#define DV_ACC_ALL_AND_LIMITED 0x17FFU
#define DV_ACC_EVENT_READ 0x0FFU
#define DV_ACC_RESET 0x091U
#define DV_ACC_EVENT_CHANGE 0x131U

// Main commands, section 6.4
#define DV_MAIN_BASIC 0x45U
#define DV_MAIN_MEMORY 0x47U
#define DV_MAIN_LPM 0x48U
#define DV_MAIN_HOTRESET 0x5DU

// BASIC sub-commands, section 6.5
#define DV_BASIC_EVENT_READ 0
#define DV_BASIC_EVENT_CODES 1
#define DV_BASIC_HEALTH 2
#define DV_BASIC_EVENT_STRING 3
#define DV_BASIC_EVENT_CLEAR 4
#define DV_BASIC_EVENT_DISABLE 5
#define DV_BASIC_EVENT_ENABLE 6
#define DV_BASIC_PCIE_INFO 7
#define DV_BASIC_TOPOLOGY_LOGICAL 14
#define DV_BASIC_EVENT_HISTORY 20
#define DV_BASIC_TOPOLOGY_PHYSICAL 22
#define DV_BASIC_FAULT_INJECT 26
#define DV_BASIC_FAULT_INJECT_INFO 27
#define DV_BASIC_EVENT_CURRENT 28
#define DV_BASIC_CHIP_INFO 29
#define DV_BASIC_BOARD_ID 31
#define DV_BASIC_SLOT_ID 32
#define DV_BASIC_BOM_ID 33
#define DV_BASIC_PCB_ID 34
#define DV_BASIC_BOOT_STATUS 35
#define DV_BASIC_PROBED_COUNT 38
#define DV_BASIC_PROBED_LIST 39
#define DV_BASIC_P2P 40
#define DV_BASIC_CHIP_COUNT 42
#define DV_BASIC_CHIP_LIST 43
#define DV_BASIC_DEVICE_FROM_CHIP 44
#define DV_BASIC_CHIP_FROM_DEVICE 45
#define DV_BASIC_UDIS_GET 56
#define DV_BASIC_UDIS_SET 57

// HOTRESET sub-commands, section 11
#define DV_RESET_WHOLE 0
#define DV_RESET_SET_FLAG 1
#define DV_RESET_CLEAR_FLAG 2
#define DV_RESET_UNBIND 3
#define DV_RESET_RESET 4
#define DV_RESET_REMOVE 5
#define DV_RESET_RESCAN 6
#define DV_RESET_PRE_RESET_A 7
#define DV_RESET_PRE_RESET 8
#define DV_RESET_ALL_DEVICES 0xFFFFFFFFU

// E/35 boot status (dcmi.md 5)
#define DV_BOOT_UNINITIALISED 0U
#define DV_BOOT_BIOS 1U
#define DV_BOOT_OS 2U
#define DV_BOOT_FINISHED 3U
#define DV_BOOT_STARTED 16U

struct dv_chip_info { // E/29, section 8
    uint32_t device_id, register_value;
    char type[32], name[32], version[32];
    uint8_t reserved[8];
};
DV_ASSERT_SIZE(struct dv_chip_info, 112);
DV_ASSERT_OFFSET(struct dv_chip_info, type, 8);
DV_ASSERT_OFFSET(struct dv_chip_info, version, 72);

struct dv_pcie_info { // E/7, section 8
    uint32_t vendor, subsystem_vendor, device, subsystem_device;
    uint32_t bus, slot, function;
    uint32_t davinci_id;
};
DV_ASSERT_SIZE(struct dv_pcie_info, 32);

struct dv_probed_list { // E/39
    uint32_t count, ids[1140];
};
DV_ASSERT_SIZE(struct dv_probed_list, 4564);

struct dv_event_codes { // E/1, section 8
    int32_t count;
    uint32_t code[128];
    uint32_t device_id, reserved[2];
};
DV_ASSERT_SIZE(struct dv_event_codes, 528);
DV_ASSERT_OFFSET(struct dv_event_codes, device_id, 516);

struct dv_event_text_query { // E/3
    uint32_t device_id, code;
};
DV_ASSERT_SIZE(struct dv_event_text_query, 8);

struct dv_p2p { // E/40
    uint32_t operation, device, peer, type;
    int32_t status;
    uint32_t pad;
    uint64_t capability;
};
DV_ASSERT_SIZE(struct dv_p2p, 32);

struct dv_device_pair { // E/14, E/22
    uint32_t first, second;
};
DV_ASSERT_SIZE(struct dv_device_pair, 8);

// Answers of E/14 and E/22. The facts name no numbers for the words of npu-smi's topology table, so
// these are this project's: a client of a real driver must not rely on them.
#define DV_TOPOLOGY_SELF 0
#define DV_TOPOLOGY_SYS 1
#define DV_TOPOLOGY_PHB 2
#define DV_TOPOLOGY_PIX 3
#define DV_TOPOLOGY_PXB 4
#define DV_TOPOLOGY_HCCS 5
#define DV_TOPOLOGY_SIO 6
#define DV_TOPOLOGY_HCCS_SW 7
#define DV_TOPOLOGY_UB 8

// Health (E/2, section 8)
#define DV_HEALTH_NORMAL 0U
#define DV_HEALTH_MINOR 1U
#define DV_HEALTH_MAJOR 2U
#define DV_HEALTH_CRITICAL 3U
#define DV_HEALTH_ABSENT 0xFFFFFFFFU

#endif
