// SPDX-License-Identifier: Apache-2.0
#include "tests/kernel/programs/nodes.hpp"

#include "ioctl/wire/davinci.h"
#include "ioctl/wire/davsim.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace asc::kernel_test {

namespace {

int bad = 0;

void do_nothing(int) {}

} // namespace

int ask(int fd, std::uint32_t number, const void* argument) {
    const int result = ioctl(fd, number, argument);
    return result < 0 ? -errno : result;
}

const char* module_name(unsigned module) {
    switch (module) {
    case DV_MOD_UDA:
        return "uda";
    case DV_MOD_DEVMNG:
        return "DEVMNG";
    case DV_MOD_URD:
        return "URD";
    case DV_MOD_DAVSIM:
        return DS_MODULE_NAME;
    default:
        return "";
    }
}

int open_module(unsigned module) {
    if (module == DV_MOD_HDC)
        return open(DV_NODE_HDC, O_RDONLY | O_CLOEXEC);
    const int fd = open(DV_NODE_MANAGER, O_RDWR | O_CLOEXEC);
    if (fd < 0 || module == DV_MOD_NONE)
        return fd;
    dv_bind bind{};
    std::strcpy(bind.module_name, module_name(module));
    if (const int result = ask(fd, DV_IOCTL_BIND, &bind); result != 0) {
        std::fprintf(stderr, "bind %s: %d\n", module_name(module), result);
        close(fd);
        return -1;
    }
    return fd;
}

Edge::Edge(std::size_t pages) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    void* all = mmap(nullptr, (pages + 1) * page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) {
        std::perror("mmap");
        std::exit(1);
    }
    start_ = static_cast<std::uint8_t*>(all);
    end_ = start_ + pages * page;
    munmap(end_, page);
}

Edge::~Edge() {
    munmap(start_, size());
}

void Edge::protect(int protection) const {
    if (mprotect(start_, size(), protection) != 0)
        std::perror("mprotect");
}

void ignore_alarms() {
    struct sigaction action {};
    action.sa_handler = do_nothing; // without SA_RESTART
    sigaction(SIGALRM, &action, nullptr);
}

void interrupt_every(unsigned milliseconds) {
    ignore_alarms();
    itimerval timer{};
    timer.it_interval.tv_usec = timer.it_value.tv_usec =
        static_cast<suseconds_t>(milliseconds) * 1000;
    setitimer(ITIMER_REAL, &timer, nullptr);
}

void verdict(bool good, const std::string& name, const std::string& why) {
    const char* const test = std::strchr(program_invocation_short_name, '_') + 1; // kernel_TEST
    if (good) {
        std::printf("ok %s: %s\n", test, name.c_str());
        return;
    }
    ++bad;
    std::printf("not ok %s: %s (%s)\n", test, name.c_str(), why.c_str());
}

int failures() {
    return bad;
}

std::vector<const dv_command_info*> ioctl_commands() {
    std::vector<const dv_command_info*> found;
    for (unsigned id = 1; id < DV_CMD_COUNT; ++id)
        if (dv_command(id)->kind == DV_KIND_IOCTL)
            found.push_back(dv_command(id));
    return found;
}

} // namespace asc::kernel_test
