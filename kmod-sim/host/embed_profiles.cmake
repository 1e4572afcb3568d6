# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C++ file that holds the bytes of each of PROFILES.
set(arrays "")
set(table "")
foreach(profile IN LISTS PROFILES)
    cmake_path(GET profile STEM name)
    string(MAKE_C_IDENTIFIER "${name}" identifier)
    file(READ "${profile}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays "const unsigned char ${identifier}[] = {${bytes}};\n")
    string(APPEND table "    {\"${name}\", text_of(${identifier})},\n")
endforeach()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
// Generated from kmod-sim/profiles/.
#include "kmod-sim/host/profiles_embedded.hpp"

#include <cstddef>

namespace asc::sim {

namespace {

@arrays@
template <std::size_t N> std::string_view text_of(const unsigned char (&bytes)[N]) {
    return {reinterpret_cast<const char*>(bytes), N};
}

const EmbeddedProfile kProfiles[] = {
@table@};

} // namespace

std::span<const EmbeddedProfile> embedded_profiles() { return kProfiles; }

} // namespace asc::sim
]])
