// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/launch.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace asc::server {

namespace po = boost::program_options;

void add_launch_options(Options& options) {
    options.add()("profile", po::value<std::string>(),
                  "profile by name, or a .toml file (default handbook)")(
        "seed", po::value<std::string>(), "seed of random decisions (default 1)")(
        "clock", po::value<std::string>(), "real (default) or virtual: nothing moves by itself")(
        "rule", po::value<std::vector<std::string>>()->composing(),
        "a fault rule, set once the residents have settled; may be repeated")(
        "as-root", "the owner acts as root");
}

std::expected<LaunchOptions, std::string> read_launch_options(const Options& options) {
    LaunchOptions launch;
    launch.profile = options.text("profile", launch.profile);
    launch.rules = options.texts("rule");
    launch.as_root = options.has("as-root");
    if (options.has("seed")) {
        const auto seed = whole_number(options.text("seed"));
        if (!seed)
            return std::unexpected("--seed '" + options.text("seed") + "' is no whole number");
        launch.seed = *seed;
    }
    const std::string clock = options.text("clock", "real");
    launch.clock_given = options.has("clock");
    if (clock != "real" && clock != "virtual")
        return std::unexpected("--clock '" + clock + "': real or virtual is expected");
    launch.clock = clock == "real" ? sim::Clock::real : sim::Clock::virtual_time;
    return launch;
}

namespace {

struct Start {
    std::unique_ptr<sim::Machine> machine;
    std::vector<Resident> residents;
    std::vector<sim::SavedOwner> owners;
    bool loaded = false;
};

std::expected<Start, Failure> from_profile(const LaunchOptions& options,
                                           sim::MachineOptions machine_options) {
    auto profile = sim::load_profile(options.profile);
    if (!profile)
        return std::unexpected(Failure{kUsage, profile.error()});
    auto machine = sim::Machine::create(*profile, machine_options);
    if (!machine)
        return std::unexpected(
            Failure{kFailed, "profile " + options.profile + ": " + machine.error()});
    Start start{std::move(*machine), {}, {}, false};
    for (const sim::ResidentProfile& resident : profile->residents)
        start.residents.push_back(Resident::from(resident));
    return start;
}

std::expected<Start, Failure> from_state(const LaunchOptions& options,
                                         const sim::MachineOptions& machine_options) {
    const auto text = read_state_file(options.state);
    if (!text)
        return std::unexpected(Failure{kFailed, text.error()});
    auto state = sim::load_state(*text, machine_options, options.clock_given);
    if (!state)
        return std::unexpected(Failure{kFailed, options.state + ": " + state.error()});
    return Start{std::move(state->machine), {}, std::move(state->owners), true};
}

} // namespace

std::expected<std::unique_ptr<Server>, Failure> launch(Loop& loop, const LaunchOptions& options,
                                                       ServerOptions server_options) {
    sim::MachineOptions machine_options;
    machine_options.seed = options.seed;
    machine_options.clock = options.clock;
    machine_options.host = "socket";
    machine_options.scripted_residents = false;
    machine_options.client_limit = kClientLimit;
    auto start = options.state.empty() ? from_profile(options, machine_options)
                                       : from_state(options, machine_options);
    if (!start)
        return std::unexpected(start.error());
    server_options.owner_is_root = options.as_root;
    auto server = Server::create(loop, std::move(start->machine), server_options);
    if (!server)
        return std::unexpected(Failure{kFailed, server.error()});
    if (auto settled = start->loaded ? (*server)->settle_owners(start->owners)
                                     : (*server)->settle(start->residents);
        !settled)
        return std::unexpected(Failure{kFailed, settled.error()});
    for (const std::string& rule : options.rules)
        if (auto added = (*server)->machine().add_rule(rule); !added)
            return std::unexpected(Failure{kUsage, "--rule '" + rule + "': " + added.error()});
    if (auto published = (*server)->publish(); !published)
        return std::unexpected(Failure{kFailed, published.error()});
    return std::move(*server);
}

std::expected<void, std::string> private_directory(const std::string& path) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
        return std::unexpected(path + ": cannot be made: " + std::strerror(errno));
    struct stat info {};
    if (lstat(path.c_str(), &info) != 0)
        return std::unexpected(path + ": " + std::strerror(errno));
    if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid() || (info.st_mode & 077) != 0)
        return std::unexpected(path + ": must be a directory of this user that nobody else may "
                                      "enter (mode 0700)");
    return {};
}

std::string default_socket_path() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    if (runtime != nullptr && *runtime == '/')
        return std::string(runtime) + "/davsim/socket";
    return "/tmp/davsim-" + std::to_string(geteuid()) + "/socket";
}

} // namespace asc::server
