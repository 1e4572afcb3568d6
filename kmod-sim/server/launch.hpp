// SPDX-License-Identifier: Apache-2.0
// From the options that davsimd, davsim start and davsim run share to a server that is ready.
#pragma once

#include "kmod-sim/server/client.hpp"
#include "kmod-sim/server/options.hpp"
#include "kmod-sim/server/server.hpp"

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace asc::server {

struct LaunchOptions {
    std::string profile = "handbook", state; // state: a file of davsim save, instead of a profile
    std::uint64_t seed = 1;
    sim::Clock clock = sim::Clock::real;
    bool clock_given = false;
    std::vector<std::string> rules;
    bool as_root = false;
};

// Declares the shared options, and reads them after Options::parse.
void add_launch_options(Options& options);
std::expected<LaunchOptions, std::string> read_launch_options(const Options& options);

// Builds the machine, listens at `server.path`, settles the residents, sets the rules and publishes
// the socket. The failure's status is that of the command.
std::expected<std::unique_ptr<Server>, Failure> launch(Loop& loop, const LaunchOptions& options,
                                                       ServerOptions server);

// The text of a state file, bounded (state_verbs.cpp).
std::expected<std::string, std::string> read_state_file(const std::string& path);

// A directory that only this user may enter, made when it is missing; the error says why not.
std::expected<void, std::string> private_directory(const std::string& path);
// Where a started simulator listens unless told otherwise.
std::string default_socket_path();

} // namespace asc::server
