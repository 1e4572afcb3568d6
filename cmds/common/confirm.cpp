// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/confirm.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <string>
#include <unistd.h>

namespace asc::cmds {

bool can_ask() {
    return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

bool ask(Streams& streams, std::string_view question) {
    streams.notice(fmt::format("{}(Y/N)", question));
    std::string answer;
    for (;;) {
        char c = 0;
        const ssize_t got = ::read(STDIN_FILENO, &c, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false; // a line that was cut off is no answer
        if (c == '\n')
            break;
        if (c != ' ' && c != '\r' && answer.size() < 8)
            answer += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
    }
    return answer == "y" || answer == "yes";
}

} // namespace asc::cmds
