// SPDX-License-Identifier: Apache-2.0
// Single packets of davsock.h and the sealed memfds that carry long ones.
#include "hal/dsock.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace asc::hal {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

} // namespace

void Descriptor::reset(int fd) {
    if (fd_ >= 0)
        ::close(fd_);
    fd_ = fd;
}

void limit_receive(int fd) {
    static_assert(kReceiveSlice < std::chrono::seconds(1));
    const timeval slice{0,
                        static_cast<suseconds_t>(std::chrono::microseconds(kReceiveSlice).count())};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &slice, sizeof(slice));
}

int sealed_memfd(std::span<const iovec> parts) {
    Descriptor memfd(memfd_create("davsock", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!memfd)
        return -errno;
    for (const iovec& part : parts) {
        const char* from = static_cast<const char*>(part.iov_base);
        for (std::size_t left = part.iov_len; left > 0;) {
            const ssize_t written = write(memfd.get(), from, left);
            if (written < 0 && errno == EINTR)
                continue;
            if (written < 0)
                return -errno;
            from += written;
            left -= static_cast<std::size_t>(written);
        }
    }
    if (fcntl(memfd.get(), F_ADD_SEALS, kSeals | F_SEAL_SEAL) != 0)
        return -errno;
    return memfd.release();
}

std::vector<std::uint8_t> read_sealed(int fd, std::size_t length, std::string& why) {
    if (fd < 0) {
        why = "a long packet came without its memory file";
        return {};
    }
    if (length > DSOCK_PAYLOAD_MAX) {
        why = "a packet claims " + std::to_string(length) + " bytes, more than the protocol allows";
        return {};
    }
    const int seals = fcntl(fd, F_GET_SEALS);
    struct stat status {};
    if (seals < 0 || (seals & kSeals) != kSeals) {
        why = "a received memory file is not sealed";
        return {};
    }
    if (fstat(fd, &status) != 0 || static_cast<std::uint64_t>(status.st_size) < length) {
        why = "a received memory file is shorter than its packet says";
        return {};
    }
    std::vector<std::uint8_t> bytes(length);
    for (std::size_t done = 0; done < length;) {
        const ssize_t got = pread(fd, bytes.data() + done, length - done, static_cast<off_t>(done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            why = "a received memory file cannot be read";
            return {};
        }
        done += static_cast<std::size_t>(got);
    }
    return bytes;
}

int receive_packet(int fd, int flags, std::vector<std::uint8_t>& buffer, Packet& packet,
                   std::string& why) {
    buffer.resize(std::max<std::size_t>(buffer.size(), sizeof(dsock_header) + DSOCK_INLINE_MAX));
    iovec part{buffer.data(), buffer.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    const ssize_t length = recvmsg(fd, &message, flags | MSG_CMSG_CLOEXEC);
    if (length < 0) {
        if (errno == EAGAIN || errno == EINTR)
            return 0;
        why = std::string("the connection is gone (") + std::strerror(errno) + ")";
        return -1;
    }
    Descriptor memfd;
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
         head = CMSG_NXTHDR(&message, head))
        if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
            int received = -1;
            std::memcpy(&received, CMSG_DATA(head), sizeof(received));
            memfd.reset(received);
        }
    if (length == 0) {
        why = "the other side has ended";
        return -1;
    }
    if ((message.msg_flags & MSG_TRUNC) != 0) {
        why = "a packet is longer than the protocol allows";
        return -1;
    }
    if (length == 1)
        return 0; // a life socket's mark that the node is readable, not for us
    if (static_cast<std::size_t>(length) < sizeof(dsock_header)) {
        why = "a packet is too short for its head";
        return -1;
    }
    std::memcpy(&packet.header, buffer.data(), sizeof(packet.header));
    if (packet.header.magic != DSOCK_MAGIC) {
        why = "a packet does not begin with the protocol's mark";
        return -1;
    }
    packet.payload = std::span(buffer).subspan(
        sizeof(dsock_header), static_cast<std::size_t>(length) - sizeof(dsock_header));
    if ((packet.header.flags & DSOCK_FLAG_MEMFD) != 0) {
        packet.big = read_sealed(memfd.get(), packet.header.length, why);
        packet.payload = packet.big;
        if (!why.empty())
            return -1;
    } else if (packet.payload.size() != packet.header.length) {
        why = "a packet is not as long as its head says";
        return -1;
    }
    return 1;
}

int send_packet(int fd, std::uint16_t type, std::uint32_t call_id,
                std::span<const std::uint8_t> payload) {
    dsock_header header{DSOCK_MAGIC, type, 0, static_cast<std::uint32_t>(payload.size()), call_id};
    iovec parts[2] = {{&header, sizeof(header)},
                      {const_cast<std::uint8_t*>(payload.data()), payload.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = payload.empty() ? 1 : 2;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    Descriptor memfd;
    if (payload.size() > DSOCK_INLINE_MAX) {
        memfd.reset(sealed_memfd(std::span(parts).subspan(1)));
        if (!memfd)
            return -EMFILE;
        header.flags = DSOCK_FLAG_MEMFD;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        cmsghdr* head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        const int passed = memfd.get();
        std::memcpy(CMSG_DATA(head), &passed, sizeof(passed));
    }
    for (;;) {
        if (sendmsg(fd, &message, MSG_NOSIGNAL) >= 0)
            return 0;
        if (errno != EINTR)
            return -errno;
    }
}

} // namespace asc::hal
