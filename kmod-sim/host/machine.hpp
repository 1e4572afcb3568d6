// SPDX-License-Identifier: Apache-2.0
// The simulated machine for hosts in user space: the arena, the device model and the driver's
// interface on top of it behind one mutex. Used by the socket server (begin, next_finished) and by
// the HAL's in-process channel (call). Every member may be called from any thread.
#pragma once

#include "kmod-sim/host/identity.hpp"
#include "kmod-sim/host/memory.hpp"
#include "kmod-sim/host/profile.hpp"

#include <chrono>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::sim {

enum class Clock { real, virtual_time };

struct MachineOptions {
    std::uint64_t seed = 1;
    Clock clock = Clock::real;
    std::string host = "in-process"; // as ds_info shows it
    std::vector<std::string> rules;  // set after the residents have settled
    // Replay the profile's owners (DS_PROCESS_SCRIPTED); false: the host starts real ones.
    bool scripted_residents = true;
    bool old_abi = false;              // also when the profile says so
    std::uint32_t client_limit = 1024; // open files
    std::uint64_t wall_ms = 0; // wall clock at the start; 0: now, in virtual time 2026-01-01
};

// Result of a call as ioctl(2) gives it: >= 0 (0 or a positive driver error) or a negative errno.
// `timed_out`: no answer within the deadline; result is -ETIMEDOUT then, and nothing is written to
// the caller's memory afterwards. A driver's own -ETIMEDOUT has `timed_out` false.
struct CallResult {
    std::int32_t result = 0;
    bool timed_out = false;
};

using Deadline = std::optional<std::chrono::steady_clock::time_point>; // none: wait for ever

// The rule that keeps the memory of a process that the host lets die on purpose.
std::string zombie_rule(std::uint32_t pid);

class Machine {
  public:
    // A call of the asynchronous interface. It stays where it is while it is parked.
    class Call {
      public:
        std::uint32_t ordinal = 0, number = 0, thread = 0;
        std::uint64_t argument = 0;
        Window memory;
        void* context = nullptr; // the host's own
        bool wants_name = false; // fill `name`
        // out, once it has finished
        std::int32_t result = 0;
        // out after begin(), for traces: the module it is bound to, the command and the device
        // (FI_ANY: none)
        std::uint16_t module = 0, command = 0;
        std::uint32_t device = 0;
        char name[FI_NAME_MAX] = {};

        Call();
        ~Call();
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;

      private:
        friend class Machine;
        struct Request;
        std::unique_ptr<Request> request_;
        bool parked_ = false;
    };

    // A machine in its start state: devices in working order, residents settled, rules set.
    static std::expected<std::unique_ptr<Machine>, std::string>
    create(const Profile& profile, const MachineOptions& options);
    // A machine without devices, for the loader of a state file.
    struct Blank {
        std::uint32_t device_slots = 0;
        std::string driver_version, profile;
        bool old_abi = false;
        std::uint64_t now_ns = 0;
    };
    static std::expected<std::unique_ptr<Machine>, std::string>
    blank(const Blank& what, const MachineOptions& options);
    ~Machine();
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    // Opens a node (enum dv_node; index: device number of /dev/davinciN). The ordinal names the
    // open file from then on. The error is a positive errno, as open(2) sets it.
    std::expected<std::uint32_t, int> open(std::uint32_t node, std::uint32_t index,
                                           const sim_ident& ident);
    // The last descriptor is gone. Parked calls of the file end unanswered. Unknown ordinals are
    // ignored.
    void release(std::uint32_t ordinal);

    // ---- in-process: one call from begin to end ----
    // Blocks the calling thread while the call is parked, up to `deadline`. In virtual time nothing
    // moves by itself: a call that needs time to pass waits for another thread's advance() or for
    // its deadline. -EBADF: no such open file.
    CallResult call(std::uint32_t ordinal, std::uint32_t number, std::uint64_t argument,
                    std::uint32_t thread, const abi_memory& memory, Deadline deadline = {});

    // ---- server: calls that are answered later ----
    // True when the call has finished; false when it is parked and comes out of next_finished().
    bool begin(Call& call);
    // A parked call that can go on goes on; returns one that has finished, or null.
    Call* next_finished();
    // Asks a parked call to end. True: it has finished, with -EINTR. False: it may not be
    // interrupted.
    bool cancel(Call& call);
    // Nobody waits for the answer any more: the call is forgotten and may be destroyed.
    void abandon(Call& call);
    // Those of the files on which poll(2) would report something to read.
    std::vector<std::uint32_t> readable(std::span<const std::uint32_t> ordinals);

    // ---- time ----
    Clock clock() const;
    std::uint64_t now_ns();  // since the start
    std::uint64_t wall_ms(); // since the epoch
    // Lets what is due happen. Real time: returns the time of now_ns() at which something will be
    // due next, SIM_NEVER when nothing will; a host has to come back then. Virtual: SIM_NEVER.
    std::uint64_t step();
    // Virtual time only (false else): lets `ns` pass.
    bool advance(std::uint64_t ns);

    // ---- control ----
    // Id of the rule, or the position and reason.
    std::expected<std::uint32_t, std::string> add_rule(std::string_view text);
    void clear_rule(std::uint32_t id); // 0: all
    // Adds a device like the profile's (an empty slot; `config.device_id` says which). The error
    // says why not.
    std::expected<void, std::string> add_device(const DeviceProfile& device);
    // The profile's own processes hold what they hold; a host that starts them itself
    // (scripted_residents false) says so once. The declared loads begin with it.
    void residents_settled();
    // Operation DS_HOTPLUG_; 0 or a negative errno.
    int hotplug(std::uint32_t device, std::uint32_t operation);
    // For the loader of a state file: owner `owner` of the device becomes process `pid`, which has
    // opened the device and bound the extension; its memory is then that process'. False: there is
    // no such owner or no such process.
    bool adopt_owner(std::uint32_t device, std::uint32_t owner, std::uint32_t pid);

    // Records from `cursor` on (0: the oldest kept), as many as `room` holds; cursor moves on,
    // `lost` is how many between the old cursor and the first one returned are gone.
    std::size_t read_journal(std::uint64_t& cursor, std::uint64_t& lost,
                             std::span<ds_journal_record> room);

    const std::string& host() const;

    // Runs `use(sim&)` under the lock: for the state file and for tests that look inside.
    template <class Use> auto with_sim(Use use) {
        const Lock lock(*this);
        return use(lock.sim());
    }

  private:
    class Lock {
      public:
        explicit Lock(Machine& machine);
        ~Lock();
        Lock(const Lock&) = delete;
        Lock& operator=(const Lock&) = delete;
        ::sim& sim() const;

      private:
        Machine& machine_;
    };
    struct State;
    explicit Machine(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace asc::sim
