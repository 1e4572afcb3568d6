// SPDX-License-Identifier: Apache-2.0
// The default table of each chip family to the letter, what stands below it, and the view of one
// card.
#include "cmds/npu-smi/overview.hpp"
#include "tests/unit/test_cmds_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

using namespace asc::cmds;
using namespace asc::cmds::npu_smi;
using namespace asc::test;
using asc::hal::DeviceState;
using asc::hal::Reason;
using testing::HasSubstr;
using testing::Not;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

std::size_t count_lines_with(const std::string& text, std::string_view word) {
    std::size_t count = 0;
    for (const std::string& line : lines_of(text))
        count += line.find(word) != std::string::npos ? 1 : 0;
    return count;
}

} // namespace

TEST(Table, A2) {
    auto devices = handbook();
    devices.erase(devices.begin() + 3, devices.end());
    devices[1] = missing_device(1, DeviceState::lost, Reason::lost, "gone");
    EXPECT_EQ(driver_table(overview_of(devices), kPlain), R"(
+-------------------------------------------------------------------------------------------------+
| npu-smi 0.1.0                    Version: 25.2.0                                                |
+---------------------------+---------------+-----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page) |
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)         |
+===========================+===============+=====================================================+
| 0     910B                | OK            | 280.0       52                0     / 0             |
| 0                         | 0000:01:00.0  | 60          0    / 0          32768 / 65536         |
+===========================+===============+=====================================================+
| 1     LOST                | LOST          | LOST        LOST              LOST  / LOST          |
| 0                         | 0000:02:00.0  | LOST        LOST / LOST       LOST  / LOST          |
+===========================+===============+=====================================================+
| 2     910B                | OK            | 90.0        55                0     / 0             |
| 0                         | 0000:03:00.0  | 0           0    / 0          65536 / 65536         |
+===========================+===============+=====================================================+
+---------------------------+---------------+--------------------------+--------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)       |
+===========================+===============+==========================+==========================+
| 0       0                 | 1000          | python3                  | 32768                    |
+===========================+===============+==========================+==========================+
| Processes of NPU 1 chip 0 cannot be seen: the device is lost                                    |
+===========================+===============+==========================+==========================+
| No running processes found in NPU 2                                                             |
+===========================+===============+==========================+==========================+
)" + 1);
}

TEST(Table, A3) {
    std::vector<asc::hal::DeviceSnapshot> devices;
    for (int i = 0; i < 2; ++i) {
        devices.push_back(healthy_device(i));
        devices.back().ids = {i, i, 0, i, 2, i == 0 ? "0000:9d:00.0" : "0000:9f:00.0", ""};
        devices.back().chip_name = std::string("910_9392");
    }
    hold(devices[1], {process(77, 512)});
    EXPECT_EQ(driver_table(overview_of(devices), kPlain), R"(
+-------------------------------------------------------------------------------------------------+
| npu-smi 0.1.0                    Version: 25.2.0                                                |
+---------------------------+---------------+-----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page) |
| Chip  Phy-ID              | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)         |
+===========================+===============+=====================================================+
| 0     910_9392            | OK            | 85.0        45                0     / 0             |
| 0     0                   | 0000:9D:00.0  | 0           0    / 0          0     / 65536         |
+-------------------------------------------------------------------------------------------------+
| 0     910_9392            | OK            | -           45                0     / 0             |
| 1     1                   | 0000:9F:00.0  | 0           0    / 0          512   / 65536         |
+===========================+===============+=====================================================+
+---------------------------+---------------+--------------------------+--------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)       |
+===========================+===============+==========================+==========================+
| 0       1                 | 77            | python3                  | 512                      |
+===========================+===============+==========================+==========================+
)" + 1);
}

TEST(Table, I310P) {
    auto device = healthy_device(0);
    device.chip_name = std::string("310P3");
    device.ids.bus_id = "0000:81:00.0";
    device.power_w = asc::hal::Absence{Reason::unsupported, 0, {}};
    device.ddr_total_mib = std::uint64_t{21527};
    device.ddr_used_mib = std::uint64_t{1510};
    device.hbm_total_mib = device.hbm_used_mib = asc::hal::Absence{Reason::unsupported, 0, {}};
    EXPECT_EQ(driver_table(overview_of({device}), kPlain), R"(
+--------------------------------------------------------------------------------------------------------+
| npu-smi 0.1.0                                    Version: 25.2.0                                       |
+-------------------------------+-----------------+------------------------------------------------------+
| NPU     Name                  | Health          | Power(W)     Temp(C)           Hugepages-Usage(page) |
| Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)                        |
+===============================+=================+======================================================+
| 0       310P3                 | OK              | NA           45                0     / 0             |
| 0       0                     | 0000:81:00.0    | 0            1510 / 21527                            |
+===============================+=================+======================================================+
+-------------------------------+-----------------+--------------------------+---------------------------+
| NPU     Chip                  | Process id      | Process name             | Process memory(MB)        |
+===============================+=================+==========================+===========================+
| No running processes found in NPU 0                                                                    |
+===============================+=================+==========================+===========================+
)" + 1);
}

TEST(Table, EveryLineIsAsWideAsTheFamilySays) {
    auto devices = handbook();
    devices[0].chip_name = std::string("\xe4\xb8\xad\xe6\x96\x87\x1b[2J") + std::string(30, 'x');
    hold(devices[3], {process(9001, 1, true, "\xe4\xb8\xad\xe6\x96\x87"),
                      process(9002, 1, true, std::string(60, 'y')),
                      process(9003, 1, true,
                              "\xf8\x01"
                              "B")});
    devices[4] = missing_device(4, DeviceState::denied, Reason::denied, "");
    devices[5] = missing_device(5, DeviceState::timeout, Reason::timeout, "no answer within 2 s");
    devices[6] = missing_device(6, DeviceState::failed, Reason::failed, "");
    for (const std::string& line : lines_of(driver_table(overview_of(devices), kPlain))) {
        EXPECT_EQ(display_width(line), 99U) << line;
        EXPECT_EQ(line.find('\x1b'), std::string::npos);
    }
}

TEST(Table, DeadOwnersAreNoProcesses) {
    const std::string table = driver_table(overview_of({handbook()[2]}), kPlain);
    EXPECT_THAT(table, HasSubstr("No running processes found in NPU 2"));
    EXPECT_THAT(table, Not(HasSubstr("4242")));
}

TEST(Table, ProcessesOfAnotherNamespaceHaveNoLocalName) {
    auto device = healthy_device(0);
    auto foreign = process(77, 8000);
    foreign.resolvable = false;
    foreign.host_pid = std::int64_t{77};
    foreign.name = asc::hal::Absence{Reason::unresolvable, 0, {}};
    hold(device, {foreign});
    EXPECT_THAT(driver_table(overview_of({device}), kPlain),
                HasSubstr("| 77 (host)     | not in this namespace    | 8000 "));
    device.processes = asc::hal::Absence{Reason::denied, -13, {}};
    const std::string denied = driver_table(overview_of({device}), kPlain);
    EXPECT_THAT(denied, HasSubstr("cannot be seen: not permitted"));
    EXPECT_THAT(denied, Not(HasSubstr("No running processes")));
}

TEST(Table, ColoursOnlyWhenTheStyleHasThem) {
    const Style colours{Charset::utf8, true, true};
    EXPECT_THAT(driver_table(overview_of(handbook()), colours), HasSubstr("\x1b[32mOK"));
    EXPECT_THAT(driver_table(overview_of(handbook()), kPlain), Not(HasSubstr("\x1b")));
}

TEST(Limits, HasNoCharacterOfTheTable) {
    auto devices = handbook();
    hold(devices[2], {process(4242, 65536, false, "c++|x")});
    devices[3] = missing_device(3, DeviceState::lost, Reason::lost, "a|b+c");
    Overview overview = overview_of(devices);
    overview.compared_with = "a+b|c";
    const std::string block = limits_block(overview, kPlain);
    EXPECT_EQ(block.find_first_of("|+"), std::string::npos) << block;
    EXPECT_THAT(block, HasSubstr("c\\x2b\\x2b\\x7cx"));
}

TEST(Limits, HasARowADevice) {
    const std::string block = limits_block(overview_of(handbook()), kPlain);
    EXPECT_THAT(block, HasSubstr("Limits and errors"));
    EXPECT_THAT(
        block,
        HasSubstr(
            "\n0     0     350.0 W      0 (0)         0 (0)         0          0          0 MB\n"));
    EXPECT_THAT(
        block,
        HasSubstr(
            "\n1     0     350.0 W      3 (3) !       0 (0)         1 !        0          0 MB\n"));
    EXPECT_THAT(block, HasSubstr("\n2     0     350.0 W      0 (0)         0 (0)         0         "
                                 " 7 !        65536 MB !\n"));
    EXPECT_THAT(block,
                HasSubstr("next: npu-smi set -t device-reset -i 2 --backend unix:/run/sim\n"));
    EXPECT_THAT(block, HasSubstr("Backend: unix:/run/sim (simulated, profile handbook)"));
}

TEST(Limits, UnknownIsNeverZero) {
    auto device = healthy_device(0);
    device.power_limit_w = asc::hal::Absence{Reason::unsupported, 0, {}};
    device.oom_count = asc::hal::Absence{Reason::unsupported, 0, {}};
    device.ecc = asc::hal::Absence{Reason::failed, -5, {}};
    device.hbm_unowned_mib = asc::hal::Absence{Reason::unknown, 0, {}};
    Overview overview = overview_of({device});
    EXPECT_THAT(limits_block(overview, kPlain),
                HasSubstr("\n0     0     NA           ERR           ERR           ERR        NA    "
                          "     cannot tell\n"));
    overview.devices[0].hbm_unowned_mib = asc::hal::Absence{Reason::denied, -13, {}};
    EXPECT_THAT(limits_block(overview, kPlain), HasSubstr("NA         DENIED\n"));
    overview.devices[0] =
        missing_device(0, DeviceState::timeout, Reason::timeout, "no answer within 2 s");
    EXPECT_THAT(limits_block(overview, kPlain),
                HasSubstr("\n0     0     TIMEOUT: no answer within 2 s\n"));
}

TEST(OneCard, HasTheHandbooksLines) {
    const auto devices = handbook();
    const std::string full = one_card_view(overview_of({devices[2]}), kPlain);
    EXPECT_THAT(full, HasSubstr("\tHBM                            : 65536 / 65536 MB\n"));
    EXPECT_EQ(count_lines_with(full, "HBM"), 1U) << full;
    EXPECT_THAT(full, HasSubstr("Dead Owner                     : 4242 python3 65536 MB"));
    const std::string busy = one_card_view(overview_of({devices[0]}), kPlain);
    EXPECT_THAT(busy, HasSubstr("\tPower                          : 280.0 / 350.0 W\n"));
    EXPECT_THAT(busy, HasSubstr("Process                        : 1000 python3 32768 MB"));
}

TEST(OneCard, HbmStandsOnOneLineWhateverIsWrong) {
    auto device = healthy_device(0);
    device.health = asc::hal::Health::critical;
    device.error_codes = std::vector<asc::hal::ErrorCode>{
        {0x80E01801, std::string("HBM multi-bit ECC")}, {0x80E0020B, std::string("HBM hot")}};
    device.ecc = asc::hal::EccCounters{4, 2, 9, 3, 1, 1};
    device.pages_pending = 2U;
    device.oom_count = 3U;
    device.temperature_c = 99;
    device.hbm_unowned_mib = std::uint64_t{900};
    device.single_bit_records = std::vector<asc::hal::EccRecord>{{1, 1, kNow}, {2, 1, kNow}};
    const std::string text = one_card_view(overview_of({device}), kPlain);
    EXPECT_EQ(count_lines_with(text, "HBM"), 1U) << text;
    EXPECT_THAT(text, HasSubstr("Error Code                     : 80E01801 80E0020B"));
}

TEST(Json, HasThePinnedShape) {
    const Overview overview = overview_of(handbook());
    const auto backend = simulator();
    const Json document = records_json(overview_records(overview), {&backend, {}, false, true},
                                       overview_more(overview));
    EXPECT_EQ(document["schema"], "asc-tools/npu-smi.info/1");
    const Json& card = document["devices"][1];
    for (const char* key : {"npu_id",
                            "chip_id",
                            "phy_id",
                            "bus_id",
                            "name",
                            "health",
                            "temperature_c",
                            "power_w",
                            "power_limit_w",
                            "aicore_percent",
                            "hbm_used_mib",
                            "hbm_total_mib",
                            "hbm_baseline_mib",
                            "hbm_unowned_mib",
                            "ecc",
                            "oom_count",
                            "firmware_version",
                            "state",
                            "processes",
                            "unavailable"})
        EXPECT_TRUE(card.contains(key)) << key;
    EXPECT_EQ(card["ecc"].dump(),
              R"({"single_bit":3,"double_bit":0,"single_bit_lifetime":3,"double_bit_lifetime":0,)"
              R"("pages_offlined":1,"pages_pending":0})");
    EXPECT_EQ(card["name"], "Ascend 910B");
    EXPECT_EQ(document["devices"][0]["power_w"].dump(), "280.0");
    EXPECT_EQ(document["devices"][2]["processes"][0]["alive"], false);
    EXPECT_EQ(document["devices"][0]["processes"][0]["start_time"], "2025-12-01T02:25:31Z");
    EXPECT_TRUE(document["devices"][4]["processes"].is_array());
    EXPECT_EQ(document["findings"].size(), 5U);
}

TEST(Json, KeepsNoneUnresolvableAndDeniedApart) {
    auto none = healthy_device(0), foreign = healthy_device(1), denied = healthy_device(2);
    auto one = process(9001, 8000);
    one.resolvable = false;
    one.name = asc::hal::Absence{Reason::unresolvable, 0, {}};
    hold(foreign, {one});
    denied.processes = asc::hal::Absence{Reason::denied, -13, {}};
    const Json rows =
        records_json(overview_records(overview_of({none, foreign, denied})), {})["devices"];
    EXPECT_EQ(rows[0]["processes"].dump(), "[]");
    EXPECT_EQ(rows[1]["processes"][0]["host_pid"], 9001);
    EXPECT_TRUE(rows[1]["processes"][0]["pid"].is_null());
    EXPECT_TRUE(rows[1]["processes"][0]["name"].is_null());
    EXPECT_EQ(rows[1]["processes"][0]["unavailable"]["name"]["reason"], "unresolvable");
    EXPECT_TRUE(rows[2]["processes"].is_null());
    EXPECT_EQ(rows[2]["unavailable"]["processes"]["reason"], "denied");
}
