// SPDX-License-Identifier: Apache-2.0
// The profiles of kmod-sim/profiles/ as text inside the program (made by embed_profiles.cmake).
#pragma once

#include <span>
#include <string_view>

namespace asc::sim {

struct EmbeddedProfile {
    std::string_view name; // of the file, without ".toml"
    std::string_view text;
};

std::span<const EmbeddedProfile> embedded_profiles();

} // namespace asc::sim
