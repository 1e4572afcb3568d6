// SPDX-License-Identifier: Apache-2.0
#include "faultinject/scenario/library.hpp"

#include "faultinject/scenario/scenario.hpp"
#include "faultinject/scenario/words.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <vector>

namespace asc::faultinject {

namespace {

std::expected<ScenarioText, std::string> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return std::unexpected(path + ": cannot be opened: " + std::strerror(errno));
    std::string text(kScenarioMax + 1, '\0'); // one byte too many is refused by the reader
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (file.bad())
        return std::unexpected(path + ": cannot be read: " + std::strerror(errno));
    text.resize(static_cast<std::size_t>(file.gcount()));
    return ScenarioText{std::move(text), path};
}

} // namespace

std::expected<ScenarioText, std::string> find_scenario(const std::string& name_or_path) {
    if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml"))
        return read_file(name_or_path);
    const auto library = scenario_library();
    const auto found = std::ranges::find(library, name_or_path, &LibraryEntry::name);
    if (found != library.end())
        return ScenarioText{std::string(found->text), name_or_path + ".toml"};
    std::vector<std::string_view> names;
    for (const LibraryEntry& entry : library)
        names.push_back(entry.name);
    const std::string_view near = nearest_word(name_or_path, names);
    return std::unexpected(
        "no scenario '" + name_or_path + "'" +
        (near.empty() ? std::string() : "; did you mean '" + std::string(near) + "'?") +
        " ('faultinject run --list' shows the library; a file is named with '/' or '.toml')");
}

} // namespace asc::faultinject
