// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/times.hpp"

#include <fmt/format.h>

#include <chrono>
#include <ctime>

namespace asc::cmds {

namespace {

std::string text_of(std::int64_t unix_ms, bool utc) {
    // Floor, so that a moment before the epoch does not round up.
    const std::int64_t rest = ((unix_ms % 1000) + 1000) % 1000;
    const std::time_t seconds = (unix_ms - rest) / 1000;
    std::tm parts{};
    if ((utc ? ::gmtime_r(&seconds, &parts) : ::localtime_r(&seconds, &parts)) == nullptr)
        return fmt::format("@{}", seconds); // a year that does not fit
    return fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}{}", parts.tm_year + 1900,
                       parts.tm_mon + 1, parts.tm_mday, utc ? 'T' : ' ', parts.tm_hour,
                       parts.tm_min, parts.tm_sec, utc ? "Z" : "");
}

} // namespace

std::int64_t now_ms() {
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

std::string utc_text(std::int64_t unix_ms) {
    return text_of(unix_ms, true);
}

std::string local_text(std::int64_t unix_ms) {
    return text_of(unix_ms, false);
}

} // namespace asc::cmds
