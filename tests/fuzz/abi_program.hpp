// SPDX-License-Identifier: Apache-2.0
// What the fuzzers of the driver's interface do: opens, binds, calls, rules, time and ends as the
// input says, with memory that changes while it is read and fails where it likes. After every step
// it is checked what must hold.
#pragma once

#include <fuzzer/FuzzedDataProvider.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wshadow"
extern "C" {
#include "kmod-sim/abi/hdc.h"
}
#pragma GCC diagnostic pop

namespace asc::fuzz {

inline void require(bool holds) {
    if (!holds)
        std::abort();
}

inline constexpr std::uint64_t kArgument = 0x10000, kInput = 0x20000, kOutput = 0x30000,
                               kData = 0x40000;
inline constexpr std::uint64_t kRoom = 0x2000; // at each of them
inline constexpr std::uint64_t kEnd = kData + kRoom;

// Four rooms of memory. A byte that was read is another one the next time.
class HostileMemory {
  public:
    HostileMemory() : bytes_(4 * kRoom) {}
    void put(std::uint64_t address, const void* from, std::size_t size) {
        if (std::uint8_t* to = find(address, size); to != nullptr && size != 0)
            std::memcpy(to, from, size);
    }
    void arm(unsigned flip, unsigned failing_read, unsigned failing_write) {
        flip_ = flip;
        failing_read_ = failing_read;
        failing_write_ = failing_write;
    }
    abi_memory access() { return {&HostileMemory::read, &HostileMemory::write, this}; }

  private:
    std::uint8_t* find(std::uint64_t address, std::uint64_t length) {
        const std::uint64_t room = (address >> 16U) - 1, offset = address & 0xFFFF;
        if (address < kArgument || room > 3 || offset > kRoom || length > kRoom - offset)
            return nullptr;
        return bytes_.data() + room * kRoom + offset;
    }
    static int read(void* context, void* to, std::uint64_t address, std::uint32_t length) {
        auto& memory = *static_cast<HostileMemory*>(context);
        std::uint8_t* at = memory.find(address, length);
        if (at == nullptr || (memory.failing_read_ != 0 && --memory.failing_read_ == 0))
            return -1;
        std::memcpy(to, at, length);
        if (memory.flip_ != 0 && length != 0) // another thread writes meanwhile
            at[memory.flip_ % length] =
                static_cast<std::uint8_t>(at[memory.flip_ % length] + memory.flip_);
        return 0;
    }
    static int write(void* context, std::uint64_t address, const void* from, std::uint32_t length) {
        auto& memory = *static_cast<HostileMemory*>(context);
        std::uint8_t* at = memory.find(address, length);
        if (at == nullptr || (memory.failing_write_ != 0 && --memory.failing_write_ == 0))
            return -1;
        std::memcpy(at, from, length);
        return 0;
    }
    std::vector<std::uint8_t> bytes_;
    unsigned flip_ = 0, failing_read_ = 0, failing_write_ = 0;
};

struct Pending {
    abi_request request;
    std::vector<std::uint8_t> big_in, big_out;
    std::unique_ptr<HostileMemory> memory;
    Pending() : request() {}
};

class Program {
  public:
    Program(const std::uint8_t* data, std::size_t size);
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    // Whatever the input says, until it is used up; then everything is closed.
    void run();

    // For one call a run: a file for each module, bound, stays open in between.
    void open_all();
    void run_one(const std::uint8_t* data, std::size_t size);

  private:
    void open();
    void close(std::size_t at);
    void bind();
    void call();
    void rule();
    void interrupt();
    void resume();
    void finish(Pending& pending);
    void settle();
    void check();
    void start(std::unique_ptr<HostileMemory> memory, std::uint32_t number, std::uint64_t argument);
    std::uint32_t number_and_argument(HostileMemory& memory);
    void urd_argument(HostileMemory& memory, const dv_command_info& info);
    void hdc_argument(HostileMemory& memory);
    sim_client* any() {
        return clients_[fuzz_.ConsumeIntegralInRange<std::size_t>(0, clients_.size() - 1)];
    }

    FuzzedDataProvider fuzz_;
    sim* model_ = nullptr;
    std::vector<sim_client*> clients_;
    std::vector<std::unique_ptr<Pending>> parked_;
};

} // namespace asc::fuzz
