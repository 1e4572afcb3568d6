// SPDX-License-Identifier: Apache-2.0
#include "faultinject/scenario/execute.hpp"

#include "faultinject/scenario/child.hpp"
#include "faultinject/scenario/server_process.hpp"
#include "faultinject/scenario/words.hpp"

#include <chrono>

namespace asc::faultinject {

namespace {

using Kind = Outcome::Kind;

// Ends of the child that runs a scenario inside this program.
enum ChildStatus { kPassed = 0, kFailedSteps = 1, kNoMachine = 2 };

Outcome cannot(std::string why) {
    return {Kind::cannot_run, std::move(why)};
}
Outcome failed(std::string why) {
    return {Kind::failed, std::move(why)};
}
Outcome outcome_of(bool passed) {
    return {passed ? Kind::passed : Kind::failed, {}};
}

RunOptions run_options(const Scenario& scenario, const Venue& venue,
                       const ExecuteOptions& options) {
    RunOptions run;
    run.backend = venue.backend;
    run.seed = options.seed.value_or(scenario.seed);
    run.without_faults = options.without_faults;
    run.take_back = !venue.running.empty();
    return run;
}

std::expected<hal::Driver, std::string> connect(const std::string& backend) {
    hal::ConnectOptions options;
    options.backend = backend;
    auto driver = hal::Driver::connect(options);
    if (!driver)
        return std::unexpected(driver.error().text);
    return std::move(*driver);
}

// The profile as a name or a path; one that stands in the scenario is written to `folder`.
std::expected<std::string, std::string> profile_of(const Scenario& scenario,
                                                   std::optional<PrivateFolder>& folder) {
    if (scenario.profile_text.empty())
        return scenario.profile;
    auto made = PrivateFolder::make();
    if (!made)
        return std::unexpected(made.error());
    folder.emplace(std::move(*made));
    return folder->write("profile.toml", scenario.profile_text);
}

// ---- on a machine that runs already ----

std::string obstacle(const Scenario& scenario, const hal::BackendInfo& machine) {
    if (!machine.simulator)
        return machine.name + " is a real driver, which takes no faults";
    if (!scenario.profile_text.empty())
        return "it brings a profile of its own, and " + machine.name + " runs already";
    if (machine.profile != scenario.profile)
        return "it needs the profile " + scenario.profile + ", " + machine.name + " has " +
               machine.profile;
    if (machine.virtual_clock != (scenario.clock == Clock::virtual_time))
        return std::string("it needs a ") +
               (machine.virtual_clock ? "real clock" : "virtual clock") + ", which " +
               machine.name + " has not";
    return {};
}

Outcome execute_on_running(const Scenario& scenario, const Venue& venue,
                           const ExecuteOptions& options, const Observer& observer) {
    auto driver = connect(venue.running);
    if (!driver)
        return failed(driver.error());
    if (std::string why = obstacle(scenario, driver->backend()); !why.empty())
        return cannot(std::move(why));
    const auto stage = make_process_stage({{"ASC_DEVICE", venue.running}});
    RunOptions run = run_options(scenario, venue, options);
    run.seed = driver->backend().seed; // it was started with that
    return outcome_of(Runner(scenario, *driver, *stage, observer, run).run());
}

// ---- with a server of its own ----

Outcome execute_on_server(const Scenario& scenario, const Venue& venue,
                          const ExecuteOptions& options, const Observer& observer) {
    const RunOptions run = run_options(scenario, venue, options);
    auto server = ServerProcess::start(
        {scenario.profile, scenario.profile_text, run.seed, scenario.clock == Clock::virtual_time});
    if (!server)
        return failed(server.error());
    auto driver = connect(server->backend());
    if (!driver)
        return failed(driver.error());
    const auto stage =
        make_process_stage({{"ASC_DEVICE", server->backend()},
                            {"ASC_FIRMWARE_DIR", program_folder() + "/../firmware"}});
    return outcome_of(Runner(scenario, *driver, *stage, observer, run).run());
}

// ---- inside this program, in a child of it ----

Json json_of(const StepResult& result) {
    return {{"index", result.index},
            {"what", result.what},
            {"complaints", result.complaints},
            {"out", result.out},
            {"error", result.error}};
}

StepResult result_of(const Json& json) {
    return {json["index"], json["what"], json["complaints"], json["out"], json["error"]};
}

int run_in_child(const Scenario& scenario, const std::string& profile, const RunOptions& run,
                 const FindApplet& find, const Tell& tell) {
    const auto send = [&](const char* key, const Json& value) {
        tell(Json{{key, value}}.dump(-1, ' ', false, Json::error_handler_t::replace));
    };
    hal::MachineSetup setup;
    setup.profile = profile;
    setup.seed = run.seed;
    setup.virtual_clock = scenario.clock == Clock::virtual_time;
    auto machine = hal::SharedMachine::create(setup);
    if (!machine) {
        send("why", machine.error().text);
        return kNoMachine;
    }
    auto driver = connect(machine->backend());
    if (!driver) {
        send("why", driver.error());
        return kNoMachine;
    }
    const auto stage = make_inproc_stage(*machine, find);
    const Observer observer{[&](const Step& step) { send("begins", step.index); },
                            [&](const StepResult& result) { send("ended", json_of(result)); },
                            [&](const std::string& text) { send("journal", text); }};
    return Runner(scenario, *driver, *stage, observer, run).run() ? kPassed : kFailedSteps;
}

// The longest that its steps may take.
std::chrono::milliseconds limit_of(const Scenario& scenario) {
    std::chrono::milliseconds limit(60000); // and what stands between the steps
    for (const Step& step : scenario.steps) {
        limit += std::chrono::milliseconds(step.limit_ms);
        limit += std::chrono::milliseconds(step.within_ns / 1000000);
    }
    return limit;
}

Outcome execute_inside(const Scenario& scenario, const Venue& venue, const ExecuteOptions& options,
                       const Observer& observer) {
    if (std::string why = inproc_obstacle(scenario, options.find); !why.empty())
        return cannot(std::move(why));
    std::optional<PrivateFolder> folder;
    const auto profile = profile_of(scenario, folder);
    if (!profile)
        return failed(profile.error());
    const RunOptions run = run_options(scenario, venue, options);
    std::optional<std::size_t> under_way; // the step that has begun and not ended
    std::string why;
    const auto heard = [&](std::string_view line) {
        const Json message = Json::parse(line);
        if (message.contains("begins")) {
            under_way = message["begins"].get<std::size_t>();
            observer.begins(scenario.steps[*under_way]);
        } else if (message.contains("ended")) {
            under_way.reset();
            observer.ended(result_of(message["ended"]));
        } else if (message.contains("journal")) {
            observer.journal(message["journal"].get<std::string>());
        } else {
            why = message["why"].get<std::string>();
        }
    };
    const auto end = in_child(
        [&](const Tell& tell) { return run_in_child(scenario, *profile, run, options.find, tell); },
        heard, limit_of(scenario));
    if (!end)
        return failed(end.error());
    if (end->status == kPassed && !end->timed_out)
        return outcome_of(true);
    if (end->status == kHungStatus || end->timed_out)
        why = "a command did not end within its limit";
    else if (end->status > 128)
        why = "the program ended by signal " + std::to_string(end->status - 128);
    else if (end->status != kFailedSteps && why.empty())
        why = "the program ended with status " + std::to_string(end->status);
    if (under_way) { // so the step is to blame
        StepResult result;
        result.index = *under_way;
        result.what = step_text(scenario.steps[*under_way]);
        result.complaints.push_back(why);
        observer.ended(result);
    }
    return failed(why);
}

} // namespace

Outcome execute(const Scenario& scenario, const Venue& venue, const ExecuteOptions& options,
                const Observer& observer) {
    if (!scenario.runs_on(venue.backend))
        return cannot("it does not run on the backend " + std::string(to_string(venue.backend)));
    if (!venue.running.empty())
        return execute_on_running(scenario, venue, options, observer);
    return venue.backend == Backend::inproc ? execute_inside(scenario, venue, options, observer)
                                            : execute_on_server(scenario, venue, options, observer);
}

} // namespace asc::faultinject
