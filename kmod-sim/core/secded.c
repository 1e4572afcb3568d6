// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// (72,64) code that corrects one flipped bit and detects two, after Hsiao: each data bit has a
// column of 3 or 5 check bits, each check bit a column of its own alone. All columns are odd and
// differ, so one flip gives the syndrome of its column, two give an even syndrome that is not zero.
// Three give an odd one: of 128 odd syndromes 72 are columns, and the decoder then corrects a bit
// that had not flipped.
#include "kmod-sim/core/sim.h"

// By data bit: the 56 choices of 3 out of 8, then the 8 turns of 00011111. Each check bit covers 26
// data bits.
static const uint8_t column[64] = {
    0x07, 0x0B, 0x13, 0x23, 0x43, 0x83, 0x0D, 0x15, 0x25, 0x45, 0x85, 0x19, 0x29, 0x49, 0x89, 0x31,
    0x51, 0x91, 0x61, 0xA1, 0xC1, 0x0E, 0x16, 0x26, 0x46, 0x86, 0x1A, 0x2A, 0x4A, 0x8A, 0x32, 0x52,
    0x92, 0x62, 0xA2, 0xC2, 0x1C, 0x2C, 0x4C, 0x8C, 0x34, 0x54, 0x94, 0x64, 0xA4, 0xC4, 0x38, 0x58,
    0x98, 0x68, 0xA8, 0xC8, 0x70, 0xB0, 0xD0, 0xE0, 0x1F, 0x3E, 0x7C, 0xF8, 0xF1, 0xE3, 0xC7, 0x8F,
};

uint8_t secded_encode(uint64_t data) {
    unsigned bit, check = 0;
    for (bit = 0; bit < 64; ++bit, data >>= 1)
        if (data & 1)
            check ^= column[bit];
    return (uint8_t)check;
}

enum secded_result secded_decode(uint64_t* data, uint8_t check, uint8_t* syndrome) {
    unsigned found = secded_encode(*data) ^ check, bit;
    *syndrome = (uint8_t)found;
    if (found == 0)
        return SECDED_CLEAN;
    if ((found & (found - 1)) == 0) // a check bit flipped: the data is right as it is
        return SECDED_CORRECTED;
    for (bit = 0; bit < 64; ++bit) {
        if (column[bit] == found) {
            *data ^= (uint64_t)1 << bit;
            return SECDED_CORRECTED;
        }
    }
    return SECDED_DETECTED;
}
