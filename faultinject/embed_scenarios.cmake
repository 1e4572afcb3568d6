# SPDX-License-Identifier: Apache-2.0
# Writes OUTPUT, a C++ file that holds the bytes of each of SCENARIOS.
set(arrays "")
set(table "")
foreach(scenario IN LISTS SCENARIOS)
    cmake_path(GET scenario STEM name)
    string(MAKE_C_IDENTIFIER "${name}" identifier)
    file(READ "${scenario}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays "const unsigned char ${identifier}[] = {${bytes}};\n")
    string(APPEND table "    {\"${name}\", text_of(${identifier})},\n")
endforeach()
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT [[
// Generated from faultinject/scenarios/.
#include "faultinject/scenario/library.hpp"

#include <cstddef>

namespace asc::faultinject {

namespace {

@arrays@
template <std::size_t N> std::string_view text_of(const unsigned char (&bytes)[N]) {
    return {reinterpret_cast<const char*>(bytes), N};
}

const LibraryEntry kScenarios[] = {
@table@};

} // namespace

std::span<const LibraryEntry> scenario_library() { return kScenarios; }

} // namespace asc::faultinject
]])
