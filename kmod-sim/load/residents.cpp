// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/load/residents.hpp"

#include "kmod-sim/host/machine.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

namespace asc::load {

namespace {

constexpr int kSettleMs = 30000;

std::string own_program() {
    char path[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
    return length > 0 ? std::string(path, static_cast<std::size_t>(length)) : std::string();
}

// A folder with a link of the resident's name to this program: what a process is called in /proc is
// the last part of the path it was started by.
class Link {
  public:
    explicit Link(const std::string& name) {
        char folder[] = "/tmp/davsim-load.XXXXXX";
        if (mkdtemp(folder) == nullptr)
            return;
        folder_ = folder;
        if (symlink(own_program().c_str(), (folder_ + "/" + name).c_str()) == 0)
            path_ = folder_ + "/" + name;
    }
    ~Link() {
        std::error_code ignored;
        if (!folder_.empty())
            std::filesystem::remove_all(folder_, ignored);
    }
    Link(const Link&) = delete;
    Link& operator=(const Link&) = delete;
    const std::string& path() const { return path_; }

  private:
    std::string folder_, path_;
};

// True once the process has said that it holds; false at its end or after the limit.
bool wait_until_holding(int fd) {
    std::string said;
    char part[64];
    for (;;) {
        pollfd watched{fd, POLLIN, 0};
        if (poll(&watched, 1, kSettleMs) != 1)
            return false;
        const ssize_t count = read(fd, part, sizeof(part));
        if (count <= 0)
            return false;
        said.append(part, static_cast<std::size_t>(count));
        if (said.find("holding\n") != std::string::npos)
            return true;
    }
}

} // namespace

std::expected<pid_t, std::string> start_resident(const sim::ResidentProfile& resident,
                                                 const ModuleTree& module) {
    const std::string who =
        "resident '" + resident.name + "' of device " + std::to_string(resident.device) + ": ";
    const Link link(resident.name);
    if (link.path().empty() || own_program().empty())
        return std::unexpected(who + "no link to start it by: " + std::strerror(errno));
    std::string words[] = {"asc-hold",
                           "--device",
                           std::to_string(resident.device),
                           "--mib",
                           std::to_string(resident.mib),
                           "--backend",
                           "chardev"};
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return std::unexpected(who + std::strerror(errno));
    const pid_t pid = fork();
    if (pid == 0) {
        setsid();
        const int null = open("/dev/null", O_RDWR);
        dup2(null, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        execv(link.path().c_str(), arguments.data());
        _exit(127);
    }
    close(ends[1]);
    const bool holding = pid > 0 && wait_until_holding(ends[0]);
    close(ends[0]);
    if (!holding) {
        if (pid > 0) {
            kill(pid, SIGKILL);
            waitpid(pid, nullptr, 0);
        }
        return std::unexpected(who + "does not come to hold " + std::to_string(resident.mib) +
                               " MiB");
    }
    if (!resident.dead)
        return pid;
    const std::string rule = sim::zombie_rule(static_cast<std::uint32_t>(pid));
    auto done = module.add_rule(rule);
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    if (done)
        done = module.clear_rule(rule);
    if (!done)
        return std::unexpected(who + done.error());
    return pid;
}

} // namespace asc::load
