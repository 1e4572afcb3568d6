// SPDX-License-Identifier: Apache-2.0
// Many processes that open, call, allocate, fork, close and are killed at any moment.
#include "ioctl/wire/davinci.h"
#include "ioctl/wire/davsim.h"
#include "ioctl/wire/telemetry.h"
#include "tests/kernel/programs/nodes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

namespace asc::kernel_test {
namespace {

using Random = std::minstd_rand;

unsigned below(Random& random, unsigned limit) {
    return static_cast<unsigned>(random() % limit);
}

void query(Random& random, int fd) {
    std::uint8_t argument[4096]{};
    const auto commands = ioctl_commands();
    const dv_command_info* command =
        commands[below(random, static_cast<unsigned>(commands.size()))];
    if (command->effect == DV_EFFECT_DESTROY || command->in_len > sizeof(argument))
        return;
    const std::uint32_t device = below(random, 10), size = command->in_len;
    std::memcpy(argument, command->module == DV_MOD_DAVSIM ? &size : &device, sizeof(device));
    std::memcpy(argument + 4, &device, sizeof(device));
    ask(fd, command->number, argument);
}

void allocate(Random& random, int fd) {
    ds_alloc alloc{};
    alloc.size = sizeof(alloc);
    alloc.device_id = below(random, 8);
    alloc.bytes = std::uint64_t{below(random, 64)} << 20U;
    alloc.flags = DS_ALLOC_CONTEXT;
    if (ask(fd, DS_ALLOC, &alloc) != 0 || below(random, 2) != 0)
        return;
    ds_free gone{sizeof(gone), alloc.device_id, alloc.handle, 0};
    ask(fd, DS_FREE, &gone);
}

// A telemetry page: read, and as a rule left to the end of the process.
void map_and_look(Random& random, int fd) {
    const long size = sysconf(_SC_PAGESIZE);
    void* page = mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_SHARED, fd,
                      static_cast<long>(below(random, 10)) * size);
    if (page == MAP_FAILED)
        return;
    ds_telemetry_values values{};
    ds_telemetry_read(static_cast<const ds_telemetry*>(page), &values, 100);
    if (below(random, 4) == 0)
        munmap(page, static_cast<std::size_t>(size));
}

// One process' life; killed by its parent at any moment.
[[noreturn]] void live(unsigned seed) {
    Random random(seed);
    interrupt_every(20);
    for (;;) {
        constexpr unsigned kModules[] = {DV_MOD_UDA, DV_MOD_DEVMNG, DV_MOD_URD, DV_MOD_DAVSIM,
                                         DV_MOD_HDC};
        const unsigned module = kModules[below(random, 5)];
        const int fd = open_module(module);
        const std::string node = DV_NODE_DEVICE_PREFIX + std::to_string(below(random, 8));
        const int device = open(node.c_str(), O_RDONLY | O_CLOEXEC);
        for (unsigned calls = below(random, 40); fd >= 0 && calls > 0; --calls) {
            if (module == DV_MOD_DAVSIM && below(random, 3) == 0)
                allocate(random, fd);
            else if (module == DV_MOD_DAVSIM && below(random, 8) == 0)
                map_and_look(random, fd);
            else
                query(random, fd);
        }
        pollfd watched{fd, POLLIN, 0};
        poll(&watched, fd >= 0, 0);
        if (below(random, 8) == 0) { // a child shares the open files for a while
            const pid_t child = fork();
            if (child == 0) {
                query(random, fd);
                _exit(0);
            }
            if (below(random, 2) != 0)
                waitpid(child, nullptr, 0);
        }
        if (fd >= 0)
            close(fd);
        if (device >= 0)
            close(device);
        while (waitpid(-1, nullptr, WNOHANG) > 0)
            ;
    }
}

pid_t start(unsigned seed) {
    const pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0); // its own children go with it
        std::freopen("/dev/null", "w", stderr);
        live(seed);
    }
    setpgid(pid, pid);
    return pid;
}

} // namespace
} // namespace asc::kernel_test

int main(int argc, char** argv) {
    using namespace asc::kernel_test;
    unsigned processes = 64, seconds = 60;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        (option == "--processes" ? processes : seconds) =
            static_cast<unsigned>(std::strtoul(argv[i + 1], nullptr, 10));
    }
    Random random(1);
    std::vector<pid_t> running;
    unsigned started = 0;
    const std::time_t end = std::time(nullptr) + seconds;
    while (running.size() < processes)
        running.push_back(start(++started));
    while (std::time(nullptr) < end) {
        usleep(20000);
        pid_t& victim = running[below(random, processes)];
        kill(-victim, SIGKILL);
        waitpid(victim, nullptr, 0);
        victim = start(++started);
    }
    for (const pid_t pid : running) {
        kill(-pid, SIGKILL);
        waitpid(pid, nullptr, 0);
    }
    std::printf("%u processes lived and were killed\n", started);
    return 0;
}
