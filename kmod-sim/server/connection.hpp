// SPDX-License-Identifier: Apache-2.0
// One accepted socket of the server: what it is used for, who is behind it, what it still has to
// be sent.
#pragma once

#include "kmod-sim/host/machine.hpp"
#include "kmod-sim/server/descriptor.hpp"
#include "kmod-sim/server/packet.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

namespace asc::server {

struct Connection;

// A call on its way: from DSOCK_CALL to DSOCK_REPLY.
struct Flight {
    sim::Machine::Call call;
    Connection* connection = nullptr; // null: nobody waits for the answer any more
    std::uint32_t id = 0, uid = 0;
    std::uint64_t begun_ns = 0; // steady clock
};

struct Connection {
    enum class Kind { fresh, life, calls, control };

    Descriptor socket;
    Kind kind = Kind::fresh;
    sim_ident ident{}; // read at accept
    // life
    std::uint32_t ordinal = 0;
    std::uint64_t token = 0;
    // calls
    std::unordered_map<std::uint32_t, Flight*> flights; // parked ones, by call id
    // control
    bool tracing = false;
    // not yet sent
    std::deque<Outgoing> queue;
    std::size_t queued_bytes = 0;
    bool waits_for_room = false; // EPOLLOUT is armed
    bool closing = false;        // is closed once what is queued has gone
};

} // namespace asc::server
