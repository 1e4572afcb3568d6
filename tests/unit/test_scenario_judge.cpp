// SPDX-License-Identifier: Apache-2.0
// The judge: each expectation holds where it should and fails where it should, with words that say
// what is there instead.
#include "faultinject/journal.hpp"
#include "faultinject/scenario/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace asc::faultinject;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

namespace {

using How = Check::How;

const Json kDocument = Json::parse(R"({
  "devices": [{"npu_id": 0, "power_w": 280.0, "temperature_c": null, "hbm": {"used": null},
               "unavailable": {"temperature_c": {"reason": "failed"},
                               "hbm.used": {"reason": "lost"}},
               "processes": []},
              {"npu_id": 1, "name": "Ascend", "processes": null}],
  "findings": [{"kind": "oom", "npu_id": 2}, {"kind": "thermal", "npu_id": 3}]})");

std::string judge(const char* pointer, How how, const Json& value, double within = 0) {
    return complaint(Check{pointer, how, value, within}, kDocument);
}

TEST(Judge, ComparesNumbers) {
    EXPECT_EQ(judge("/devices/0/power_w", How::equal, 280), "");
    EXPECT_EQ(judge("/devices/0/power_w", How::equal, 281), "/devices/0/power_w is 280.0, not 281");
    EXPECT_EQ(judge("/devices/0/power_w", How::not_equal, 281), "");
    EXPECT_NE(judge("/devices/0/power_w", How::not_equal, 280), "");
    EXPECT_EQ(judge("/devices/0/power_w", How::less, 281), "");
    EXPECT_NE(judge("/devices/0/power_w", How::less, 280), "");
    EXPECT_EQ(judge("/devices/0/power_w", How::less_equal, 280), "");
    EXPECT_NE(judge("/devices/0/power_w", How::less_equal, 279), "");
    EXPECT_EQ(judge("/devices/0/power_w", How::greater, 279), "");
    EXPECT_NE(judge("/devices/0/power_w", How::greater, 280), "");
    EXPECT_EQ(judge("/devices/0/power_w", How::greater_equal, 280), "");
    EXPECT_EQ(judge("/devices/0/power_w", How::greater_equal, 281),
              "/devices/0/power_w is 280.0, not ge 281");
    EXPECT_EQ(judge("/devices/0/power_w", How::near, 278, 2), "");
    EXPECT_EQ(judge("/devices/0/power_w", How::near, 277, 2),
              "/devices/0/power_w is 280.0, not near 277 within 2.0");
}

// An unknown is no number, no other value and not empty.
TEST(Judge, NullFulfilsNothingButMissing) {
    for (const How how : {How::less, How::less_equal, How::greater, How::greater_equal, How::near})
        EXPECT_NE(judge("/devices/0/temperature_c", how, 0, 1e9), "");
    EXPECT_NE(judge("/devices/0/temperature_c", How::not_equal, 0), "");
    EXPECT_NE(judge("/devices/1/processes", How::lacks, 0), "");
    EXPECT_NE(judge("/devices/1/processes", How::length, 0), "");
    EXPECT_NE(judge("/devices/0/temperature_c", How::absent, true), "");
}

TEST(Judge, LooksForReasons) {
    EXPECT_EQ(judge("/devices/0/temperature_c", How::missing, true), "");
    EXPECT_EQ(judge("/devices/0/temperature_c", How::missing, "failed"), "");
    EXPECT_EQ(judge("/devices/0/hbm/used", How::missing, "lost"), "");
    EXPECT_EQ(judge("/devices/0/temperature_c", How::missing, "timeout"),
              "/devices/0/temperature_c is missing because of 'failed', not 'timeout'");
    EXPECT_EQ(judge("/devices/0/power_w", How::missing, true),
              "/devices/0/power_w is 280.0, not missing");
    EXPECT_EQ(judge("/devices/1/processes", How::missing, "failed"),
              "/devices/1/processes is missing because of '', not 'failed'");
}

TEST(Judge, LooksIntoArraysObjectsAndTexts) {
    EXPECT_EQ(judge("/findings", How::has, Json{{"kind", "oom"}}), "");
    EXPECT_NE(judge("/findings", How::has, Json{{"kind", "oom"}, {"npu_id", 3}}), "");
    EXPECT_EQ(judge("/findings", How::lacks, Json{{"kind", "lost"}}), "");
    EXPECT_NE(judge("/findings", How::lacks, Json{{"kind", "thermal"}}), "");
    EXPECT_EQ(judge("/devices/1/name", How::has, "cen"), "");
    EXPECT_NE(judge("/devices/1/name", How::has, "x"), "");
    EXPECT_NE(judge("/devices/1/name", How::has, 3), "");
    EXPECT_EQ(judge("/devices/1", How::has, Json{{"npu_id", 1}}), "");
    EXPECT_EQ(judge("/devices/0/processes", How::length, 0), "");
    EXPECT_EQ(judge("/findings", How::length, 2), "");
    EXPECT_NE(judge("/findings", How::length, 3), "");
    EXPECT_NE(judge("/devices/0/power_w", How::length, 0), "");
    EXPECT_EQ(judge("/devices/7", How::absent, true), "");
    EXPECT_EQ(judge("/devices/7/power_w", How::equal, 1), "/devices/7/power_w is not there");
}

Finished finished(int status, std::string out, std::string error = {}) {
    Finished end;
    end.status = status;
    end.out = std::move(out);
    end.error = std::move(error);
    return end;
}

TEST(Judge, WantsStatusZeroUnlessTold) {
    EXPECT_THAT(complaints({}, finished(0, "")), IsEmpty());
    EXPECT_THAT(complaints({}, finished(3, "")), ElementsAre("it ended with status 3, not 0"));
    Expectation expect;
    expect.status = {3, 5};
    EXPECT_THAT(complaints(expect, finished(5, "")), IsEmpty());
    EXPECT_THAT(complaints(expect, finished(0, "")),
                ElementsAre("it ended with status 0, not 3 or 5"));
}

TEST(Judge, LooksForTextsLineByLine) {
    Expectation expect;
    expect.text = {"HBM : 0"};
    expect.not_text = {"ERR"};
    expect.line = {"HBM : 0 MB"};
    expect.not_line = {"HBM"};
    expect.error_text = {"careful"};
    EXPECT_THAT(complaints(expect, finished(0, "  HBM   :\t0 MB \nPower\n", "be careful\n")),
                IsEmpty());
    EXPECT_THAT(complaints(expect, finished(0, "HBM :\n0 MB\nERR 3\nHBM\n")),
                ElementsAre("no line has 'HBM : 0'", "a line has 'ERR'", "no line is 'HBM : 0 MB'",
                            "a line is 'HBM'", "no line of standard error has 'careful'"));
}

TEST(Judge, SaysWhenThereIsNoJson) {
    Expectation expect;
    expect.json = {Check{"/a", How::equal, 1, 0}};
    EXPECT_THAT(complaints(expect, finished(0, "{\"a\": 1}\n")), IsEmpty());
    EXPECT_THAT(complaints(expect, finished(0, "a = 1\n")),
                ElementsAre("standard output is no JSON document"));
    EXPECT_THAT(complaints(expect, finished(0, "{\"a\": 1}\n{\"a\": 1}\n")),
                ElementsAre("standard output is no JSON document"));
}

TEST(Judge, ACommandThatWasKilledIsNoAnswer) {
    Finished end = finished(137, "all is well");
    end.timed_out = true;
    Expectation expect;
    expect.status = {137};
    EXPECT_THAT(complaints(expect, end), ElementsAre(HasSubstr("did not end in time")));
}

// ---- journal ----

TEST(JournalText, IsReadBack) {
    Scenario scenario;
    scenario.name = "s";
    scenario.profile = "single";
    asc::hal::JournalRecord fault;
    fault.kind = asc::hal::JournalKind::fault;
    fault.device = 3;
    fault.code = 7;
    const std::string text =
        journal_head(scenario, Backend::inproc, 5) + journal_records(1, {fault}, 0, true) +
        R"({"step":2,"run":"npu-smi info","ok":true,"notices":["lost"],"hit":["lost dev=3"]})"
        "\n"
        R"({"end":true,"ok":false,"steps":2})"
        "\n";
    const auto runs = read_journal(text, "j");
    ASSERT_TRUE(runs) << runs.error();
    ASSERT_EQ(runs->size(), 1U);
    const JournalRun& run = runs->front();
    EXPECT_EQ(run.scenario, "s");
    EXPECT_EQ(run.backend, "inproc");
    EXPECT_EQ(run.seed, 5U);
    EXPECT_TRUE(run.ended);
    EXPECT_FALSE(run.ok);
    EXPECT_EQ(run.faults, 1U);
    ASSERT_EQ(run.steps.size(), 1U);
    EXPECT_EQ(run.steps[0].command, "npu-smi info");
    EXPECT_THAT(run.steps[0].notices, ElementsAre("lost"));
    EXPECT_THAT(run.steps[0].hit, ElementsAre("lost dev=3"));
}

TEST(JournalText, OrdersWhatHappenedSideBySide) {
    asc::hal::JournalRecord a, b;
    a.client = 2;
    a.sequence = 1;
    b.client = 1;
    b.sequence = 2;
    EXPECT_EQ(journal_records(1, {a, b}, 0, true), journal_records(1, {b, a}, 0, true));
    b.client = 2;
    EXPECT_EQ(journal_records(1, {a, b}, 0, true), journal_records(1, {b, a}, 0, true));
    a.time_ns = 100;
    EXPECT_THAT(journal_records(1, {a}, 40, true), HasSubstr("\"time_ns\":60"));
    EXPECT_EQ(journal_records(1, {a}, 0, false).find("time_ns"), std::string::npos);
}

TEST(JournalText, ComplaintsSayTheLine) {
    const std::string head = journal_head({}, Backend::socket, 1);
    const std::pair<std::string, const char*> bad[] = {
        {"x\n", "j:1: no JSON object"},
        {"{\"journal\":2}\n", "j:1: a journal of another version: 2"},
        {"{\"journal\":1}\n", "j:1: a head without a scenario"},
        {"{\"step\":1}\n", "j:1: a journal begins with its head"},
        {R"({"journal":1,"scenario":"s","backend":"socket"})"
         "\n{\"end\":true}\n{\"step\":1}\n",
         "j:3: something follows the scenario's end"},
        {R"({"journal":1,"scenario":"s","backend":"socket"})"
         "\n{\"run\":3}\n",
         "j:2: a value of a wrong kind"},
    };
    for (const auto& [text, complaint] : bad)
        EXPECT_THAT(read_journal(text, "j").error(), HasSubstr(complaint)) << text;
}

} // namespace
