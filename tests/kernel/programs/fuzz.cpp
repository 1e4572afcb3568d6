// SPDX-License-Identifier: Apache-2.0
// An ioctl fuzzer for the guest: commands.def is its dictionary. Numbers and arguments near to good
// ones, pointers to everywhere, several threads on shared files that are closed under them, memory
// that changes meanwhile. What it looks for is in the kernel's log afterwards.
#include "ioctl/wire/davinci.h"
#include "ioctl/wire/davsim.h"
#include "tests/kernel/programs/nodes.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace asc::kernel_test {
namespace {

using Random = std::mt19937_64;

constexpr std::size_t kFiles = 12;
std::atomic<int> files[kFiles]; // shared by all threads; -1: none
std::atomic<std::uint64_t> calls{0}, answered{0};
std::mutex count_mutex;
std::map<int, std::uint64_t> results;

unsigned module_of_file(std::size_t index) {
    constexpr unsigned kModules[] = {DV_MOD_UDA, DV_MOD_DEVMNG, DV_MOD_URD,
                                     DV_MOD_HDC, DV_MOD_DAVSIM, DV_MOD_NONE};
    return kModules[index % 6];
}

class Fuzzer {
  public:
    Fuzzer(std::uint64_t seed, std::uint64_t count, std::uint8_t* shared, std::size_t shared_size)
        : random_(seed), count_(count), shared_(shared), shared_size_(shared_size) {}
    void run();

  private:
    std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
    std::uint64_t number() {
        constexpr std::uint64_t kEdges[] = {
            0,        1,        2,          3,          4,          7,
            8,        63,       64,         0x7F,       0xFF,       0x100,
            0xFFF,    0x1000,   0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF,
            0x200000, 0x200001, 64 << 20,   1ULL << 36, ~0ULL,      1ULL << 63};
        return below(4) != 0 ? kEdges[below(std::size(kEdges))] : random_();
    }
    std::uint64_t pointer() {
        switch (below(12)) {
        case 0:
            return 0;
        case 1:
            return reinterpret_cast<std::uint64_t>(edge_.end());
        case 2:
            return reinterpret_cast<std::uint64_t>(edge_.tail(1 + below(300)));
        case 3:
            return 0xffff888000000000ULL + below(1 << 20);
        case 4:
            return random_();
        case 5:
            return reinterpret_cast<std::uint64_t>(readonly_.start()) + below(4096);
        case 6: // what another thread writes to
            return reinterpret_cast<std::uint64_t>(shared_) + below(shared_size_ / 2);
        default:
            return reinterpret_cast<std::uint64_t>(data_.start()) + 8 * below(256);
        }
    }
    void fill(const dv_command_info& command);
    void urd();
    void hdc();
    const dv_command_info& pick(unsigned module);
    void one();
    void reopen();

    Random random_;
    std::uint64_t count_;
    std::uint8_t* shared_;
    std::size_t shared_size_;
    Edge edge_, readonly_, data_{16}, argument_{2};
    std::map<int, std::uint64_t> seen_;
    const std::vector<const dv_command_info*> commands_ = ioctl_commands();
};

void Fuzzer::fill(const dv_command_info& command) {
    std::uint8_t* argument = argument_.start();
    std::memset(argument, 0, 4096);
    for (std::uint64_t changes = below(8); changes > 0; --changes) {
        const std::uint64_t value = below(6) == 0 ? pointer() : number();
        std::memcpy(argument + 4 * below(std::max<std::uint64_t>(command.in_len / 4, 1)), &value,
                    below(2) != 0 ? 4 : 8);
    }
    if (command.module == DV_MOD_DAVSIM && below(16) != 0)
        std::memcpy(argument, &command.in_len, 4);
    if (command.id == DV_CMD_BIND)
        std::strcpy(reinterpret_cast<char*>(argument), module_name(module_of_file(below(kFiles))));
    if (command.id == DV_CMD_SIM_RULE_ADD) {
        constexpr const char* kRules[] = {
            "zombie",
            "zombie dev=1 times=3",
            "lost dev=2 for=10ms",
            "ecc bits=2 random rate=20",
            "surface cmd=udis.* mode=err errno=EIO force=yes probability=10",
            "surface cmd=devmng.* mode=delay ms=1",
            "surface cmd=hdc.send mode=never",
            "isolation-fails",
            "surface cmd=* mode=deny force=yes times=5",
            "nonsense =",
            "ecc bits=73"};
        const std::string text = kRules[below(std::size(kRules))];
        const auto length = static_cast<std::uint32_t>(below(8) != 0 ? text.size() : number());
        std::memcpy(argument + offsetof(ds_rule_add, length), &length, sizeof(length));
        std::memcpy(argument + offsetof(ds_rule_add, text), text.data(), text.size());
    }
}

void Fuzzer::urd() {
    dv_urd envelope{};
    dv_udis_get get{};
    unsigned id = 0;
    do
        id = static_cast<unsigned>(below(DV_CMD_COUNT));
    while (dv_command(id)->kind != DV_KIND_URD && dv_command(id)->kind != DV_KIND_UDIS);
    const dv_command_info& function = *dv_command(id);
    const bool udis = function.kind == DV_KIND_UDIS;
    const std::uint32_t key = udis ? (DV_MAIN_BASIC << 8) + DV_BASIC_UDIS_GET : function.number;
    envelope.device_id = static_cast<std::uint32_t>(below(10));
    envelope.main_command = key >> 8;
    envelope.sub_command = key & 0xFF;
    envelope.input = reinterpret_cast<std::uint64_t>(data_.start());
    envelope.input_len = udis ? sizeof(get) : function.in_len;
    envelope.output = reinterpret_cast<std::uint64_t>(data_.start()) + 8192;
    envelope.output_len = udis ? 16 : function.out_len >= DV_LEN_ANY ? 4096 : function.out_len;
    const auto device = static_cast<std::uint32_t>(below(10));
    std::memcpy(data_.start(), &device, sizeof(device));
    if (udis) {
        get.module = function.module;
        std::strncpy(get.name, function.name, sizeof(get.name) - 1);
        std::replace(get.name, get.name + sizeof(get.name), '#', '0');
        get.room = static_cast<std::uint32_t>(below(4) != 0 ? 208 : number());
        get.data =
            below(4) != 0 ? reinterpret_cast<std::uint64_t>(data_.start()) + 16384 : pointer();
        std::memcpy(data_.start(), &get, sizeof(get));
    }
    for (std::uint64_t changes = below(4); changes > 0; --changes) {
        auto* words = reinterpret_cast<std::uint64_t*>(&envelope);
        words[below(sizeof(envelope) / 8)] = below(2) != 0 ? pointer() : number();
    }
    std::memcpy(argument_.start(), &envelope, sizeof(envelope));
}

void Fuzzer::hdc() {
    dv_hdc_send send{};
    std::memset(argument_.start(), 0, 200);
    send.session = static_cast<std::int32_t>(below(140));
    send.source = below(4) != 0 ? reinterpret_cast<std::uint64_t>(data_.start()) : pointer();
    send.length = static_cast<std::int32_t>(below(4) != 0 ? 30 + below(200) : number());
    send.wait = 1;
    std::memcpy(argument_.start(), &send, sizeof(send));
    dv_dmp_packet packet{};
    packet.data_len = static_cast<std::uint16_t>(send.length - 30);
    std::memcpy(data_.start(), &packet, sizeof(packet));
}

void Fuzzer::reopen() {
    const std::size_t index = below(kFiles);
    const int fresh =
        below(8) == 0 ? open((DV_NODE_DEVICE_PREFIX + std::to_string(below(9))).c_str(), O_RDONLY)
                      : open_module(below(8) == 0 ? unsigned{DV_MOD_NONE} : module_of_file(index));
    if (const int old = files[index].exchange(fresh); old >= 0)
        close(old); // others may be inside a call on it
}

// As a rule one that the file's module knows.
const dv_command_info& Fuzzer::pick(unsigned module) {
    const std::size_t start = below(commands_.size());
    const bool stay = below(8) != 0;
    for (std::size_t i = 0; stay && i < commands_.size(); ++i) {
        const dv_command_info& command = *commands_[(start + i) % commands_.size()];
        if (command.module == module)
            return command;
    }
    return *commands_[start];
}

void Fuzzer::one() {
    const std::size_t index = below(kFiles);
    const int fd = files[index].load();
    const dv_command_info* command = &pick(module_of_file(index));
    std::uint32_t number = command->number;
    const void* argument = argument_.start();
    fill(*command);
    if (command->module == DV_MOD_URD && below(16) != 0) {
        urd();
        if (below(4) == 0)
            std::memcpy(&number, argument_.start() + 8, sizeof(number));
    }
    if (command->pointers == DV_PTR_HDC_SEND && below(4) != 0)
        hdc();
    if (below(16) == 0)
        number ^= 1U << below(32);
    if (below(8) == 0)
        argument = reinterpret_cast<const void*>(pointer());
    const int result = ask(fd, number, argument);
    ++seen_[result];
    answered.fetch_add(result >= 0, std::memory_order_relaxed);
    if (below(256) == 0) {
        pollfd watched{fd, POLLIN, 0};
        poll(&watched, 1, 0);
    }
    if (below(512) == 0)
        reopen();
}

void Fuzzer::run() {
    readonly_.protect(PROT_READ);
    for (std::uint64_t i = 0; i < count_; ++i) {
        one();
        calls.fetch_add(1, std::memory_order_relaxed);
    }
    const std::scoped_lock lock(count_mutex);
    for (const auto& [result, count] : seen_)
        results[result] += count;
}

// Memory that changes while it is read.
void change(std::vector<std::uint8_t>& shared, std::uint64_t seed, const std::atomic<bool>& stop) {
    Random random(seed);
    while (!stop.load(std::memory_order_relaxed)) {
        const std::uint64_t value = random();
        std::memcpy(shared.data() + 8 * (value % (shared.size() / 8 - 1)), &value, 8);
    }
}

// What was taken out or lost comes back and rules go: else soon every call ends at a missing
// device.
void mend(int fd) {
    ds_rule_clear clear{sizeof(clear), 0};
    ask(fd, DS_RULE_CLEAR, &clear);
    for (std::uint32_t device = 0; device < 8; ++device) {
        ds_hotplug restore{sizeof(restore), device, DS_HOTPLUG_RESTORE, 0};
        ask(fd, DS_HOTPLUG, &restore);
    }
}

// Many calls wait for what never comes: a signal ends them. To each thread by itself, because one
// that the process is sent goes to whichever thread takes it, as a rule the main one.
void attend(std::vector<std::thread>& threads, const std::atomic<bool>& stop) {
    const int own = open_module(DV_MOD_DAVSIM);
    for (unsigned round = 0; !stop.load(std::memory_order_relaxed); ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        for (std::thread& thread : threads)
            pthread_kill(thread.native_handle(), SIGALRM);
        if (round % 16 == 0)
            mend(own);
    }
    mend(own);
    close(own);
}

} // namespace
} // namespace asc::kernel_test

int main(int argc, char** argv) {
    using namespace asc::kernel_test;
    std::uint64_t total = 100000, seed = 1, threads = 4;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        (option == "--calls"  ? total
         : option == "--seed" ? seed
                              : threads) = std::strtoull(argv[i + 1], nullptr, 10);
    }
    ignore_alarms();
    std::vector<std::uint8_t> shared(1 << 16);
    for (std::size_t i = 0; i < kFiles; ++i)
        files[i] = open_module(module_of_file(i));
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> ended{0};
    std::thread changer([&] { change(shared, seed, stop); });
    std::vector<std::thread> running;
    for (std::uint64_t i = 0; i < threads; ++i)
        running.emplace_back([&, i] {
            Fuzzer(seed * 1000 + i, total / threads, shared.data(), shared.size()).run();
            ++ended;
        });
    std::thread attendant([&] { attend(running, stop); });
    while (ended < threads)
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true; // only then may they be joined: a thread that was joined has no handle any more
    attendant.join();
    for (std::thread& thread : running)
        thread.join();
    changer.join();
    std::printf(
        "%llu calls, %llu answered, seed %llu\n", static_cast<unsigned long long>(calls.load()),
        static_cast<unsigned long long>(answered.load()), static_cast<unsigned long long>(seed));
    for (const auto& [result, count] : results)
        if (count * 1000 >= total)
            std::printf("  result %d: %llu\n", result, static_cast<unsigned long long>(count));
    return 0;
}
