// SPDX-License-Identifier: Apache-2.0
// The commands davsim and davsimd.
#include "kmod-sim/host/spelling.hpp"
#include "kmod-sim/server/client.hpp"
#include "kmod-sim/server/holder.hpp"
#include "kmod-sim/server/verbs.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>

namespace asc::cmds {

int davsim_main(int argc, char** argv);
int davsimd_main(int argc, char** argv);

} // namespace asc::cmds

namespace asc::server {

namespace {

#define BACKEND "[--backend unix:PATH]"
constexpr Verb kVerbs[] = {
    {"start",
     "[--detach] [--profile NAME|FILE | --state FILE] [--seed N] [--clock real|virtual] "
     "[--rule TEXT]... [--as-root] [--socket PATH]",
     "Starts a simulator and prints the line that makes programs use it.", &start_verb},
    {"stop", BACKEND, "Ends the simulator and its residents.", &stop_verb},
    {"status", BACKEND " [-o table|json]", "Says what is running.", &status_verb},
    {"run",
     "[--profile NAME|FILE] [--seed N] [--clock real|virtual] [--rule TEXT]... [--as-root] "
     "[--beside-real] -- COMMAND [ARGUMENT...]",
     "Runs a command with a simulator of its own and ends with the command's status.", &run_verb},
    {"trace", BACKEND " [--count] [--follow] [-o table|json] [--file FILE] [-- COMMAND...]",
     "Shows the calls that the simulator answers, decoded, and counts them.", &trace_verb},
    {"clock", "[show | advance TIME] " BACKEND " [-o table|json]",
     "Shows the simulator's clock, or lets virtual time pass.", &clock_verb},
    {"rule", "add TEXT | list | clear [ID] " BACKEND " [-o table|json]",
     "Sets, lists and clears fault rules.", &rule_verb},
    {"save", "FILE " BACKEND, "Writes the whole state of the machine to a file.", &save_verb},
    {"load", "FILE " BACKEND, "Replaces the machine by a saved one.", &load_verb},
    {"add-device", "[--like DEVICE] " BACKEND, "Adds a device at the next free id.",
     &add_device_verb},
    {"remove-device", "DEVICE " BACKEND, "Takes a device away.", &hotplug_verb},
    {"lose", "DEVICE " BACKEND, "Makes a device stop answering.", &hotplug_verb},
    {"restore", "DEVICE " BACKEND, "Brings a removed or lost device back.", &hotplug_verb},
    {"profile", "[NAME|FILE]", "Lists the profiles that are built in, or checks one.",
     &profile_verb},
};
#undef BACKEND

constexpr Verb kDaemon = {"d",
                          "[--profile NAME|FILE | --state FILE] [--seed N] [--clock real|virtual] "
                          "[--rule TEXT]... [--as-root] [--socket PATH]",
                          "The simulator's server in the foreground, as 'davsim start' runs it.",
                          &start_verb};

std::string verb_names() {
    std::string names;
    for (const Verb& verb : kVerbs)
        names.append(names.empty() ? "" : ", ").append(verb.name);
    return names;
}

int usage(const std::string& what) {
    std::fprintf(stderr, "davsim: %s\nusage: davsim VERB [ARGUMENT...]; VERB is one of: %s\n",
                 what.c_str(), verb_names().c_str());
    return kUsage;
}

int help() {
    std::string text = "usage: davsim VERB [ARGUMENT...]\n\n";
    for (const Verb& verb : kVerbs)
        text.append("  ")
            .append(verb.name)
            .append(15 - verb.name.size(), ' ')
            .append(verb.meaning)
            .append("\n");
    return print(text + "\n'davsim VERB --help' tells more. Status: 0 done; 2 usage; 4 not "
                        "permitted; 5 no simulator there; 7 another protocol; 8 failed;\n"
                        "run and trace end with the status of their command.\n");
}

int davsim(std::span<const std::string> words) {
    if (words.empty())
        return usage("no verb given");
    const std::string& word = words.front();
    if (word == "--help" || word == "-h")
        return help();
    if (word == "--version")
        return print("davsim " ASC_VERSION "\n");
    for (const Verb& verb : kVerbs)
        if (verb.name == word)
            return verb.run(verb, words.subspan(1));
    for (const Verb& verb : kVerbs)
        if (sim::is_near(word, verb.name))
            return usage("no verb '" + word + "'; did you mean '" + std::string(verb.name) + "'?");
    return usage("no verb '" + word + "'");
}

// Nothing may leave a command as an exception; memory can run out anywhere.
template <class Body> int guarded(Body body) {
    std::signal(SIGPIPE, SIG_IGN); // a closed pipe is an error of the write
    try {
        return body();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "davsim: %s\n", error.what());
        return kFailed;
    }
}

} // namespace

} // namespace asc::server

namespace asc::cmds {

int davsim_main(int argc, char** argv) {
    return server::guarded([&] {
        const std::vector<std::string> words(argv + 1, argv + argc);
        return server::davsim(words);
    });
}

int davsimd_main(int argc, char** argv) {
    if (argc == 2 && std::strcmp(argv[1], server::kHolderOption) == 0)
        return server::guarded([&] { return server::holder_main(argv); });
    return server::guarded([&] {
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (words.size() == 1 && words[0] == "--version")
            return server::print("davsimd " ASC_VERSION "\n");
        return server::kDaemon.run(server::kDaemon, words);
    });
}

} // namespace asc::cmds
