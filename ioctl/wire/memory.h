// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The three functions that freestanding parts may call. As builtins small fixed sizes become plain
// loads and stores; everything else links to the host's own.
#ifndef ASC_IOCTL_WIRE_MEMORY_H
#define ASC_IOCTL_WIRE_MEMORY_H

#ifdef __KERNEL__
#include <linux/string.h>
#elif !defined(__cplusplus) // programs have their library
#include "ioctl/wire/types.h"

void* memcpy(void* to, const void* from, size_t size);
void* memset(void* to, int value, size_t size);
int memcmp(const void* a, const void* b, size_t size);

#define memcpy(to, from, size) __builtin_memcpy(to, from, size)
#define memset(to, value, size) __builtin_memset(to, value, size)
#define memcmp(a, b, size) __builtin_memcmp(a, b, size)
#endif

#endif
