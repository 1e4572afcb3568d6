// SPDX-License-Identifier: Apache-2.0
#include "hal/dsock.hpp"
#include "hal/holders.hpp"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace asc::hal {

namespace {

// Peer of one socket: its inode, 0 when it has none, -1 when it cannot be told.
std::int64_t peer_of(int netlink, std::uint64_t inode) {
    struct {
        nlmsghdr head;
        unix_diag_req body;
    } request{};
    request.head.nlmsg_len = sizeof(request);
    request.head.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    request.head.nlmsg_flags = NLM_F_REQUEST;
    request.body.sdiag_family = AF_UNIX;
    request.body.udiag_states = ~0U;
    request.body.udiag_ino = static_cast<std::uint32_t>(inode);
    request.body.udiag_show = UDIAG_SHOW_PEER;
    request.body.udiag_cookie[0] = request.body.udiag_cookie[1] = ~0U;
    if (send(netlink, &request, sizeof(request), 0) < 0)
        return -1;
    alignas(nlmsghdr) char buffer[4096];
    const ssize_t length = recv(netlink, buffer, sizeof(buffer), 0);
    if (length < static_cast<ssize_t>(sizeof(nlmsghdr)))
        return -1;
    const auto* head = reinterpret_cast<const nlmsghdr*>(buffer);
    if (head->nlmsg_type != SOCK_DIAG_BY_FAMILY || head->nlmsg_len > length ||
        head->nlmsg_len < NLMSG_LENGTH(sizeof(unix_diag_msg)))
        return -1; // NLMSG_ERROR among them: ENOENT in another network namespace
    std::size_t at = NLMSG_LENGTH(sizeof(unix_diag_msg));
    while (at + sizeof(rtattr) <= head->nlmsg_len) {
        rtattr attribute;
        std::memcpy(&attribute, buffer + at, sizeof(attribute));
        if (attribute.rta_len < sizeof(attribute) || at + attribute.rta_len > head->nlmsg_len)
            return -1;
        if (attribute.rta_type == UNIX_DIAG_PEER &&
            attribute.rta_len >= sizeof(attribute) + sizeof(std::uint32_t)) {
            std::uint32_t peer = 0;
            std::memcpy(&peer, buffer + at + sizeof(attribute), sizeof(peer));
            return peer;
        }
        at += RTA_ALIGN(attribute.rta_len);
    }
    return 0;
}

} // namespace

Reading<std::map<std::uint64_t, std::uint64_t>>
peers_of_sockets(const std::vector<std::uint64_t>& inodes) {
    std::map<std::uint64_t, std::uint64_t> peers;
    const Descriptor netlink(socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (!netlink)
        return Absence{Reason::unknown, -errno,
                       "the kernel does not let us ask for sockets' peers"};
    const timeval limit{1, 0};
    setsockopt(netlink.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    for (const std::uint64_t inode : inodes) {
        const std::int64_t peer = peer_of(netlink.get(), inode);
        if (peer < 0)
            return Absence{Reason::unknown, 0,
                           "the peer of a socket cannot be told (is the server in another network "
                           "namespace?)"};
        peers[inode] = static_cast<std::uint64_t>(peer);
    }
    return peers;
}

OpenFiles find_open_files(const Proc& proc, const std::set<std::int64_t>& skip,
                          const std::set<std::uint64_t>& sockets, dev_t device) {
    OpenFiles found;
    for (const std::int64_t pid : proc.pids()) {
        if (skip.contains(pid))
            continue;
        const bool readable = proc.descriptors(pid, [&](const std::string& path) {
            struct stat status {};
            if (!sockets.empty()) {
                char target[64];
                const ssize_t length = readlink(path.c_str(), target, sizeof(target) - 1);
                unsigned long long inode = 0;
                if (length > 0) {
                    target[length] = 0;
                    if (std::sscanf(target, "socket:[%llu]", &inode) == 1 &&
                        sockets.contains(inode))
                        found.sockets[pid].insert(inode);
                }
            }
            if (device != 0 && stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode) &&
                status.st_rdev == device)
                found.nodes[pid] = true;
        });
        found.unreadable = found.unreadable || !readable;
    }
    return found;
}

} // namespace asc::hal
