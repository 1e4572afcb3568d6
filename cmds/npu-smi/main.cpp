// SPDX-License-Identifier: Apache-2.0
// npu-smi: finds the command, connects, runs it.
#include "cmds/npu-smi/info.hpp"
#include "cmds/npu-smi/options.hpp"
#include "cmds/npu-smi/types.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace asc::cmds {

int npu_smi_main(int argc, char** argv);

namespace {

using namespace npu_smi;

int usage(Streams& streams, std::span<const std::string> words, std::string_view complaint) {
    streams.usage_error(complaint, usage_line(program(), words));
    return streams.finish(npu_smi_status::bad_parameter, npu_smi_status::file);
}

std::string_view word_for(std::string_view verb) {
    return verb == "info" ? "querying" : verb == "set" ? "setting" : "clearing";
}

struct Complaint {
    int status = npu_smi_status::ok;
    std::string text;
};

// What the option table cannot say: types, and what excludes each other.
Complaint check(const Arguments& arguments) {
    const std::string_view verb = arguments.verb->name;
    if (verb == "upgrade")
        return {npu_smi_status::not_supported,
                "upgrade is not supported: the chip's firmware is upgraded with asc-dmi upgrade "
                "--type fw, MCU, bootloader and VRD with the vendor's tool"};
    if (verb == "info") {
        int ways = 0;
        for (const std::string_view name : {"list", "map", "type"})
            ways += arguments.has(name) ? 1 : 0;
        if (ways > 1)
            return {npu_smi_status::bad_parameter, "only one of -t, -l and -m can be given"};
        if (arguments.has("save") && (ways > 0 || arguments.has("compare") ||
                                      arguments.has("watch") || arguments.has("query")))
            return {npu_smi_status::bad_parameter, "--save stands alone, with -i, -c, -p at most"};
        if (arguments.has("compare") && ways > 0 && !arguments.text("type").starts_with("proc"))
            return {npu_smi_status::bad_parameter,
                    "--compare is for the table, one card, -t proc and -t proc-mem"};
    }
    const auto option = std::ranges::find(arguments.verb->options, "type", &Option::name);
    if (option == arguments.verb->options.end())
        return {};
    if (!arguments.has("type"))
        return verb == "info" ? Complaint{}
                              : Complaint{npu_smi_status::bad_parameter,
                                          fmt::format("-t is needed; known: {}",
                                                      fmt::join(option->choices, " "))};
    const std::string_view type = arguments.text("type");
    if (std::ranges::find(option->choices, type) != option->choices.end())
        return {};
    if (is_vendor_type(verb, type))
        return {npu_smi_status::not_supported,
                fmt::format("This device does not support {} {}.", word_for(verb), type)};
    const std::string_view near = nearest(type, option->choices);
    return {npu_smi_status::bad_parameter,
            fmt::format("Error parameter of -t: '{}' is unknown{}", printable(type),
                        near.empty() ? fmt::format("; known: {}", fmt::join(option->choices, " "))
                                     : fmt::format("; did you mean '{}'?", near))};
}

int run(const Session& session) {
    const Arguments& arguments = session.arguments;
    const std::string_view verb = arguments.verb->name;
    if (verb == "info watch")
        return info_watch(session);
    if (verb == "info proc")
        return info_processes(session, ProcessLayout::scroll);
    if (verb == "health")
        return health(session);
    if (verb == "events")
        return events(session);
    if (verb == "set")
        return set_reset(session, arguments.text("type"));
    if (verb == "clear")
        return clear_ecc(session);
    if (arguments.has("list"))
        return info_list(session);
    if (arguments.has("map"))
        return info_map(session);
    if (arguments.has("type"))
        return info_type(session, arguments.text("type"));
    return info(session);
}

int connect_and_run(const Arguments& arguments, Streams& streams) {
    hal::ConnectOptions options;
    options.backend = arguments.text("backend");
    if (const auto seconds = arguments.number("timeout"))
        options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
    auto driver = hal::Driver::connect(options);
    if (!driver) {
        streams.error(driver.error().text);
        return streams.finish(npu_smi_status_of(driver.error().kind), npu_smi_status::file);
    }
    const Session session{arguments, streams, *driver, std::chrono::steady_clock::now()};
    return streams.finish(run(session), npu_smi_status::file);
}

} // namespace

int npu_smi_main(int argc, char** argv) {
    Streams streams("npu-smi");
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (words.size() == 1 && (words[0] == "-v" || words[0] == "--version")) {
        streams.out.write(fmt::format("npu-smi version: {}\n", ASC_VERSION));
        return streams.finish(npu_smi_status::ok, npu_smi_status::file);
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
        return streams.finish(npu_smi_status::ok, npu_smi_status::file);
    }
    if (arguments->verb == nullptr)
        return usage(streams, words, "no command given");
    if (const Complaint complaint = check(*arguments); complaint.status != npu_smi_status::ok) {
        if (complaint.status == npu_smi_status::bad_parameter)
            return usage(streams, words, complaint.text);
        streams.error(complaint.text);
        return streams.finish(complaint.status, npu_smi_status::file);
    }
    return connect_and_run(*arguments, streams);
}

} // namespace asc::cmds
