// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Nodes and module binding of the Ascend driver (driver-abi.md 2, 3).
#ifndef ASC_IOCTL_WIRE_DRIVER_NODES_H
#define ASC_IOCTL_WIRE_DRIVER_NODES_H

#include "ioctl/wire/types.h"

// Section 2. of driver-abi.md.
#define DV_NODE_MANAGER "/dev/davinci_manager"
#define DV_NODE_DEVICE_PREFIX "/dev/davinci" // followed by the decimal device number
#define DV_NODE_HDC "/dev/hisi_hdc"
#define DV_NODE_SVM "/dev/devmm_svm"

// Section 3. of driver-abi.md.
#define DV_MODULE_NAME_LEN 256
#define DV_IOCTL_BIND DV_IO('Z', 0)
#define DV_IOCTL_UNBIND DV_IO('Z', 1)
#define DV_IOCTL_MODULE_STATUS DV_IO('Z', 2)

#define DV_STATUS_TS_DOWN 1U
#define DV_STATUS_HEARTBEAT_LOST 2U
#define DV_STATUS_LINK_ABNORMAL 4U

struct dv_bind {
    char module_name[DV_MODULE_NAME_LEN];
    int32_t device_id; // in: device; out of MODULE_STATUS: DV_STATUS_ bits
};
DV_ASSERT_SIZE(struct dv_bind, 260);
DV_ASSERT_OFFSET(struct dv_bind, device_id, 256);

#endif
