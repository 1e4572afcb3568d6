// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// The only file of the core that divides. On 32-bit targets a 64-bit '/' is a call into the
// compiler's library (__udivdi3), which a kernel does not have; there the quotient is made by shift
// and subtract. A divisor of 0 never traps: the quotient saturates and the remainder is 0.
#ifndef ASC_KMOD_SIM_CORE_DIV_H
#define ASC_KMOD_SIM_CORE_DIV_H

#include "ioctl/wire/types.h"

// n / d, bit by bit. *rem (may be NULL) is the remainder. Exists on every target so that it can be
// tested against '/'.
static inline uint64_t div_by_shift(uint64_t n, uint32_t d, uint32_t* rem) {
    uint64_t left = 0; // below 2 d, so 33 bits
    unsigned bit;
    if (d == 0) {
        if (rem)
            *rem = 0;
        return ~(uint64_t)0;
    }
    for (bit = 0; bit < 64; ++bit) { // n gives its top bit and takes a bit of the quotient
        left = (left << 1) | (n >> 63);
        n <<= 1;
        if (left >= d) {
            left -= d;
            n |= 1;
        }
    }
    if (rem)
        *rem = (uint32_t)left;
    return n;
}

// n / d; *rem (may be NULL) is the remainder.
static inline uint64_t div_u64_u32(uint64_t n, uint32_t d, uint32_t* rem) {
#if defined(__SIZEOF_POINTER__) && __SIZEOF_POINTER__ >= 8
    uint64_t quotient;
    if (d == 0)
        return div_by_shift(n, d, rem);
    quotient = n / d;
    if (rem)
        *rem = (uint32_t)(n - quotient * d);
    return quotient;
#else
    return div_by_shift(n, d, rem);
#endif
}

// a * b / d with the product in 96 bits, rounded down; UINT64_MAX when the quotient has no room.
static inline uint64_t mul_div_u64(uint64_t a, uint32_t b, uint32_t d) {
    uint64_t low = (uint64_t)(uint32_t)a * b;
    uint64_t high = (uint64_t)(uint32_t)(a >> 32) * b + (low >> 32); // product >> 32
    uint32_t rem = 0;
    uint64_t quotient = div_u64_u32(high, d, &rem); // of the upper 64 bits
    if (quotient >> 32 || d == 0)
        return ~(uint64_t)0;
    // rem < d, so the second quotient has 32 bits at most
    return (quotient << 32) | div_u64_u32(((uint64_t)rem << 32) | (uint32_t)low, d, NULL);
}

#endif
