// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// DMP, the management protocol over HDC service 0 (driver-abi.md 10.2).
#ifndef ASC_IOCTL_WIRE_DRIVER_DMP_H
#define ASC_IOCTL_WIRE_DRIVER_DMP_H

#include "ioctl/wire/types.h"

// Section 10.2 of driver-abi.md.
#define DV_DMP_DATA_MAX 4066U
#define DV_DMP_PAYLOAD_MAX 4054U
#define DV_DMP_REPLY_TOTAL_MAX 4096U
#define DV_DMP_REQUEST_TOTAL_MAX 32767U
#define DV_DMP_LAST_SLICE 0x80U

struct dv_dmp_packet { // 30 bytes, packed; followed by data_len bytes
    uint64_t session;
    int32_t peer_device, source_device;
    int64_t message_id;
    int32_t type; // 0 request, 1 response
    uint16_t data_len;
} __attribute__((packed));
DV_ASSERT_SIZE(struct dv_dmp_packet, 30);

struct dv_dmp_request { // 12 bytes, followed by the payload
    uint8_t lun, operation;
    uint16_t opcode;
    uint32_t offset, length;
} __attribute__((packed));
DV_ASSERT_SIZE(struct dv_dmp_request, 12);

struct dv_dmp_response { // 12 bytes, followed by the payload
    uint16_t error, opcode;
    uint32_t total_length, length;
} __attribute__((packed));
DV_ASSERT_SIZE(struct dv_dmp_response, 12);

struct dv_dmp_flash { // 0x0606 by index
    uint64_t id;
    uint16_t device, vendor;
    uint32_t state;
    uint64_t size;
    uint32_t sectors;
    uint16_t manufacturer;
} __attribute__((packed));
DV_ASSERT_SIZE(struct dv_dmp_flash, 30);

struct dv_dmp_ecc_record { // 0x068B
    uint64_t address;
    uint32_t stack_and_channel, high, low, count;
    int32_t time;
} __attribute__((packed));
DV_ASSERT_SIZE(struct dv_dmp_ecc_record, 28);

struct dv_dmp_ecc_times { // 0x068A
    uint32_t count, time[64];
};
DV_ASSERT_SIZE(struct dv_dmp_ecc_times, 260);

struct dv_dmp_upgrade_state { // 0x0604
    uint8_t status, percent;
};

#define DV_DMP_OP_STATE 0
#define DV_DMP_OP_CONFIGURE 1
#define DV_DMP_OP_FIRMWARE 3
#define DV_DMP_HEALTH 0x0001
#define DV_DMP_TEMPERATURE 0x0003
#define DV_DMP_POWER 0x0004
#define DV_DMP_VOLTAGE 0x000B
#define DV_DMP_BOARD_ID 0x000F
#define DV_DMP_PCB_ID 0x0010
#define DV_DMP_BOM_OR_SLOT 0x001B
#define DV_DMP_ECC_NOW 0x001F
#define DV_DMP_SYSTEM_TIME 0x0020
#define DV_DMP_FAULT_INJECT 0x0028
#define DV_DMP_DIE_ID 0x0602
#define DV_DMP_UPGRADE 0x0603
#define DV_DMP_UPGRADE_STATE 0x0604
#define DV_DMP_UTILISATION 0x0605
#define DV_DMP_FLASH 0x0606
#define DV_DMP_VERSION 0x0607
#define DV_DMP_SET_ENABLE 0x0608
#define DV_DMP_GET_ENABLE 0x060C
#define DV_DMP_SENSOR 0x0611
#define DV_DMP_ERROR_TEXT 0x0625
#define DV_DMP_FREQUENCY 0x0667
#define DV_DMP_ECC_HISTORY 0x0681
#define DV_DMP_ECC_CLEAR 0x0682
#define DV_DMP_ECC_TIMES 0x068A
#define DV_DMP_ECC_RECORD 0x068B
#define DV_DMP_PCIE_ERRORS 0x0690
#define DV_DMP_PCIE_ERRORS_CLEAR 0x0691

#endif
