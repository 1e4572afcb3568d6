// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/holder.hpp"

#include "kmod-sim/server/client.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace asc::server {

namespace {

constexpr int kReport = 3; // descriptor of the holder's report

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

int report(const std::string& text, int status) {
    const ssize_t written = ::write(kReport, text.data(), text.size());
    ::close(kReport);
    return written == static_cast<ssize_t>(text.size()) ? status : kFailed;
}

// ps and /proc show the resident's name: the argument area is overwritten in place.
void take_name(char** argv, const std::string& name) {
    prctl(PR_SET_NAME, name.c_str());
    char* const first = argv[0];
    const std::size_t room =
        static_cast<std::size_t>(argv[1] + std::strlen(argv[1]) - first); // "davsimd\0--holder"
    std::memset(first, 0, room);
    name.copy(first, room);
}

std::string why(const char* what, int error) {
    return std::string(what) + ": " + std::strerror(error);
}

} // namespace

HolderArguments::HolderArguments(const std::string& socket, const Resident& resident, pid_t parent)
    : text_{"HOLDER_SOCKET=" + socket, "HOLDER_DEVICE=" + std::to_string(resident.device),
            // An owner of a loaded state has its memory already.
            "HOLDER_MIB=" + (resident.owner >= 0 ? "none" : std::to_string(resident.mib)),
            "HOLDER_NAME=" + resident.name, "HOLDER_PARENT=" + std::to_string(parent),
            "PATH=/usr/bin:/bin"} {
    for (std::size_t i = 0; i < text_.size(); ++i)
        pointers_[i] = text_[i].data();
}

void become_holder(const HolderArguments& arguments, int report_end) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
    setsid(); // the terminal's signals are for the user's command
    const int null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    if (report_end == kReport)
        fcntl(report_end, F_SETFD, 0);
    else
        dup2(report_end, kReport);
    syscall(SYS_close_range, kReport + 1, ~0U, 0);
    char name[] = "davsimd";
    char option[sizeof(kHolderOption)];
    std::memcpy(option, kHolderOption, sizeof(option));
    char* const argv[] = {name, option, nullptr};
    execve("/proc/self/exe", argv, arguments.environment());
    static constexpr char kProblem[] = "this program cannot be run again";
    if (::write(kReport, kProblem, sizeof(kProblem) - 1) < 0)
        _exit(kFailed + 1);
    _exit(kFailed);
}

int holder_main(char** argv) {
    const auto parent = static_cast<pid_t>(std::atol(from_environment("HOLDER_PARENT").c_str()));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (parent <= 1 || getppid() != parent)
        return kUsage; // the server has gone, or somebody typed the option
    take_name(argv, from_environment("HOLDER_NAME"));
    if (chdir("/") != 0)
        return report(why("chdir", errno), kFailed);
    const std::string mib = from_environment("HOLDER_MIB");
    const auto device = static_cast<std::uint32_t>(
        std::strtoul(from_environment("HOLDER_DEVICE").c_str(), nullptr, 10));

    auto client = Client::connect(from_environment("HOLDER_SOCKET"));
    if (!client)
        return report(client.error().text, client.error().status);
    // The calls of machine_setup.cpp's play(), so that the journals agree.
    auto control = client->open(DV_NODE_IS_MANAGER, 0);
    if (!control)
        return report(why("open the control node", control.error()), kFailed);
    auto node = client->open(DV_NODE_IS_DEVICE, device);
    if (!node)
        return report(why("open the device", node.error()), kFailed);
    dv_bind bind{};
    std::strcpy(bind.module_name, DS_MODULE_NAME);
    if (const int result = client->call(*control, DV_IOCTL_BIND, &bind); result != 0)
        return report(why("bind", std::abs(result)), kFailed);
    if (mib != "none") {
        ds_alloc alloc{};
        alloc.size = sizeof(alloc);
        alloc.device_id = device;
        alloc.bytes = std::strtoull(mib.c_str(), nullptr, 10) << 20U;
        alloc.flags = DS_ALLOC_CONTEXT;
        if (const int result = client->call(*control, DS_ALLOC, &alloc); result != 0)
            return report(why(("hold " + mib + " MiB").c_str(), std::abs(result)), kFailed);
    }
    if (report(std::string(kHolderSettled), kDone) != kDone)
        return kFailed;
    // The end of the server is the end of this process; so is a signal.
    pollfd ends[] = {{control->socket.get(), POLLRDHUP, 0}, {node->socket.get(), POLLRDHUP, 0}};
    while (poll(ends, 2, -1) < 0 && errno == EINTR) {
    }
    return kDone;
}

} // namespace asc::server
