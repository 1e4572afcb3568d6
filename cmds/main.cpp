// SPDX-License-Identifier: Apache-2.0
// The one binary of the tools. It answers to the name it was called by (a link), or to its first
// argument when it was called by any other name.
#include "cmds/applets.hpp"

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::cmds {

#define APPLET(name, function, library, text) int function(int argc, char** argv);
#include "generated/applets.def"
#undef APPLET

} // namespace asc::cmds

namespace {

constexpr int kStatusUsage = 2; // cli-contract: usage

struct Applet {
    std::string_view name;
    int (*run)(int, char**);
    std::string_view text;
};

// One sentinel keeps the table a legal array in a build that has no command yet.
constexpr Applet kTable[] = {
#define APPLET(name, function, library, text) {name, asc::cmds::function, text},
#include "generated/applets.def"
#undef APPLET
    {{}, nullptr, {}},
};

std::span<const Applet> applets() {
    return std::span(kTable).first(std::size(kTable) - 1);
}

const Applet* find(std::string_view name) {
    const auto found = std::ranges::find(applets(), name, &Applet::name);
    return found == applets().end() ? nullptr : &*found;
}

// Edits (insert, drop, replace) that turn one word into the other.
std::size_t distance(std::string_view from, std::string_view to) {
    std::vector<std::size_t> row(to.size() + 1);
    for (std::size_t j = 0; j < row.size(); ++j)
        row[j] = j;
    for (std::size_t i = 0; i < from.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i + 1;
        for (std::size_t j = 0; j < to.size(); ++j) {
            const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

// The known name nearest to a wrong one, or empty when none is near.
std::string_view nearest(std::string_view wrong) {
    std::string_view best;
    std::size_t best_distance = 3; // more than two slips are another word
    for (const Applet& applet : applets()) {
        const std::size_t d = distance(wrong, applet.name);
        if (d < best_distance && d < applet.name.size()) {
            best = applet.name;
            best_distance = d;
        }
    }
    return best;
}

std::string names() {
    std::string all;
    for (const Applet& applet : applets())
        all.append(all.empty() ? "" : ", ").append(applet.name);
    return all.empty() ? "none in this build" : all;
}

// The word as it may stand in a message: control characters would steer the terminal.
std::string printable(std::string_view word) {
    std::string out(word.substr(0, 64));
    std::ranges::replace_if(
        out, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    return out;
}

int usage_error(const std::string& complaint) {
    std::fprintf(stderr,
                 "asc-tools: %s\nusage: asc-tools COMMAND [ARGUMENT...]; COMMAND is one of: %s\n",
                 complaint.c_str(), names().c_str());
    return kStatusUsage;
}

int print(const std::string& text) {
    const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    if (!written)
        std::perror("asc-tools: standard output");
    return written ? 0 : 1;
}

std::string help() {
    std::string text = "usage: asc-tools COMMAND [ARGUMENT...]\n"
                       "Each command also runs under its own name through a link to asc-tools.\n\n";
    for (const Applet& applet : applets())
        text.append("  ")
            .append(applet.name)
            .append(14 - std::min<std::size_t>(applet.name.size(), 13), ' ')
            .append(applet.text)
            .append("\n");
    return text + "\nCOMMAND --help tells more. Status 2: wrong usage; else the command's own.\n";
}

} // namespace

asc::cmds::Applet asc::cmds::find_applet(std::string_view name) {
    const auto* applet = find(name);
    return applet == nullptr ? nullptr : applet->run;
}

int main(int argc, char** argv) {
    std::string_view called = argc > 0 ? argv[0] : "asc-tools";
    called.remove_prefix(called.rfind('/') + 1); // npos + 1 is 0
    if (const Applet* applet = find(called))
        return applet->run(argc, argv);
    if (argc < 2)
        return usage_error("no command given");
    const std::string_view word = argv[1];
    if (const Applet* applet = find(word))
        return applet->run(argc - 1, argv + 1);
    if (word == "--help" || word == "-h")
        return print(help());
    if (word == "--version")
        return print("asc-tools " ASC_VERSION "\n");
    std::string complaint = "no command '" + printable(word) + "'";
    if (const std::string_view near = nearest(word); !near.empty())
        complaint.append("; did you mean '").append(near).append("'?");
    return usage_error(complaint);
}
