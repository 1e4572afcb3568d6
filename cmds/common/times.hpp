// SPDX-License-Identifier: Apache-2.0
// Points in time as text.
#pragma once

#include <cstdint>
#include <string>

namespace asc::cmds {

std::int64_t now_ms(); // since the epoch

// "2026-12-01T02:25:31Z", for programs. Milliseconds since the epoch.
std::string utc_text(std::int64_t unix_ms);
// "2026-12-01 02:25:31" in the zone of the machine, for people.
std::string local_text(std::int64_t unix_ms);

} // namespace asc::cmds
