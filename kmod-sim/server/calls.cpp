// SPDX-License-Identifier: Apache-2.0
// DSOCK_CALL to DSOCK_REPLY: a call answers at once or is parked until the machine has its answer.
#include "kmod-sim/server/call_message.hpp"
#include "kmod-sim/server/log.hpp"
#include "kmod-sim/server/server.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace asc::server {

namespace {

std::uint64_t steady_ns() {
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                          std::chrono::steady_clock::now().time_since_epoch())
                                          .count());
}

} // namespace

Flight* Server::take_flight() {
    if (spare_flights_.empty()) {
        flights_.push_back(std::make_unique<Flight>());
        return flights_.back().get();
    }
    Flight* flight = spare_flights_.back();
    spare_flights_.pop_back();
    return flight;
}

void Server::begin_call(Connection& connection, const Packet& packet) {
    const std::uint32_t id = packet.header().call_id;
    if (connection.flights.contains(id)) {
        refuse(connection, "a call with the id of one that is not answered yet");
        return;
    }
    Flight* flight = take_flight();
    dsock_call call{};
    if (const char* problem = read_call(packet.payload(), call, flight->call.memory)) {
        spare_flights_.push_back(flight);
        refuse(connection, problem);
        return;
    }
    // A file of another user is treated as one that is not open: nobody learns that it exists.
    const auto life = tokens_.find(call.token);
    const bool allowed =
        life != tokens_.end() &&
        (life->second->ident.uid == connection.ident.uid || connection.ident.uid == 0);
    flight->connection = &connection;
    flight->id = id;
    flight->uid = connection.ident.uid;
    flight->call.ordinal = allowed ? life->second->ordinal : 0;
    flight->call.number = call.number;
    flight->call.thread = call.thread;
    flight->call.argument = call.argument;
    flight->call.context = flight;
    flight->call.wants_name = tracer_.active();
    flight->begun_ns = tracer_.active() ? steady_ns() : 0;
    if (machine_->begin(flight->call)) {
        finished(*flight);
        return;
    }
    Usage& usage = usage_[connection.ident.uid];
    if (usage.flights >= options_.limits.calls_in_flight) {
        log_line("uid " + std::to_string(connection.ident.uid) +
                 ": too many parked calls: " + std::to_string(options_.limits.calls_in_flight));
        machine_->abandon(flight->call);
        spare_flights_.push_back(flight);
        reply(connection, id, -EAGAIN, nullptr);
        return;
    }
    ++usage.flights;
    ++parked_;
    connection.flights[id] = flight;
}

// Answers a call that has finished and takes its flight back.
void Server::finished(Flight& flight) {
    ++calls_answered_;
    if (Connection* connection = flight.connection) {
        if (tracer_.active())
            tracer_.call(*connection, flight.call,
                         flight.begun_ns == 0
                             ? -1
                             : static_cast<std::int64_t>((steady_ns() - flight.begun_ns) / 1000));
        reply(*connection, flight.id, flight.call.result, &flight.call.memory);
    }
    flight.connection = nullptr;
    spare_flights_.push_back(&flight);
}

void Server::reply(Connection& connection, std::uint32_t id, std::int32_t result,
                   const sim::Window* memory) {
    const auto put = [this](const void* bytes, std::size_t length) {
        const auto* first = static_cast<const std::uint8_t*>(bytes);
        answer_.insert(answer_.end(), first, first + length);
    };
    answer_.clear();
    dsock_reply head{};
    head.result = result;
    head.write_count = memory ? static_cast<std::uint32_t>(memory->writes().size()) : 0;
    put(&head, sizeof(head));
    if (memory) {
        for (const sim::Window::Write& write : memory->writes()) {
            const dsock_write one{write.address, write.length, 0};
            put(&one, sizeof(one));
        }
        put(memory->written().data(), memory->written().size());
    }
    send(connection, DSOCK_REPLY, id, answer_);
}

void Server::cancel_call(Connection& connection, std::uint32_t id) {
    const auto found = connection.flights.find(id);
    if (found == connection.flights.end())
        return; // its reply is on the way
    Flight& flight = *found->second;
    if (!machine_->cancel(flight.call))
        return; // it finishes by itself, or may not be interrupted
    connection.flights.erase(found);
    --parked_;
    --usage_[flight.uid].flights;
    finished(flight);
}

bool Server::finish_calls() {
    bool any = false;
    while (sim::Machine::Call* call = machine_->next_finished()) {
        Flight& flight = *static_cast<Flight*>(call->context);
        --parked_;
        --usage_[flight.uid].flights;
        flight.connection->flights.erase(flight.id);
        finished(flight);
        any = true;
    }
    return any;
}

void Server::drop_flights(Connection& connection) {
    for (const auto& [id, flight] : connection.flights) {
        machine_->abandon(flight->call);
        flight->connection = nullptr;
        --parked_;
        --usage_[flight->uid].flights;
        spare_flights_.push_back(flight);
    }
    connection.flights.clear();
}

} // namespace asc::server
