// SPDX-License-Identifier: Apache-2.0
// Values of a scenario's TOML, with complaints that say where. For the readers of this folder.
#pragma once

#include "faultinject/scenario/scenario.hpp"

#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <vector>

namespace asc::faultinject {

// Ends the reading; carries the whole message.
struct Fault {
    std::string text;
};

// Where we are: the file and the path of keys.
struct Place {
    std::string_view source;
    std::string path;

    [[noreturn]] void fail(const toml::source_region& region, std::string_view key,
                           const std::string& what) const;
    Place in(const std::string& key) const {
        return {source, path.empty() ? key : path + "." + key};
    }
};

using Words = std::vector<std::string_view>;
std::string joined(const Words& words);

std::string kind_of(const toml::node& node); // "a string"
void refuse_unknown(const Place& place, const toml::table& table, const Words& known);
std::string text_of(const Place& place, std::string_view key, const toml::node& node);
std::int64_t whole_of(const Place& place, std::string_view key, const toml::node& node,
                      std::int64_t least, std::int64_t most);
std::uint64_t duration_of(const Place& place, std::string_view key, const toml::node& node);
// One text, or several in an array.
std::vector<std::string> texts_of(const Place& place, std::string_view key, const toml::node& node);
const toml::table& table_of(const Place& place, std::string_view key, const toml::node& node);
Json json_of(const Place& place, std::string_view key, const toml::node& node);

Expectation read_expectation(const Place& place,
                             const toml::table& table); // expectation_reader.cpp

} // namespace asc::faultinject
