// SPDX-License-Identifier: Apache-2.0
// davsim-load: puts a profile into the kernel module, as `davsim run` puts it into the server.
#include "kmod-sim/load/module_tree.hpp"
#include "kmod-sim/load/residents.hpp"

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <string>

namespace asc::cmds {

namespace {

namespace options = boost::program_options;

enum Status { kOk = 0, kUsage = 2, kFailed = 8 }; // cli-contract.md

constexpr char kUsageLine[] =
    "usage: davsim-load [--profile NAME|FILE] [--no-residents] | --remove\n";

int usage_error(const std::string& text) {
    fmt::print(stderr, "davsim-load: {}\n{}", text, kUsageLine);
    return kUsage;
}

int failed(const std::string& text) {
    fmt::print(stderr, "davsim-load: {}\n", text);
    return kFailed;
}

int load(const std::string& name, bool with_residents, const load::ModuleTree& module) {
    const auto profile = sim::load_profile(name);
    if (!profile)
        return usage_error(profile.error());
    if (auto done = module.check(*profile); !done)
        return failed(done.error());
    if (auto done = module.add_devices(*profile); !done)
        return failed(done.error());
    fmt::print("{}: {} devices\n", profile->name, profile->devices.size());
    if (with_residents) {
        for (const sim::ResidentProfile& resident : profile->residents) {
            const auto pid = load::start_resident(resident, module);
            if (!pid)
                return failed(pid.error());
            fmt::print("resident {} pid {} device {} {} MiB{}\n", resident.name, *pid,
                       resident.device, resident.mib, resident.dead ? " (ended, memory kept)" : "");
        }
    }
    if (auto done = module.settled(); !done)
        return failed(done.error());
    return kOk;
}

} // namespace

int davsim_load_main(int argc, char** argv) {
    std::string profile = "handbook", config, debug, parameters;
    options::options_description all;
    all.add_options()("profile", options::value(&profile)->value_name("NAME|FILE"),
                      "profile, built in or a TOML file (default handbook)")(
        "no-residents", "without the profile's own processes")(
        "remove", "take all devices out of the module again")(
        "config",
        options::value(&config)->value_name("DIR")->default_value("/sys/kernel/config/davinci_sim"),
        "the module's folder in configfs")(
        "debug",
        options::value(&debug)->value_name("DIR")->default_value("/sys/kernel/debug/davinci_sim"),
        "the module's folder in debugfs")("parameters",
                                          options::value(&parameters)
                                              ->value_name("DIR")
                                              ->default_value("/sys/module/davinci_sim/parameters"),
                                          "the module's parameters")("help", "this text")(
        "version", "the version");
    options::variables_map given;
    try {
        options::store(options::command_line_parser(argc, argv)
                           .options(all)
                           .positional(options::positional_options_description())
                           .run(),
                       given);
        options::notify(given);
    } catch (const options::error& error) {
        return usage_error(error.what());
    }
    if (given.count("help") != 0) {
        fmt::print("{}Puts a profile into the kernel module davinci_sim, which was loaded with "
                   "devices=0.\n\n",
                   kUsageLine);
        for (const auto& option : all.options())
            fmt::print("  {:<24} {}\n", option->format_name() + " " + option->format_parameter(),
                       option->description());
        fmt::print("\nends: 0 done, 2 usage, 8 the module refused or a resident did not start\n");
        return kOk;
    }
    if (given.count("version") != 0) {
        fmt::print("davsim-load {}\n", ASC_VERSION);
        return kOk;
    }
    const load::ModuleTree module(config, debug, parameters);
    if (given.count("remove") != 0) {
        const auto done = module.remove_devices();
        return done ? kOk : failed(done.error());
    }
    return load(profile, given.count("no-residents") == 0, module);
}

} // namespace asc::cmds
