// SPDX-License-Identifier: Apache-2.0
// Telemetry pages: who gets one, that nobody can write it, that it follows the device without a
// call, in a child too.
#include "ioctl/wire/telemetry.h"
#include "ioctl/wire/davinci.h"
#include "ioctl/wire/davsim.h"
#include "tests/kernel/programs/nodes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

namespace asc::kernel_test {
namespace {

const long kPage = sysconf(_SC_PAGESIZE);

// The page, or MAP_FAILED and errno.
void* map(int fd, std::int64_t device, int protection = PROT_READ, long bytes = kPage,
          int flags = MAP_SHARED) {
    return mmap(nullptr, static_cast<std::size_t>(bytes), protection, flags, fd, device * kPage);
}

void refused(const std::string& name, const void* mapped, int want) {
    const int got = mapped == MAP_FAILED ? errno : 0;
    verdict(got == want, name, "errno " + std::to_string(got) + ", not " + std::to_string(want));
}

void refusals(int fd) {
    refused("a writable page", map(fd, 0, PROT_READ | PROT_WRITE), EACCES);
    refused("a page to run", map(fd, 0, PROT_READ | PROT_EXEC), EACCES);
    refused("two pages", map(fd, 0, PROT_READ, 2 * kPage), EINVAL);
    refused("no such device", map(fd, 60), ENODEV);
    refused("a far offset", map(fd, std::int64_t{1} << 40), ENODEV);
    for (const unsigned module : {DV_MOD_NONE, DV_MOD_UDA, DV_MOD_DEVMNG, DV_MOD_URD, DV_MOD_HDC}) {
        const int other = open_module(module);
        refused("a file of module " + std::to_string(module), map(other, 0), ENODEV);
        close(other);
    }
    const int node = open("/dev/davinci0", O_RDWR | O_CLOEXEC);
    refused("the device's own node", map(node, 0), ENODEV);
    close(node);
}

void never_writable(void* page, const std::string& kind) {
    const auto size = static_cast<std::size_t>(kPage);
    verdict(mprotect(page, size, PROT_READ | PROT_WRITE) != 0 && errno == EACCES,
            "mprotect makes no " + kind + " page writable");
    verdict(mprotect(page, size, PROT_READ | PROT_EXEC) != 0 && errno == EACCES, "and none to run");
    verdict(mremap(page, size, 2 * size, MREMAP_MAYMOVE) == MAP_FAILED, "and none longer");
}

ds_telemetry_values look(const ds_telemetry* page) {
    ds_telemetry_values values{};
    if (ds_telemetry_read(page, &values, 1 << 20) < 0)
        verdict(false, "the page stands still for a reading");
    return values;
}

using Condition = std::function<bool(const ds_telemetry_values&)>;

bool comes(const ds_telemetry* page, const Condition& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition(look(page))) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
}

bool hotplug(int fd, std::uint32_t device, std::uint32_t operation) {
    ds_hotplug argument{sizeof(argument), device, operation, 0};
    return ask(fd, DS_HOTPLUG, &argument) == 0;
}

void follows(int fd, const ds_telemetry* page) {
    const ds_telemetry_values first = look(page);
    verdict(first.device_id == 1 && first.state == DS_STATE_OK &&
                first.known == (DS_TELEMETRY_KNOWN_SENSORS | DS_TELEMETRY_KNOWN_MEMORY),
            "device 1, and it works");
    verdict(comes(page, [&](const auto& now) { return now.now_ns > first.now_ns + 500000000; }),
            "it is kept up to date while nobody calls");
    ds_alloc alloc{};
    alloc.size = sizeof(alloc);
    alloc.device_id = 1;
    alloc.bytes = std::uint64_t{64} << 20U;
    verdict(ask(fd, DS_ALLOC, &alloc) == 0 &&
                look(page).hbm_used_kib == first.hbm_used_kib + (64U << 10U),
            "memory taken stands in it when the call returns");
    verdict(hotplug(fd, 1, DS_HOTPLUG_LOSE) && look(page).state == DS_STATE_LOST &&
                look(page).known == DS_TELEMETRY_KNOWN_MEMORY && look(page).temperature_mc == 0,
            "a lost device has no temperature");
    verdict(hotplug(fd, 1, DS_HOTPLUG_REMOVE) && look(page).state == DS_STATE_ABSENT &&
                look(page).known == 0,
            "of a removed one nothing is known");
    verdict(hotplug(fd, 1, DS_HOTPLUG_RESTORE) && look(page).state == DS_STATE_OK,
            "and it comes back");
}

void in_a_child(int fd, const ds_telemetry* page) {
    const pid_t child = fork();
    if (child == 0) {
        close(fd);
        const std::uint64_t then = look(page).now_ns;
        _exit(comes(page, [&](const auto& now) { return now.now_ns > then; }) ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    verdict(status == 0, "a child has it as well");
}

} // namespace
} // namespace asc::kernel_test

int main(int argc, char**) {
    using namespace asc::kernel_test;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    const int fd = open_module(DV_MOD_DAVSIM);
    if (argc > 1) { // holds a page, and no file, until its input ends
        const bool held = map(fd, 0) != MAP_FAILED;
        close(fd);
        std::puts(held ? "holding" : "nothing");
        std::getchar();
        return 0;
    }
    refusals(fd);
    void* page = map(fd, 1);
    verdict(page != MAP_FAILED, "a page is mapped");
    void* own = map(fd, 1, PROT_READ, kPage, MAP_PRIVATE);
    verdict(own != MAP_FAILED, "a private mapping too");
    if (page == MAP_FAILED || own == MAP_FAILED)
        return 1;
    never_writable(page, "shared");
    never_writable(own, "private");
    follows(fd, static_cast<const ds_telemetry*>(page));
    in_a_child(fd, static_cast<const ds_telemetry*>(page));
    return failures() != 0;
}
