// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// Fixed-width types and assertions usable from the kernel, freestanding C and C++ alike.
#ifndef ASC_IOCTL_WIRE_TYPES_H
#define ASC_IOCTL_WIRE_TYPES_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#include <linux/types.h>
#ifndef UINT64_MAX // the kernel's own limits have other names
#define UINT64_MAX (~(uint64_t)0)
#endif
#else
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef __cplusplus
#define DV_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define DV_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

#define DV_ASSERT_SIZE(type, size) DV_STATIC_ASSERT(sizeof(type) == (size), "size of " #type)
#define DV_ASSERT_OFFSET(type, field, offset)                                                      \
    DV_STATIC_ASSERT(offsetof(type, field) == (offset), "offset of " #type "." #field)

// ioctl numbers are composed here so that freestanding code needs no system header; the layout is
// the generic one (x86, arm64): direction 30..31, size 16..29, magic 8..15, number 0..7.
#define DV_IOC_NONE 0U
#define DV_IOC_WRITE 1U
#define DV_IOC_READ 2U
#ifdef __cplusplus
constexpr uint32_t dv_ioc(uint32_t direction, uint32_t magic, uint32_t number, uint32_t size) {
    return (direction << 30) | (size << 16) | (magic << 8) | number;
}
#define DV_IOC(direction, magic, number, size)                                                     \
    dv_ioc(direction, magic, number, static_cast<uint32_t>(size))
#else
#define DV_IOC(direction, magic, number, size)                                                     \
    (((uint32_t)(direction) << 30) | ((uint32_t)(size) << 16) | ((uint32_t)(magic) << 8) |         \
     (uint32_t)(number))
#endif
#define DV_IO(magic, number) DV_IOC(DV_IOC_NONE, magic, number, 0)

#endif
