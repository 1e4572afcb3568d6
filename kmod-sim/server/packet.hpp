// SPDX-License-Identifier: Apache-2.0
// One message of the socket channel (ioctl/wire/davsock.h) in and out of a SOCK_SEQPACKET socket,
// with the sealed memfd that carries a long payload. Both ends distrust each other: every length is
// checked, a memfd is taken only with the seals that make it unchangeable, stray descriptors are
// closed.
#pragma once

#include "ioctl/wire/davsock.h"
#include "kmod-sim/server/descriptor.hpp"

#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace asc::server {

// A message as it was received. The payload lives in the receiver's buffer or in `mapped`.
class Packet {
  public:
    enum class Outcome {
        message,
        wake,        // the one byte that makes a life socket readable
        end,         // the peer has closed
        again,       // nothing there now
        malformed,   // a hostile or foreign peer; `problem` says what
        unreachable, // a socket error; `problem` says which
    };

    Packet() = default;
    ~Packet();
    Packet(const Packet&) = delete;
    Packet& operator=(const Packet&) = delete;

    // Receives one message into `buffer` (room of a whole packet). `payload_limit` bounds a
    // payload in a memfd.
    Outcome receive(int socket, std::span<std::uint8_t> buffer, std::uint32_t payload_limit,
                    bool wait);

    const dsock_header& header() const { return header_; }
    std::span<const std::uint8_t> payload() const { return payload_; }
    const std::string& problem() const { return problem_; }

  private:
    Outcome take_memfd(int fd, std::uint32_t limit);
    void unmap();

    dsock_header header_{};
    std::span<const std::uint8_t> payload_;
    void* mapped_ = nullptr;
    std::size_t mapped_size_ = 0;
    std::string problem_;
};

// Bytes of a control message at most (a machine's whole state); from the owner and root alone.
inline constexpr std::uint32_t kControlMax = 64U * 1024U * 1024U;
inline constexpr std::size_t kPacketRoom = sizeof(dsock_header) + DSOCK_INLINE_MAX;

// A message ready to be sent: bytes, and the memfd when the payload is too long to go inline.
struct Outgoing {
    std::vector<std::uint8_t> bytes;
    Descriptor memfd;
};

// Builds a message; fails when no memfd can be made (errno).
std::expected<Outgoing, int> build_message(std::uint16_t type, std::uint32_t call_id,
                                           std::span<const std::uint8_t> payload);

// Sends one message. 0, EAGAIN, or another errno.
int send_message(int socket, const Outgoing& message, bool wait);

// A memfd with `bytes` that nobody can change any more; or errno.
std::expected<Descriptor, int> sealed_memfd(std::span<const std::uint8_t> bytes);

} // namespace asc::server
