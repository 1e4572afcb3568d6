// SPDX-License-Identifier: Apache-2.0
// What stands inside DSOCK_CALL and DSOCK_REPLY (ioctl/wire/davsock.h). The other end may be
// hostile: nothing is taken or written before its place and length have been checked.
#pragma once

#include "ioctl/wire/davsock.h"
#include "ioctl/wire/marshal.h"
#include "kmod-sim/host/machine.hpp"

#include <cstdint>
#include <span>

namespace asc::server {

// Takes a call's head and the memory that came with it; `memory` is cleared first. Null, or what is
// wrong, in words for the peer.
const char* read_call(std::span<const std::uint8_t> payload, dsock_call& call, sim::Window& memory);

// Writes what a reply carries into the caller's memory, as far as it lies in what was offered.
// False: the reply cannot be used; `result` is as it was.
bool apply_reply(std::span<const std::uint8_t> payload, std::span<const dv_range> offered,
                 std::int32_t& result);

} // namespace asc::server
