// SPDX-License-Identifier: Apache-2.0
// Who stands behind an open file: what the host reads from /proc when it is opened.
#pragma once

#include "kmod-sim/host/model.hpp"

#include <cstdint>

namespace asc::sim {

struct IdentityPolicy {
    std::uint32_t owner_uid = 0; // the simulator's owner: may set rules, clock and state
    bool owner_is_root = false;  // --as-root: the owner acts as root
    std::uint64_t own_pid_namespace =
        0; // a caller of another one is taken for a container; 0: none
};

// Identity of process `pid` (as this process sees it; 0: not resolvable) with the credentials that
// the kernel vouches for. What /proc does not tell stays 0 (unknown). `cookie` names the handle.
sim_ident read_identity(std::uint32_t pid, std::uint32_t uid, std::uint32_t gid,
                        std::uint64_t cookie, const IdentityPolicy& policy);

// This process as the simulator's owner (in-process channel, tests).
sim_ident self_identity();

// Inode of a namespace of `pid` ("pid", "mnt"); 0 when it cannot be read.
std::uint64_t namespace_of(std::uint32_t pid, const char* kind);
// Start time in clock ticks since boot (proc(5), stat field 22); 0 unknown.
std::uint64_t start_time_of(std::uint32_t pid);

} // namespace asc::sim
