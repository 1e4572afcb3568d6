// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
// HBM words, their errors and the pages taken out of use, inside the core. What the layers above
// need stands in sim.h. Addresses are device addresses in bytes, words are 8 bytes with 8 check
// bits; page numbers count 64 KiB from address 0.
#ifndef ASC_KMOD_SIM_CORE_ECC_H
#define ASC_KMOD_SIM_CORE_ECC_H

#include "kmod-sim/core/sim.h"

// ---- time (called by sim_step) ----
// [S+all D] What is due at `due_ns` on this device: flips of ecc rules, then a scrubbing pass. A
// rule for another device is left to that device, one for a device that does not work is skipped.
void sim_ecc_step(struct sim* sim, struct sim_device* device, uint64_t due_ns);
// When sim_ecc_step has something to do on this device; may be in the past. SIM_NEVER: nothing.
uint64_t sim_ecc_next(const struct sim* sim, const struct sim_device* device);

// ---- words ----
// What is stored at `address` when no bit has flipped: what a client stored, else a hash of seed,
// device and address.
uint64_t sim_word_content(const struct sim* sim, const struct sim_device* device, uint64_t address);

struct sim_read {
    uint64_t bad_address; // of the first word that could not be read
    uint32_t corrected;   // words
};
// [D, S while rules are set] Decodes `words` words as a load or a DMA of process `pid` does. -EIO
// at the first uncorrectable word or word out of use; its page is isolated if that succeeds
// (80E18400, else 80E01801).
int sim_ecc_read(struct sim* sim, struct sim_device* device, uint64_t address, uint64_t words,
                 uint32_t pid, struct sim_read* out);
// [D] Stores `value` in every word; ends their damage. -ENOSPC: the table of stored ranges is full.
int sim_ecc_write(struct sim* sim, struct sim_device* device, uint64_t address, uint64_t words,
                  uint64_t value);

// ---- pages ----
enum sim_page_state sim_page_state(const struct sim_device* device, uint32_t number);
// 1 when the allocator may hand the page out: pending and isolated pages stay out.
int sim_page_usable(const struct sim_device* device, uint32_t number);
// [D] Takes a page out of use at once. cause: 1 single-bit, 2 double-bit errors. Counts it, raises
// the events of 16 and 64 isolated pages. -ENOSPC: the table is full.
int sim_page_isolate(struct sim* sim, struct sim_device* device, uint32_t number, uint8_t cause);
// [D] For sim_add_device: pages isolated in an earlier life, whose counts are in device->ecc
// already. -EINVAL: no such page; -ENOSPC.
int sim_page_restore(struct sim* sim, struct sim_device* device, const uint32_t* numbers,
                     uint32_t count);

// ---- reset ----
// [D] The memory's part of a reset: words, stored ranges and counters since reset are cleared,
// pending pages become isolated, the events of ECC recover, those of 16 and 64 pages stand as the
// pages do. Firmware up to 1.76.22.3.220 hands pages isolated before back to the pool, with their
// defect (device-model.md). Call it once the device's other faults are cleared.
void sim_ecc_reset(struct sim* sim, struct sim_device* device);
// 1 for firmware with that bug.
int sim_ecc_returns_pages(const char* firmware_version);

#endif
