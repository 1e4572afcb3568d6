// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// UDIS: the cached metrics behind E/56 (driver-abi.md 7).
#ifndef ASC_IOCTL_WIRE_DRIVER_UDIS_H
#define ASC_IOCTL_WIRE_DRIVER_UDIS_H

#include "ioctl/wire/types.h"

// Section 7. of driver-abi.md.
#define DV_UDIS_NAME_LEN 16
#define DV_UDIS_DATA_MAX 208U
#define DV_UDIS_DEVMNG 0U
#define DV_UDIS_MEMORY 1U
#define DV_UDIS_LP 2U
#define DV_UDIS_SVM 3U
#define DV_UDIS_NETWORK 4U
#define DV_UDIS_TS 5U
#define DV_UDIS_APM 6U

struct dv_udis_get {
    uint32_t module;
    char name[DV_UDIS_NAME_LEN];
    uint32_t room; // always 208 from the vendor's client
    uint64_t data;
};
DV_ASSERT_SIZE(struct dv_udis_get, 32);
DV_ASSERT_OFFSET(struct dv_udis_get, room, 20);
DV_ASSERT_OFFSET(struct dv_udis_get, data, 24);

struct dv_udis_reply {
    uint64_t last_update_time;
    uint32_t access_control, length;
};
DV_ASSERT_SIZE(struct dv_udis_reply, 16);

struct dv_udis_set {
    uint32_t module;
    char name[DV_UDIS_NAME_LEN];
    uint32_t access_control;
    uint64_t time;
    uint32_t data_len, pad;
    uint64_t data;
};
DV_ASSERT_SIZE(struct dv_udis_set, 48);
DV_ASSERT_OFFSET(struct dv_udis_set, time, 24);
DV_ASSERT_OFFSET(struct dv_udis_set, data, 40);

struct dv_memory_part {
    uint64_t total_kb, free_kb, reserved[6];
};
struct dv_hbm_mem_info { // system, service, medium; HBM is the medium part
    struct dv_memory_part part[3];
};
DV_ASSERT_SIZE(struct dv_hbm_mem_info, 192);
#define DV_MEMORY_PART_HBM 2

struct dv_ecc_now { // ecc_rlt_cnt
    uint32_t single, uncorrected, valid;
};
DV_ASSERT_SIZE(struct dv_ecc_now, 12);

struct dv_ecc_history { // ecc_his_cnt, DMP 0x0681
    uint32_t single, uncorrected, isolated_single_pages, isolated_double_pages;
};
DV_ASSERT_SIZE(struct dv_ecc_history, 16);

struct dv_single_record { // single_ecc0..7 hold 8 each
    uint32_t hbmc_id, count, address_low, address_high, last_time;
};
DV_ASSERT_SIZE(struct dv_single_record, 20);

struct dv_multi_record { // multi_ecc0..15 hold 4 each
    uint64_t address;
    uint8_t unknown[4];
    uint16_t rank, module_id;
    uint8_t type, module;
    uint16_t bank, row, column;
    int32_t time;
    uint32_t pad;
};
DV_ASSERT_SIZE(struct dv_multi_record, 32);
DV_ASSERT_OFFSET(struct dv_multi_record, rank, 12);
DV_ASSERT_OFFSET(struct dv_multi_record, type, 16);
DV_ASSERT_OFFSET(struct dv_multi_record, bank, 18);
DV_ASSERT_OFFSET(struct dv_multi_record, time, 24);

struct dv_core_utilisation { // aic_util, aiv_util
    uint32_t core_count;
    uint8_t percent[128];
};
DV_ASSERT_SIZE(struct dv_core_utilisation, 132);

#endif
