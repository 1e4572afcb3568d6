// SPDX-License-Identifier: Apache-2.0
// The verbs that ask a running simulator one thing.
#include "kmod-sim/server/verbs.hpp"

#include "kmod-sim/host/profile.hpp"
#include "kmod-sim/host/spelling.hpp"
#include "kmod-sim/server/client.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace asc::server {

namespace po = boost::program_options;

namespace {

using Json = nlohmann::json;

void add_backend(Options& options) {
    options.add()("backend", po::value<std::string>(), "unix:PATH; ASC_DEVICE unless given");
}

void add_output(Options& options) {
    options.add()("output,o", po::value<std::string>(), "table (default) or json");
}

std::expected<Client, Failure> connect(const Options& options) {
    const auto path = socket_path(options.text("backend"));
    if (!path)
        return std::unexpected(path.error());
    return Client::connect(*path);
}

std::expected<Json, Failure> ask(const Options& options, const Json& question) {
    auto client = connect(options);
    if (!client)
        return std::unexpected(client.error());
    return client->control(question);
}

int fail(const Options& options, const Failure& failure) {
    return options.fail(failure.status, failure.text);
}

// Result of an extension's ioctl as a failure.
Failure refused(int result, const std::string& what) {
    const int error = std::abs(result);
    return {error == EACCES || error == EPERM ? kDenied : kFailed,
            what + ": " +
                (result > 0 ? "driver error " + std::to_string(result) : std::strerror(error))};
}

std::string utc(std::uint64_t ms) {
    const auto seconds = static_cast<std::time_t>(ms / 1000);
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    char text[32];
    std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &parts);
    return fmt::format("{}.{:03}Z", text, ms % 1000);
}

std::optional<int> parse_device(const Options& options, std::uint32_t& device) {
    const auto number = whole_number(options.text("device"));
    if (!options.has("device") || !number || *number >= SIM_DEVICES_MAX)
        return options.usage_error("the logical id of a device is expected (0 to " +
                                   std::to_string(SIM_DEVICES_MAX - 1) + ")");
    device = static_cast<std::uint32_t>(*number);
    return std::nullopt;
}

std::optional<int> check_output(const Options& options) {
    const std::string format = options.text("output", "table");
    if (format == "table" || format == "json")
        return std::nullopt;
    return options.usage_error("-o '" + format + "': table or json is expected");
}

} // namespace

int stop_verb(const Verb& verb, std::span<const std::string> arguments) {
    Options options(verb);
    add_backend(options);
    if (const auto end = options.parse(arguments))
        return *end;
    auto client = connect(options);
    if (!client)
        return fail(options, client.error());
    if (const auto done = client->control({{"verb", "stop"}}); !done)
        return fail(options, done.error());
    client->wait_for_end(); // it has given up its socket by then
    return kDone;
}

int status_verb(const Verb& verb, std::span<const std::string> arguments) {
    Options options(verb);
    add_backend(options);
    add_output(options);
    if (const auto end = options.parse(arguments))
        return *end;
    if (const auto wrong = check_output(options))
        return *wrong;
    auto answer = ask(options, {{"verb", "status"}});
    if (!answer)
        return fail(options, answer.error());
    answer->erase("ok");
    if (options.text("output") == "json")
        return print(answer->dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    try {
        const Json& a = *answer;
        std::string out = fmt::format(
            "{} at {}, pid {}, owner uid {}\nprofile {}, driver {}, clock {}, seed {}\n"
            "time {} s since start, {}\n{} open files, {} parked calls, {} calls answered, {} "
            "rules, {} residents\n",
            a["server"].get<std::string>(), a["backend"].get<std::string>(), a["pid"].get<int>(),
            a["owner_uid"].get<std::uint32_t>(), a["profile"].get<std::string>(),
            a["driver_version"].get<std::string>(), a["clock"].get<std::string>(),
            a["seed"].get<std::uint64_t>(), a["now_ns"].get<std::uint64_t>() / 1000000000,
            utc(a["wall_ms"].get<std::uint64_t>()), a["open_files"].get<std::size_t>(),
            a["parked_calls"].get<std::size_t>(), a["calls_answered"].get<std::uint64_t>(),
            a["rules"].get<std::size_t>(), a["residents"].get<std::size_t>());
        for (const Json& device : a["devices"])
            out += fmt::format(
                "dev {:<3} {}  {:<9} {:>7} / {} MiB, {} owners\n", device["id"].get<int>(),
                device["bus_id"].get<std::string>(), device["state"].get<std::string>(),
                device["hbm_used_mib"].get<std::uint64_t>(),
                device["hbm_total_mib"].get<std::uint64_t>(), device["owners"].get<std::size_t>());
        return print(out);
    } catch (const Json::exception& error) {
        return options.fail(kMismatch,
                            std::string("the simulator is of another version: ") + error.what());
    }
}

int clock_verb(const Verb& verb, std::span<const std::string> arguments) {
    Options options(verb, {"what", "time"});
    add_backend(options);
    add_output(options);
    if (const auto end = options.parse(arguments))
        return *end;
    if (const auto wrong = check_output(options))
        return *wrong;
    const std::string what = options.text("what", "show");
    ds_clock clock{};
    clock.size = sizeof(clock);
    if (what == "advance") {
        const auto by = sim::parse_duration(options.text("time"));
        if (!by)
            return options.usage_error("advance needs a time as 300ms, 2s, 5m, 1h");
        clock.operation = DS_CLOCK_ADVANCE;
        clock.advance_ns = *by;
    } else if (what != "show" || options.has("time")) {
        return options.usage_error("'show', or 'advance' and a time, is expected");
    }
    auto client = connect(options);
    if (!client)
        return fail(options, client.error());
    auto extension = client->extension();
    if (!extension)
        return fail(options, extension.error());
    if (const int result = client->call(*extension, DS_CLOCK, &clock); result != 0) {
        const bool real = what == "advance" && result == -EINVAL;
        return fail(options, refused(result, real ? "the clock is real: only a virtual one can be "
                                                    "advanced"
                                                  : "clock"));
    }
    const char* kind = clock.kind == DS_CLOCK_REAL ? "real" : "virtual";
    if (options.text("output") == "json")
        return print(Json{{"schema", "asc-tools/davsim.clock/1"},
                          {"kind", kind},
                          {"now_ns", clock.now_ns},
                          {"wall_ms", clock.wall_ms}}
                         .dump() +
                     "\n");
    return print(fmt::format("{} clock, {}.{:09} s since start, {}\n", kind,
                             clock.now_ns / 1000000000, clock.now_ns % 1000000000,
                             utc(clock.wall_ms)));
}

namespace {

int list_rules(const Options& options, Client& client, Life& extension) {
    const bool json = options.text("output") == "json";
    Json rules = Json::array();
    std::string text;
    ds_rule_get rule{};
    for (std::uint32_t id = 1;; id = rule.id + 1) {
        rule = {};
        rule.size = sizeof(rule);
        rule.id = id;
        const int result = client.call(extension, DS_RULE_GET, &rule);
        if (result == -ENOENT)
            break;
        if (result != 0 || rule.length > sizeof(rule.text))
            return fail(options, refused(result, "rule list"));
        const std::string words(rule.text, rule.length);
        const bool bounded = rule.remaining != DS_RULE_UNLIMITED;
        rules.push_back({{"id", rule.id},
                         {"text", words},
                         {"matches", rule.matches},
                         {"hits", rule.hits},
                         {"remaining", bounded ? Json(rule.remaining) : Json()}});
        text +=
            fmt::format("{:>3}  {} matches, {} hits, {} left  {}\n", rule.id, rule.matches,
                        rule.hits, bounded ? std::to_string(rule.remaining) : "unlimited", words);
        if (rule.id == UINT32_MAX)
            break;
    }
    return print(json ? Json{{"schema", "asc-tools/davsim.rules/1"}, {"rules", rules}}.dump() + "\n"
                      : text);
}

} // namespace

int rule_verb(const Verb& verb, std::span<const std::string> arguments) {
    Options options(verb, {"words"});
    add_backend(options);
    add_output(options);
    if (const auto end = options.parse(arguments))
        return *end;
    if (const auto wrong = check_output(options))
        return *wrong;
    std::vector<std::string> words = options.texts("words");
    if (words.empty() || (words[0] != "add" && words[0] != "list" && words[0] != "clear"))
        return options.usage_error("'add TEXT', 'list' or 'clear [ID]' is expected");
    const std::string what = words[0];
    if ((what == "add") != (words.size() > 1) && what != "clear")
        return options.usage_error(what == "add" ? "add needs the rule's text"
                                                 : "list takes no more words");
    auto client = connect(options);
    if (!client)
        return fail(options, client.error());
    auto extension = client->extension();
    if (!extension)
        return fail(options, extension.error());
    if (what == "list")
        return list_rules(options, *client, *extension);
    if (what == "clear") {
        ds_rule_clear clear{sizeof(ds_rule_clear), 0};
        const auto id =
            words.size() == 2 ? whole_number(words[1]) : std::optional<std::uint64_t>(0);
        if (words.size() > 2 || !id || *id > UINT32_MAX || (words.size() == 2 && *id == 0))
            return options.usage_error("clear takes the id of a rule, or nothing for all");
        clear.id = static_cast<std::uint32_t>(*id);
        const int result = client->call(*extension, DS_RULE_CLEAR, &clear);
        if (result == -ENOENT)
            return options.fail(kFailed, "there is no rule " + words[1]);
        if (result != 0)
            return fail(options, refused(result, "rule clear"));
        return kDone;
    }
    std::string text = words[1];
    for (std::size_t i = 2; i < words.size(); ++i)
        text += " " + words[i];
    ds_rule_add add{};
    add.size = sizeof(add);
    if (text.size() >= sizeof(add.text))
        return options.usage_error("a rule has at most " + std::to_string(sizeof(add.text) - 1) +
                                   " characters");
    add.length = static_cast<std::uint32_t>(text.size());
    text.copy(add.text, sizeof(add.text));
    if (const int result = client->call(*extension, DS_RULE_ADD, &add); result != 0) {
        if (result == -EINVAL && add.error[0] != 0)
            return options.fail(
                kUsage, fmt::format("at character {}: {}", add.error_position + 1,
                                    std::string(add.error, strnlen(add.error, sizeof(add.error)))));
        return fail(options, refused(result, "rule add"));
    }
    return print(fmt::format("{}\n", add.id));
}

int add_device_verb(const Verb& verb, std::span<const std::string> arguments) {
    Options options(verb);
    add_backend(options);
    options.add()("like", po::value<std::string>(),
                  "copy this device (default: the one with the highest id)");
    if (const auto end = options.parse(arguments))
        return *end;
    Json question = {{"verb", "add-device"}};
    if (options.has("like")) {
        const auto like = whole_number(options.text("like"));
        if (!like || *like >= SIM_DEVICES_MAX)
            return options.usage_error("--like needs the logical id of a device");
        question["like"] = *like;
    }
    const auto answer = ask(options, question);
    if (!answer)
        return fail(options, answer.error());
    return print(fmt::format("dev {} {}\n", answer->value("id", 0), answer->value("bus_id", "")));
}

int hotplug_verb(const Verb& verb, std::span<const std::string> arguments) {
    Options options(verb, {"device"});
    add_backend(options);
    if (const auto end = options.parse(arguments))
        return *end;
    ds_hotplug hotplug{};
    hotplug.size = sizeof(hotplug);
    if (const auto wrong = parse_device(options, hotplug.device_id))
        return *wrong;
    hotplug.operation = verb.name == "remove-device" ? DS_HOTPLUG_REMOVE
                        : verb.name == "lose"        ? DS_HOTPLUG_LOSE
                                                     : DS_HOTPLUG_RESTORE;
    auto client = connect(options);
    if (!client)
        return fail(options, client.error());
    auto extension = client->extension();
    if (!extension)
        return fail(options, extension.error());
    if (const int result = client->call(*extension, DS_HOTPLUG, &hotplug); result != 0)
        return fail(options, refused(result, "device " + std::to_string(hotplug.device_id)));
    return kDone;
}

int profile_verb(const Verb& verb, std::span<const std::string> arguments) {
    Options options(verb, {"what"});
    if (const auto end = options.parse(arguments))
        return *end;
    if (!options.has("what")) {
        std::string out;
        for (const std::string_view name : sim::profile_names())
            if (const auto profile = sim::load_profile(name))
                out += fmt::format("{:<10} {}\n", name, profile->description);
        return print(out);
    }
    const auto profile = sim::load_profile(options.text("what"));
    if (!profile)
        return options.fail(kUsage, profile.error());
    return print(fmt::format("{}: {} devices, {} residents, driver {}\n{}\n", profile->name,
                             profile->devices.size(), profile->residents.size(),
                             profile->driver_version, profile->description));
}

} // namespace asc::server
