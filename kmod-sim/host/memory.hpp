// SPDX-License-Identifier: Apache-2.0
// The caller's memory as a host sees it: this process itself, or the ranges that came with a call.
#pragma once

#include "ioctl/wire/marshal.h"
#include "kmod-sim/host/model.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace asc::sim {

// Memory of this very process: an address is a pointer. For callers that are trusted to pass valid
// ones (the in-process channel, tests).
const abi_memory& own_memory();

// The memory that a caller showed: address ranges with their bytes. Reads outside of the readable
// ranges and writes outside of the writable ones fail as a bad address does; writes are recorded in
// order and go back to the caller.
class Window {
  public:
    struct Write {
        std::uint64_t address;
        std::uint32_t length;
        std::size_t offset; // into written()
    };

    // Adds a range; `bytes` (its content, for readable ones, else empty) must outlive every read.
    // False when there are DV_RANGES_MAX already, the range wraps around or the content has another
    // length.
    bool add(std::uint64_t address, std::uint32_t length, std::uint32_t direction,
             std::span<const std::uint8_t> bytes);
    void clear();
    // After the gather: the contents are not needed any more (a parked call outlives its packet).
    void drop_contents();

    abi_memory access() { return {&Window::read_callback, &Window::write_callback, this}; }
    std::span<const Write> writes() const { return writes_; }
    std::span<const std::uint8_t> written() const { return written_; }

  private:
    struct Range {
        std::uint64_t address;
        std::uint32_t length, direction;
        const std::uint8_t* bytes; // null: not readable
    };
    const Range* find(std::uint64_t address, std::uint32_t length, std::uint32_t direction) const;
    static int read_callback(void* context, void* destination, std::uint64_t address,
                             std::uint32_t length);
    static int write_callback(void* context, std::uint64_t address, const void* source,
                              std::uint32_t length);

    std::array<Range, DV_RANGES_MAX> ranges_{};
    std::size_t range_count_ = 0;
    std::vector<Write> writes_;
    std::vector<std::uint8_t> written_;
};

} // namespace asc::sim
