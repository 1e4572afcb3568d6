// SPDX-License-Identifier: Apache-2.0
// Small readers of a scenario's texts.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asc::faultinject {

// "10us", "300ms", "2s", "5m", "12h", "30d"; nanoseconds.
std::optional<std::uint64_t> parse_duration(std::string_view text);
// The largest unit that divides it: "1500ms".
std::string duration_text(std::uint64_t ns);

// A command line as words: blanks part them, '...' and "..." keep them, \ escapes outside of '...'.
// No shell: nothing else means anything. The error says what is wrong.
std::expected<std::vector<std::string>, std::string> split_words(std::string_view line);

// Runs of blanks made one, none at the ends.
std::string squeezed(std::string_view line);

// The known word nearest to a wrong one; empty when none is near.
std::string_view nearest_word(std::string_view wrong, const std::vector<std::string_view>& known);

} // namespace asc::faultinject
