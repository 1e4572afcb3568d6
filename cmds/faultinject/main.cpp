// SPDX-License-Identifier: Apache-2.0
// faultinject: finds the verb and runs it.
#include "cmds/faultinject/options.hpp"
#include "cmds/faultinject/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace asc::cmds {

int faultinject_main(int argc, char** argv);

namespace {

using namespace faultinject;

constexpr std::pair<std::string_view, int (*)(const Session&)> kRun[] = {
    {"list", list_rules},
    {"add", add_rule},
    {"clear", clear_rules},
    {"run", run_scenarios},
};

int usage(Streams& streams, std::span<const std::string> words, std::string_view complaint) {
    streams.usage_error(complaint, usage_line(program(), words));
    return streams.finish(status::usage, status::failed);
}

} // namespace

int faultinject_main(int argc, char** argv) {
    Streams streams("faultinject");
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (words.size() == 1 && words[0] == "--version") {
        streams.out.write(fmt::format("faultinject {}\n", ASC_VERSION));
        return streams.finish(status::ok, status::failed);
    }
    const auto arguments = parse_arguments(program(), words);
    if (!arguments)
        return usage(streams, words, arguments.error());
    if (arguments->has("ascii"))
        streams.style = style_of_terminal(true);
    if (arguments->has("help")) {
        const auto text = help_of_kind(program(), arguments->verb, arguments->text("help"));
        if (!text)
            return usage(streams, words, text.error());
        streams.out.write(*text);
        return streams.finish(status::ok, status::failed);
    }
    if (arguments->verb == nullptr)
        return usage(streams, words, "no command given");
    const auto run =
        std::ranges::find(kRun, arguments->verb->name, [](const auto& r) { return r.first; });
    return run->second(Session{*arguments, streams});
}

} // namespace asc::cmds
