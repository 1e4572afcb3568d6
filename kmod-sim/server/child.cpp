// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/child.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

extern char** environ;

namespace asc::server {

namespace {

// The environment with some variables replaced.
std::vector<std::string>
environment_with(const std::vector<std::pair<std::string, std::string>>& variables) {
    std::vector<std::string> out;
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string_view text(*entry);
        const bool replaced = std::ranges::any_of(
            variables, [&](const auto& v) { return text.starts_with(v.first + "="); });
        if (!replaced)
            out.emplace_back(text);
    }
    for (const auto& [name, value] : variables)
        out.push_back(name + "=" + value);
    return out;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
    std::vector<char*> out;
    for (std::string& text : texts)
        out.push_back(text.data());
    out.push_back(nullptr);
    return out;
}

const std::string* value_of(const std::vector<std::pair<std::string, std::string>>& variables,
                            const char* name) {
    for (const auto& [key, value] : variables)
        if (key == name)
            return &value;
    return nullptr;
}

// Files that execve is to try for a word, as a shell finds them along PATH.
std::vector<std::string> candidates(const std::string& word, std::string_view path) {
    if (word.find('/') != std::string::npos)
        return {word};
    std::vector<std::string> out;
    while (true) {
        const std::size_t end = path.find(':');
        const std::string_view folder = path.substr(0, end);
        out.push_back((folder.empty() ? "." : std::string(folder)) + "/" + word);
        if (end == std::string_view::npos)
            return out;
        path.remove_prefix(end + 1);
    }
}

} // namespace

std::expected<Child, std::pair<int, std::string>>
Child::start(const std::vector<std::string>& command,
             const std::vector<std::pair<std::string, std::string>>& variables,
             const Signals& signals) {
    const auto failed = [](const char* what) {
        return std::unexpected(std::pair(126, std::string(what) + ": " + std::strerror(errno)));
    };
    // All that needs memory is made before the fork.
    std::vector<std::string> words = command, environment = environment_with(variables);
    const std::vector<char*> argv = pointers(words), envp = pointers(environment);
    const std::string* path = value_of(variables, "PATH");
    const char* own_path = std::getenv("PATH");
    const std::vector<std::string> files =
        candidates(command.front(), path       ? *path
                                    : own_path ? own_path
                                               : "/usr/local/bin:/usr/bin:/bin");
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return failed("pipe");
    const Descriptor from_child(ends[0]);
    Descriptor to_parent(ends[1]);
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid < 0)
        return failed("fork");
    if (pid == 0) {
        signals.undo();
        // Without the simulator the command has nothing to talk to: it is told to end when davsim
        // is killed.
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent)
            _exit(126);
        int error = ENOENT;
        for (const std::string& file : files) {
            execve(file.c_str(), argv.data(), envp.data());
            if (errno != ENOENT && errno != ENOTDIR && (errno != EACCES || error == ENOENT))
                error = errno;
        }
        if (::write(ends[1], &error, sizeof(error)) < 0)
            _exit(126);
        _exit(error == ENOENT ? 127 : 126);
    }
    to_parent.reset();
    int error = 0;
    ssize_t got = 0;
    do
        got = ::read(from_child.get(), &error, sizeof(error));
    while (got < 0 && errno == EINTR);
    if (got == sizeof(error)) {
        while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
        }
        return std::unexpected(
            std::pair(error == ENOENT ? 127 : 126, command.front() + ": " + std::strerror(error)));
    }
    Child child;
    child.pid_ = pid;
    child.pidfd_ = Descriptor(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    if (!child.pidfd_) {
        const int problem = errno;
        kill(pid, SIGKILL);
        while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
        }
        errno = problem;
        return failed("pidfd_open");
    }
    return child;
}

bool Child::reap() {
    int status = 0;
    const pid_t got = waitpid(pid_, &status, WNOHANG);
    if (got != pid_)
        return false;
    status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

std::vector<pid_t> children_of_this(const std::vector<pid_t>& except) {
    std::vector<pid_t> found;
    DIR* folder = opendir("/proc");
    if (folder == nullptr)
        return found;
    while (const dirent* entry = readdir(folder)) {
        const pid_t pid = static_cast<pid_t>(std::atol(entry->d_name));
        if (pid <= 0 || std::ranges::count(except, pid) != 0)
            continue;
        std::ifstream file("/proc/" + std::string(entry->d_name) + "/stat");
        const std::string stat{std::istreambuf_iterator<char>(file),
                               std::istreambuf_iterator<char>()};
        const std::size_t name_end = stat.rfind(')');
        if (name_end != std::string::npos && name_end + 4 < stat.size() &&
            std::atol(stat.c_str() + name_end + 4) == getpid())
            found.push_back(pid);
    }
    closedir(folder);
    return found;
}

std::string program_folder() {
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    return error ? "." : program.parent_path().string();
}

} // namespace asc::server
