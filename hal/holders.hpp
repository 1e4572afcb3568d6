// SPDX-License-Identifier: Apache-2.0
// Which processes have a file open: sockets by their peers, nodes by their device number.
#pragma once

#include "hal/proc.hpp"
#include "hal/reading.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace asc::hal {

// Inodes of the sockets at the other ends (NETLINK_SOCK_DIAG); 0 for one that has none any more.
// Missing when the kernel does not tell.
Reading<std::map<std::uint64_t, std::uint64_t>>
peers_of_sockets(const std::vector<std::uint64_t>& inodes);

struct OpenFiles {
    std::map<std::int64_t, std::set<std::uint64_t>> sockets; // by pid: which of those looked for
    std::map<std::int64_t, bool> nodes;                      // by pid: has the device open
    bool unreadable = false; // processes whose files may not be looked at
};
// Looks through /proc, `skip` left out, for these sockets or this device (0: none).
OpenFiles find_open_files(const Proc& proc, const std::set<std::int64_t>& skip,
                          const std::set<std::uint64_t>& sockets, dev_t device);

} // namespace asc::hal
