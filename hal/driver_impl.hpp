// SPDX-License-Identifier: Apache-2.0
// What a Driver holds. For the files of this folder and their tests.
#pragma once

#include "hal/backend.hpp"
#include "hal/channel.hpp"
#include "hal/driver.hpp"
#include "hal/query.hpp"
#include "hal/wire_types.hpp"

#include <map>
#include <memory>
#include <vector>

namespace asc::hal {

// What is learnt of a device once and does not change while the driver is loaded.
struct Known {
    Reading<ChipFacts> chip;
    Reading<DeviceFacts> facts;
    Reading<PciFacts> pci;
    Reading<SimDevice> sim; // as it was at connection
    bool slow = false;      // something was not answered then
    bool udis = true;       // the chip's type begins with "Ascend" (driver-abi.md 7)
};

class Driver::Impl {
  public:
    Impl(std::unique_ptr<Channel> the_channel, BackendInfo the_info, ConnectOptions the_options)
        : options(std::move(the_options)), channel(std::move(the_channel)),
          info(std::move(the_info)) {}

    // Negotiates over an open channel and lists the devices; also the way in for tests.
    static std::expected<Driver, ConnectError>
    connect(std::unique_ptr<Channel> channel, BackendInfo info, const ConnectOptions& options);
    static Impl& of(Driver& driver) { return *driver.impl_; }

    // ---- negotiate.cpp ----
    std::expected<void, ConnectError> open_nodes();
    std::expected<void, ConnectError> list_devices();
    void learn_devices();
    void ask_simulator();
    std::string installed_version() const;

    // ---- for every action ----
    // Called first: after a fork nodes may have to be opened anew.
    void enter();
    TimePoint now_plus(std::chrono::milliseconds time) const { return Steady::now() + time; }
    // Deadline of the next question to a device: a device that was slow while connecting has used
    // up most of its time already.
    TimePoint deadline(const DeviceIds& ids) const;
    const Known& known(const DeviceIds& ids) const;
    bool is_simulator() const { return info.simulator; }
    // Runs one question alone.
    void ask(Question& question, const std::atomic<bool>* stop = nullptr);
    // One flat call: the struct comes back changed, or why not.
    template <class Argument>
    Reading<Argument> flat(Node node, std::uint32_t number, const Argument& argument,
                           std::chrono::milliseconds limit) {
        if (node < 0)
            return Absence{Reason::unsupported, 0, "only the simulator has it"};
        FlatQuery<Argument> query{};
        query.argument = argument;
        query.prepare(node, number);
        channel->call(query.call, now_plus(limit));
        // What a refused call wrote is of use to some callers (rule texts).
        last_argument_written = query.call.state == Call::State::done;
        if (query.call.state != Call::State::done || query.call.result != 0) {
            if (last_argument_written)
                std::memcpy(refused.data(), &query.argument,
                            std::min(refused.size(), sizeof(query.argument)));
            return absence_of_call(query.call, *channel, limit);
        }
        return query.argument;
    }

    ConnectOptions options;
    std::unique_ptr<Channel> channel;
    BackendInfo info;
    Nodes nodes;
    std::vector<DeviceIds> devices;
    std::map<int, Known> facts; // by logical id
    TimePoint connect_began = Steady::now();
    bool asked_before = false; // a question has been asked since the connection
    bool last_argument_written = false;
    std::array<std::uint8_t, 1024> refused{};
    std::vector<Node> held_nodes; // device nodes opened for hold_memory
    bool subscribed = false;      // the first event read has been made
};

std::unexpected<ConnectError> connect_error(ConnectError::Kind kind, int error, std::string text);

} // namespace asc::hal
