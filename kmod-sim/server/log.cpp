// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/log.hpp"

#include <unistd.h>

#include <chrono>
#include <string>

namespace asc::server {

void log_line(std::string_view text) {
    constexpr unsigned kLinesASecond = 20;
    using Seconds = std::chrono::seconds;
    static Seconds second{0};
    static unsigned lines = 0;
    const auto now =
        std::chrono::duration_cast<Seconds>(std::chrono::steady_clock::now().time_since_epoch());
    std::string out;
    if (now != second) {
        if (lines > kLinesASecond)
            out = "davsimd: " + std::to_string(lines - kLinesASecond) + " more lines left out\n";
        second = now;
        lines = 0;
    }
    if (++lines <= kLinesASecond) {
        out.append("davsimd: ");
        for (const char c : text) // a client's words must not steer the terminal
            out.push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c);
        out.push_back('\n');
    }
    if (!out.empty() && ::write(STDERR_FILENO, out.data(), out.size()) < 0)
        return; // nowhere left to complain
}

} // namespace asc::server
