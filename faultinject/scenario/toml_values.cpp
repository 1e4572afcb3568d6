// SPDX-License-Identifier: Apache-2.0
#include "faultinject/scenario/toml_values.hpp"

#include "faultinject/scenario/words.hpp"

#include <algorithm>
#include <sstream>

namespace asc::faultinject {

void Place::fail(const toml::source_region& region, std::string_view key,
                 const std::string& what) const {
    std::string where(source);
    if (region.begin.line != 0)
        where +=
            ":" + std::to_string(region.begin.line) + ":" + std::to_string(region.begin.column);
    std::string full = path;
    full.append(path.empty() || key.empty() ? "" : ".").append(key);
    throw Fault{where + ": " + full + (full.empty() ? "" : ": ") + what};
}

std::string kind_of(const toml::node& node) {
    std::ostringstream name;
    name << node.type();
    const bool vowel = node.is_integer() || node.is_array();
    return (vowel ? "an " : "a ") + name.str();
}

std::string joined(const Words& words) {
    std::string out;
    for (const std::string_view word : words)
        out.append(out.empty() ? "" : ", ").append(word);
    return out;
}

void refuse_unknown(const Place& place, const toml::table& table, const Words& known) {
    for (const auto& [key, node] : table) {
        const std::string_view name = key.str();
        if (std::ranges::find(known, name) != known.end())
            continue;
        const std::string_view near = nearest_word(name, known);
        place.fail(key.source(), name,
                   near.empty() ? "unknown key; known: " + joined(known)
                                : "unknown key; did you mean '" + std::string(near) + "'?");
    }
}

std::string text_of(const Place& place, std::string_view key, const toml::node& node) {
    const auto* value = node.as_string();
    if (!value)
        place.fail(node.source(), key, "a text is expected, not " + kind_of(node));
    if (value->get().find('\0') != std::string::npos)
        place.fail(node.source(), key, "a text without zero bytes is expected");
    return value->get();
}

std::int64_t whole_of(const Place& place, std::string_view key, const toml::node& node,
                      std::int64_t least, std::int64_t most) {
    const auto* value = node.as_integer();
    if (!value || value->get() < least || value->get() > most)
        place.fail(node.source(), key,
                   "a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                       " is expected");
    return value->get();
}

std::uint64_t duration_of(const Place& place, std::string_view key, const toml::node& node) {
    const auto* value = node.as_string();
    const auto ns = value ? parse_duration(value->get()) : std::nullopt;
    if (!ns)
        place.fail(node.source(), key, "a time as \"300ms\", \"2s\", \"5m\", \"12h\" is expected");
    return *ns;
}

// One text, or several in an array.
std::vector<std::string> texts_of(const Place& place, std::string_view key,
                                  const toml::node& node) {
    std::vector<std::string> out;
    if (const auto* array = node.as_array())
        for (const toml::node& element : *array)
            out.push_back(text_of(place, key, element));
    else
        out.push_back(text_of(place, key, node));
    return out;
}

const toml::table& table_of(const Place& place, std::string_view key, const toml::node& node) {
    const auto* table = node.as_table();
    if (!table)
        place.fail(node.source(), key, "a table is expected, not " + kind_of(node));
    return *table;
}

Json json_of(const Place& place, std::string_view key, const toml::node& node) {
    if (const auto* text = node.as_string())
        return text->get();
    if (const auto* whole = node.as_integer())
        return whole->get();
    if (const auto* number = node.as_floating_point())
        return number->get();
    if (const auto* flag = node.as_boolean())
        return flag->get();
    if (const auto* array = node.as_array()) {
        Json out = Json::array();
        for (const toml::node& element : *array)
            out.push_back(json_of(place, key, element));
        return out;
    }
    if (const auto* table = node.as_table()) {
        Json out = Json::object();
        for (const auto& [name, member] : *table)
            out[std::string(name.str())] = json_of(place, key, member);
        return out;
    }
    place.fail(node.source(), key, "a value of JSON is expected, not " + kind_of(node));
}

} // namespace asc::faultinject
