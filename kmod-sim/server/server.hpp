// SPDX-License-Identifier: Apache-2.0
// davsimd: answers the socket channel (ioctl/wire/davsock.h, docs/socket-protocol.md) with a
// simulated machine. One thread, one epoll loop; nothing is polled when nothing is due.
#pragma once

#include "kmod-sim/host/state_file.hpp"
#include "kmod-sim/server/connection.hpp"
#include "kmod-sim/server/loop.hpp"
#include "kmod-sim/server/residents.hpp"
#include "kmod-sim/server/trace.hpp"

#include <nlohmann/json_fwd.hpp>

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace asc::server {

// What one user may have at once. Root has the same limits, per uid 0.
struct Limits {
    std::size_t connections = 4096;       // of all kinds
    std::size_t lives = 2048;             // open files
    std::size_t calls_in_flight = 1024;   // parked calls
    std::size_t queued_bytes = 1U << 20U; // unsent, per connection: a slow reader is dropped
    std::size_t traces = 8;
};

inline constexpr std::uint32_t kClientLimit = 4096; // open files of all users

struct ServerOptions {
    std::string path;           // of the socket
    mode_t mode = 0600;         // of the socket
    bool owner_is_root = false; // --as-root
    Limits limits;
};

class Server {
  public:
    // Listens under a temporary name; publish() gives the socket its own.
    static std::expected<std::unique_ptr<Server>, std::string>
    create(Loop& loop, std::unique_ptr<sim::Machine> machine, const ServerOptions& options);
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Starts a holder for each resident, one after the other, and returns when all are settled.
    std::expected<void, std::string> settle(const std::vector<Resident>& residents);
    // The same for the live owners of a loaded machine: holders stand for them.
    std::expected<void, std::string> settle_owners(const std::vector<sim::SavedOwner>& owners);
    // From now on clients find the socket.
    std::expected<void, std::string> publish();

    sim::Machine& machine() { return *machine_; }
    const std::string& path() const { return options_.path; }
    bool stop_asked() const { return stop_asked_; }
    // One turn of the loop: waits for the next events and answers them. 0 or an errno.
    int turn(int timeout_ms = -1);
    const Residents& residents() const { return residents_; }

  private:
    friend class Residents;
    Server(Loop& loop, std::unique_ptr<sim::Machine> machine, ServerOptions options);

    // server.cpp
    int listen();
    void accept_all();
    void adopt(Descriptor socket);
    void serve(Connection& connection, std::uint32_t events);
    void dispatch(Connection& connection, const Packet& packet);
    void open_life(Connection& connection, std::span<const std::uint8_t> payload);
    void tell_token(Connection& connection);
    void greet(Connection& connection, std::span<const std::uint8_t> payload);
    void refuse(Connection& connection, const std::string& why);
    void send(Connection& connection, std::uint16_t type, std::uint32_t call_id,
              std::span<const std::uint8_t> payload);
    void flush(Connection& connection);
    void close(Connection& connection);
    void bury(); // closes what was marked
    void after_work();
    void wake_readable();
    void arm_timer();

    // calls.cpp
    void begin_call(Connection& connection, const Packet& packet);
    void cancel_call(Connection& connection, std::uint32_t id);
    bool finish_calls(); // true when one has finished
    void reply(Connection& connection, std::uint32_t id, std::int32_t result,
               const sim::Window* memory);
    void finished(Flight& flight);
    Flight* take_flight();
    void drop_flights(Connection& connection);

    // control.cpp
    void control(Connection& connection, std::span<const std::uint8_t> payload);
    nlohmann::json answer_control(Connection& connection, const nlohmann::json& question);
    void answer(Connection& connection, const nlohmann::json& answer);
    nlohmann::json status();
    nlohmann::json add_device(const nlohmann::json& question);
    nlohmann::json load(Connection& connection, const std::string& text);
    std::expected<void, std::string> exchange(sim::LoadedState& state);
    bool is_owner(const Connection& connection) const;

    Loop& loop_;
    std::unique_ptr<sim::Machine> machine_;
    ServerOptions options_;
    sim::IdentityPolicy policy_;
    Descriptor listener_, reserve_; // reserve: a descriptor to give up when there are no more
    std::string listening_path_;
    bool published_ = false, stop_asked_ = false;
    bool busy_ = true; // something may have changed since after_work
    std::uint64_t due_ = SIM_NEVER, armed_for_ = SIM_NEVER; // of the machine; of the timer
    bool accepting_ = true;

    std::vector<std::uint8_t> buffer_, answer_;
    Packet packet_;
    std::unordered_map<int, std::unique_ptr<Connection>> connections_;
    std::vector<int> doomed_;
    std::unordered_map<std::uint64_t, Connection*> tokens_;
    std::unordered_map<std::uint32_t, Connection*> lives_; // by ordinal
    std::vector<std::function<void()>> later_;
    struct Usage {
        std::size_t connections = 0, lives = 0, flights = 0;
    };
    std::map<std::uint32_t, Usage> usage_; // by uid
    std::unordered_map<std::uint32_t, std::size_t> lives_of_pid_;
    std::vector<std::unique_ptr<Flight>> flights_; // owns all
    std::vector<Flight*> spare_flights_;
    std::size_t parked_ = 0;
    std::uint64_t calls_answered_ = 0, opens_answered_ = 0;
    std::vector<std::uint32_t> pollable_; // ordinals that may become readable
    Tracer tracer_;
    Residents residents_;
};

} // namespace asc::server
