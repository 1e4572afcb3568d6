// SPDX-License-Identifier: Apache-2.0
// The runner, on a machine inside this program and with commands of the test.
#include "faultinject/journal.hpp"
#include "faultinject/scenario/child.hpp"
#include "faultinject/scenario/execute.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

using namespace asc::faultinject;
using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

// ---- commands ----

asc::hal::Driver connect_here() {
    auto driver = asc::hal::Driver::connect({});
    if (!driver) {
        std::fprintf(stderr, "%s\n", driver.error().text.c_str());
        std::exit(9);
    }
    return std::move(*driver);
}

// Prints the double-bit errors and whether the temperature of device 0 can be had; 3 if it cannot.
int look_main(int, char**) {
    asc::hal::Driver driver = connect_here();
    using asc::hal::Ask;
    const auto device =
        driver.snapshot(std::span(driver.devices()).first(1), Ask::ecc | Ask::telemetry).front();
    std::printf("{\"double\": %u, \"temperature\": %s}\n", device.ecc->double_bit,
                device.temperature_c ? "true" : "null");
    return device.temperature_c ? 0 : 3;
}

int say_main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i)
        std::printf("%s\n", argv[i]);
    return 0;
}

int hang_main(int, char**) {
    for (;;)
        std::this_thread::sleep_for(1s);
}

int crash_main(int, char**) {
    std::raise(SIGKILL);
    return 0;
}

Applet find(std::string_view name) {
    return name == "look"    ? look_main
           : name == "say"   ? say_main
           : name == "hang"  ? hang_main
           : name == "crash" ? crash_main
                             : nullptr;
}

// ---- one run ----

struct Told {
    Outcome outcome;
    std::vector<std::string> steps; // "ok inject ...", or "not ok ...: complaint; complaint"
    std::string journal;
};

Told run(const std::string& text, ExecuteOptions options = {}, Venue venue = {Backend::inproc, {}},
         const std::string& profile = "single") {
    Told out;
    const auto scenario = parse_scenario("profile = '" + profile + "'\n" + text, "test.toml");
    EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error());
    if (!scenario)
        return out;
    std::vector<std::size_t> begun;
    const Observer observer{[&](const Step& step) { begun.push_back(step.index); },
                            [&](const StepResult& result) {
                                std::string line = (result.ok() ? "ok " : "not ok ") + result.what;
                                for (const std::string& complaint : result.complaints)
                                    line += "; " + complaint;
                                out.steps.push_back(line);
                                EXPECT_EQ(begun.back(), result.index);
                            },
                            [&](const std::string& part) { out.journal += part; }};
    options.find = find;
    out.outcome = execute(*scenario, venue, options, observer);
    EXPECT_EQ(begun.size(), out.steps.size());
    return out;
}

constexpr const char* kLying = R"(
[[step]]
inject = "surface cmd=udis.soc_max_temp mode=err errno=EIO dev=0"
as = "lie"
[[step]]
run = "look"
notices = ["surface cmd=udis.soc_max_temp"]
[step.expect]
status = 3
json = { "/temperature" = { missing = true } }
[[step]]
clear = "lie"
[[step]]
run = "look"
expect.json = { "/temperature" = true }
)";

TEST(Runner, RunsEveryStepAndTellsOfEach) {
    const Told out = run(kLying);
    EXPECT_EQ(out.outcome.kind, Outcome::Kind::passed) << out.outcome.why;
    EXPECT_THAT(out.steps,
                ElementsAre("ok inject surface cmd=udis.soc_max_temp mode=err errno=EIO dev=0",
                            "ok run look", "ok clear lie", "ok run look"));
    const auto runs = read_journal(out.journal, "journal");
    ASSERT_TRUE(runs) << runs.error();
    ASSERT_EQ(runs->size(), 1U);
    EXPECT_TRUE(runs->front().ok);
    EXPECT_EQ(runs->front().faults, 1U);
    EXPECT_THAT(runs->front().steps.front().hit,
                ElementsAre("surface cmd=udis.soc_max_temp mode=err errno=EIO dev=0"));
}

TEST(Runner, AStepThatFailsDoesNotEndTheRun) {
    const Told out = run(R"(
[[step]]
run = "say a"
expect.text = "b"
[[step]]
run = "say c"
)");
    EXPECT_EQ(out.outcome.kind, Outcome::Kind::failed);
    EXPECT_EQ(out.outcome.why, "");
    EXPECT_THAT(out.steps, ElementsAre("not ok run say a; no line has 'b'", "ok run say c"));
    EXPECT_FALSE(read_journal(out.journal, "journal")->front().ok);
}

TEST(Runner, WithoutItsFaultAStepMustNotHold) {
    ExecuteOptions options;
    options.without_faults = true;
    EXPECT_EQ(run(kLying, options).outcome.kind, Outcome::Kind::passed);
    const Told blind = run(R"(
[[step]]
inject = "ecc bits=2 addr=0x1000 dev=0"
[[step]]
advance = "24h"
[[step]]
run = "look"
notices = "ecc bits=2"
expect.json = { "/temperature" = true }
)",
                           options);
    EXPECT_EQ(blind.outcome.kind, Outcome::Kind::failed);
    EXPECT_THAT(blind.steps.back(), HasSubstr("it shows the same without the fault"));
}

TEST(Runner, WhatIsNoticedMustHaveFired) {
    const Told out = run(R"(
[[step]]
inject = "surface cmd=udis.soc_max_temp mode=err errno=EIO dev=0 space=1000"
[[step]]
run = "look"
notices = "surface cmd=udis.soc_max_temp"
expect.status = 0
)");
    EXPECT_THAT(out.steps.back(),
                HasSubstr("no rule of 'surface cmd=udis.soc_max_temp' has fired by now"));
}

TEST(Runner, HandsOnWhatIsWrongWithARule) {
    EXPECT_THAT(run("[[step]]\ninject = 'zombei'\n").steps.front(),
                HasSubstr("not ok inject zombei; at character 1"));
    EXPECT_THAT(run("[[step]]\nlose = 5\n").steps.front(), HasSubstr("not ok lose 5; "));
}

TEST(Runner, KeepsTheTimesOfItsSteps) {
    const Told out = run(R"(
[[step]]
at = "1h"
run = "say a"
[[step]]
advance = "30m"
[[step]]
at = "100m"
run = "say b"
)");
    EXPECT_EQ(out.outcome.kind, Outcome::Kind::passed);
    std::uint64_t passed = 0;
    std::string_view rest = out.journal;
    constexpr std::string_view kKey = "\"advance_ns\":";
    for (std::size_t at = 0; (at = rest.find(kKey)) != rest.npos; rest.remove_prefix(at + 1))
        passed += std::stoull(std::string(rest.substr(at + kKey.size(), 20)));
    EXPECT_EQ(passed, 100ULL * 60 * 1000000000);
    EXPECT_THAT(run("[[step]]\nadvance = '2h'\n[[step]]\nat = '1h'\nrun = 'say'\n").steps.back(),
                HasSubstr("its time 1h is past, it is 2h"));
}

TEST(Runner, SettlesWithinItsTime) {
    const std::string scenario = R"(
[[step]]
inject = "ecc bits=2 page=7 dev=0 after=55s"
[[step]]
settle = "look"
every = "1h"
expect.json = { "/double" = 1 }
)";
    EXPECT_EQ(run(scenario + "within = '48h'\n").outcome.kind, Outcome::Kind::passed);
    EXPECT_THAT(run(scenario + "within = '0s'\n").steps.back(), HasSubstr("/double is 0, not 1"));
}

TEST(Runner, ReplaysWhoHoldsMemory) {
    const Told out = run(R"(
[[step]]
start = "asc-hold --device 0 --mib 64"
as = "job"
[[step]]
kill = "job"
[[step]]
kill = "job"
)");
    EXPECT_THAT(out.steps.back(), HasSubstr("'job' does not run any more"));
    EXPECT_EQ(out.steps.size(), 3U);
}

TEST(Runner, BlamesTheStepThatHangsOrEndsTheProgram) {
    const Told hung = run("[[step]]\nrun = 'say a'\n[[step]]\nrun = 'hang'\nlimit = '200ms'\n");
    EXPECT_EQ(hung.outcome.kind, Outcome::Kind::failed);
    EXPECT_THAT(hung.steps, ElementsAre("ok run say a",
                                        "not ok run hang; a command did not end within its limit"));
    const Told crashed = run("[[step]]\nrun = 'crash'\n[[step]]\nrun = 'say b'\n");
    EXPECT_THAT(crashed.steps, ElementsAre("not ok run crash; the program ended by signal 9"));
}

TEST(Runner, SaysWhatCannotRunHere) {
    const std::pair<const char*, const char*> cases[] = {
        {"backends = 'socket'\n[[step]]\nrun = 'say'\n", "it does not run on the backend inproc"},
        {"[[step]]\nrun = 'ls'\n", "step 1 runs ls, which needs a process of its own"},
        {"[[step]]\nstart = 'say a'\nas = 'a'\n",
         "step 1 starts a process that cannot be replayed"},
    };
    for (const auto& [text, why] : cases) {
        const Told out = run(text);
        EXPECT_EQ(out.outcome.kind, Outcome::Kind::cannot_run);
        EXPECT_EQ(out.outcome.why, why);
        EXPECT_THAT(out.steps, IsEmpty());
    }
    const Told out = run("[[step]]\nrun = 'say'\n", {}, {Backend::inproc, {}}, "nonsense");
    EXPECT_EQ(out.outcome.kind, Outcome::Kind::failed);
    EXPECT_THAT(out.outcome.why, HasSubstr("no profile 'nonsense'"));
}

TEST(Runner, TheSeedDecidesTheJournal) {
    const std::string scenario =
        "[[step]]\ninject = 'ecc bits=1 random times=3 dev=0'\n[[step]]\nadvance = '25h'\n";
    const auto journal = [&](std::uint64_t seed) {
        ExecuteOptions options;
        options.seed = seed;
        std::string text = run(scenario, options).journal;
        return text.substr(text.find('\n')); // the head tells the seed
    };
    const std::string first = journal(5);
    EXPECT_THAT(first, HasSubstr("\"record\":\"ecc\""));
    EXPECT_TRUE(first == journal(5));
    EXPECT_FALSE(first == journal(6));
}

// ---- children ----

TEST(Child, HandsItsLinesOnAndEnds) {
    std::vector<std::string> lines;
    const auto end = in_child(
        [](const Tell& tell) {
            tell("one");
            tell(std::string(100000, 'x'));
            return 5;
        },
        [&](std::string_view line) { lines.emplace_back(line); }, 10s);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->status, 5);
    EXPECT_FALSE(end->timed_out);
    EXPECT_THAT(lines, ElementsAre("one", std::string(100000, 'x')));
}

TEST(Child, IsKilledWhenItsTimeIsOver) {
    const auto end =
        in_child([](const Tell&) { return hang_main(0, nullptr); }, [](std::string_view) {}, 100ms);
    ASSERT_TRUE(end);
    EXPECT_TRUE(end->timed_out);
    EXPECT_EQ(end->status, 137);
}

} // namespace
