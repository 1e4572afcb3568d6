// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/packet.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace asc::server {

namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
constexpr std::size_t kDescriptorsTaken = 4; // room in a message; the kernel closes what is more

int write_all(int fd, std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : EIO;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return 0;
}

} // namespace

std::expected<Descriptor, int> sealed_memfd(std::span<const std::uint8_t> bytes) {
    Descriptor fd(memfd_create("davsim", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd)
        return std::unexpected(errno);
    if (const int error = write_all(fd.get(), bytes))
        return std::unexpected(error);
    if (fcntl(fd.get(), F_ADD_SEALS, kSeals | F_SEAL_SEAL) != 0)
        return std::unexpected(errno);
    return fd;
}

std::expected<Outgoing, int> build_message(std::uint16_t type, std::uint32_t call_id,
                                           std::span<const std::uint8_t> payload) {
    Outgoing message;
    dsock_header header{};
    header.magic = DSOCK_MAGIC;
    header.type = type;
    header.length = static_cast<std::uint32_t>(payload.size());
    header.call_id = call_id;
    if (payload.size() > DSOCK_INLINE_MAX) {
        auto memfd = sealed_memfd(payload);
        if (!memfd)
            return std::unexpected(memfd.error());
        message.memfd = std::move(*memfd);
        header.flags = DSOCK_FLAG_MEMFD;
        payload = {};
    }
    message.bytes.resize(sizeof(header) + payload.size());
    std::memcpy(message.bytes.data(), &header, sizeof(header));
    if (!payload.empty())
        std::memcpy(message.bytes.data() + sizeof(header), payload.data(), payload.size());
    return message;
}

int send_message(int socket, const Outgoing& message, bool wait) {
    iovec part{const_cast<std::uint8_t*>(message.bytes.data()), message.bytes.size()};
    msghdr head{};
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    if (message.memfd) {
        head.msg_control = control;
        head.msg_controllen = sizeof(control);
        cmsghdr* entry = CMSG_FIRSTHDR(&head);
        entry->cmsg_level = SOL_SOCKET;
        entry->cmsg_type = SCM_RIGHTS;
        entry->cmsg_len = CMSG_LEN(sizeof(int));
        const int fd = message.memfd.get();
        std::memcpy(CMSG_DATA(entry), &fd, sizeof(fd));
    }
    while (true) {
        const ssize_t sent = sendmsg(socket, &head, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
        if (sent >= 0) // SEQPACKET sends all or nothing
            return 0;
        if (errno != EINTR)
            return errno == EWOULDBLOCK ? EAGAIN : errno;
    }
}

Packet::~Packet() {
    unmap();
}

void Packet::unmap() {
    if (mapped_ != nullptr)
        munmap(mapped_, mapped_size_);
    mapped_ = nullptr;
    mapped_size_ = 0;
}

Packet::Outcome Packet::take_memfd(int fd, std::uint32_t limit) {
    const auto refuse = [&](std::string what) {
        problem_ = std::move(what);
        return Outcome::malformed;
    };
    if (header_.length <= DSOCK_INLINE_MAX)
        return refuse("a memfd for a payload that fits into the packet");
    if (header_.length > limit)
        return refuse("a payload of " + std::to_string(header_.length) + " bytes, more than " +
                      std::to_string(limit));
    const int seals = fcntl(fd, F_GET_SEALS);
    if (seals < 0 || (seals & kSeals) != kSeals)
        return refuse("a descriptor that is not a sealed memfd");
    struct stat info {};
    if (fstat(fd, &info) != 0 || info.st_size < 0 ||
        static_cast<std::uint64_t>(info.st_size) != header_.length)
        return refuse("a memfd of another size than the message says");
    void* memory = mmap(nullptr, header_.length, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (memory == MAP_FAILED) {
        problem_ = std::string("the payload cannot be mapped: ") + std::strerror(errno);
        return Outcome::unreachable;
    }
    mapped_ = memory;
    mapped_size_ = header_.length;
    payload_ = {static_cast<const std::uint8_t*>(memory), mapped_size_};
    return Outcome::message;
}

Packet::Outcome Packet::receive(int socket, std::span<std::uint8_t> buffer,
                                std::uint32_t payload_limit, bool wait) {
    unmap();
    payload_ = {};
    iovec part{buffer.data(), buffer.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(kDescriptorsTaken * sizeof(int))];
    msghdr head{};
    head.msg_iov = &part;
    head.msg_iovlen = 1;
    head.msg_control = control;
    head.msg_controllen = sizeof(control);
    ssize_t got = 0;
    do
        got = recvmsg(socket, &head, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            return Outcome::again;
        if (errno == ECONNRESET)
            return Outcome::end;
        problem_ = std::strerror(errno);
        return Outcome::unreachable;
    }
    // Whatever came with it is ours to close.
    Descriptor memfd;
    bool stray = (head.msg_flags & MSG_CTRUNC) != 0;
    for (cmsghdr* entry = CMSG_FIRSTHDR(&head); entry != nullptr;
         entry = CMSG_NXTHDR(&head, entry)) {
        if (entry->cmsg_level != SOL_SOCKET || entry->cmsg_type != SCM_RIGHTS)
            continue;
        for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= entry->cmsg_len; at += sizeof(int)) {
            int fd = -1;
            std::memcpy(&fd, reinterpret_cast<const char*>(entry) + at, sizeof(fd));
            Descriptor taken(fd);
            stray = stray || static_cast<bool>(memfd);
            if (!memfd)
                memfd = std::move(taken);
        }
    }
    const auto refuse = [&](const char* what) {
        problem_ = what;
        return Outcome::malformed;
    };
    if (got == 0 && !memfd && !stray)
        return Outcome::end;
    if ((head.msg_flags & MSG_TRUNC) != 0)
        return refuse("a packet longer than the protocol allows");
    if (got == 1 && !memfd && !stray)
        return Outcome::wake;
    if (static_cast<std::size_t>(got) < sizeof(header_))
        return refuse("a packet shorter than a header");
    std::memcpy(&header_, buffer.data(), sizeof(header_));
    if (header_.magic != DSOCK_MAGIC)
        return refuse("a packet that does not start as the protocol's do");
    if (stray)
        return refuse("more descriptors than the protocol knows");
    if ((header_.flags & ~DSOCK_FLAG_MEMFD) != 0)
        return refuse("flags that this version does not know");
    const std::size_t inside = static_cast<std::size_t>(got) - sizeof(header_);
    if ((header_.flags & DSOCK_FLAG_MEMFD) != 0) {
        if (!memfd || inside != 0)
            return refuse("a long message without its memfd");
        return take_memfd(memfd.get(), payload_limit);
    }
    if (memfd)
        return refuse("a descriptor that nobody asked for");
    if (header_.length != inside)
        return refuse("a length that is not that of the packet");
    payload_ = std::span<const std::uint8_t>(buffer).subspan(sizeof(header_), inside);
    return Outcome::message;
}

} // namespace asc::server
