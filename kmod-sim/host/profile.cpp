// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/host/profile.hpp"

#include "kmod-sim/host/profiles_embedded.hpp"
#include "kmod-sim/host/spelling.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace asc::sim {

namespace {

constexpr std::size_t kProfileBytesMax = 1024 * 1024;

std::string list(std::span<const std::string_view> words) {
    std::string text;
    for (const std::string_view word : words)
        text.append(text.empty() ? "" : ", ").append(word);
    return text;
}

bool is_path(std::string_view text) {
    return text.find('/') != std::string_view::npos || text.ends_with(".toml");
}

} // namespace

std::vector<std::string_view> profile_names() {
    std::vector<std::string_view> names;
    for (const EmbeddedProfile& profile : embedded_profiles())
        names.push_back(profile.name);
    std::ranges::sort(names);
    return names;
}

std::expected<Profile, std::string> load_profile(std::string_view name_or_path) {
    if (!is_path(name_or_path)) {
        for (const EmbeddedProfile& profile : embedded_profiles())
            if (profile.name == name_or_path)
                return parse_profile(profile.text, std::string(name_or_path) + ".toml");
        const auto names = profile_names();
        std::string near;
        for (const std::string_view name : names)
            if (near.empty() && is_near(name_or_path, name))
                near = "; did you mean '" + std::string(name) + "'?";
        return std::unexpected("no profile '" + std::string(name_or_path) + "'" + near +
                               " Known: " + list(names) + "; or the path of a .toml file");
    }
    const std::string path(name_or_path);
    std::ifstream file(path, std::ios::binary);
    if (!file)
        return std::unexpected(path + ": cannot be read: " + std::strerror(errno));
    std::string text;
    char block[4096];
    while (file.read(block, sizeof(block)) || file.gcount() > 0) {
        text.append(block, static_cast<std::size_t>(file.gcount()));
        if (text.size() > kProfileBytesMax)
            return std::unexpected(path + ": longer than " + std::to_string(kProfileBytesMax) +
                                   " bytes; not a profile");
    }
    if (file.bad() || (text.empty() && errno == EISDIR))
        return std::unexpected(path + ": cannot be read: " + std::strerror(errno));
    return parse_profile(text, path);
}

} // namespace asc::sim
