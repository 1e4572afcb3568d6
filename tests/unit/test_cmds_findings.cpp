// SPDX-License-Identifier: Apache-2.0
// From readings to findings: what is said, of whom, and what is to be typed next.
#include "cmds/common/findings.hpp"
#include "tests/unit/test_cmds_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

using namespace asc::cmds;
using namespace asc::test;
using asc::hal::DeviceSnapshot;
using asc::hal::Holder;
using asc::hal::Reading;
using asc::hal::Reason;
using testing::HasSubstr;
using testing::Not;
using Kind = Finding::Kind;

namespace {

const FindingOptions kOptions{kNow, "--backend unix:/run/sim"};
const Reading<std::vector<Holder>> kNobody(std::vector<Holder>{});

std::vector<Finding> of(const DeviceSnapshot& device,
                        std::optional<Reading<std::vector<Holder>>> holders = {},
                        std::optional<Earlier> earlier = {}) {
    const Subject subject{&device, std::move(holders), std::move(earlier)};
    return find_all(std::span(&subject, 1), kOptions);
}

const Finding* find(const std::vector<Finding>& findings, Kind kind) {
    for (const Finding& finding : findings)
        if (finding.kind == kind)
            return &finding;
    return nullptr;
}

DeviceSnapshot zombie() {
    DeviceSnapshot device = healthy_device(2);
    hold(device, {process(4242, 65536, false)});
    return device;
}

} // namespace

TEST(Findings, HandbookNamesCardsOneAndTwoAlone) {
    const std::vector<DeviceSnapshot> devices = handbook();
    std::vector<Subject> subjects;
    for (const DeviceSnapshot& device : devices)
        subjects.push_back({&device, kNobody, {}});
    std::set<std::pair<int, Kind>> seen;
    for (const Finding& finding : find_all(subjects, kOptions))
        seen.insert({finding.device.npu_id, finding.kind});
    EXPECT_EQ(seen, (std::set<std::pair<int, Kind>>{{1, Kind::ecc_corrected},
                                                    {1, Kind::firmware_known_bad},
                                                    {1, Kind::firmware_mixed},
                                                    {2, Kind::unowned_hbm},
                                                    {2, Kind::oom}}));
}

TEST(Findings, HealthyDeviceHasNone) {
    EXPECT_TRUE(of(healthy_device(0), kNobody).empty());
}

TEST(Unowned, NamesTheDeadAndTheReset) {
    const auto findings = of(zombie(), kNobody);
    const Finding* finding = find(findings, Kind::unowned_hbm);
    ASSERT_NE(finding, nullptr);
    EXPECT_THAT(finding->text, HasSubstr("65536 MB held by no live process"));
    EXPECT_THAT(finding->text, HasSubstr("owner pid 4242 (python3) is dead"));
    EXPECT_EQ(finding->next, "npu-smi set -t device-reset -i 2 --backend unix:/run/sim");
}

TEST(Unowned, OnARealDriverNextHasNoBackend) {
    const DeviceSnapshot device = zombie();
    const Subject subject{&device, kNobody, {}};
    EXPECT_EQ(find_all(std::span(&subject, 1), {kNow, ""}).front().next,
              "npu-smi set -t device-reset -i 2");
}

TEST(Unowned, AChipOfTwoIsNamedWhole) {
    DeviceSnapshot device = zombie();
    device.ids.chips_on_card = 2;
    device.ids.chip_id = 1;
    EXPECT_THAT(of(device, kNobody).front().next, HasSubstr("-i 2 -c 1"));
}

TEST(Unowned, ALiveHolderThatIsNotListedForbidsTheReset) {
    DeviceSnapshot device = healthy_device(0);
    device.hbm_used_mib = device.hbm_unowned_mib = std::uint64_t{65536};
    const auto findings = of(device, Reading(std::vector{holder(5001, "train")}));
    const Finding* finding = find(findings, Kind::unowned_hbm);
    ASSERT_NE(finding, nullptr);
    EXPECT_THAT(finding->text, HasSubstr("pid 5001 (train)"));
    EXPECT_THAT(finding->next, Not(HasSubstr("reset")));
}

TEST(Unowned, AListedLiveProcessForbidsTheReset) {
    DeviceSnapshot device = healthy_device(0);
    hold(device, {process(10, 1000), process(11, 200, false)});
    const auto findings = of(device, Reading(std::vector{holder(10, "python3")}));
    EXPECT_THAT(find(findings, Kind::unowned_hbm)->text, HasSubstr("pid 10 (python3) works there"));
    EXPECT_THAT(find(findings, Kind::unowned_hbm)->next, Not(HasSubstr("reset")));
}

TEST(Unowned, UnknownHoldersAreNotNobody) {
    for (const auto& holders : {std::optional<Reading<std::vector<Holder>>>{},
                                std::optional(Reading<std::vector<Holder>>(Reason::denied))}) {
        const auto findings = of(zombie(), holders);
        const Finding* finding = find(findings, Kind::unowned_hbm);
        ASSERT_NE(finding, nullptr);
        EXPECT_THAT(finding->text, HasSubstr("holders unknown (need root)"));
        EXPECT_THAT(finding->next, Not(HasSubstr("reset")));
    }
}

TEST(Unowned, AnUnreadableProcessListForbidsTheReset) {
    DeviceSnapshot device = zombie();
    device.processes = asc::hal::Absence{Reason::denied, -13, {}};
    EXPECT_THAT(of(device, kNobody).front().next, Not(HasSubstr("reset")));
}

TEST(Unowned, ToleranceIsForRounding) {
    DeviceSnapshot device = healthy_device(0);
    device.hbm_unowned_mib = kUnownedToleranceMib;
    EXPECT_TRUE(of(device, kNobody).empty());
    device.hbm_unowned_mib = kUnownedToleranceMib + 1;
    EXPECT_EQ(of(device, kNobody).size(), 1U);
}

TEST(Unowned, UnknownBaselineIsNoFinding) {
    DeviceSnapshot device = healthy_device(0);
    device.hbm_used_mib = std::uint64_t{3600};
    device.hbm_baseline_mib = device.hbm_unowned_mib = asc::hal::Absence{Reason::unknown, 0, {}};
    EXPECT_TRUE(of(device, kNobody).empty());
    EXPECT_FALSE(unowned_mib(device, {}).has_value());
    // A state file taken while the device was idle is a baseline.
    Earlier earlier;
    earlier.idle_mib = 3400;
    EXPECT_EQ(*unowned_mib(device, earlier), 200U);
    EXPECT_EQ(of(device, kNobody, earlier).front().kind, Kind::unowned_hbm);
    earlier.idle_mib = 4000;
    EXPECT_EQ(*unowned_mib(device, earlier), 0U);
    // No baseline helps against a full list.
    device.hbm_unowned_mib = asc::hal::Absence{Reason::list_full, 0, {}};
    EXPECT_EQ(unowned_mib(device, earlier).absence().reason, Reason::list_full);
}

TEST(Ecc, OldErrorsAreNoAlarm) {
    const auto findings = of(handbook()[1]);
    const Finding* finding = find(findings, Kind::ecc_corrected);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->severity, Finding::Severity::note);
    EXPECT_THAT(finding->text, HasSubstr("3 single-bit errors"));
    EXPECT_EQ(find(findings, Kind::ecc_growing), nullptr);
}

TEST(Ecc, TwoRecordsInsideTheWindowAreGrowth) {
    DeviceSnapshot device = handbook()[1];
    const auto growing = [&](std::vector<std::int64_t> ages) {
        std::vector<asc::hal::EccRecord> records;
        for (const std::int64_t age : ages)
            records.push_back({0x1000, 1, kNow - age});
        device.single_bit_records = records;
        return find(of(device), Kind::ecc_growing) != nullptr;
    };
    EXPECT_TRUE(growing({10, 20}));
    EXPECT_TRUE(growing({0, kDay}));
    EXPECT_FALSE(growing({0, kDay + 1}));
    EXPECT_FALSE(growing({10}));
    EXPECT_FALSE(growing({kDay * 2, kDay * 3, kDay * 4}));
    EXPECT_FALSE(growing({-kDay, -kDay})); // a clock that runs ahead is no growth
    // One of each kind counts as well.
    device.single_bit_records = std::vector<asc::hal::EccRecord>{{1, 1, kNow - 5}};
    device.double_bit_records = std::vector<asc::hal::EccRecord>{{2, 1, kNow - 6}};
    EXPECT_NE(find(of(device), Kind::ecc_growing), nullptr);
}

TEST(Ecc, ARiseAgainstAnEarlierLookIsGrowth) {
    DeviceSnapshot device = handbook()[1];
    Earlier earlier{3U, 0U, {}, "2026-11-01 00:00:00"};
    EXPECT_EQ(find(of(device, {}, earlier), Kind::ecc_growing), nullptr);
    earlier.single_bit_lifetime = 2;
    const auto findings = of(device, {}, earlier);
    ASSERT_NE(find(findings, Kind::ecc_growing), nullptr);
    EXPECT_THAT(find(findings, Kind::ecc_growing)->text, HasSubstr("2026-11-01"));
    earlier.single_bit_lifetime = 9; // cleared or another chip: nothing has grown
    EXPECT_EQ(find(of(device, {}, earlier), Kind::ecc_growing), nullptr);
    earlier.single_bit_lifetime.reset();
    EXPECT_EQ(find(of(device, {}, earlier), Kind::ecc_growing), nullptr);
}

TEST(Ecc, ALifetimeCountAloneIsNoFinding) {
    DeviceSnapshot device = healthy_device(0);
    device.ecc = asc::hal::EccCounters{0, 0, 12, 1, 0, 1};
    EXPECT_TRUE(of(device, kNobody).empty());
}

TEST(Ecc, UncorrectableErrorsTellWhetherThePageIsOut) {
    DeviceSnapshot device = healthy_device(0);
    device.ecc = asc::hal::EccCounters{0, 1, 0, 1, 0, 1};
    device.double_bit_records = std::vector<asc::hal::EccRecord>{{0xabc0, 1, kNow - 60}};
    device.health = asc::hal::Health::warning;
    device.error_codes = std::vector<asc::hal::ErrorCode>{{0x80E18400, {}}};
    auto findings = of(device);
    const Finding* finding = find(findings, Kind::ecc_uncorrectable);
    ASSERT_NE(finding, nullptr);
    EXPECT_EQ(finding->severity, Finding::Severity::warning);
    EXPECT_THAT(finding->text, testing::AllOf(HasSubstr("80E18400"), HasSubstr("0xabc0"),
                                              HasSubstr("out of use")));
    device.error_codes = std::vector<asc::hal::ErrorCode>{{0x80E01801, {}}};
    findings = of(device);
    finding = find(findings, Kind::ecc_uncorrectable);
    EXPECT_EQ(finding->severity, Finding::Severity::critical);
    EXPECT_THAT(finding->text, HasSubstr("FAILED"));
    // The code alone is enough when the counters cannot be read.
    device.ecc = asc::hal::Absence{Reason::failed, -5, {}};
    EXPECT_NE(find(of(device), Kind::ecc_uncorrectable), nullptr);
}

TEST(Findings, OtherKinds) {
    DeviceSnapshot device = healthy_device(0);
    device.pages_pending = 2U;
    EXPECT_THAT(find(of(device), Kind::pages_pending)->text, HasSubstr("2 memory pages"));
    device = healthy_device(0);
    device.temperature_c = kHotCelsius + 1;
    EXPECT_NE(find(of(device), Kind::thermal), nullptr);
    device.temperature_c = kHotCelsius;
    EXPECT_EQ(find(of(device), Kind::thermal), nullptr);
    device.error_codes = std::vector<asc::hal::ErrorCode>{{0x80E00209, {}}};
    EXPECT_THAT(find(of(device), Kind::thermal)->text, HasSubstr("80E00209"));
    device = missing_device(3, asc::hal::DeviceState::lost, Reason::lost, "fell off the bus");
    const auto lost = of(device);
    ASSERT_EQ(lost.size(), 1U);
    EXPECT_EQ(lost[0].kind, Kind::device_lost);
    EXPECT_THAT(lost[0].text, HasSubstr("fell off the bus"));
    // A device that only does not answer is not lost.
    device = missing_device(3, asc::hal::DeviceState::timeout, Reason::timeout, "");
    EXPECT_TRUE(of(device).empty());
}

TEST(Findings, StatesOfHolders) {
    DeviceSnapshot device = healthy_device(0);
    hold(device, {process(10, 100), process(11, 100), process(12, 100)});
    auto processes = *device.processes;
    processes[1].state = std::string("Z");
    processes[2].state = std::string("D");
    device.processes = processes;
    const auto findings = of(device);
    EXPECT_THAT(find(findings, Kind::holder_defunct)->text, HasSubstr("pid 11"));
    EXPECT_THAT(find(findings, Kind::holder_uninterruptible)->text, HasSubstr("pid 12"));
    EXPECT_EQ(findings.size(), 2U);
}

TEST(Firmware, MixedNamesTheMinorityOfOneKindOfChip) {
    std::vector<DeviceSnapshot> devices;
    for (int i = 0; i < 4; ++i)
        devices.push_back(healthy_device(i));
    devices[3].firmware_version = std::string("1.76.22.3.400");
    const auto mixed = [&] {
        std::vector<Subject> subjects;
        for (const DeviceSnapshot& device : devices)
            subjects.push_back({&device, {}, {}});
        std::vector<int> cards;
        for (const Finding& finding : find_all(subjects, kOptions))
            if (finding.kind == Kind::firmware_mixed)
                cards.push_back(finding.device.npu_id);
        return cards;
    };
    EXPECT_THAT(mixed(), testing::ElementsAre(3));
    devices[2].firmware_version = std::string("1.76.22.3.400"); // two and two: the older ones
    EXPECT_THAT(mixed(), testing::ElementsAre(0, 1));
    for (std::size_t i : {2U, 3U})
        devices[i].chip_name = std::string("310P3"); // another kind is no mixture
    EXPECT_TRUE(mixed().empty());
    devices[0].firmware_version = asc::hal::Absence{Reason::failed, -5, {}};
    EXPECT_TRUE(mixed().empty()); // unknown differs from nothing
}

TEST(Findings, GravestOfADeviceFirst) {
    DeviceSnapshot device = handbook()[1];
    device.temperature_c = 120;
    const auto findings = of(device);
    EXPECT_EQ(findings.front().kind, Kind::thermal);
    EXPECT_EQ(findings.back().severity, Finding::Severity::note);
}

TEST(Findings, JsonHasThePinnedKeys) {
    const Json json = finding_json(of(zombie(), kNobody).front());
    EXPECT_EQ(json["npu_id"], 2);
    EXPECT_EQ(json["kind"], "unowned_hbm");
    EXPECT_TRUE(json["text"].is_string());
    EXPECT_TRUE(json["next"].is_string());
}
