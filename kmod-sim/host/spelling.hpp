// SPDX-License-Identifier: Apache-2.0
// Readers of durations, bus ids and mistyped words, shared by profiles and commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace asc::sim {

// "300ms", "2s", "5m", "12h", "30d"; a bare number is seconds. Nanoseconds, nothing when it is not
// one (sign, fraction, unknown unit, out of range).
std::optional<std::uint64_t> parse_duration(std::string_view text);

struct BusId {
    std::uint32_t domain, bus, slot, function;
};
std::optional<BusId> parse_bus_id(std::string_view text); // "0000:01:00.0"

// True when one word is at most two slips of the other.
bool is_near(std::string_view wrong, std::string_view known);

} // namespace asc::sim
