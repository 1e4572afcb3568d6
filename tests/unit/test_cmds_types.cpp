// SPDX-License-Identifier: Apache-2.0
// `info -t`: keys in the vendor's order, the handbook's short lines first, and what is missing.
#include "cmds/npu-smi/types.hpp"
#include "cmds/npu-smi/watch.hpp"
#include "tests/unit/test_cmds_fixture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace asc::cmds;
using namespace asc::cmds::npu_smi;
using namespace asc::test;
using asc::hal::Absence;
using asc::hal::DeviceSnapshot;
using asc::hal::Reason;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string text_of(const Type& type, const DeviceSnapshot& device, bool chip = false,
                    const asc::hal::BackendInfo& backend = real_driver()) {
    const TypeRow row{device, backend};
    return type_text(type, std::span(&row, 1), chip, Charset::utf8);
}

} // namespace

TEST(EccType, ShortLinesThenTheVendors) {
    auto device = handbook()[1];
    device.single_bit_records = std::vector<asc::hal::EccRecord>{}; // its time depends on the zone
    EXPECT_EQ(text_of(kEcc, device), R"(
	NPU ID                         : 1
	Chip Count                     : 1
	Single Bit Errors              : 3
	Double Bit Errors              : 0
	Memory Page Offlined           : 1
	HBM Single Bit Error Count               : 3
	HBM Double Bit Error Count               : 0
	HBM Single Bit Aggregate Total Err Cnt   : 3
	HBM Double Bit Aggregate Total Err Cnt   : 0
	HBM Single Bit Isolated Pages Count      : 1
	HBM Double Bit Isolated Pages Count      : 0
	HBM Single Bit Next-Isolated Pages Count : 0
	HBM Double Bit Next-Isolated Pages Count : 0
	Counts                                   : since the reset; Aggregate: for life
)" + 1);
    EXPECT_THAT(text_of(kEcc, handbook()[1]), HasSubstr("Last Single Bit Error"));
}

TEST(EccType, FourKindsOfAnswerLookDifferent) {
    DeviceSnapshot device = healthy_device(0);
    const auto short_line = [&] {
        const std::string text = text_of(kEcc, device);
        const std::size_t at = text.find("Single Bit Errors");
        return text.substr(at, text.find('\n', at) - at);
    };
    EXPECT_EQ(short_line(), "Single Bit Errors              : 0");
    device.ecc = Absence{Reason::unsupported, 0, {}};
    EXPECT_EQ(short_line(), "Single Bit Errors              : NA");
    device.ecc = Absence{Reason::failed, -5, {}};
    EXPECT_EQ(short_line(), "Single Bit Errors              : ERR");
    device.ecc = Absence{Reason::denied, -13, {}};
    EXPECT_EQ(short_line(), "Single Bit Errors              : DENIED");
}

TEST(EccType, VolatileAndLifetimeAreLabelled) {
    DeviceSnapshot device = healthy_device(0);
    device.ecc = asc::hal::EccCounters{0, 0, 5, 1, 0, 1}; // repaired and reset
    const std::string text = text_of(kEcc, device);
    EXPECT_THAT(text, HasSubstr("HBM Double Bit Error Count               : 0"));
    EXPECT_THAT(text, HasSubstr("HBM Double Bit Aggregate Total Err Cnt   : 1"));
    EXPECT_THAT(text, HasSubstr("since the reset; Aggregate: for life"));
}

TEST(EccType, ChipsWithDdrHaveItsKeys) {
    DeviceSnapshot device = healthy_device(0);
    device.chip_name = std::string("310P3");
    EXPECT_THAT(text_of(kEcc, device), HasSubstr("DDR Single Bit Error Count"));
    EXPECT_THAT(text_of(kEcc, device), Not(HasSubstr("HBM")));
}

TEST(UsagesType, BandwidthLineFirstThenTheVendors) {
    DeviceSnapshot device = healthy_device(0);
    device.hbm_bandwidth_percent = 85;
    device.hbm_percent = 50;
    device.vector_percent = device.ai_cpu_percent = device.control_cpu_percent = 1;
    device.npu_percent = device.cube_percent = 2;
    device.ddr_bandwidth_percent = Absence{Reason::unsupported, 0, {}};
    EXPECT_EQ(text_of(kUsages, device), R"(
	NPU ID                         : 0
	Chip Count                     : 1
	HBM Bandwidth Util             : 85%
	DDR Capacity(MB)               : 0
	DDR Hugepages Total(page)      : NA
	DDR Hugepages Usage Rate(%)    : NA
	HBM Capacity(MB)               : 65536
	HBM Usage Rate(%)              : 50
	Aicore Usage Rate(%)           : 0
	Aivector Usage Rate(%)         : 1
	Aicpu Usage Rate(%)            : 1
	Ctrlcpu Usage Rate(%)          : 1
	DDR Bandwidth Usage Rate(%)    : NA
	HBM Bandwidth Usage Rate(%)    : 85
	NPU Utilization(%)             : 2
	Aicube Usage Rate(%)           : 2
)" + 1);
}

TEST(HealthType, TellsCodesTextsAddressesAndSteps) {
    DeviceSnapshot device = healthy_device(0);
    EXPECT_EQ(text_of(kHealth, device), R"(
	NPU ID                         : 0
	Chip Count                     : 1
	Health                         : OK
	Error Code                     : NA
	Error Information              : NA
)" + 1);
    device.health = asc::hal::Health::critical;
    device.error_codes = std::vector<asc::hal::ErrorCode>{{0x80E01801, std::string("multi\x1b"
                                                                                   "bit")},
                                                          {0x12345678, std::string()}};
    device.double_bit_records = std::vector<asc::hal::EccRecord>{{0xabc0, 1, kNow}};
    EXPECT_EQ(text_of(kHealth, device), R"(
	NPU ID                         : 0
	Chip Count                     : 1
	Health                         : Critical
	Error Code                     : 80E01801 12345678
	Error Information              : multi\x1bbit; no text
	Error Address                  : 0xabc0
	Next Step 80E01801             : run the job again; a second time within a day, take the chip out of use
)" + 1);
    const TypeRow row{device, real_driver()};
    const Json json = records_json(type_records(kHealth, std::span(&row, 1)), {})["devices"][0];
    EXPECT_EQ(json["health"], "Critical");
    EXPECT_EQ(json["errors"][0]["code"], "80E01801");
    EXPECT_TRUE(json["errors"][1]["next_step"].is_null());
    device.error_codes = Absence{Reason::denied, -13, {}};
    EXPECT_THAT(text_of(kHealth, device), HasSubstr("Error Code                     : DENIED"));
}

TEST(BoardType, CardAndChipHaveTheirOwnKeys) {
    DeviceSnapshot device = handbook()[1];
    device.pci_ids = asc::hal::PciIds{0x19e5, 0xd802, 0x19e5, 0};
    device.board_id = 0x33U;
    device.pcb_id = 1U;
    const std::string card = text_of(kBoard, device);
    EXPECT_THAT(card, HasSubstr("\tFirmware Version               : 1.76.22.3.220\n"));
    EXPECT_THAT(card, HasSubstr("Software Version               : 25.2.0"));
    EXPECT_THAT(card, HasSubstr("PCI Device ID                  : 0xD802"));
    EXPECT_THAT(card, HasSubstr("PCB ID                         : A"));
    EXPECT_THAT(card, Not(HasSubstr("VDie ID")));
    const std::string chip = text_of(kBoard, device, true);
    EXPECT_THAT(chip, HasSubstr("\tChip ID                        : 0\n"));
    EXPECT_THAT(chip, HasSubstr("Chip Name                      : 910B"));
    EXPECT_THAT(chip, Not(HasSubstr("Chip Count")));
    EXPECT_TRUE(chip.ends_with("Firmware Version               : 1.76.22.3.220\n"));
}

TEST(Types, ASimulatorIsNamedFirst) {
    EXPECT_TRUE(text_of(*find_type("temp"), healthy_device(0), false, simulator())
                    .starts_with("\tBackend                        : unix:/run/sim (simulated"));
    EXPECT_TRUE(text_of(*find_type("temp"), healthy_device(0)).starts_with("\tNPU ID"));
}

TEST(Types, EveryNameIsKnownAndUniqueInJson) {
    for (const char* name : {"board", "usages", "ecc", "temp", "power", "volt", "memory", "common",
                             "health", "product", "flash", "pcie-err", "sensors"}) {
        const Type* type = find_type(name);
        ASSERT_NE(type, nullptr) << name;
        auto fields = type_fields(*type);
        std::ranges::sort(fields);
        EXPECT_EQ(std::ranges::adjacent_find(fields), fields.end()) << name;
    }
    EXPECT_EQ(find_type("nonsense"), nullptr);
}

TEST(Types, WhatNoDeviceHasIsNotSupported) {
    const DeviceSnapshot device = healthy_device(0);
    const TypeRow row{device, real_driver()};
    EXPECT_TRUE(
        supported_by_none(type_records(*find_type("product"), std::span(&row, 1)), kIdFields));
    EXPECT_FALSE(
        supported_by_none(type_records(*find_type("temp"), std::span(&row, 1)), kIdFields));
}

TEST(Types, ATroubledDeviceKeepsItsRow) {
    const auto device =
        missing_device(3, asc::hal::DeviceState::timeout, Reason::timeout, "no answer within 2 s");
    const std::string text = text_of(*find_type("temp"), device);
    EXPECT_THAT(text, HasSubstr("State                          : TIMEOUT: no answer within 2 s"));
    EXPECT_TRUE(text.ends_with("NPU Temperature (C)            : TIMEOUT\n"));
}

TEST(Watch, LettersChooseAndOrder) {
    const auto metrics = chosen_metrics("tp");
    ASSERT_TRUE(metrics.has_value());
    const std::vector<DeviceSnapshot> devices{healthy_device(3)};
    EXPECT_EQ(watch_text(*metrics, devices, true, Charset::utf8),
              "NpuID(Idx)  ChipId(Idx) Temp(C)      Pwr(W)       \n"
              "3           0           45           85.0         \n");
    EXPECT_THAT(watch_fields(*metrics), testing::ElementsAre("npu_id", "chip_id", "phy_id",
                                                             "bus_id", "temperature_c", "power_w"));
    EXPECT_EQ(chosen_metrics("")->size(), 9U);
    EXPECT_EQ(chosen_metrics("pp")->size(), 1U);
    EXPECT_THAT(chosen_metrics("px").error(), HasSubstr("'x'"));
}

TEST(Watch, MissingIsNa) {
    const std::vector<DeviceSnapshot> devices{healthy_device(0)};
    auto device = devices;
    device[0].cube_percent = Absence{Reason::unsupported, 0, {}};
    EXPECT_THAT(watch_text(*chosen_metrics("u"), device, false, Charset::utf8), HasSubstr("NA"));
}
