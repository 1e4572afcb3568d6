// SPDX-License-Identifier: Apache-2.0
// What a Machine holds. For the files of this folder alone.
#pragma once

#include "kmod-sim/host/machine.hpp"

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_map>
#include <vector>

namespace asc::sim {

inline constexpr std::size_t kArenaAlignment = 64;
inline constexpr std::uint32_t kRoomMax = 8U * 1024U * 1024U; // of one transfer
inline constexpr std::size_t kSpareRequests = 16;
inline constexpr std::uint32_t kSpareDevices = 8; // slots for devices that are added later

struct Machine::Call::Request {
    abi_request wire;
    std::vector<std::uint8_t> big_in, big_out;
    Call* owner = nullptr; // null: a thread of call() waits for it
    bool ready = false;    // its ticket has come
    bool gone = false;     // its file was released meanwhile

    Request() : wire() {}
};

struct Machine::State {
    struct ArenaDelete {
        void operator()(std::byte* memory) const {
            ::operator delete (memory, std::align_val_t{kArenaAlignment});
        }
    };

    MachineOptions options;
    sim_limits limits{};
    std::unique_ptr<std::byte, ArenaDelete> arena;
    ::sim* model = nullptr;
    std::uint64_t start_ns = 0; // steady clock at model time 0

    std::mutex mutex;
    std::condition_variable changed;
    std::unordered_map<std::uint32_t, sim_client*> clients;
    std::unordered_map<std::uint32_t, Call::Request*> parked; // by ticket
    std::vector<Call::Request*> ready;                        // their tickets have come, in order
    std::vector<std::unique_ptr<Call::Request>> spare;

    std::uint64_t present() const;
    void settle();
    std::uint64_t pass(std::uint64_t to); // steps and settles; the next deadline
    void collect();
    std::unique_ptr<Call::Request> take_request();
    void give_back(std::unique_ptr<Call::Request> request);
    sim_client* client(std::uint32_t ordinal) const;
    int gather(Call::Request& request, const abi_memory& memory);
    bool execute(Call::Request& request); // false: parked
    void forget(Call::Request& request);
    std::expected<void, std::string> add_device(const DeviceProfile& device);
};

} // namespace asc::sim
