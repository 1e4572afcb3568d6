// SPDX-License-Identifier: Apache-2.0
// davsim trace: who listens, and the events that are to be told. Nothing is done while nobody
// listens.
#pragma once

#include "kmod-sim/server/connection.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_set>
#include <vector>

namespace asc::server {

class Tracer {
  public:
    struct Listener {
        Connection* connection;
        std::uint32_t root; // only calls of this process and its descendants; 0: of all
        std::unordered_set<std::uint32_t> inside, outside; // pids that were looked at
        std::string events;                                // JSON objects, separated by commas
        std::uint64_t lost = 0; // dropped because the listener does not read
    };

    bool active() const { return !listeners_.empty(); }
    void add(Connection& connection, std::uint32_t root);
    void remove(const Connection& connection);
    // A process has connected: notes whose descendant it is while that can still be told.
    void note_process(std::uint32_t pid);
    // `microseconds` negative: not a call that took time.
    void call(const Connection& by, const sim::Machine::Call& call, std::int64_t microseconds);
    void open(const Connection& by, std::uint32_t node, std::uint32_t index, int result);

    // Hands out what has gathered: one JSON text per listener that has something to hear.
    void flush(const std::function<void(Connection&, const std::string&)>& send);
    std::size_t count() const { return listeners_.size(); }

  private:
    void tell(std::uint32_t pid, const nlohmann::json& event);

    std::vector<Listener> listeners_;
};

} // namespace asc::server
