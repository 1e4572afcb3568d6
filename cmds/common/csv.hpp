// SPDX-License-Identifier: Apache-2.0
// CSV by RFC 4180: fields parted by ',', lines by CR LF, quotes where a field needs them.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace asc::cmds {

// A field as it stands in a line. Line breaks stay (quoted); other control characters are \xNN.
std::string csv_field(std::string_view raw);
std::string csv_line(std::span<const std::string> fields);

} // namespace asc::cmds
