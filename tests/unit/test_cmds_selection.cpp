// SPDX-License-Identifier: Apache-2.0
// Which devices a person means.
#include "cmds/common/selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace asc::cmds;
using asc::hal::DeviceIds;
using testing::HasSubstr;

namespace {

// Two cards with two dies each; logical and physical ids differ on purpose.
std::vector<DeviceIds> two_dies() {
    return {{0, 4, 0, 0, 2, "0000:0a:00.0", "SNA"},
            {1, 5, 0, 1, 2, "0000:0b:00.0", "SNA"},
            {2, 6, 1, 0, 2, "0000:1c:00.0", "SNB"},
            {3, 7, 1, 1, 2, "0000:1d:00.0", "SNB"}};
}

std::vector<int> chosen(const Selection& selection, Numbers numbers = Numbers::card) {
    const auto devices = two_dies();
    const auto found = select_devices(devices, selection, numbers);
    std::vector<int> logical;
    if (found)
        for (const DeviceIds& ids : *found)
            logical.push_back(ids.logical_id);
    return logical;
}

} // namespace

TEST(Selection, ByEveryKindOfName) {
    EXPECT_THAT(chosen({}), testing::ElementsAre(0, 1, 2, 3));
    EXPECT_THAT(chosen({"1", {}, {}}), testing::ElementsAre(2, 3));
    EXPECT_THAT(chosen({"1", 0, {}}), testing::ElementsAre(2));
    EXPECT_THAT(chosen({"1", {}, {}}, Numbers::logical), testing::ElementsAre(1));
    EXPECT_THAT(chosen({"0000:1C:00.0", {}, {}}), testing::ElementsAre(2));
    EXPECT_THAT(chosen({"1d:0.0", {}, {}}), testing::ElementsAre(3));
    EXPECT_THAT(chosen({"SNB", {}, {}}), testing::ElementsAre(2, 3));
    EXPECT_THAT(chosen({"all", {}, 5}), testing::ElementsAre(1));
}

TEST(Selection, SaysWhatThereIs) {
    const auto devices = two_dies();
    for (const char* name : {"7", "0000:ff:00.0", "SNX", "-1", "", "1x", "99999999999999999999"}) {
        const auto found = select_devices(devices, {name, {}, {}});
        ASSERT_FALSE(found.has_value()) << name;
        EXPECT_THAT(found.error(), HasSubstr("there are 0-1"));
    }
    EXPECT_THAT(select_devices(devices, {"1", 2, {}}).error(), HasSubstr("no chip 2 on NPU 1"));
    EXPECT_THAT(select_devices(devices, {"0", {}, 7}).error(), HasSubstr("physical id 7"));
}

TEST(Selection, AnEmptySerialMatchesNothing) {
    const std::vector<DeviceIds> nameless{{0, 0, 0, 0, 1, "", ""}};
    EXPECT_FALSE(select_devices(nameless, {"", {}, {}}).has_value());
}

TEST(Selection, BusIds) {
    EXPECT_EQ(normal_bus_id("1:0.0"), "0000:01:00.0");
    EXPECT_EQ(normal_bus_id("0000:C1:00.0"), "0000:c1:00.0");
    EXPECT_EQ(normal_bus_id("10000:c1:00.0"), "10000:c1:00.0");
    for (const char* bad :
         {"", "c1", "c1:00", "g1:00.0", "0000:c1:00.", ":00.0", "0:0:0:0.0", "c1:00.10"})
        EXPECT_EQ(normal_bus_id(bad), "") << bad;
}

TEST(Selection, NamesTheDeviceAgain) {
    const auto devices = two_dies();
    EXPECT_EQ(device_options(devices[2]), "-i 1 -c 0");
    EXPECT_EQ(device_name(devices[2]), "NPU 1 chip 0");
    EXPECT_EQ(device_options({0, 0, 3, 0, 1, "", ""}), "-i 3");
}
