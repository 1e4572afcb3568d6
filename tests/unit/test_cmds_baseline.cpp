// SPDX-License-Identifier: Apache-2.0
// State files: written, read, refused, compared.
#include "cmds/common/baseline.hpp"
#include "cmds/common/files.hpp"
#include "tests/unit/test_cmds_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

using namespace asc::cmds;
using namespace asc::test;
using testing::HasSubstr;

namespace {

std::string saved(const std::vector<asc::hal::DeviceSnapshot>& devices) {
    return baseline_text(make_baseline(devices, simulator(), 1764555931000));
}

// The text with one replacement, which must be there.
std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

} // namespace

TEST(Baseline, ReadsWhatItWrote) {
    const auto baseline = parse_baseline(saved(handbook()));
    ASSERT_TRUE(baseline.has_value()) << baseline.error();
    EXPECT_EQ(baseline->saved_at_ms, 1764555931000);
    EXPECT_EQ(baseline->devices.size(), 8U);
    EXPECT_EQ(baseline->devices[1].single_bit_lifetime, 3U);
    EXPECT_EQ(baseline->devices[2].processes, 0U); // the dead one is none
    EXPECT_TRUE(compare(*baseline, handbook()).empty());
}

TEST(Baseline, RefusesNamingTheField) {
    const std::string text = saved({healthy_device(0)});
    const auto error = [](const std::string& changed) {
        const auto baseline = parse_baseline(changed);
        return baseline ? std::string("(accepted)") : baseline.error();
    };
    EXPECT_THAT(error(with(text, "baseline/1", "baseline/2")), HasSubstr("baseline/2"));
    EXPECT_THAT(error(with(text, "\"hbm_used_mib\": 0", "\"hbm_used_mib\": -1")),
                HasSubstr("devices[0].hbm_used_mib"));
    EXPECT_THAT(error(with(text, "\"oom_count\": 0", "\"oom_count\": 4294967296")),
                HasSubstr("devices[0].oom_count"));
    EXPECT_THAT(error(with(text, "\"bus_id\"", "\"bus\"")),
                HasSubstr("devices[0].bus_id is missing"));
    EXPECT_THAT(error(with(text, "\"devices\": [", "\"devices\": 5, \"x\": [")),
                HasSubstr("devices"));
    EXPECT_THAT(error("{}"), HasSubstr("schema is missing"));
    for (const char* bad : {"", "[]", "7", "{\"schema\"", "\xff\xfe"})
        EXPECT_THAT(error(bad), testing::Not("(accepted)")) << bad;
}

TEST(Baseline, TakesUnknownFieldsOfLaterPrograms) {
    EXPECT_TRUE(
        parse_baseline(with(saved({healthy_device(0)}), "\"name\"", "\"new\": 1, \"name\"")));
}

TEST(Baseline, TellsWhatChanged) {
    const auto baseline =
        parse_baseline(saved({healthy_device(0), healthy_device(1), healthy_device(2)}));
    auto now = std::vector{healthy_device(0), healthy_device(1), healthy_device(9)};
    now[0].hbm_used_mib = std::uint64_t{200};
    now[1].firmware_version = std::string("1.76.22.3.400");
    now[1].oom_count =
        asc::hal::Absence{asc::hal::Reason::failed, -5, {}}; // no change of the value
    std::vector<std::string> texts;
    for (const Change& change : compare(*baseline, now))
        texts.push_back(change_text(change));
    EXPECT_THAT(texts, testing::ElementsAre(
                           "NPU 0 hbm_used_mib: 0 before, 200 now",
                           "NPU 1 firmware_version: 1.76.22.3.310 before, 1.76.22.3.400 now",
                           "NPU 9 device: absent before, present now",
                           "NPU 2 device: present before, absent now"));
}

TEST(Baseline, AnIdleDeviceIsABaselineABusyOneIsNone) {
    auto idle = healthy_device(0), busy = healthy_device(1);
    idle.hbm_used_mib = std::uint64_t{3400};
    hold(busy, {process(1, 500)});
    const auto baseline = parse_baseline(saved({idle, busy}));
    EXPECT_EQ(earlier_of(*baseline, idle.ids)->idle_mib, 3400U);
    EXPECT_FALSE(earlier_of(*baseline, busy.ids)->idle_mib.has_value());
    EXPECT_FALSE(earlier_of(*baseline, healthy_device(5).ids).has_value());
}

TEST(Baseline, FindsTheDeviceBySerialThenByBusId) {
    auto device = healthy_device(0);
    const auto baseline = parse_baseline(saved({device}));
    auto moved = device.ids;
    moved.bus_id = "0000:ff:00.0";
    EXPECT_NE(find_saved(*baseline, moved), nullptr);
    auto replaced = device.ids;
    replaced.serial = "OTHER";
    EXPECT_EQ(find_saved(*baseline, replaced), nullptr);
    auto nameless = device.ids;
    nameless.serial.clear();
    EXPECT_NE(find_saved(*baseline, nameless), nullptr);
}

TEST(Files, WriteWholeOrNotAtAll) {
    const auto folder = std::filesystem::temp_directory_path() / "asc_test_files";
    std::filesystem::create_directories(folder);
    const std::string path = folder / "state";
    ASSERT_TRUE(write_file(path, "one").has_value());
    EXPECT_EQ(*read_file(path), "one");
    EXPECT_THAT(write_file(folder / "none" / "x", "x").error(), HasSubstr("No such file"));
    EXPECT_THAT(read_file(folder / "nothing").error(), HasSubstr("No such file"));
    EXPECT_THAT(read_file(path, 2).error(), HasSubstr("larger than 2 bytes"));
    EXPECT_THAT(write_file("/dev/full", "x").error(), HasSubstr("No space left"));
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
    std::filesystem::remove_all(folder);
}
