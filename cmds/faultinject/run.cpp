// SPDX-License-Identifier: Apache-2.0
// run: scenarios on a backend, results as TAP.
#include "cmds/applets.hpp"
#include "cmds/common/text.hpp"
#include "cmds/faultinject/options.hpp"
#include "cmds/faultinject/session.hpp"
#include "cmds/faultinject/tap.hpp"
#include "faultinject/scenario/execute.hpp"
#include "faultinject/scenario/library.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

namespace asc::cmds::faultinject {

namespace {

// Appends as it comes, so that a run that is ended has its journal up to there.
class JournalFile {
  public:
    std::expected<void, std::string> open(const std::string& path) {
        path_ = path;
        file_.reset(std::fopen(path.c_str(), "we"));
        if (!file_)
            return std::unexpected(trouble("cannot be opened"));
        return {};
    }
    void write(const std::string& text) {
        if (file_ && problem_.empty() &&
            (std::fwrite(text.data(), 1, text.size(), file_.get()) != text.size() ||
             std::fflush(file_.get()) != 0))
            problem_ = trouble("cannot be written");
    }
    const std::string& problem() const { return problem_; }

  private:
    std::string trouble(const char* what) const {
        return fmt::format("{}: {}: {}", printable(path_), what, std::strerror(errno));
    }
    struct Close {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    std::string path_, problem_;
    std::unique_ptr<std::FILE, Close> file_;
};

std::expected<fi::Venue, std::string> venue_of(std::string_view backend) {
    using fi::Backend;
    const std::string text(backend.empty() ? environment("ASC_DEVICE") : backend);
    if (text.empty() || text == "socket")
        return fi::Venue{Backend::socket, {}};
    if (text == "inproc")
        return fi::Venue{Backend::inproc, {}};
    if (text == "chardev")
        return fi::Venue{Backend::chardev, text};
    if (text.starts_with("unix:"))
        return fi::Venue{Backend::socket, text};
    if (text.starts_with("inproc:"))
        return std::unexpected("each scenario names its own profile; the backend is 'inproc'");
    return std::unexpected(
        fmt::format("no backend '{}'; known: socket, inproc, unix:PATH, chardev", printable(text)));
}

int list_library(const Session& session) {
    std::string text;
    for (const fi::LibraryEntry& entry : fi::scenario_library()) {
        const auto scenario = fi::parse_scenario(entry.text, std::string(entry.name) + ".toml");
        text += fmt::format("{:<24} {}\n", entry.name,
                            printable(scenario ? scenario->description : scenario.error()));
    }
    session.streams.out.write(text);
    return session.streams.finish(status::ok, status::failed);
}

// All are read before the first runs. The error is a complaint about one of them.
std::expected<std::vector<fi::Scenario>, std::string> read_scenarios(const Arguments& arguments) {
    std::vector<std::string> names = arguments.operands;
    if (arguments.has("all"))
        for (const fi::LibraryEntry& entry : fi::scenario_library())
            names.emplace_back(entry.name);
    std::vector<fi::Scenario> scenarios;
    for (const std::string& name : names) {
        const auto text = fi::find_scenario(name);
        if (!text)
            return std::unexpected(text.error());
        auto scenario = fi::parse_scenario(text->text, text->source);
        if (!scenario)
            return std::unexpected(scenario.error());
        scenarios.push_back(std::move(*scenario));
    }
    return scenarios;
}

struct Tally {
    std::size_t passed = 0, failed = 0, skipped = 0;

    void count(fi::Outcome::Kind kind) {
        using Kind = fi::Outcome::Kind;
        ++(kind == Kind::passed ? passed : kind == Kind::failed ? failed : skipped);
    }
    int status() const {
        return failed != 0 ? status::finding : passed != 0 ? status::ok : kCannotRun;
    }
};

} // namespace

int run_scenarios(const Session& session) {
    const Arguments& arguments = session.arguments;
    Streams& streams = session.streams;
    if (arguments.has("list"))
        return list_library(session);
    if (arguments.operands.empty() && !arguments.has("all"))
        return session.usage("SCENARIO... is needed, or --all");
    const auto venue = venue_of(arguments.text("backend"));
    if (!venue)
        return session.usage(venue.error());
    fi::ExecuteOptions options;
    options.without_faults = arguments.has("without-faults");
    options.find = find_applet;
    if (const auto seed = arguments.whole("seed"))
        options.seed = static_cast<std::uint64_t>(*seed);
    if (options.seed && !venue->running.empty())
        return session.usage("a simulator that runs was given its seed when it was started");
    const auto scenarios = read_scenarios(arguments);
    if (!scenarios)
        return session.fail(status::usage, printable(scenarios.error()));
    JournalFile journal;
    if (arguments.has("journal"))
        if (auto opened = journal.open(std::string(arguments.text("journal"))); !opened)
            return session.fail(status::failed, opened.error());

    Tap tap(streams.out);
    tap.plan(scenarios->size());
    Tally tally;
    for (const fi::Scenario& scenario : *scenarios) {
        tap.begin(scenario, *venue, options.seed.value_or(scenario.seed));
        const fi::Observer observer{[](const fi::Step&) {},
                                    [&](const fi::StepResult& result) { tap.step(result); },
                                    [&](const std::string& text) { journal.write(text); }};
        const fi::Outcome outcome = fi::execute(scenario, *venue, options, observer);
        tap.end(scenario, outcome);
        tally.count(outcome.kind);
    }
    streams.out.write(fmt::format("# {} passed, {} failed, {} cannot run here\n", tally.passed,
                                  tally.failed, tally.skipped));
    if (!journal.problem().empty())
        return session.fail(status::failed, journal.problem());
    return streams.finish(tally.status(), status::failed);
}

} // namespace asc::cmds::faultinject
