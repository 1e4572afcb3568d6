// SPDX-License-Identifier: Apache-2.0
// The server's log: one line a problem on standard error, bounded so that a hostile client cannot
// flood it.
#pragma once

#include <string_view>

namespace asc::server {

void log_line(std::string_view text);

} // namespace asc::server
