// SPDX-License-Identifier: Apache-2.0
// The scenario reader: what it takes, and that each complaint says file, line, key and what is
// expected.
#include "faultinject/scenario/library.hpp"
#include "faultinject/scenario/scenario.hpp"
#include "faultinject/scenario/words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

using namespace asc::faultinject;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

constexpr std::uint64_t kMs = 1000000, kSecond = 1000 * kMs;

std::string complaint_about(const std::string& text) {
    const auto scenario = parse_scenario(text, "f.toml");
    return scenario ? "no complaint" : scenario.error();
}

Scenario read(const std::string& text) {
    auto scenario = parse_scenario(text, "folder/of/f.toml");
    EXPECT_TRUE(scenario) << (scenario ? "" : scenario.error());
    return scenario ? *scenario : Scenario{};
}

// Lines of the file count from 1; the text of a case stands behind "[[step]]", on line 2 on.
std::string step(const std::string& text) {
    return "[[step]]\n" + text + "\n";
}

TEST(Reader, TakesWhatAFileMaySay) {
    const Scenario scenario = read(R"(
description = "all of it"
profile = "single"
clock = "real"
seed = 9
backends = ["socket", "chardev"]
limit = "7s"
[[step]]
at = "1s"
inject = "ecc bits=1 dev=0"
as = "flip"
[[step]]
at = "1500ms"
run = "npu-smi info -o 'json'"
expect = { status = [0, 3], text = "a   b", not_text = ["c"], line = "d", not_line = "e", error_text = "f" }
notices = "ecc bits=1"
limit = "2s"
[[step]]
start = ["asc-hold", "--device", "0"]
as = "job"
[[step]]
kill = "job"
signal = "TERM"
[[step]]
clear = "flip"
[[step]]
clear = "all"
[[step]]
settle = "npu-smi info"
expect.status = 0
within = "3s"
every = "50ms"
[[step]]
lose = 0
[[step]]
restore = 0
)");
    EXPECT_EQ(scenario.name, "f");
    EXPECT_EQ(scenario.description, "all of it");
    EXPECT_EQ(scenario.profile, "single");
    EXPECT_EQ(scenario.clock, Clock::real);
    EXPECT_EQ(scenario.seed, 9U);
    EXPECT_FALSE(scenario.runs_on(Backend::inproc));
    EXPECT_TRUE(scenario.runs_on(Backend::chardev));
    ASSERT_EQ(scenario.steps.size(), 9U);
    const Step& inject = scenario.steps[0];
    EXPECT_EQ(inject.kind, Step::Kind::inject);
    EXPECT_EQ(inject.text, "ecc bits=1 dev=0");
    EXPECT_EQ(inject.name, "flip");
    EXPECT_EQ(inject.at_ns, kSecond);
    EXPECT_EQ(inject.line, 8U);
    EXPECT_EQ(inject.limit_ms, 7000U);
    const Step& run = scenario.steps[1];
    EXPECT_THAT(run.words, ElementsAre("npu-smi", "info", "-o", "json"));
    EXPECT_THAT(*run.expect.status, ElementsAre(0, 3));
    EXPECT_THAT(run.expect.text, ElementsAre("a b"));
    EXPECT_THAT(run.expect.not_text, ElementsAre("c"));
    EXPECT_THAT(run.expect.line, ElementsAre("d"));
    EXPECT_THAT(run.expect.not_line, ElementsAre("e"));
    EXPECT_THAT(run.expect.error_text, ElementsAre("f"));
    EXPECT_THAT(run.notices, ElementsAre("ecc bits=1"));
    EXPECT_EQ(run.limit_ms, 2000U);
    EXPECT_EQ(scenario.steps[3].signal, 15);
    EXPECT_EQ(scenario.steps[6].within_ns, 3 * kSecond);
    EXPECT_EQ(scenario.steps[6].every_ns, 50 * kMs);
}

TEST(Reader, HasDefaults) {
    const Scenario scenario = read(step("run = 'true'\npass = '20ms'"));
    EXPECT_EQ(scenario.profile, "handbook");
    EXPECT_EQ(scenario.clock, Clock::virtual_time);
    EXPECT_EQ(scenario.seed, 1U);
    EXPECT_TRUE(scenario.runs_on(Backend::inproc));
    const Step& run = scenario.steps[0];
    EXPECT_FALSE(run.expect.status);
    EXPECT_FALSE(run.at_ns);
    EXPECT_EQ(run.limit_ms, 30000U);
    EXPECT_EQ(run.pass_ns, 20 * kMs);
    EXPECT_EQ(run.pass_limit_ns, 600 * kSecond);
}

TEST(Reader, TakesAProfileByNameByPathOrWhole) {
    EXPECT_EQ(read("profile.use = 'x.toml'\n" + step("advance = '1s'")).profile, "x.toml");
    const Scenario whole =
        read("[profile]\nname = 'mine'\n[[profile.device]]\nhbm_mib = 64\n" + step("lose = 0"));
    EXPECT_THAT(whole.profile_text, HasSubstr("hbm_mib = 64"));
    EXPECT_THAT(whole.profile_text, HasSubstr("name = "));
}

TEST(Reader, TakesEveryComparison) {
    const Scenario scenario = read(step(R"(run = "npu-smi info -o json"
[step.expect.json]
"/a" = 3
"/b" = { eq = "x" }
"/c" = { ne = true }
"/d" = { lt = 1 }
"/e" = { le = 1.5 }
"/f" = { gt = -1 }
"/g" = { ge = 0 }
"/h" = { near = 50, within = 2 }
"/i" = { has = { kind = "oom" } }
"/j" = { lacks = [1, 2] }
"/k" = { length = 0 }
"/l" = { missing = "failed" }
"/m" = { missing = true }
"/n" = { absent = true }
"/o" = [1]
)"));
    std::string hows;
    for (const Check& check : scenario.steps[0].expect.json)
        hows += check.pointer + std::string(to_string(check.how)) + " ";
    EXPECT_EQ(hows, "/aeq /beq /cne /dlt /ele /fgt /gge /hnear /ihas /jlacks /klength /lmissing "
                    "/mmissing /nabsent /oeq ");
    EXPECT_EQ(scenario.steps[0].expect.json[7].within, 2);
}

struct Bad {
    const char *text, *complaint;
};
class Complaints : public testing::TestWithParam<Bad> {};

TEST_P(Complaints, SayWhereAndWhat) {
    EXPECT_THAT(complaint_about(GetParam().text), HasSubstr(GetParam().complaint))
        << GetParam().text;
    EXPECT_THAT(complaint_about(GetParam().text), StartsWith("f.toml"));
}

#define RUN "[[step]]\nrun = 'true'\n"
INSTANTIATE_TEST_SUITE_P(
    OfTheFile, Complaints,
    testing::Values(
        Bad{"profile = \n", "f.toml:1:"}, Bad{"", "f.toml"},
        Bad{"seed = 1\n", "step: at least one"},
        Bad{"step = 3\n", "f.toml:1:8: step: at least one table [[step]] is expected"},
        Bad{"step = [1]\n", "at least one table [[step]]"},
        Bad{"step = []\n", "at least one table"},
        Bad{"sed = 1\n" RUN, "f.toml:1:1: sed: unknown key; did you mean 'seed'?"},
        Bad{"colour = 1\n" RUN,
            "f.toml:1:1: colour: unknown key; known: description, profile, clock, seed, backends, "
            "limit, step"},
        Bad{"seed = -1\n" RUN, "f.toml:1:8: seed: a whole number from 0 to 9223372036854775807"},
        Bad{"seed = 1.5\n" RUN, "f.toml:1:8: seed: a whole number from 0"},
        Bad{"clock = 'fast'\n" RUN, "f.toml:1:9: clock: \"real\" or \"virtual\" is expected"},
        Bad{"clock = 1\n" RUN, "f.toml:1:9: clock: a text is expected, not an integer"},
        Bad{"description = 1\n" RUN, "f.toml:1:15: description: a text is expected"},
        Bad{"backends = 'net'\n" RUN, "backends: no backend 'net'; known: socket, inproc, chardev"},
        Bad{"backends = []\n" RUN, "f.toml:1:12: backends: at least one is expected"},
        Bad{"limit = '5'\n" RUN, "f.toml:1:9: limit: a time as \"300ms\", \"2s\""},
        Bad{"profile = 3\n" RUN, "f.toml:1:11: profile: a table is expected, not an integer"},
        Bad{"profile = {use = 'a', x = 1}\n" RUN, "profile.x: unknown key; known: use"}));

INSTANTIATE_TEST_SUITE_P(
    OfAStep, Complaints,
    testing::Values(
        Bad{"[[step]]\n", "f.toml:1:1: step[1]: a step needs one of: inject, clear, run, start"},
        Bad{"[[step]]\nrunn = 'x'\n", "f.toml:2:1: step[1].runn: unknown key; did you mean 'run'?"},
        Bad{"[[step]]\nrun = 'x'\nlose = 1\n", "this one does 'run' already"},
        Bad{"[[step]]\nrun = 'x'\nsignal = 'TERM'\n", "f.toml:3:1: step[1].signal: unknown key"},
        Bad{RUN "[[step]]\nrun = ''\n", "f.toml:4:7: step[2].run: the command line is empty"},
        Bad{"[[step]]\nrun = \"a 'b\"\n", "step[1].run: a ' is not closed"},
        Bad{"[[step]]\nrun = 'a b\\'\n", "ends in a backslash"},
        Bad{"[[step]]\nrun = \"a\\nb\"\n", "neither line breaks nor zero bytes"},
        Bad{"[[step]]\nrun = []\n", "step[1].run: a command is expected"},
        Bad{"[[step]]\nrun = ['a', 1]\n", "step[1].run: a text is expected"},
        Bad{"[[step]]\nrun = \"a\\u0000\"\n", "a text without zero bytes is expected"},
        Bad{"[[step]]\ninject = ''\n", "step[1].inject: a text that is not empty"},
        Bad{"[[step]]\ninject = 3\n", "f.toml:2:10: step[1].inject: a text is expected"},
        Bad{"[[step]]\nadvance = 5\n", "step[1].advance: a time as"},
        Bad{"[[step]]\nadvance = '999999999999d'\n", "step[1].advance: a time as"},
        Bad{"[[step]]\nlose = 64\n", "step[1].lose: a whole number from 0 to 63 is expected"},
        Bad{"[[step]]\nstart = 'asc-hold'\n", "step[1].as: is missing: a name for the process"},
        Bad{"[[step]]\nkill = 'job'\n", "step[1].kill: no step above is called 'job'"},
        Bad{"[[step]]\nstart = 'a'\nas = 'job'\n[[step]]\nkill = 'jib'\n", "did you mean 'job'?"},
        Bad{"[[step]]\nstart = 'a'\nas = 'job'\n[[step]]\nkill = 'job'\nsignal = 'BOO'\n",
            "step[2].signal: no signal 'BOO'; known: KILL, TERM"},
        Bad{"[[step]]\ninject = 'zombie'\nas = 'z'\n[[step]]\ninject = 'zombie'\nas = 'z'\n",
            "f.toml:6:6: step[2].as: 'z' is taken already"},
        Bad{"[[step]]\nclear = 'z'\n", "step[1].clear: no step above is called 'z'"},
        Bad{"[[step]]\nwait = 'z'\n", "step[1].wait: no step above is called 'z'"},
        Bad{"[[step]]\nat = '2s'\nrun = 'true'\n[[step]]\nat = '1s'\nrun = 'true'\n",
            "f.toml:5:6: step[2].at: 1s is before the step above (2s)"},
        Bad{"clock = 'real'\n[[step]]\nadvance = '1s'\n",
            "step[1].advance: only a virtual clock is moved"},
        Bad{"clock = 'real'\n[[step]]\nrun = 'a'\npass = '1s'\n",
            "step[1].pass: only a virtual clock is moved"},
        Bad{"[[step]]\nrun = 'a'\npass_limit = '1s'\n", "step[1].pass_limit: stands with 'pass'"},
        Bad{"[[step]]\nrun = 'a'\npass = '1ns'\n", "step[1].pass: at most 1000000 steps"},
        Bad{"[[step]]\nsettle = 'a'\n", "step[1].expect: is missing: what must be seen?"},
        Bad{"[[step]]\nsettle = 'a'\nexpect.status = 0\nevery = '0s'\n",
            "step[1].every: at most 100000 looks"},
        Bad{"[[step]]\nrun = 'a'\nnotices = 'zombie'\n", "step[1].expect: is missing"}));

#define EXPECT_KEY "[[step]]\nrun = 'a'\n[step.expect]\n"
#define JSON_KEY "[[step]]\nrun = 'a'\n[step.expect.json]\n"
INSTANTIATE_TEST_SUITE_P(
    OfAnExpectation, Complaints,
    testing::Values(
        Bad{"[[step]]\nrun = 'a'\nexpect = 3\n", "step[1].expect: a table is expected"},
        Bad{EXPECT_KEY "colour = 0\n",
            "f.toml:4:1: step[1].expect.colour: unknown key; known: status"},
        Bad{EXPECT_KEY "statu = 0\n", "did you mean 'status'?"},
        Bad{EXPECT_KEY "status = 256\n", "status: a whole number from 0 to 255 is expected"},
        Bad{EXPECT_KEY "status = ['a']\n", "f.toml:4:11: step[1].expect.status: a whole number"},
        Bad{EXPECT_KEY "text = ' '\n", "step[1].expect.text: a text that is not blank"},
        Bad{EXPECT_KEY "line = 3\n", "step[1].expect.line: a text is expected, not an integer"},
        Bad{EXPECT_KEY "json = 3\n", "step[1].expect.json: a table is expected"},
        Bad{JSON_KEY "\"devices\" = 3\n",
            "f.toml:4:13: step[1].expect.json.devices: no JSON pointer; it is as"},
        Bad{JSON_KEY "\"/a\" = {}\n", "step[1].expect.json./a: one comparison is expected"},
        Bad{JSON_KEY "\"/a\" = {gt = 1, lt = 2}\n", "one comparison is expected"},
        Bad{JSON_KEY "\"/a\" = {gte = 1}\n",
            "f.toml:4:9: step[1].expect.json./a.gte: unknown key; did you mean"},
        Bad{JSON_KEY "\"/a\" = {gt = 'x'}\n", "/a.gt: a number is expected, not a string"},
        Bad{JSON_KEY "\"/a\" = {length = -1}\n", "/a.length: a length is expected"},
        Bad{JSON_KEY "\"/a\" = {missing = 3}\n",
            "/a.missing: a reason such as \"failed\", or true"},
        Bad{JSON_KEY "\"/a\" = {absent = false}\n", "/a.absent: true is expected"},
        Bad{JSON_KEY "\"/a\" = {near = 3}\n", "/a.within: 'near' and 'within' stand together"},
        Bad{JSON_KEY "\"/a\" = {gt = 3, within = 1}\n", "'near' and 'within' stand together"},
        Bad{JSON_KEY "\"/a\" = {near = 3, within = -1}\n",
            "/a.within: a number from 0 on is expected"},
        Bad{JSON_KEY "\"/a\" = 1979-05-27\n", "/a: a value of JSON is expected"}));

TEST(Reader, RefusesWhatIsTooLarge) {
    std::string many;
    for (std::size_t i = 0; i <= kStepsMax; ++i)
        many += "[[step]]\nlose = 0\n";
    EXPECT_THAT(complaint_about(many), HasSubstr("step: at most 1000 steps are taken"));
    EXPECT_THAT(complaint_about(std::string(kScenarioMax + 1, '#')),
                HasSubstr("larger than 1048576 bytes"));
}

TEST(Reader, WritesAScenarioWithSomeOfItsSteps) {
    const std::string text = "seed = 4\n[profile]\nname = 'p'\n" + step("lose = 0") +
                             step("lose = 1") + step("lose = 2\nat = '3s'");
    const auto shorter = with_steps(text, "f.toml", {0, 2});
    ASSERT_TRUE(shorter) << shorter.error();
    const Scenario scenario = read(*shorter);
    EXPECT_EQ(scenario.seed, 4U);
    EXPECT_THAT(scenario.profile_text, HasSubstr("name"));
    ASSERT_EQ(scenario.steps.size(), 2U);
    EXPECT_EQ(scenario.steps[1].device, 2U);
    EXPECT_EQ(scenario.steps[1].at_ns, 3 * kSecond);
}

TEST(Words, DurationsGoThereAndBack) {
    for (const char* text : {"1ns", "10us", "300ms", "2s", "5m", "12h", "30d"})
        EXPECT_EQ(duration_text(parse_duration(text).value_or(0)), text);
    EXPECT_EQ(duration_text(1500 * kMs), "1500ms");
    for (const char* text : {"", "5", "ms", "1.5s", "-1s", "5 s", "1w", "20000000000000000000s"})
        EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(Words, SplitsAsAShellWithoutItsMagic) {
    EXPECT_THAT(*split_words(R"(a 'b c' "d \" e" f\ g '' $x;)"),
                ElementsAre("a", "b c", "d \" e", "f g", "", "$x;"));
}

TEST(Library, IsFoundByNameAndByPath) {
    ASSERT_FALSE(scenario_library().empty());
    for (const LibraryEntry& entry : scenario_library()) {
        const auto scenario = parse_scenario(entry.text, entry.name);
        ASSERT_TRUE(scenario) << scenario.error();
        EXPECT_NE(scenario->description, "") << entry.name;
    }
    const std::string path = ASC_SOURCE_DIR "/faultinject/scenarios/zombie.toml";
    const auto by_name = find_scenario("zombie"), by_path = find_scenario(path);
    ASSERT_TRUE(by_name && by_path);
    EXPECT_EQ(by_name->text, by_path->text);
    EXPECT_EQ(by_path->source, path);
    EXPECT_THAT(find_scenario("zombei").error(), HasSubstr("did you mean 'zombie'?"));
    EXPECT_THAT(find_scenario("./none.toml").error(),
                HasSubstr("./none.toml: cannot be opened: No such file"));
    EXPECT_THAT(find_scenario("/").error(), HasSubstr("/: cannot be"));
}

} // namespace
