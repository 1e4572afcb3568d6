// SPDX-License-Identifier: Apache-2.0
// A way to the driver: nodes are opened and ioctls made through it. Many calls are under way at
// once, and each ends in one of the states of Call, whatever the driver does.
#pragma once

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace asc::hal {

using Steady = std::chrono::steady_clock;
using TimePoint = Steady::time_point;

class Chain;
class Group;

// An open node; -1 none.
using Node = std::int32_t;

// Memory that a call's pointers reach. Direction: DV_RANGE_IN 1, DV_RANGE_OUT 2 (marshal.h). Laid
// out as the socket's dsock_range, so that a call's ranges travel as they are.
struct Range {
    void* address;
    std::uint32_t length;
    std::uint32_t direction;
};

struct Call {
    enum class Op : std::uint8_t {
        ioctl, // number, argument and ranges
        open,  // number: enum dv_node, index: device number of /dev/davinciN; `node` is out
        pause, // nothing, until `due`
    };
    enum class State : std::uint8_t {
        idle,
        running,
        done,    // `result` is valid
        timeout, // the deadline passed; what comes later never reaches the memory
        stopped, // the caller's stop flag was set
        broken,  // the channel does not work any more: Channel::broken()
    };
    static constexpr std::size_t kRanges = 5;

    Op op = Op::ioctl;
    State state = State::idle;
    std::uint8_t range_count = 0;
    bool pinned = false;      // always in the same thread: event reads belong to one (driver-abi 9)
    Node node = -1;           // of an ioctl
    std::uint32_t number = 0; // ioctl number
    std::uint32_t index = 0;
    std::int32_t result = 0; // of the ioctl: 0, a positive driver error, or a negative errno
    void* argument = nullptr;
    std::array<Range, kRanges> ranges{};
    std::uint32_t in_bytes = 0, out_bytes = 0; // of all ranges
    std::uint32_t out_count = 0;               // ranges that may be written
    TimePoint due{};

    void add_range(void* address, std::size_t length, std::uint32_t direction) {
        if (address == nullptr || length == 0)
            return;
        const auto bytes = static_cast<std::uint32_t>(length);
        ranges[range_count++] = {address, bytes, direction};
        if ((direction & 1U) != 0)
            in_bytes += bytes;
        if ((direction & 2U) != 0) {
            out_bytes += bytes;
            ++out_count;
        }
    }

    // the scheduler's and the channel's
    std::uint32_t id = 0;
    std::uint32_t lane = 0;
    Chain* chain = nullptr;
    Group* group = nullptr;
};

// Calls that follow one another: each may depend on the one before.
class Chain {
  public:
    Chain() = default;
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;
    virtual ~Chain() = default;
    // First with null, then with each call when it has ended; the next call, or null when the chain
    // is over. A call after a state other than done ends at once in that state again.
    virtual Call* next(Call* ended) = 0;
};

// The chains of one device: they run side by side and share a deadline. While it runs, a chain may
// add others.
class Group {
  public:
    explicit Group(TimePoint end, std::uint32_t lane_number) : deadline(end), lane(lane_number) {}

    void add(Chain& chain) { fresh_.push_back(&chain); }

    TimePoint deadline;
    std::uint32_t lane;   // threads of the chardev helper: one lane a device, from 1
    bool expired = false; // out: the deadline came first
    unsigned answered = 0, unanswered = 0; // out: calls that ended done, and by the deadline

  private:
    friend class Channel;
    std::vector<Chain*> fresh_;
    std::vector<Call*> waiting_, running_;
    Call::State over_ = Call::State::idle; // state that everything still to come ends in
};

class Channel {
  public:
    Channel() = default;
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;
    virtual ~Channel() = default;

    // Runs all groups side by side until each is through or over its deadline. `stop` is looked at
    // every 50 ms.
    void run(std::span<Group* const> groups, const std::atomic<bool>* stop = nullptr);
    // One call, the short way. False when it did not end as done.
    bool call(Call& call, TimePoint deadline, const std::atomic<bool>* stop = nullptr);

    virtual void close(Node node) = 0;
    // After fork(2): false when the open nodes did not survive and must be opened and bound anew.
    bool enter_process() {
        const pid_t now = getpid();
        if (now == process_) [[likely]]
            return true;
        process_ = now;
        return new_process();
    }
    // Why the channel does not work any more; empty while it does.
    const std::string& broken() const { return broken_; }
    // What to tell beside the errno of a failed open: owner, mode, our ids. May be empty.
    virtual std::string open_trouble(std::uint32_t, std::uint32_t, int) const { return {}; }
    // What the open files are, for those who look for them in /proc.
    enum class Files { nodes, sockets, own };
    virtual Files files() const = 0;
    // The helper's process, which does what we ask; 0 none.
    virtual std::int64_t helper_pid() const { return 0; }
    // How many calls may be under way at once.
    virtual unsigned room() const { return 256; }

  protected:
    // We are a child of the process that made the channel; the result is enter_process()'s.
    virtual bool new_process() { return true; }
    // Starts a call; false when there is no room now: try again after wait(). Calls that end at
    // once go to ended_ as well.
    virtual bool start(Call& call) = 0;
    // Starts a call that nothing else runs beside; may wait for its answer a moment.
    virtual bool start_alone(Call& call) { return start(call); }
    // Everything started so far leaves.
    virtual void flush() {}
    // Until a call ended or the time has come; may return early.
    virtual void wait(TimePoint until) = 0;
    // Nobody waits for the answer any more; a late one is thrown away.
    virtual void forget(Call& call) = 0;

    void end(Call& call, std::int32_t result) {
        call.state = Call::State::done;
        call.result = result;
        ended_.push_back(&call);
    }
    void end_broken(Call& call) {
        call.state = Call::State::broken;
        ended_.push_back(&call);
    }

    std::vector<Call*> ended_;
    std::string broken_;
    pid_t process_ = getpid(); // that uses the channel

  private:
    void begin(Group& group, Chain& chain, Call* ended);
    void cut(Group& group, Call::State state);
    std::vector<Call*> pauses_;
};

} // namespace asc::hal
