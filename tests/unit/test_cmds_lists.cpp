// SPDX-License-Identifier: Apache-2.0
// -l, -m, topo, events.
#include "cmds/npu-smi/events.hpp"
#include "cmds/npu-smi/lists.hpp"
#include "tests/unit/test_cmds_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace asc::cmds;
using namespace asc::cmds::npu_smi;
using namespace asc::test;
using asc::hal::Reading;
using asc::hal::Reason;
using testing::HasSubstr;
using testing::Not;

namespace {

std::vector<asc::hal::DeviceSnapshot> two_dies() {
    std::vector<asc::hal::DeviceSnapshot> devices;
    for (int i = 0; i < 4; ++i) {
        devices.push_back(healthy_device(i));
        devices.back().ids.npu_id = i / 2;
        devices.back().ids.chip_id = i % 2;
        devices.back().ids.physical_id = i + 8;
        devices.back().ids.chips_on_card = 2;
        devices.back().ids.serial = i < 2 ? "A" : "";
        devices.back().chip_name = std::string("910_9392");
    }
    return devices;
}

} // namespace

TEST(List, CountsCards) {
    EXPECT_EQ(list_text(two_dies(), real_driver(), Charset::utf8), R"(
	Total Count                    : 2

	NPU ID                         : 0
	Serial Number                  : A
	Chip Count                     : 2

	NPU ID                         : 1
	Serial Number                  : UNKNOWN
	Chip Count                     : 2
)" + 1);
    EXPECT_EQ(list_records(two_dies()).rows.size(), 2U);
}

TEST(Map, TellsAllIdsOfTwoDies) {
    const std::string text = map_text(two_dies(), real_driver(), Charset::utf8);
    EXPECT_TRUE(text.starts_with("\tNPU ID                        Chip ID                       "
                                 "Chip Logic ID                 Chip Phy-ID                   "
                                 "Chip Name\n"));
    EXPECT_THAT(text, HasSubstr("\t1                             0                             "
                                "2                             10                            "
                                "Ascend 910_9392\n"));
    EXPECT_THAT(text, HasSubstr("NPU 1 chip 0: logical id 2, physical id 10, bus id 0000:03:00.0"));
    EXPECT_THAT(text, Not(HasSubstr("\n\n")));
}

TEST(Map, OneDieACardHasTheVendorsFourColumns) {
    const std::string text = map_text(handbook(), real_driver(), Charset::utf8);
    EXPECT_TRUE(text.starts_with("\tNPU ID                        Chip ID                       "
                                 "Chip Logic ID                 Chip Name\n"
                                 "\t0                             0                             "
                                 "0                             Ascend 910B\n"));
}

TEST(Topology, HasALineAChipAndALegend) {
    Topology topology;
    topology.devices = {healthy_device(0), healthy_device(1)};
    topology.devices[0].cpu_affinity = std::string("0-23");
    topology.devices[1].cpu_affinity = asc::hal::Absence{Reason::unsupported, 0, {}};
    topology.links = {{Reading(std::string("X")), Reading(std::string("HCCS"))},
                      {Reading<std::string>(Reason::failed, -5), Reading(std::string("X"))}};
    const std::string text = topology_text(topology, real_driver(), Charset::utf8);
    EXPECT_TRUE(text.starts_with("\t   NPU0       NPU1       CPU Affinity\n"
                                 "NPU0       X          HCCS       0-23\n"
                                 "NPU1       ERR        X          NA\n"
                                 "\nLegend:\n"))
        << text;
    const Json json = records_json(topology_records(topology), {})["devices"];
    EXPECT_EQ(json[0]["links"]["NPU1"], "HCCS");
    EXPECT_TRUE(json[1]["links"]["NPU0"].is_null());
}

TEST(Events, KeepTheirBytesHarmless) {
    asc::hal::Event event;
    event.id = 0x80E01801;
    event.physical_id = 3;
    event.severity = 3;
    event.assertion = 1;
    event.raised_ms = 1764555931000;
    event.name = "bad\x1b[2J name";
    event.additional_info = "a,\"b\"";
    const std::vector<EventRow> rows{{event, healthy_device(3).ids}, {event, std::nullopt}};
    const std::string text = event_text(rows, simulator(), true, Charset::utf8);
    EXPECT_THAT(text, HasSubstr("80E01801   critical  raised   bad\\x1b[2J name (a,\"b\")"));
    EXPECT_EQ(text.find('\x1b'), std::string::npos);
    const auto backend = simulator();
    const Json json = records_json(event_records(rows), {&backend, {}, true, true})["events"];
    EXPECT_EQ(json[0]["npu_id"], 3);
    EXPECT_EQ(json[0]["event_id"], "80E01801");
    EXPECT_EQ(json[0]["time"], "2025-12-01T02:25:31Z");
    EXPECT_TRUE(json[1]["npu_id"].is_null());
    EXPECT_THAT(records_csv(event_records(rows), {&backend, {}, true, true}),
                HasSubstr("\"a,\"\"b\"\"\""));
}
