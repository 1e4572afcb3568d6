// SPDX-License-Identifier: Apache-2.0
// Who stands behind an open file: what the host reads from /proc when it is opened.
#pragma once

#include "kmod-sim/host/model.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace asc::sim {

struct IdentityPolicy {
    std::uint32_t owner_uid = 0; // the simulator's owner: may set rules, clock and state
    bool owner_is_root = false;  // --as-root: the owner acts as root
};

// What the kernel vouches for (SO_PEERCRED, SO_PEERGROUPS).
struct Credentials {
    std::uint32_t pid = 0; // as this process sees it; 0: not resolvable
    std::uint32_t uid = 0, gid = 0;
    std::span<const std::uint32_t> groups; // supplementary
};

// Identity of the process with these credentials. What /proc does not tell stays 0 (unknown).
// ROOT: uid 0; OPERATE: a member of HwHiAiUser or HwBaseUser (driver-abi.md 6.3); USER: everybody.
// A process of another pid namespace counts as a container, with CAP_SYS_ADMIN in this user
// namespace as an admin container. `cookie` names the handle (ds_holder).
sim_ident read_identity(const Credentials& credentials, std::uint64_t cookie,
                        const IdentityPolicy& policy);

// This process as the simulator's owner (in-process channel, tests).
sim_ident self_identity();
// Somebody who never was a process (DS_PROCESS_SCRIPTED); each has another number, from 0.
sim_ident scripted_identity(std::string_view name, std::uint32_t number);

// Inode of a namespace of `pid` ("pid", "mnt", "user"); 0 when it cannot be read.
std::uint64_t namespace_of(std::uint32_t pid, const char* kind);
// Start time in clock ticks since boot (proc(5), stat field 22); 0 unknown.
std::uint64_t start_time_of(std::uint32_t pid);

} // namespace asc::sim
