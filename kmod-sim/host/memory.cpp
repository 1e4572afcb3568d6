// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/host/memory.hpp"

#include <cstring>

namespace asc::sim {

namespace {

int read_own(void*, void* destination, std::uint64_t address, std::uint32_t length) {
    if (address == 0 && length != 0)
        return -1;
    if (length != 0)
        std::memcpy(destination, reinterpret_cast<const void*>(address), length);
    return 0;
}

int write_own(void*, std::uint64_t address, const void* source, std::uint32_t length) {
    if (address == 0 && length != 0)
        return -1;
    if (length != 0)
        std::memcpy(reinterpret_cast<void*>(address), source, length);
    return 0;
}

} // namespace

const abi_memory& own_memory() {
    static const abi_memory memory = {&read_own, &write_own, nullptr};
    return memory;
}

bool Window::add(std::uint64_t address, std::uint32_t length, std::uint32_t direction,
                 std::span<const std::uint8_t> bytes) {
    const bool readable = (direction & DV_RANGE_IN) != 0;
    if (range_count_ == ranges_.size() || address + length < address ||
        (readable && bytes.size() != length))
        return false;
    ranges_[range_count_++] = {address, length, direction, readable ? bytes.data() : nullptr};
    return true;
}

void Window::clear() {
    range_count_ = 0;
    writes_.clear();
    written_.clear();
}

void Window::drop_contents() {
    for (std::size_t i = 0; i < range_count_; ++i)
        ranges_[i].bytes = nullptr;
}

const Window::Range* Window::find(std::uint64_t address, std::uint32_t length,
                                  std::uint32_t direction) const {
    for (std::size_t i = 0; i < range_count_; ++i) {
        const Range& range = ranges_[i];
        if ((range.direction & direction) != 0 && address >= range.address &&
            length <= range.length && address - range.address <= range.length - length)
            return &range;
    }
    return nullptr;
}

int Window::read_callback(void* context, void* destination, std::uint64_t address,
                          std::uint32_t length) {
    if (length == 0)
        return 0;
    const Range* range = static_cast<Window*>(context)->find(address, length, DV_RANGE_IN);
    if (range == nullptr || range->bytes == nullptr)
        return -1;
    std::memcpy(destination, range->bytes + (address - range->address), length);
    return 0;
}

int Window::write_callback(void* context, std::uint64_t address, const void* source,
                           std::uint32_t length) {
    if (length == 0)
        return 0;
    Window& window = *static_cast<Window*>(context);
    if (window.find(address, length, DV_RANGE_OUT) == nullptr)
        return -1;
    const auto* bytes = static_cast<const std::uint8_t*>(source);
    window.writes_.push_back({address, length, window.written_.size()});
    window.written_.insert(window.written_.end(), bytes, bytes + length);
    return 0;
}

} // namespace asc::sim
