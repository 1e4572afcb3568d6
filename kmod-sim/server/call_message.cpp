// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/call_message.hpp"

#include <algorithm>
#include <cstring>

namespace asc::server {

namespace {

// Reads the ranges of a call; what is wrong with them, or null.
const char* read_ranges(std::span<const std::uint8_t> rest, std::uint32_t count,
                        sim::Window& memory) {
    if (count > DV_RANGES_MAX || rest.size() < count * sizeof(dsock_range))
        return "a call with more ranges than it has bytes, or than the protocol allows";
    const std::span<const std::uint8_t> heads = rest.first(count * sizeof(dsock_range));
    std::span<const std::uint8_t> bytes = rest.subspan(heads.size());
    for (std::uint32_t i = 0; i < count; ++i) {
        dsock_range range{};
        std::memcpy(&range, heads.data() + i * sizeof(range), sizeof(range));
        const bool readable = (range.direction & DV_RANGE_IN) != 0;
        if (range.direction == 0 || (range.direction & ~(DV_RANGE_IN | DV_RANGE_OUT)) != 0)
            return "a range of no known direction";
        if (range.length > DSOCK_PAYLOAD_MAX || (readable && range.length > bytes.size()))
            return "a range longer than its bytes, or than the protocol allows";
        const std::size_t taken = readable ? range.length : 0;
        if (!memory.add(range.address, range.length, range.direction, bytes.first(taken)))
            return "a range that wraps around";
        bytes = bytes.subspan(taken);
    }
    return bytes.empty() ? nullptr : "a call with bytes of no range";
}

} // namespace

const char* read_call(std::span<const std::uint8_t> payload, dsock_call& call,
                      sim::Window& memory) {
    memory.clear();
    if (payload.size() < sizeof(call))
        return "a call shorter than its head";
    std::memcpy(&call, payload.data(), sizeof(call));
    return read_ranges(payload.subspan(sizeof(call)), call.range_count, memory);
}

bool apply_reply(std::span<const std::uint8_t> payload, std::span<const dv_range> offered,
                 std::int32_t& result) {
    dsock_reply reply{};
    if (payload.size() < sizeof(reply))
        return false;
    std::memcpy(&reply, payload.data(), sizeof(reply));
    payload = payload.subspan(sizeof(reply));
    if (reply.write_count > payload.size() / sizeof(dsock_write))
        return false;
    const std::span<const std::uint8_t> heads =
        payload.first(reply.write_count * sizeof(dsock_write));
    const std::span<const std::uint8_t> bytes = payload.subspan(heads.size());
    const auto write_at = [&](std::uint32_t i) {
        dsock_write write{};
        std::memcpy(&write, heads.data() + i * sizeof(write), sizeof(write));
        return write;
    };
    std::size_t total = 0;
    for (std::uint32_t i = 0; i < reply.write_count; ++i) {
        const dsock_write write = write_at(i);
        const auto fits = [&](const dv_range& range) {
            return (range.direction & DV_RANGE_OUT) != 0 && write.address >= range.address &&
                   write.length <= range.length &&
                   write.address - range.address <= range.length - write.length;
        };
        if (std::ranges::none_of(offered, fits))
            return false;
        total += write.length;
    }
    if (total != bytes.size())
        return false;
    const std::uint8_t* from = bytes.data();
    for (std::uint32_t i = 0; i < reply.write_count; ++i) {
        const dsock_write write = write_at(i);
        if (write.length != 0)
            std::memcpy(reinterpret_cast<void*>(write.address), from, write.length);
        from += write.length;
    }
    result = reply.result;
    return true;
}

} // namespace asc::server
