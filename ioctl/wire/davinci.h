// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The published host interface of the Ascend driver, current generation, written from the project's
// facts document (driver-abi.md; section numbers stand beside each part). Layouts are x86-64 and
// arm64 LP64, little-endian; pointers are u64 user addresses. Nothing here was checked on silicon.
#ifndef ASC_IOCTL_WIRE_DAVINCI_H
#define ASC_IOCTL_WIRE_DAVINCI_H

#include "ioctl/wire/driver_devmng.h"
#include "ioctl/wire/driver_dmp.h"
#include "ioctl/wire/driver_events.h"
#include "ioctl/wire/driver_hdc.h"
#include "ioctl/wire/driver_nodes.h"
#include "ioctl/wire/driver_udis.h"
#include "ioctl/wire/driver_urd.h"

#endif
