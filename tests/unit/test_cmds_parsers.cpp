// SPDX-License-Identifier: Apache-2.0
// What third parties read out of our tables. Each reader is written down here by its rule (facts of
// npu-smi, section 8), in our words, and must find all devices in a healthy and in a troubled
// machine.
#include "cmds/npu-smi/lists.hpp"
#include "cmds/npu-smi/overview.hpp"
#include "cmds/npu-smi/types.hpp"
#include "tests/unit/test_cmds_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>

using namespace asc::cmds;
using namespace asc::cmds::npu_smi;
using namespace asc::test;

namespace {

std::string info_output(const Overview& overview) {
    return driver_table(overview, kPlain) + "\n" + limits_block(overview, kPlain);
}

std::vector<std::string> split(const std::string& text, const std::string& by) {
    std::vector<std::string> parts;
    std::size_t from = 0;
    for (std::size_t at = text.find(by); at != std::string::npos; at = text.find(by, from)) {
        parts.push_back(text.substr(from, at - from));
        from = at + by.size();
    }
    parts.push_back(text.substr(from));
    return parts;
}

std::vector<std::string> words(const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> all;
    for (std::string word; in >> word;)
        all.push_back(word);
    return all;
}

bool digits(const std::string& text) {
    return !text.empty() &&
           std::ranges::all_of(text, [](unsigned char c) { return std::isdigit(c); });
}

std::vector<asc::hal::DeviceSnapshot> a3_machine() {
    std::vector<asc::hal::DeviceSnapshot> devices;
    for (int i = 0; i < 4; ++i) {
        devices.push_back(healthy_device(i));
        devices.back().ids.npu_id = i / 2;
        devices.back().ids.chip_id = i % 2;
        devices.back().ids.chips_on_card = 2;
        devices.back().chip_name = std::string("910_9392");
    }
    hold(devices[2], {process(321, 100)});
    return devices;
}

} // namespace

// Two expressions over adjacent lines (8.1); the chip line must be the very next one.
TEST(Reader, RegexPairOfA2) {
    const std::regex first(
        R"(\|\s*(\d+)\s*(\S+)\s*\|\s*(\S+)\s*\|\s*(\S+)\s*(\S+)\s*(\d+)\s*/\s*(\d+)\s*\|)");
    const std::regex chip(
        R"(\|\s*(\d+)\s*\|\s*(\S+)\s*\|\s*(\d+)\s*(\d+)\s*/\s*(\d+)\s*(\d+)\s*/\s*(\d+)\s*\|)");
    auto devices = handbook();
    devices[5] = missing_device(5, asc::hal::DeviceState::lost, asc::hal::Reason::lost, "gone");
    const auto lines = split(info_output(overview_of(devices)), "\n");
    std::vector<std::string> found;
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
        std::smatch a, b;
        if (std::regex_search(lines[i], a, first) && std::regex_search(lines[i + 1], b, chip))
            found.push_back(a[1].str() + " " + a[2].str() + " " + a[3].str() + " " + b[2].str() +
                            " " + b[6].str() + "/" + b[7].str());
    }
    ASSERT_EQ(found.size(), 7U); // all that answer, nothing below the table
    EXPECT_EQ(found[2], "2 910B OK 0000:03:00.0 65536/65536");
    EXPECT_EQ(found[0], "0 910B OK 0000:01:00.0 32768/65536");
}

TEST(Reader, RegexPairOfA3HasTwoIdsFirst) {
    const std::regex chip(
        R"(\|\s*(\d+)\s+(\d+)\s*\|\s*(\S+)\s*\|\s*(\d+)\s*(\d+)\s*/\s*(\d+)\s*(\d+)\s*/\s*(\d+)\s*\|)");
    std::vector<std::string> found;
    for (const std::string& line : split(info_output(overview_of(a3_machine())), "\n")) {
        std::smatch match;
        if (std::regex_search(line, match, chip))
            found.push_back(match[1].str() + "/" + match[2].str());
    }
    EXPECT_THAT(found, testing::ElementsAre("0/0", "1/1", "0/2", "1/3"));
}

// Cuts at "+\n": the block of a device is three lines, columns found by the words of the header;
// stops at "Process id".
TEST(Reader, BlocksOfThreeLines) {
    const std::string output = info_output(overview_of(handbook()));
    std::size_t blocks = 0;
    bool header = false;
    for (const std::string& block : split(output, "+\n")) {
        if (block.find("Process id") != std::string::npos)
            break;
        const auto lines = split(block, "\n");
        if (block.find("Health") != std::string::npos) {
            header = true;
            for (const char* word : {"NPU", "Name", "Temp(C)", "Chip", "AICore(%)",
                                     "Memory-Usage(MB)", "HBM-Usage(MB)"})
                EXPECT_NE(block.find(word), std::string::npos) << word;
            continue;
        }
        if (!header || lines.size() < 2 || lines[0].empty() || lines[0][0] != '|')
            continue;
        EXPECT_EQ(lines.size(), 3U) << block;
        ++blocks;
        const auto cells = split(lines[0], "|");
        ASSERT_GE(cells.size(), 4U);
        EXPECT_TRUE(digits(words(cells[1])[0]));
        EXPECT_TRUE(digits(words(cells[3])[1])); // temperature
    }
    EXPECT_EQ(blocks, 8U);
}

// Rows of the process part: two numbers, then a number.
TEST(Reader, ProcessRows) {
    const std::regex row(R"(^\|\s*(\d+)\s+(\d+)\s*\|\s*(\d+)\s*\|)");
    std::vector<std::string> found;
    for (const Overview& overview : {overview_of(handbook()), overview_of(a3_machine())}) {
        bool inside = false;
        for (const std::string& line : split(info_output(overview), "\n")) {
            inside = inside || line.find("Process id") != std::string::npos;
            std::smatch match;
            if (inside && std::regex_search(line, match, row))
                found.push_back(match[1].str() + "." + match[2].str() + "=" + match[3].str());
        }
    }
    EXPECT_THAT(found, testing::ElementsAre("0.0=1000", "1.0=1001", "3.0=1003", "1.0=321"));
}

// `-m`: the first line is dropped, the three first words of each other are taken and the row is
// skipped when the third is no number. A line of fewer words ends the reader.
TEST(Reader, MapTakesThreeWords) {
    for (const auto& [devices, count] : {std::pair{handbook(), 8U}, std::pair{a3_machine(), 4U}}) {
        std::string text = map_text(devices, simulator(), Charset::utf8);
        ASSERT_EQ(text.back(), '\n');
        text.pop_back();
        auto lines = split(text, "\n");
        lines.erase(lines.begin());
        std::size_t rows = 0;
        for (const std::string& line : lines) {
            const auto parts = words(line);
            ASSERT_GE(parts.size(), 3U) << line;
            rows += digits(parts[2]) ? 1 : 0;
        }
        EXPECT_EQ(rows, count);
    }
}

// The second line's two last words joined name the chip.
TEST(Reader, MapsSecondLineEndsWithTheChip) {
    const auto parts = words(split(map_text(handbook(), simulator(), Charset::utf8), "\n")[1]);
    EXPECT_EQ(parts[parts.size() - 2] + "-" + parts.back(), "Ascend-910B");
}

// topo: lines that begin with NPU; the last word is the CPU list unless it is "Affinity". Another
// reader looks for "hccs" before "Legend".
TEST(Reader, TopologyRows) {
    Topology topology;
    for (int i = 0; i < 2; ++i) {
        topology.devices.push_back(healthy_device(i));
        topology.devices.back().cpu_affinity = std::string(i == 0 ? "0-23" : "24-47");
    }
    topology.links = {{std::string("X"), std::string("HCCS")},
                      {std::string("HCCS"), std::string("X")}};
    std::string text = topology_text(topology, simulator(), Charset::utf8);
    std::vector<std::string> lists;
    for (const std::string& line : split(text, "\n"))
        if (line.starts_with("NPU")) {
            EXPECT_TRUE(digits(words(line)[0].substr(3)));
            if (words(line).back() != "Affinity")
                lists.push_back(words(line).back());
        }
    EXPECT_THAT(lists, testing::ElementsAre("0-23", "24-47"));
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
    EXPECT_LT(text.find("hccs"), text.find("legend"));
}

// temp: the whole output behind the last colon is a number. usages: what follows the last colon of
// the line with the key, compared without regard to case.
TEST(Reader, ValuesBehindTheLastColon) {
    auto device = healthy_device(0);
    device.hbm_percent = 12;
    device.hbm_bandwidth_percent = 34;
    const auto backend = simulator();
    const TypeRow row{device, backend};
    const std::string temp = type_text(*find_type("temp"), std::span(&row, 1), true, Charset::utf8);
    EXPECT_EQ(std::stof(temp.substr(temp.rfind(':') + 1)), 45.0F);
    const std::string usages = type_text(kUsages, std::span(&row, 1), true, Charset::utf8);
    const auto value = [&](std::string key) {
        std::ranges::transform(key, key.begin(), [](unsigned char c) { return std::tolower(c); });
        for (std::string line : split(usages, "\n")) {
            std::ranges::transform(line, line.begin(),
                                   [](unsigned char c) { return std::tolower(c); });
            if (line.find(key) != std::string::npos)
                return std::stoi(line.substr(line.rfind(':') + 1));
        }
        return -1;
    };
    EXPECT_EQ(value("HBM Capacity"), 65536);
    EXPECT_EQ(value("HBM Usage Rate"), 12);
    EXPECT_EQ(value("Aicore Usage Rate"), 0);
    EXPECT_NE(usages.find("HBM Capacity(MB)"), std::string::npos);
}

// Logs of -t board, usages, health: the second part of a line cut at ": ".
TEST(Reader, EveryKeyHasOneColonAndABlank) {
    const auto device = handbook()[1];
    const auto backend = real_driver();
    const TypeRow row{device, backend};
    for (const Type* type : {&kBoard, &kUsages, &kHealth, &kEcc})
        for (const std::string& line :
             split(type_text(*type, std::span(&row, 1), true, Charset::utf8), "\n"))
            if (!line.empty()) {
                EXPECT_GE(split(line, ": ").size(), 2U) << line;
            }
}

// Invariants of 8.2 on the whole output.
TEST(Reader, Invariants) {
    const std::string output = info_output(overview_of(handbook()));
    const auto lines = split(output, "\n");
    bool version = false;
    for (const std::string& line : lines) {
        if (line.starts_with("+")) {
            EXPECT_TRUE(line.ends_with("+")) << line;
        }
        if (line.starts_with("| npu-smi"))
            version = line.find("Version:") != std::string::npos;
    }
    EXPECT_TRUE(version);
    EXPECT_EQ(output.find('\x1b'), std::string::npos);
    const std::size_t table_end = output.rfind("+\n");
    EXPECT_EQ(output.find_first_of("|+", table_end + 1), std::string::npos);
}
