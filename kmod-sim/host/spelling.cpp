// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/host/spelling.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

namespace asc::sim {

std::optional<std::uint64_t> parse_duration(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end == text.data())
        return std::nullopt;
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    static constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
        {"", 1000000000},  {"ns", 1},          {"us", 1000},         {"ms", 1000000},
        {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000}};
    for (const auto& [name, factor] : kUnits)
        if (unit == name && value <= std::numeric_limits<std::uint64_t>::max() / factor)
            return value * factor;
    return std::nullopt;
}

std::optional<BusId> parse_bus_id(std::string_view text) {
    static constexpr std::array<std::pair<std::size_t, char>, 4> kParts = {
        {{4, ':'}, {2, ':'}, {2, '.'}, {1, 0}}};
    std::array<std::uint32_t, 4> value{};
    for (std::size_t i = 0; i < kParts.size(); ++i) {
        const auto [digits, separator] = kParts[i];
        const std::string_view part = text.substr(0, digits);
        const auto [end, error] =
            std::from_chars(part.data(), part.data() + part.size(), value[i], 16);
        if (part.size() != digits || error != std::errc{} || end != part.data() + part.size())
            return std::nullopt;
        text.remove_prefix(digits);
        if (separator == 0 ? !text.empty() : text.empty() || text.front() != separator)
            return std::nullopt;
        text.remove_prefix(separator == 0 ? 0 : 1);
    }
    if (value[2] > 0x1F || value[3] > 7)
        return std::nullopt;
    return BusId{value[0], value[1], value[2], value[3]};
}

bool is_near(std::string_view wrong, std::string_view known) {
    std::vector<std::size_t> row(known.size() + 1);
    std::iota(row.begin(), row.end(), 0U);
    for (std::size_t i = 0; i < wrong.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < known.size(); ++j) {
            const std::size_t replaced = diagonal + (wrong[i] == known[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back() <= 2 && row.back() < known.size();
}

} // namespace asc::sim
