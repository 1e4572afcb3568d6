// SPDX-License-Identifier: Apache-2.0
// One answer in three formats, and every way in which a value can be missing.
#include "cmds/common/records.hpp"
#include "tests/unit/test_cmds_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace asc::cmds;
using asc::hal::Reason;
using testing::HasSubstr;

namespace {

Records sample() {
    Records records{
        "asc-tools/test.x/1", "devices", {"id", "power_w", "ecc.single", "ecc.double"}, {}};
    records.rows.push_back(
        {Cell{0, {}}, Cell{280.0, "280.0"}, Cell{3, {}}, Field(Reason::unsupported)});
    records.rows.push_back({Cell{1, {}}, Field(Reason::failed, -5, "input/output error"),
                            Field(Reason::denied), Field(Reason::timeout)});
    return records;
}

struct Missing {
    Reason reason;
    std::string_view json, cell;
};

class EveryReason : public testing::TestWithParam<Missing> {};

} // namespace

TEST_P(EveryReason, IsToldInEveryFormat) {
    const auto backend = asc::test::simulator();
    const Envelope envelope{&backend, {}, true, true};
    Records records{"s/1", "rows", {"a"}, {{Field(GetParam().reason)}}};
    const Json document = records_json(records, envelope);
    EXPECT_TRUE(document["rows"][0]["a"].is_null());
    EXPECT_EQ(document["rows"][0]["unavailable"]["a"]["reason"], GetParam().json);
    EXPECT_THAT(records_csv(records, envelope), HasSubstr(std::string(GetParam().cell) + ","));
    EXPECT_EQ(cell_text(records.rows[0][0], Charset::utf8), GetParam().cell);
    EXPECT_THAT(records_table(records, envelope, Charset::utf8),
                HasSubstr(std::string(GetParam().cell) + "\n"));
}

INSTANTIATE_TEST_SUITE_P(Reasons, EveryReason,
                         testing::Values(Missing{Reason::unsupported, "unsupported", "NA"},
                                         Missing{Reason::denied, "denied", "DENIED"},
                                         Missing{Reason::failed, "failed", "ERR"},
                                         Missing{Reason::timeout, "timeout", "TIMEOUT"},
                                         Missing{Reason::out_of_range, "out_of_range", "ERR"},
                                         Missing{Reason::lost, "lost", "LOST"},
                                         Missing{Reason::list_full, "list_full", "UNKNOWN"},
                                         Missing{Reason::unresolvable, "unresolvable", "UNKNOWN"},
                                         Missing{Reason::unknown, "unknown", "UNKNOWN"}));

TEST(Records, JsonNestsDottedNamesAndNamesTheBackend) {
    const auto backend = asc::test::simulator();
    const Json document =
        records_json(sample(), {&backend, {}, false, true}, Json{{"findings", Json::array()}});
    EXPECT_EQ(document["schema"], "asc-tools/test.x/1");
    EXPECT_EQ(document["backend"], "unix:/run/sim");
    EXPECT_EQ(document["simulator"], "simulated, profile handbook");
    EXPECT_EQ(document["driver_version"], "25.2.0");
    EXPECT_EQ(document["devices"][0]["ecc"]["single"], 3);
    EXPECT_TRUE(document["devices"][0]["power_w"].is_number_float());
    EXPECT_TRUE(document["devices"][0]["ecc"]["double"].is_null());
    EXPECT_EQ(document["devices"][0]["unavailable"]["ecc.double"]["reason"], "unsupported");
    EXPECT_EQ(document["devices"][1]["unavailable"]["power_w"]["error"], -5);
    EXPECT_EQ(document["devices"][1]["unavailable"]["power_w"]["detail"], "input/output error");
    EXPECT_TRUE(document["findings"].is_array());
    EXPECT_FALSE(document.contains("time"));
    const auto chardev = asc::test::real_driver();
    EXPECT_FALSE(records_json(sample(), {&chardev, {}, false, true}).contains("simulator"));
}

TEST(Records, CsvHasBackendAndInASeriesTheTime) {
    const auto backend = asc::test::simulator();
    EXPECT_EQ(records_csv(sample(), {&backend, {}, false, true}),
              "id,power_w,ecc.single,ecc.double,backend\r\n"
              "0,280,3,NA,unix:/run/sim\r\n"
              "1,ERR,DENIED,TIMEOUT,unix:/run/sim\r\n");
    const std::string second =
        records_csv(sample(), {&backend, "2026-12-01T00:00:00Z", true, false});
    EXPECT_TRUE(second.starts_with("2026-12-01T00:00:00Z,0,280,"));
}

TEST(Query, PicksFieldsInItsOrder) {
    const Records records = sample();
    const auto positions = resolve_query("power_w, id", records.fields);
    ASSERT_TRUE(positions.has_value()) << positions.error();
    const Records picked = pick(records, *positions);
    EXPECT_THAT(picked.fields, testing::ElementsAre("power_w", "id"));
    EXPECT_EQ(picked.rows[0][1]->value, 0);
}

TEST(Query, TakesTheFrontPartForAllOfIt) {
    const Records records = sample();
    const auto positions = resolve_query("ecc", records.fields);
    ASSERT_TRUE(positions.has_value());
    EXPECT_THAT(*positions, testing::ElementsAre(2U, 3U));
    EXPECT_FALSE(resolve_query("ec", records.fields).has_value());
}

TEST(Query, NamesTheUnknownFieldAndListsTheKnown) {
    const Records records = sample();
    for (const std::string query : {"power", "id,power", "id,,power_w", "", "power_w.x"}) {
        const auto positions = resolve_query(query, records.fields);
        ASSERT_FALSE(positions.has_value()) << query;
        EXPECT_THAT(positions.error(), HasSubstr("known: id, power_w, ecc.single, ecc.double"));
    }
    EXPECT_THAT(resolve_query("id,power", records.fields).error(), HasSubstr("'power'"));
    EXPECT_THAT(resolve_query("id,id", records.fields).error(), HasSubstr("twice"));
}

TEST(Records, PlainTableAligns) {
    const auto backend = asc::test::real_driver();
    EXPECT_EQ(records_table(sample(), {&backend, {}, false, true}, Charset::utf8),
              "id  power_w  ecc.single  ecc.double\n"
              "0   280.0    3           NA\n"
              "1   ERR      DENIED      TIMEOUT\n");
}
