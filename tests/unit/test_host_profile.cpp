// SPDX-License-Identifier: Apache-2.0
// Profiles: what is built in says what the handbook says, what is wrong is refused by name.
#include "kmod-sim/host/profile_keys.hpp"
#include "kmod-sim/host/spelling.hpp"
#include "tests/unit/host_fixture.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

namespace asc::sim {
namespace {

using testing::HasSubstr;

std::string error_of(const std::string& text) {
    const auto profile = parse_profile(text, "p.toml");
    return profile ? "accepted" : profile.error();
}

TEST(Profile, HandbookIsTheTableOfTheHandbook) {
    const auto profile = load_profile("handbook");
    ASSERT_TRUE(profile) << profile.error();
    ASSERT_EQ(profile->devices.size(), 8U);
    const struct {
        std::uint32_t bus;
        std::int32_t temperature;
        std::uint32_t power_dw;
    } table[] = {{1, 52, 2800}, {2, 48, 2650}, {3, 55, 900}, {4, 51, 950},
                 {5, 45, 850},  {6, 45, 850},  {7, 45, 850}, {8, 45, 850}};
    for (std::size_t i = 0; i < 8; ++i) {
        const sim_device_config& c = profile->devices[i].config;
        EXPECT_EQ(c.device_id, i);
        EXPECT_EQ(c.pci_bus, table[i].bus);
        EXPECT_EQ(c.temperature_c, table[i].temperature);
        EXPECT_EQ(c.power_dw, table[i].power_dw);
        EXPECT_EQ(c.power_limit_dw, 3500U);
        EXPECT_EQ(c.hbm_mib, 65536U);
        EXPECT_EQ(c.baseline_mib, 0U);
        EXPECT_EQ(c.context_mib, 0U);
        EXPECT_EQ(c.oom_count, i == 2 ? 7U : 0U);
        EXPECT_STREQ(c.firmware_version, i == 1 ? "1.76.22.3.220" : "1.76.22.3.310");
    }
    const DeviceProfile& ageing = profile->devices[1];
    EXPECT_EQ(ageing.ecc_single, 3U);
    EXPECT_EQ(ageing.ecc_double, 0U);
    EXPECT_EQ(ageing.isolated_pages.size(), 1U);
    ASSERT_EQ(ageing.single_records.size(), 3U);
    for (const EccRecord& record : ageing.single_records) {
        EXPECT_GT(record.age_seconds, 30U * 86400U);
        EXPECT_EQ(record.address >> SIM_PAGE_SHIFT, ageing.isolated_pages[0]);
    }
    ASSERT_EQ(profile->residents.size(), 4U);
    EXPECT_EQ(profile->residents[0].mib, 32768U);
    EXPECT_EQ(profile->residents[1].mib, 28416U);
    EXPECT_EQ(profile->residents[2].mib, 65536U);
    EXPECT_TRUE(profile->residents[2].dead);
    EXPECT_EQ(profile->residents[3].mib, 10240U);
}

TEST(Profile, AllThatAreBuiltInMakeAMachine) {
    const auto names = profile_names();
    EXPECT_THAT(names,
                testing::ElementsAre("atlas-a2", "atlas-a3", "duo", "handbook", "rack", "single"));
    for (const std::string_view name : names) {
        const auto profile = load_profile(name);
        ASSERT_TRUE(profile) << profile.error();
        EXPECT_EQ(profile->name, name);
        EXPECT_FALSE(profile->description.empty());
        const auto machine = test::machine_of(*profile);
        ASSERT_TRUE(machine);
    }
}

TEST(Profile, CardsOfTwoDiesCountChips) {
    const auto profile = load_profile("atlas-a3");
    ASSERT_TRUE(profile) << profile.error();
    ASSERT_EQ(profile->devices.size(), 16U);
    for (std::uint32_t i = 0; i < 16; ++i) {
        EXPECT_EQ(profile->devices[i].config.card, i / 2);
        EXPECT_EQ(profile->devices[i].config.chip, i % 2);
        EXPECT_EQ(profile->devices[i].config.physical_id, i);
    }
    const auto rack = load_profile("rack");
    ASSERT_TRUE(rack) << rack.error();
    EXPECT_EQ(rack->devices.size(), 64U);
    EXPECT_EQ(rack->devices[63].config.pci_domain, 3U);
    EXPECT_EQ(rack->devices[63].config.pci_bus, 16U);
}

TEST(Profile, UnknownKeysAreNamedWithPlaceAndNeighbour) {
    const std::string error = error_of("[[device]]\nid = 0\ntemprature_c = 52\n");
    EXPECT_THAT(error, HasSubstr("p.toml:3: device[0].temprature_c: unknown key"));
    EXPECT_THAT(error, HasSubstr("did you mean 'temperature_c'?"));
    EXPECT_THAT(error_of("colour = 1\n[[device]]\n"), HasSubstr("p.toml:1: colour: unknown key"));
    EXPECT_THAT(error_of("[[device]]\n[device.load]\nai_cores = 3\n"),
                HasSubstr("did you mean 'ai_core'?"));
    EXPECT_THAT(error_of("[defaults]\nbus_id = \"0000:01:00.0\"\n[[device]]\n"),
                HasSubstr("defaults.bus_id: unknown key"));
}

TEST(Profile, WrongKindsAndRangesAreNamed) {
    const struct {
        const char *text, *expected;
    } cases[] = {
        {"[[device]]\nhbm_mib = \"64G\"\n", "p.toml:2: device[0].hbm_mib: a whole number of 1 to"},
        {"[[device]]\nhbm_mib = 1.5\n", "a whole number"},
        {"[[device]]\nhbm_mib = 0\n", "0 is out of range: 1 to 1048576"},
        {"[[device]]\npower_w = nan\n", "out of range"},
        {"[[device]]\nserial = 5\n", "device[0].serial: a text is expected, not integer"},
        {"[[device]]\nserial = \"0123456789012345678901234567890123456789\"\n",
         "longer than 31 bytes"},
        {"[[device]]\nbus_id = \"1:2\"\n", "a bus id is expected as"},
        {"[[device]]\nbaseline_known = 1\n", "true or false is expected"},
        {"[[device]]\nload = 5\n", "a table is expected"},
        {"device = 5\n", "tables [[device]] are expected"},
        {"[[device]]\nid = 64\n", "out of range: 0 to 63"},
        {"[[device]]\ncount = 65\n", "out of range: 1 to 64"},
        {"[[device]]\nid = 60\ncount = 5\n", "more than 64 devices"},
        {"[[device]]\n[[device]]\nid = 0\n", "of another"},
        {"[[device]]\nbus_id = \"0000:ff:00.0\"\ncount = 2\n", "bus numbers end at ff"},
        {"[[device]]\nhbm_mib = 100\nbaseline_mib = 200\n", "larger than hbm_mib"},
        {"[[device]]\nchip = 1\n", "has no chip 1"},
        {"description = \"x\"\n", "at least one [[device]]"},
        {"generation = \"newest\"\n[[device]]\n", "'current' or 'older' is expected"},
        {"[[device]]\n[[resident]]\ndevice = 1\nname = \"x\"\n", "there is no device 1"},
        {"[[device]]\n[[resident]]\ndevice = 0\n", "resident[0].name: is missing"},
        {"[[device]]\n[[resident]]\ndevice = 0\nname = \"\"\n", "a process needs a name"},
        {"[[device]]\n[[resident]]\ndevice = 0\nname = \"a\"\nmib = 65537\n", "0 to 65536"},
        {"[[device]]\n[[resident]]\ndevice = 0\nname = \"sixteen-bytes-xx\"\n",
         "longer than 15 bytes"},
        {"[[device]]\n[device.ecc]\nsingle = 3\nsingle_lifetime = 2\n",
         "a lifetime count is smaller"},
        {"[[device]]\n[device.ecc]\nisolated_pages = [1048576]\n", "out of range: 0 to 1048575"},
        {"[[device]]\n[device.ecc]\nisolated_pages = [5, 5]\n", "stands there twice"},
        {"[[device]]\n[device.ecc]\nsingle_records = [{address = 8}]\n",
         "needs 'address' and 'age'"},
        {"[[device]]\n[device.ecc]\nsingle_records = [{address = 8, age = \"3w\"}]\n",
         "an age is expected"},
        {"[[device\n", "p.toml:1"},
    };
    for (const auto& c : cases)
        EXPECT_THAT(error_of(c.text), HasSubstr(c.expected)) << c.text;
}

TEST(Profile, EveryProfileErrorNamesItsLine) {
    EXPECT_THAT(error_of("\n\n[[device]]\n\n\nhbm_mhz = false\n"), HasSubstr("p.toml:6: "));
}

TEST(Profile, NamesThatAreNotThereAreListed) {
    const auto missing = load_profile("handbok");
    ASSERT_FALSE(missing);
    EXPECT_THAT(missing.error(), HasSubstr("did you mean 'handbook'?"));
    EXPECT_THAT(missing.error(), HasSubstr("atlas-a2"));
    const auto file = load_profile("./no-such.toml");
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error(), HasSubstr("No such file"));
    EXPECT_FALSE(load_profile("/"));
}

TEST(Profile, TheManualListsEveryKeyWithItsRange) {
    std::ifstream file(ASC_SOURCE_DIR "/docs/simulator.md");
    const std::string manual{std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>()};
    for (const DeviceKey& key : device_keys()) {
        EXPECT_THAT(manual, HasSubstr("| `" + std::string(key.name) + "` |"));
        EXPECT_THAT(manual, HasSubstr(std::string(key.meaning)));
    }
    for (const std::string_view name : profile_names())
        EXPECT_THAT(manual, HasSubstr("| `" + std::string(name) + "` |"));
}

TEST(Spelling, Durations) {
    EXPECT_EQ(parse_duration("300ms"), 300000000U);
    EXPECT_EQ(parse_duration("2"), 2000000000U);
    EXPECT_EQ(parse_duration("5m"), 300000000000U);
    EXPECT_EQ(parse_duration("30d"), 2592000000000000U);
    for (const char* wrong :
         {"", "s", "-1s", "1.5s", "1 s", "1w", "99999999999999999999", "18446744073709551615m"})
        EXPECT_FALSE(parse_duration(wrong)) << wrong;
}

TEST(Spelling, BusIds) {
    const auto id = parse_bus_id("0001:c2:1f.7");
    ASSERT_TRUE(id);
    EXPECT_EQ(id->domain, 1U);
    EXPECT_EQ(id->bus, 0xC2U);
    EXPECT_EQ(id->slot, 0x1FU);
    EXPECT_EQ(id->function, 7U);
    for (const char* wrong : {"", "0000:01:00", "0000:01:00.8", "0000:01:20.0", "0000:01:00.0 ",
                              "000:01:00.0", "0000-01-00.0", "0x00:01:00.0", "+000:01:00.0"})
        EXPECT_FALSE(parse_bus_id(wrong)) << wrong;
}

} // namespace
} // namespace asc::sim
