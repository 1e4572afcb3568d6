// SPDX-License-Identifier: Apache-2.0
// Every ioctl with memory that is not there, not readable, not writable, crooked or changing: the
// right errno, and nothing of the kernel's in what comes back. The kernel is booted with poisoned
// slabs.
#include "ioctl/wire/davinci.h"
#include "ioctl/wire/davsim.h"
#include "tests/kernel/programs/nodes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <thread>

namespace asc::kernel_test {
namespace {

constexpr std::uint64_t kKernelAddress = 0xffff888000000000ULL;
constexpr std::uint64_t kNonCanonical = 0x8000000000000000ULL;

unsigned module_of(const dv_command_info& command) {
    if (command.module == DV_MOD_ANY)
        return DV_MOD_DEVMNG;
    return command.module;
}

// What a copy that fails is called: HDC has numbers of its own (driver-abi.md 10.1).
bool is_fault(const dv_command_info& command, int result) {
    return command.module == DV_MOD_HDC ? result == -DV_HDC_COPY_IN : result == -EFAULT;
}

// Commands that need no memory of the caller's.
bool takes_none(const dv_command_info& command) {
    return command.in_len == 0;
}

const void* at(std::uint64_t address) {
    return reinterpret_cast<const void*>(address);
}

void unreadable(int fd, const dv_command_info& command) {
    const Edge edge;
    const std::string name = command.name;
    struct {
        const char* what;
        const void* argument;
    } const cases[] = {{"NULL", nullptr},
                       {"no memory", edge.end()},
                       {"half of it", edge.tail(command.in_len / 2)},
                       {"a kernel address", at(kKernelAddress)},
                       {"a non-canonical address", at(kNonCanonical)},
                       {"the last byte of the address space", at(~std::uint64_t{0})}};
    std::string wrong;
    for (const auto& one : cases)
        if (const int result = ask(fd, command.number, one.argument); !is_fault(command, result))
            wrong +=
                std::string(wrong.empty() ? "" : ", ") + one.what + ": " + std::to_string(result);
    const Edge secret;
    secret.protect(PROT_NONE);
    if (const int result = ask(fd, command.number, secret.start()); !is_fault(command, result))
        wrong += " unreadable page: " + std::to_string(result);
    verdict(wrong.empty(), name + ": unreadable memory", wrong);
}

// An argument that is well formed as far as the table tells.
void fill(const dv_command_info& command, std::uint8_t* argument) {
    std::memset(argument, 0, command.in_len);
    const std::uint32_t size = command.in_len;
    if (command.module == DV_MOD_DAVSIM)
        std::memcpy(argument, &size, sizeof(size));
    if (command.pointers == DV_PTR_UDA_LIST) {
        dv_device_list list{};
        list.end = 4;
        std::memcpy(argument, &list, sizeof(list));
    }
}

// Misaligned by one, or ending where memory ends: the same answer.
void crooked(int fd, const dv_command_info& command) {
    const Edge one, two;
    std::uint8_t* straight = one.start();
    std::uint8_t* bent = two.tail(command.in_len); // ends at the hole
    if (command.in_len % 2 == 0)
        bent = two.tail(command.in_len + 1); // odd address
    fill(command, straight);
    fill(command, bent);
    const int first = ask(fd, command.number, straight), second = ask(fd, command.number, bent);
    verdict(first == second, std::string(command.name) + ": crooked memory",
            std::to_string(first) + " and " + std::to_string(second));
}

// A page that cannot be written: EFAULT where there is an answer, nothing changed.
void unwritable(int fd, const dv_command_info& command) {
    const Edge edge;
    fill(command, edge.start());
    const int normal = ask(fd, command.number, edge.start());
    fill(command, edge.start());
    const std::set<std::uint8_t> before(edge.start(), edge.end());
    edge.protect(PROT_READ);
    const int result = ask(fd, command.number, edge.start());
    const bool fault = command.module == DV_MOD_HDC ? result == -DV_HDC_GENERAL : result == -EFAULT;
    // An answer of no bytes, or an error before it, needs no writable memory.
    verdict(fault || result == normal, std::string(command.name) + ": read-only memory",
            std::to_string(result) + ", with writable memory " + std::to_string(normal));
    edge.protect(PROT_READ | PROT_WRITE);
}

constexpr std::uint8_t kUntouched = 0xC3;

// Where a word of a poisoned slab stands (0x5a fresh, 0x6b freed), or -1.
std::ptrdiff_t poison_in(const std::uint8_t* bytes, std::size_t size) {
    for (std::size_t i = 0; i + 4 <= size; ++i) {
        std::uint32_t word = 0;
        std::memcpy(&word, bytes + i, sizeof(word));
        if (word == 0x5a5a5a5aU || word == 0x6b6b6b6bU)
            return static_cast<std::ptrdiff_t>(i);
    }
    return -1;
}

// Whether all of it is as it was filled.
bool untouched(const std::uint8_t* bytes, std::size_t size) {
    return std::all_of(bytes, bytes + size, [](std::uint8_t byte) { return byte == kUntouched; });
}

void leaks(int fd, const dv_command_info& command) {
    const Edge edge;
    std::string found;
    for (const std::uint8_t first : {0x00, 0xFF}) {
        std::memset(edge.start(), kUntouched, edge.size());
        fill(command, edge.start());
        if (first && command.in_len > 8 && command.module != DV_MOD_DAVSIM)
            std::memset(edge.start() + 4, first, command.in_len - 4);
        ask(fd, command.number, edge.start());
        if (const auto place = poison_in(edge.start(), edge.size()); place >= 0)
            found = "poison at byte " + std::to_string(place);
        if (!untouched(edge.start() + command.in_len, edge.size() - command.in_len))
            found = "memory behind the argument was written";
    }
    verdict(found.empty(), std::string(command.name) + ": nothing leaks", found);
}

// ---- the dispatcher's three levels of pointers ----

struct Urd {
    dv_urd envelope{};
    dv_udis_get get{};
    std::uint8_t reply[16]{}, data[DV_UDIS_DATA_MAX]{};
    Urd() {
        envelope.main_command = DV_MAIN_BASIC;
        envelope.sub_command = DV_BASIC_UDIS_GET;
        envelope.input = reinterpret_cast<std::uint64_t>(&get);
        envelope.input_len = sizeof(get);
        envelope.output = reinterpret_cast<std::uint64_t>(reply);
        envelope.output_len = sizeof(reply);
        get.module = 2;
        std::strcpy(get.name, "soc_max_temp");
        get.room = sizeof(data);
        get.data = reinterpret_cast<std::uint64_t>(data);
    }
};

void expect(int fd, const Urd& urd, int want, const std::string& name) {
    const int result = ask(fd, DV_IOCTL_URD, &urd.envelope);
    verdict(result == want, "urd: " + name,
            std::to_string(result) + ", not " + std::to_string(want));
}

void nested(int fd) {
    const Edge edge;
    const auto hole = reinterpret_cast<std::uint64_t>(edge.end());
    {
        const Urd urd;
        expect(fd, urd, 0, "a good query");
    }
    const std::uint64_t bad_addresses[] = {
        0, hole, kKernelAddress, kNonCanonical, ~std::uint64_t{0}, hole - 8};
    for (const std::uint64_t bad : bad_addresses) {
        const std::string text = std::to_string(bad);
        Urd input, output, data, filter;
        input.envelope.input = bad;
        expect(fd, input, -EFAULT, "input at " + text);
        output.envelope.output = bad;
        expect(fd, output, -EFAULT, "output at " + text);
        data.get.data = bad == hole - 8 ? hole - 1 : bad; // two bytes are written
        expect(fd, data, -EFAULT, "data at " + text);
        if (bad) { // none is no filter
            filter.envelope.filter = bad;
            filter.envelope.filter_len = 16;
            expect(fd, filter, -EFAULT, "filter at " + text);
        }
    }
    Urd lengths;
    lengths.envelope.input_len = 0xFFFFFFFF;
    expect(fd, lengths, -EINVAL, "input of 4 GiB");
    lengths = Urd();
    lengths.envelope.output_len = 0xFFFFFFFF;
    expect(fd, lengths, -EINVAL, "output of 4 GiB");
    Urd filtered;
    filtered.envelope.filter = reinterpret_cast<std::uint64_t>(&filtered);
    filtered.envelope.filter_len = 0xFFFFFFFF;
    expect(fd, filtered, -EINVAL, "filter of 4 GiB");
}

// Every function and value: what comes back is its own, and nothing when it is refused.
void functions(int fd) {
    for (unsigned id = 1; id < DV_CMD_COUNT; ++id) {
        const dv_command_info& info = *dv_command(id);
        const bool value = info.kind == DV_KIND_UDIS;
        if ((info.kind != DV_KIND_URD && !value) || info.effect != DV_EFFECT_READ ||
            id == DV_CMD_URD_EVENT_READ) // waits
            continue;
        Urd urd;
        const Edge output(32), input(2);
        std::memset(input.start(), 0, input.size());
        std::memset(output.start(), kUntouched, output.size());
        std::memset(urd.data, kUntouched, sizeof(urd.data));
        std::size_t length = sizeof(urd.reply);
        if (value) {
            urd.get.module = info.module;
            std::memset(urd.get.name, 0, sizeof(urd.get.name));
            std::memcpy(urd.get.name, info.name, strnlen(info.name, sizeof(urd.get.name)));
            std::replace(urd.get.name, urd.get.name + sizeof(urd.get.name), '#', '0');
        } else {
            length = info.out_len >= DV_LEN_ANY ? 4096 : info.out_len;
            urd.envelope.main_command = info.number >> 8;
            urd.envelope.sub_command = info.number & 0xFF;
            urd.envelope.input = reinterpret_cast<std::uint64_t>(input.start());
            urd.envelope.input_len = info.in_len >= DV_LEN_ANY ? 4096 : info.in_len;
        }
        urd.envelope.output = reinterpret_cast<std::uint64_t>(output.start());
        urd.envelope.output_len = static_cast<std::uint32_t>(length);
        const int result = ask(fd, DV_IOCTL_URD, &urd.envelope);
        const std::size_t may = result == 0 ? length : 0;
        std::string found;
        if (const auto place = poison_in(output.start(), output.size()); place >= 0)
            found = "poison at byte " + std::to_string(place);
        if (const auto place = poison_in(urd.data, sizeof(urd.data)); place >= 0)
            found = "poison at byte " + std::to_string(place) + " of the data";
        if (!untouched(output.start() + may, output.size() - may))
            found = "more than " + std::to_string(may) + " bytes were written";
        verdict(found.empty(),
                std::string(value ? "udis." : "") + info.name + ": nothing leaks (result " +
                    std::to_string(result) + ")",
                found);
    }
}

// The biggest answer: room for 1024 events, and what is not filled must be zero.
void big_output(int fd) {
    const std::size_t pages = (DV_URD_BIG_OUTPUT_MAX + 4095) / 4096;
    const Edge edge(pages);
    std::uint32_t device = 0;
    dv_urd envelope{};
    envelope.main_command = DV_MAIN_BASIC;
    envelope.sub_command = 20;
    envelope.input = reinterpret_cast<std::uint64_t>(&device);
    envelope.input_len = sizeof(device);
    envelope.output = reinterpret_cast<std::uint64_t>(edge.start());
    envelope.output_len = DV_URD_BIG_OUTPUT_MAX;
    std::memset(edge.start(), 0, edge.size());
    const int result = ask(fd, DV_IOCTL_URD, &envelope);
    verdict(result == 0, "urd: 2 MiB of history", std::to_string(result));
    const auto poison = poison_in(edge.start(), edge.size());
    verdict(poison < 0, "urd: nothing of the kernel's in it",
            "poison at byte " + std::to_string(poison));
}

// Another thread changes the envelope while it is read: any result, but no harm.
void changing(int fd) {
    Urd urd;
    std::atomic<bool> stop{false};
    std::thread changer([&] {
        auto* words = reinterpret_cast<volatile std::uint32_t*>(&urd.envelope);
        const Urd good;
        std::uint32_t x = 1;
        while (!stop.load(std::memory_order_relaxed)) {
            x = x * 1664525U + 1013904223U;
            const std::uint32_t place = (x >> 8) % (sizeof(urd.envelope) / 4);
            words[place] =
                (x & 1) ? x : reinterpret_cast<const std::uint32_t*>(&good.envelope)[place];
        }
    });
    int answered = 0;
    for (int i = 0; i < 20000; ++i)
        answered += ask(fd, DV_IOCTL_URD, &urd.envelope) == 0;
    stop = true;
    changer.join();
    verdict(answered > 0 && answered < 20000, "urd: envelope changes under 20000 calls",
            std::to_string(answered) + " of them were answered");
}

void dispatcher() {
    const int fd = open_module(DV_MOD_URD);
    nested(fd);
    functions(fd);
    big_output(fd);
    changing(fd);
    close(fd);
}

} // namespace
} // namespace asc::kernel_test

int main() {
    using namespace asc::kernel_test;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    interrupt_every(200);
    dispatcher();
    // Queries first: a change may start a reset or take a device out.
    auto commands = ioctl_commands();
    std::ranges::stable_sort(commands, {}, &dv_command_info::effect);
    for (const dv_command_info* command : commands) {
        if (command->module == DV_MOD_URD || command->id == DV_CMD_OLD_COUNT ||
            command->id == DV_CMD_OLD_LIST)
            continue; // the dispatcher has its own part; the older forms another driver
        const int fd = open_module(module_of(*command));
        if (fd < 0) {
            verdict(false, std::string(command->name) + ": opens", std::strerror(errno));
            continue;
        }
        if (!takes_none(*command)) {
            unreadable(fd, *command);
            if (command->effect != DV_EFFECT_DESTROY && command->id != DV_CMD_BIND) {
                crooked(fd, *command);
                unwritable(fd, *command);
                leaks(fd, *command);
            }
        }
        close(fd);
    }
    return failures() != 0;
}
