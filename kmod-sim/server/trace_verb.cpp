// SPDX-License-Identifier: Apache-2.0
// davsim trace: the calls that a simulator answers, by name, and how many there were.
#include "kmod-sim/server/child.hpp"
#include "kmod-sim/server/client.hpp"
#include "kmod-sim/server/signals.hpp"
#include "kmod-sim/server/verbs.hpp"

#include <nlohmann/json.hpp>

#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>

namespace asc::server {

namespace po = boost::program_options;

namespace {

using Json = nlohmann::json;
constexpr int kQuietMs = 100; // after the command's end: its last events have come by then

// What stands in a terminal's line: control characters would steer it.
std::string printable(std::string text) {
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    return text;
}

struct Counts {
    std::uint64_t calls = 0, opens = 0, lost = 0;
    std::map<std::string, std::uint64_t> by_name;
    std::map<std::uint32_t, std::uint64_t> by_device; // round trips

    void note(const Json& event) {
        const std::string module = event.value("module", "");
        (module == "open" ? opens : calls) += 1;
        ++by_name[module + " " + event.value("name", "")];
        if (event.contains("device"))
            ++by_device[event["device"].get<std::uint32_t>()];
    }
    Json json() const {
        Json devices = Json::object();
        for (const auto& [device, count] : by_device)
            devices[std::to_string(device)] = count;
        return {{"schema", "asc-tools/davsim.trace/1"},
                {"calls", calls},
                {"opens", opens},
                {"lost", lost},
                {"by_name", by_name},
                {"round_trips_by_device", devices}};
    }
    std::string text() const {
        std::string out;
        for (const auto& [name, count] : by_name)
            out += std::to_string(count) + "  " + printable(name) + "\n";
        for (const auto& [device, count] : by_device)
            out +=
                "dev " + std::to_string(device) + ": " + std::to_string(count) + " round trips\n";
        out += std::to_string(calls) + " calls, " + std::to_string(opens) + " opens";
        if (lost != 0)
            out += ", " + std::to_string(lost) + " events lost: the trace was not read fast enough";
        return out + "\n";
    }
};

// "4321 npu-smi  urd udis.soc_max_temp dev 3 -> 0 (12 us)"
std::string line(const Json& event) {
    std::string out = std::to_string(event.value("pid", 0U)) + " " +
                      printable(event.value("comm", "")) + "  " + event.value("module", "") + " " +
                      printable(event.value("name", ""));
    if (event.contains("device"))
        out += " dev " + std::to_string(event["device"].get<std::uint32_t>());
    const int result = event.value("result", 0);
    out += " -> " + std::to_string(result);
    if (result < 0)
        if (const char* name = strerrorname_np(-result))
            out += std::string(" ") + name;
    if (event.value("us", -1) >= 0)
        out += " (" + std::to_string(event["us"].get<std::int64_t>()) + " us)";
    return out + "\n";
}

class Trace {
  public:
    Trace(std::FILE* out, bool lines, bool json) : out_(out), lines_(lines), json_(json) {}

    // A message of the server; false when it has ended.
    bool take(Client& client) {
        const auto message = client.next_answer();
        if (!message)
            return false;
        try {
            counts_.lost = message->value("lost", std::uint64_t{0});
            for (const Json& event : message->value("events", Json::array())) {
                counts_.note(event);
                if (lines_)
                    put(json_ ? dump(event) + "\n" : line(event));
            }
        } catch (const Json::exception&) {
            return false; // no server of ours
        }
        return true;
    }
    void finish() {
        put(json_ ? dump(counts_.json()) + "\n" : counts_.text());
        std::fflush(out_);
    }
    bool written() const { return good_; }

  private:
    static std::string dump(const Json& value) {
        return value.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
    void put(const std::string& text) {
        good_ = good_ && std::fputs(text.c_str(), out_) >= 0 && std::fflush(out_) == 0;
    }

    std::FILE* out_;
    bool lines_, json_, good_ = true;
    Counts counts_;
};

} // namespace

int trace_verb(const Verb& verb, std::span<const std::string> arguments) {
    Options options(verb, {}, true);
    options.add()("backend", po::value<std::string>(),
                  "unix:PATH; ASC_DEVICE unless given")("count", "only the counts, at the end")(
        "follow", "until a signal comes (the default without a command)")(
        "output,o", po::value<std::string>(), "table (default) or json: an object a line")(
        "file", po::value<std::string>(),
        "write there; else to standard error beside a command, to standard output without one");
    if (const auto end = options.parse(arguments))
        return *end;
    const std::string format = options.text("output", "table");
    if (format != "table" && format != "json")
        return options.usage_error("-o '" + format + "': table or json is expected");
    const bool with_command = !options.command().empty();
    const auto path = socket_path(options.text("backend"));
    if (!path)
        return options.fail(path.error().status, path.error().text);
    auto client = Client::connect(*path);
    if (!client)
        return options.fail(client.error().status, client.error().text);
    auto loop = Loop::create();
    if (!loop)
        return options.fail(kFailed, std::string("epoll: ") + std::strerror(loop.error()));
    std::FILE* out = with_command ? stderr : stdout;
    if (options.has("file") && (out = std::fopen(options.text("file").c_str(), "we")) == nullptr)
        return options.fail(kFailed, options.text("file") + ": " + std::strerror(errno));

    // The trace is of what descends from this process: it comes before the command does.
    Json question = {{"verb", "trace"}};
    if (with_command)
        question["root"] = getpid();
    if (const auto begun = client->control(question); !begun)
        return options.fail(begun.error().status, begun.error().text);
    Trace trace(out, !options.has("count"), format == "json");
    bool ended = false, server_gone = false;
    pid_t running = -1;
    const Signals signals(*loop, {SIGINT, SIGTERM, SIGHUP}, [&](const signalfd_siginfo& info) {
        if (running > 0 && info.ssi_code != SI_KERNEL)
            kill(running, static_cast<int>(info.ssi_signo));
        ended = ended || running <= 0;
    });
    loop->add(client->control_socket(), EPOLLIN, [&](std::uint32_t) {
        server_gone = !trace.take(*client);
        if (server_gone)
            loop->remove(client->control_socket());
    });
    int status = kDone;
    Child child;
    if (with_command) {
        auto started = Child::start(options.command(), {{"ASC_DEVICE", "unix:" + *path}}, signals);
        if (!started)
            return options.fail(started.error().first, started.error().second);
        child = std::move(*started);
        running = child.pid();
        loop->add(child.pidfd(), EPOLLIN, [&](std::uint32_t) {
            if (child.reap())
                ended = true;
        });
    }
    while (!ended && trace.written() && (with_command || !server_gone))
        loop->run_once();
    if (with_command && ended) {
        status = child.status();
        loop->remove(child.pidfd());
        while (!server_gone && client->answer_waits(kQuietMs))
            loop->run_once(0);
    }
    trace.finish();
    if (out != stdout && out != stderr)
        std::fclose(out);
    if (!with_command && server_gone)
        return options.fail(kNobody, "the simulator has gone");
    return status;
}

} // namespace asc::server
