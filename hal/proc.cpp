// SPDX-License-Identifier: Apache-2.0
#include "hal/proc.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace asc::hal {

namespace {

constexpr ino_t kInitialPidNamespace = 0xEFFFFFFCU; // PROC_PID_INIT_INO

std::optional<std::string> contents(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return std::nullopt;
    std::string text;
    char block[4096];
    for (;;) {
        const ssize_t length = read(fd, block, sizeof(block));
        if (length < 0 && errno == EINTR)
            continue;
        if (length < 0) {
            const int error = errno;
            close(fd);
            errno = error;
            return std::nullopt;
        }
        if (length == 0 || text.size() > 65536)
            break;
        text.append(block, static_cast<std::size_t>(length));
    }
    close(fd);
    return text;
}

} // namespace

std::optional<ProcStat> parse_stat(const std::string& line) {
    const std::size_t bracket = line.rfind(')');
    if (bracket == std::string::npos || bracket + 2 >= line.size())
        return std::nullopt;
    ProcStat stat;
    stat.state = line[bracket + 2];
    // Field 3 is the state; 4 ppid, 7 tty_nr, 20 num_threads, 22 starttime.
    const char* at = line.c_str() + bracket + 3;
    for (int field = 4; field <= 22; ++field) {
        char* end = nullptr;
        errno = 0;
        const unsigned long long value = std::strtoull(at, &end, 10);
        if (end == at)
            return std::nullopt;
        at = end;
        const auto number = static_cast<std::int64_t>(value);
        if (field == 4)
            stat.parent = number;
        else if (field == 7)
            stat.terminal = number;
        else if (field == 20)
            stat.threads = number;
        else if (field == 22)
            stat.start_ticks = value;
    }
    return stat;
}

std::optional<std::string> Proc::file(std::int64_t pid, const char* name) const {
    return contents(root_ + "/" + std::to_string(pid) + "/" + name);
}

Proc::Found Proc::stat(std::int64_t pid, ProcStat& out) const {
    const auto line = file(pid, "stat");
    if (!line) {
        if (errno != ENOENT && errno != ESRCH)
            return Found::unreadable;
        // With hidepid= a process of another user is not there to see, but there.
        if (root_ == "/proc" && kill(static_cast<pid_t>(pid), 0) != 0 && errno == EPERM)
            return Found::unreadable;
        return Found::no;
    }
    const auto parsed = parse_stat(*line);
    if (!parsed)
        return Found::unreadable;
    out = *parsed;
    return Found::yes;
}

std::optional<std::string> Proc::name(std::int64_t pid) const {
    auto text = file(pid, "comm");
    if (text && !text->empty() && text->back() == '\n')
        text->pop_back();
    return text;
}

std::optional<std::string> Proc::command_line(std::int64_t pid) const {
    auto text = file(pid, "cmdline");
    if (!text)
        return text;
    while (!text->empty() && text->back() == '\0')
        text->pop_back();
    for (char& c : *text)
        if (c == '\0')
            c = ' ';
    return text;
}

std::optional<std::uint32_t> Proc::uid(std::int64_t pid) const {
    const auto text = file(pid, "status");
    const std::size_t line = text ? text->find("\nUid:") : std::string::npos;
    if (line == std::string::npos)
        return std::nullopt;
    return static_cast<std::uint32_t>(std::strtoul(text->c_str() + line + 5, nullptr, 10));
}

std::int64_t Proc::boot_time_s() const {
    if (!boot_time_) {
        const auto text = contents(root_ + "/stat");
        const std::size_t line = text ? text->find("\nbtime ") : std::string::npos;
        boot_time_ =
            line == std::string::npos ? 0 : std::strtoll(text->c_str() + line + 7, nullptr, 10);
    }
    return *boot_time_;
}

std::int64_t Proc::ticks_per_second() {
    const long ticks = sysconf(_SC_CLK_TCK);
    return ticks > 0 ? ticks : 100;
}

bool Proc::foreign_namespace() const {
    struct stat status {};
    return ::stat((root_ + "/self/ns/pid").c_str(), &status) != 0 ||
           status.st_ino != kInitialPidNamespace;
}

std::vector<std::int64_t> Proc::pids() const {
    std::vector<std::int64_t> found;
    DIR* folder = opendir(root_.c_str());
    if (folder == nullptr)
        return found;
    while (const dirent* entry = readdir(folder)) {
        char* end = nullptr;
        const long long pid = std::strtoll(entry->d_name, &end, 10);
        if (pid > 0 && *end == '\0')
            found.push_back(pid);
    }
    closedir(folder);
    return found;
}

bool Proc::descriptors(std::int64_t pid,
                       const std::function<void(const std::string&)>& look) const {
    const std::string path = root_ + "/" + std::to_string(pid) + "/fd";
    DIR* folder = opendir(path.c_str());
    if (folder == nullptr)
        return errno == ENOENT || errno == ESRCH; // it has ended meanwhile: it holds nothing
    while (const dirent* entry = readdir(folder))
        if (entry->d_name[0] != '.')
            look(path + "/" + entry->d_name);
    closedir(folder);
    return true;
}

} // namespace asc::hal
