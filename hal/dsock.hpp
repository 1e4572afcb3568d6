// SPDX-License-Identifier: Apache-2.0
// The client's end of a connection that carries DSOCK_CALL and DSOCK_REPLY (davsock.h): to davsimd,
// or to the chardev channel's helper process. Whatever comes in is taken as hostile: it is checked
// as a whole before any of it reaches the caller's memory.
#pragma once

#include "hal/channel.hpp"
#include "ioctl/wire/davsock.h"
#include "ioctl/wire/marshal.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace asc::hal {

// A file descriptor that is closed at the end.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        reset(other.release());
        return *this;
    }
    ~Descriptor() { reset(); }
    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    int release() {
        const int fd = fd_;
        fd_ = -1;
        return fd;
    }
    void reset(int fd = -1);

  private:
    int fd_ = -1;
};

// A waiting receive on a connection that limit_receive() was called for comes back after this.
inline constexpr auto kReceiveSlice = std::chrono::milliseconds(50);
void limit_receive(int fd);

// One packet as it came in.
struct Packet {
    dsock_header header{};
    std::span<const std::uint8_t> payload;
    std::vector<std::uint8_t> big; // what a memfd carried
};

// Reads one packet into `buffer`. 1: a packet; 0: nothing now (EAGAIN), or the one-byte mark of a
// readable life socket; -1: over, `why` says how. Never blocks with MSG_DONTWAIT in `flags`.
int receive_packet(int fd, int flags, std::vector<std::uint8_t>& buffer, Packet& packet,
                   std::string& why);
// Sends header and payload in one packet, or by a sealed memfd when it is too long. 0 or -errno.
int send_packet(int fd, std::uint16_t type, std::uint32_t call_id,
                std::span<const std::uint8_t> payload);
// A memfd with these bytes that nobody can change any more; -errno.
int sealed_memfd(std::span<const iovec> parts);
// Checks what a received memfd is and reads it. Empty `why`: it was good.
std::vector<std::uint8_t> read_sealed(int fd, std::size_t length, std::string& why);

class DsockClient {
  public:
    static constexpr unsigned kRoom = 512; // calls under way

    // Takes the connection; what was under way before is forgotten.
    void attach(Descriptor fd);
    int fd() const { return fd_.get(); }
    void close();

    // Puts a call into the next batch. `token` names the file, `thread` the caller, `lane` goes to
    // the reserved word (0 to davsimd). False: no room now.
    bool post(Call& call, std::uint64_t token, std::uint32_t thread, std::uint32_t lane);
    // A call that is alone under way, without queues: sends it and waits for its answer, at most
    // the socket's receive time-out. False: not sent, take the long way. True: ended, or under way
    // like any other.
    bool exchange(Call& call, std::uint64_t token, std::uint32_t thread, std::uint32_t lane,
                  std::vector<Call*>& ended);
    // Asks the helper to open a node; answered by DSOCK_OPENED under the call's id.
    bool post_open(Call& call, std::uint32_t lane);
    void flush();
    // Takes answers until there are none, blocking for the first one when `block` is set (at most
    // the socket's receive time-out). Ended calls are appended.
    void receive(std::vector<Call*>& ended, bool block);
    void forget(Call& call);
    bool sending() const { return out_first_ != out_end_; }
    bool idle() const { return under_way_ == 0; }
    // Why the connection is over; empty while it works. Every call under way is then ended broken.
    const std::string& broken() const { return broken_; }
    // Also used by the channels when they find the peer gone.
    void break_off(std::string why, std::vector<Call*>& ended);

  private:
    struct Slot {
        Call* call = nullptr;
        std::uint32_t id = 0;
        bool large = false; // its reply may not fit kSmall
    };
    struct Outgoing {
        dsock_header header;
        union {
            dsock_call call;
            dsock_open open;
        } body;
        std::array<iovec, Call::kRanges + 3> parts; // head, body, ranges, their bytes
        std::uint32_t part_count;
        std::uint32_t id;
    };
    static constexpr std::size_t kSlots = 1024;
    static constexpr std::size_t kBatch = 64;
    static constexpr std::size_t kSmall = 2048; // most replies fit
    static constexpr std::size_t kReceiveBatch = 16;

    std::uint32_t take_slot(Call& call);
    void put_slot(Call& call, std::uint32_t id);
    void free_slot(Slot& slot);
    Outgoing* next_outgoing();
    void push(Outgoing& out);
    bool send_big(Outgoing& out, std::uint32_t length);
    void handle(std::span<const std::uint8_t> bytes, int memfd, std::vector<Call*>& ended);
    void reply(Call& call, std::span<const std::uint8_t> payload, std::vector<Call*>& ended);
    const char* scatter(const Call& call, const std::uint8_t* payload, std::size_t size,
                        std::int32_t& result);
    bool receive_small(std::vector<Call*>& ended, bool block);
    bool receive_large(std::vector<Call*>& ended, bool block);
    // Bytes of the reply when every OUT range is written.
    static std::size_t expected(const Call& call) {
        return sizeof(dsock_header) + sizeof(dsock_reply) + call.out_bytes +
               call.out_count * sizeof(dsock_write);
    }
    // The parts of a call behind its head: ranges, then what they hold. How many.
    static std::uint32_t add_parts(Call& call, iovec* parts) {
        if (call.range_count == 0)
            return 0;
        std::uint32_t count = 0;
        parts[count++] = {call.ranges.data(), call.range_count * sizeof(Range)};
        for (std::uint32_t i = 0; i < call.range_count; ++i)
            if ((call.ranges[i].direction & DV_RANGE_IN) != 0)
                parts[count++] = {call.ranges[i].address, call.ranges[i].length};
        return count;
    }

    Descriptor fd_;
    std::string broken_;
    std::array<Slot, kSlots> slots_{};
    std::uint32_t last_id_ = 0;
    unsigned under_way_ = 0, large_ = 0;
    std::vector<Outgoing> out_;
    std::size_t out_first_ = 0, out_end_ = 0;
    std::vector<std::uint8_t> buffer_;
    std::string failure_; // found while handling a packet
};

} // namespace asc::hal
