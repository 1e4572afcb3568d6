// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Fault events (driver-abi.md 9).
#ifndef ASC_IOCTL_WIRE_DRIVER_EVENTS_H
#define ASC_IOCTL_WIRE_DRIVER_EVENTS_H

#include "ioctl/wire/types.h"

// Section 9. of driver-abi.md.
#define DV_EVENT_SOURCE_DSMI 0
#define DV_EVENT_SOURCE_HAL 1
#define DV_EVENT_FILTER_ID 1ULL
#define DV_EVENT_FILTER_SEVERITY 2ULL
#define DV_EVENT_FILTER_NODE 4ULL
#define DV_EVENT_FILTER_TGID 8ULL
#define DV_EVENT_TIMEOUT_MAX 30000
#define DV_EVENT_QUEUE_DEPTH 256
#define DV_EVENT_HISTORY_MAX 1024
#define DV_EVENT_CURRENT_MAX 128

#define DV_SEVERITY_WARNING 0
#define DV_SEVERITY_MINOR 1
#define DV_SEVERITY_MAJOR 2
#define DV_SEVERITY_CRITICAL 3
#define DV_ASSERTION_RECOVERY 0
#define DV_ASSERTION_OCCURRENCE 1
#define DV_ASSERTION_ONE_OFF 2

struct dv_event_read {
    int32_t source, timeout_ms, device_id;
    uint32_t pad0;
    uint64_t flags;
    uint32_t event_id;
    uint8_t severity, pad1;
    uint16_t node_type;
    uint8_t reserved[32];
};
DV_ASSERT_SIZE(struct dv_event_read, 64);
DV_ASSERT_OFFSET(struct dv_event_read, flags, 16);
DV_ASSERT_OFFSET(struct dv_event_read, severity, 28);
DV_ASSERT_OFFSET(struct dv_event_read, node_type, 30);

struct dv_event {
    uint32_t event_code;
    int32_t pid;
    uint32_t event_id;
    uint16_t device_id; // physical
    uint16_t node_type;
    uint8_t node_id, pad0;
    uint16_t sub_node_type;
    uint8_t sub_node_id, severity, assertion, pad1;
    uint16_t sensor_number, pad2;
    int32_t event_serial, notify_serial;
    uint32_t pad3;
    uint64_t raised_ms; // since the epoch
    char name[256];
    char additional_info[32];
    uint8_t info[4], pad4[4];
};
DV_ASSERT_SIZE(struct dv_event, 344);
DV_ASSERT_OFFSET(struct dv_event, device_id, 12);
DV_ASSERT_OFFSET(struct dv_event, node_id, 16);
DV_ASSERT_OFFSET(struct dv_event, sub_node_type, 18);
DV_ASSERT_OFFSET(struct dv_event, severity, 21);
DV_ASSERT_OFFSET(struct dv_event, assertion, 22);
DV_ASSERT_OFFSET(struct dv_event, sensor_number, 24);
DV_ASSERT_OFFSET(struct dv_event, event_serial, 28);
DV_ASSERT_OFFSET(struct dv_event, notify_serial, 32);
DV_ASSERT_OFFSET(struct dv_event, raised_ms, 40);
DV_ASSERT_OFFSET(struct dv_event, name, 48);
DV_ASSERT_OFFSET(struct dv_event, additional_info, 304);
DV_ASSERT_OFFSET(struct dv_event, info, 336);

struct dv_event_current { // E/28
    uint32_t count, pad;
    struct dv_event record[DV_EVENT_CURRENT_MAX];
};
DV_ASSERT_SIZE(struct dv_event_current, 44040);

struct dv_fault_record { // E/26, E/27, DMP 0x0028; section 9.1
    uint32_t device_id, node_type, node_id, sub_node_type, sub_node_id;
    uint32_t fault_index, event_id, reserved[2];
};
DV_ASSERT_SIZE(struct dv_fault_record, 36);

// Event ids known by name (sections 9 and firmware-and-faults.md 4.2, 4.3)
#define DV_EV_HEARTBEAT_LOST 0x40F84E00U
#define DV_EV_HBM_ISOLATED 0x80E18400U
#define DV_EV_HBM_ISOLATION_FAILED 0x80E01801U
#define DV_EV_HBM_SCRUB_DOUBLE 0x80E01809U
#define DV_EV_HBM_ROWS_16 0x80E18401U
#define DV_EV_HBM_ROWS_64 0x80E18402U
#define DV_EV_HBM_HOT 0x80E00209U
#define DV_EV_HBM_FATAL_TEMPERATURE 0x80E0020BU
#define DV_EV_SOC_HOT 0x80E20207U
#define DV_EV_HBM_SINGLE_LIMIT 0x80E01805U

#endif
