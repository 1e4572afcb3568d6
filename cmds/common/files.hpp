// SPDX-License-Identifier: Apache-2.0
// Whole files. Errors name the path and the system's reason.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

namespace asc::cmds {

// Put in place whole or not at all (PATH.new, then renamed).
std::expected<void, std::string> write_file(const std::string& path, std::string_view text);
std::expected<std::string, std::string> read_file(const std::string& path,
                                                  std::size_t most_bytes = 16U << 20);

} // namespace asc::cmds
