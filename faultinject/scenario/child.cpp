// SPDX-License-Identifier: Apache-2.0
#include "faultinject/scenario/child.hpp"

#include "faultinject/scenario/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace asc::faultinject {

namespace {

using Steady = std::chrono::steady_clock;

void write_line(int fd, std::string_view text) {
    std::string line(text);
    line += '\n';
    std::string_view rest = line;
    while (!rest.empty()) {
        const ssize_t done = ::write(fd, rest.data(), rest.size());
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            _exit(126); // nobody listens any more
        rest.remove_prefix(static_cast<std::size_t>(done));
    }
}

[[noreturn]] void run_child(const std::function<int(const Tell&)>& work, int fd, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(126);
    const int status = work([fd](std::string_view line) { write_line(fd, line); });
    _exit(status);
}

// Hands on the whole lines of `text` and keeps the rest.
void hand_on(std::string& text, const std::function<void(std::string_view)>& line) {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
        line(std::string_view(text).substr(begin, end - begin));
    text.erase(0, begin);
}

// Reads until the other end is closed; false when the time is over before.
bool read_all(int fd, const std::function<void(std::string_view)>& line, Steady::time_point end) {
    std::string text;
    char part[16384];
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Steady::now()).count();
        if (left <= 0)
            return false;
        pollfd watched{fd, POLLIN, 0};
        if (poll(&watched, 1, static_cast<int>(std::min<std::int64_t>(left, 1000))) <= 0)
            continue;
        const ssize_t got = ::read(fd, part, sizeof(part));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return true;
        text.append(part, static_cast<std::size_t>(got));
        hand_on(text, line);
    }
}

} // namespace

std::expected<ChildEnd, std::string> in_child(const std::function<int(const Tell&)>& work,
                                              const std::function<void(std::string_view)>& line,
                                              std::chrono::milliseconds limit) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return std::unexpected(std::string("pipe: ") + std::strerror(errno));
    const File from_child(ends[0]);
    File to_parent(ends[1]);
    std::fflush(nullptr); // what is buffered must not be written twice
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0)
        return std::unexpected(std::string("fork: ") + std::strerror(errno));
    if (pid == 0)
        run_child(work, to_parent.get(), parent);
    to_parent = File();
    ChildEnd out;
    out.timed_out = !read_all(from_child.get(), line, Steady::now() + limit);
    if (out.timed_out)
        kill(pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    out.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return out;
}

} // namespace asc::faultinject
