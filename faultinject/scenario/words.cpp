// SPDX-License-Identifier: Apache-2.0
#include "faultinject/scenario/words.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace asc::faultinject {

namespace {

constexpr std::pair<std::string_view, std::uint64_t> kUnits[] = {
    {"ns", 1},          {"us", 1000},         {"ms", 1000000},       {"s", 1000000000},
    {"m", 60000000000}, {"h", 3600000000000}, {"d", 86400000000000},
};

} // namespace

std::optional<std::uint64_t> parse_duration(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end == text.data())
        return std::nullopt;
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const auto& [name, factor] : kUnits)
        if (unit == name && value <= std::numeric_limits<std::uint64_t>::max() / factor)
            return value * factor;
    return std::nullopt;
}

std::string duration_text(std::uint64_t ns) {
    if (ns == 0)
        return "0s";
    std::pair<std::string_view, std::uint64_t> best = kUnits[0];
    for (const auto& unit : kUnits)
        if (ns % unit.second == 0)
            best = unit;
    return std::to_string(ns / best.second).append(best.first);
}

std::expected<std::vector<std::string>, std::string> split_words(std::string_view line) {
    std::vector<std::string> words;
    bool inside = false; // of a word
    char quote = '\0';
    for (std::size_t i = 0; i < line.size(); ++i) {
        const char c = line[i];
        if (c == '\0' || c == '\n')
            return std::unexpected("a command line holds neither line breaks nor zero bytes");
        if (quote == '\0' && (c == ' ' || c == '\t')) {
            inside = false;
            continue;
        }
        if (!inside) {
            words.emplace_back();
            inside = true;
        }
        if (c == '\\' && quote != '\'') {
            if (++i == line.size())
                return std::unexpected("the command line ends in a backslash");
            words.back() += line[i];
        } else if (quote == '\0' && (c == '\'' || c == '"')) {
            quote = c;
        } else if (c == quote) {
            quote = '\0';
        } else {
            words.back() += c;
        }
    }
    if (quote != '\0')
        return std::unexpected(std::string("a ") + quote + " is not closed");
    if (words.empty())
        return std::unexpected("the command line is empty");
    return words;
}

std::string squeezed(std::string_view line) {
    std::string out;
    for (const char c : line) {
        const bool blank = c == ' ' || c == '\t' || c == '\r';
        if (!blank)
            out += c;
        else if (!out.empty() && out.back() != ' ')
            out += ' ';
    }
    if (!out.empty() && out.back() == ' ')
        out.pop_back();
    return out;
}

std::string_view nearest_word(std::string_view wrong, const std::vector<std::string_view>& known) {
    std::string_view best;
    std::size_t best_distance = 3; // more than two slips are another word
    std::vector<std::size_t> row;
    for (const std::string_view word : known) {
        if (word.size() > wrong.size() + 2 || wrong.size() > word.size() + 2)
            continue;
        row.resize(word.size() + 1);
        for (std::size_t j = 0; j <= word.size(); ++j)
            row[j] = j;
        for (std::size_t i = 0; i < wrong.size(); ++i) {
            std::size_t diagonal = std::exchange(row[0], i + 1);
            for (std::size_t j = 0; j < word.size(); ++j) {
                const std::size_t replaced = diagonal + (wrong[i] == word[j] ? 0 : 1);
                diagonal =
                    std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
            }
        }
        if (row.back() < best_distance && row.back() < word.size()) {
            best = word;
            best_distance = row.back();
        }
    }
    return best;
}

} // namespace asc::faultinject
