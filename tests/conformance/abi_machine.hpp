// SPDX-License-Identifier: Apache-2.0
// The device model with the driver's interface on top, called directly on abi_*: no host class
// between. The caller's memory is a set of ranges; everything else is not accessible.
#pragma once

#include "kmod-sim/host/model.hpp"
#include "kmod-sim/host/profile.hpp"

#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace asc::test {

// The caller's memory.
class UserMemory {
  public:
    struct Range {
        std::uint64_t address;
        std::vector<std::uint8_t> bytes;
        bool readable, writable;
    };

    Range& add(std::uint64_t address, std::vector<std::uint8_t> bytes, bool readable = true,
               bool writable = true);
    Range* find(std::uint64_t address, std::uint64_t length);
    abi_memory access();

    // What happened to it, for tests of the seam.
    std::uint64_t reads = 0, writes = 0;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> read_log, write_log;

  private:
    static int read(void* context, void* to, std::uint64_t address, std::uint32_t length);
    static int write(void* context, std::uint64_t address, const void* from, std::uint32_t length);
    std::deque<Range> ranges_; // references stay
};

struct MachineSetup {
    std::uint32_t device_slots = 0; // 0: as many as the profile has
    std::uint32_t client_limit = 64;
    std::uint64_t seed = 1;
    std::uint64_t wall_ms = 1780000000000ULL; // the time of driver-abi.md 17.2
    bool old_abi = false, virtual_clock = true;
};

class AbiMachine {
  public:
    explicit AbiMachine(const asc::sim::Profile& profile, const MachineSetup& setup = {});

    // One call, which may be parked for a while.
    struct Call {
        abi_request request;
        std::vector<std::uint8_t> big_in, big_out;
        UserMemory* memory = nullptr;
        bool parked = false;
        int result = 0;
        Call() : request() { std::memset(static_cast<void*>(&request), 0xA5, sizeof(request)); }
    };

    ::sim* model() { return model_; }
    struct ::sim_device* device(std::uint32_t id) {
        return ::sim_device(model_, id);
    }
    sim_client* open(std::uint32_t node, std::uint32_t index, const sim_ident& ident);
    void close(sim_client* client);

    // False: parked. Otherwise call.result is the ioctl's.
    bool begin(Call& call, sim_client* client, std::uint32_t number, std::uint64_t argument,
               UserMemory& memory, std::uint32_t thread = 1);
    // Goes on with every call whose ticket is ready; true when `call` has ended.
    bool resume(Call& call);
    // A call that must not be parked.
    int run(sim_client* client, std::uint32_t number, std::uint64_t argument, UserMemory& memory,
            std::uint32_t thread = 1);
    // Binds the control node; the result of the bind.
    int bind(sim_client* client, const std::string& module);
    sim_client* open_bound(const std::string& module, const sim_ident& ident);
    // One struct as argument, given and taken back.
    template <class Argument>
    int ask(sim_client* client, std::uint32_t number, Argument& argument) {
        UserMemory memory;
        auto bytes = std::span(reinterpret_cast<const std::uint8_t*>(&argument), sizeof(argument));
        auto& range = memory.add(0x10000, {bytes.begin(), bytes.end()});
        const int result = run(client, number, 0x10000, memory);
        std::memcpy(static_cast<void*>(&argument), range.bytes.data(), sizeof(argument));
        return result;
    }

    void advance(std::uint64_t ns);
    int add_rule(const std::string& text); // id, or a negative value
    std::vector<ds_journal_record> journal();

    static sim_ident ident(std::uint32_t pid, std::uint32_t caller = DV_ACC_ROOT | DS_ACC_SIM_OWNER,
                           std::uint32_t environment = DV_ACC_ENV_PHYSICAL);

  private:
    bool execute(Call& call);
    struct Delete {
        void operator()(std::byte* memory) const {
            ::operator delete (memory, std::align_val_t{64});
        }
    };
    std::unique_ptr<std::byte, Delete> arena_;
    ::sim* model_ = nullptr;
    std::vector<Call*> parked_, ready_;
};

// A profile out of TOML text; ends the test program when it is wrong.
asc::sim::Profile profile_of(const std::string& toml);

} // namespace asc::test
