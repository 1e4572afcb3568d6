// SPDX-License-Identifier: Apache-2.0
// Snapshots of a simulated machine: right values, and every way in which one can be missing.
#include "tests/unit/hal_nodes.hpp"

#include <chrono>

using namespace asc::hal;
using asc::test::FakeNodes;
using asc::test::why;
using namespace std::chrono_literals;

namespace {

DeviceSnapshot of(Driver& driver, Ask what, std::size_t index = 0) {
    return driver.snapshot(std::span(driver.devices()).subspan(index, 1), what).front();
}

TEST(HalSnapshot, TheHandbookMachine) {
    FakeNodes nodes("handbook");
    Driver driver = nodes.connect();
    EXPECT_TRUE(driver.backend().simulator);
    EXPECT_EQ(driver.backend().simulator_text, "simulated, profile handbook");
    ASSERT_EQ(driver.devices().size(), 8U);
    const auto all = driver.snapshot(driver.devices(), Ask::overview);
    ASSERT_EQ(all.size(), 8U);
    const int temperature[] = {52, 48, 55, 51, 45, 45, 45, 45};
    const double power[] = {280, 265, 90, 95, 85, 85, 85, 85};
    const std::uint64_t used[] = {32768, 28416, 65536, 10240, 0, 0, 0, 0};
    for (std::size_t i = 0; i < 8; ++i) {
        SCOPED_TRACE(i);
        const DeviceSnapshot& s = all[i];
        EXPECT_EQ(s.state, DeviceState::ok) << s.state_detail;
        EXPECT_EQ(s.ids.npu_id, static_cast<int>(i));
        EXPECT_EQ(s.ids.chip_id, 0);
        EXPECT_EQ(s.ids.bus_id, "0000:0" + std::to_string(i + 1) + ":00.0");
        EXPECT_EQ(*s.temperature_c, temperature[i]);
        EXPECT_DOUBLE_EQ(*s.power_w, power[i]);
        EXPECT_DOUBLE_EQ(*s.power_limit_w, 350.0);
        EXPECT_EQ(*s.hbm_used_mib, used[i]);
        EXPECT_EQ(*s.hbm_total_mib, 65536U);
        EXPECT_EQ(*s.hbm_baseline_mib, 0U);
        EXPECT_EQ(*s.hbm_unowned_mib, i == 2 ? 65536U : 0U) << why(s.hbm_unowned_mib);
        EXPECT_EQ(*s.oom_count, i == 2 ? 7U : 0U);
        EXPECT_EQ(*s.firmware_version, i == 1 ? "1.76.22.3.220" : "1.76.22.3.310");
        EXPECT_EQ(*s.health, Health::ok);
        EXPECT_EQ(*s.boot_status, 16U);
        EXPECT_EQ(*s.chip_name, "910B");
        EXPECT_EQ(*s.ddr_total_mib, 0U);
        EXPECT_FALSE(s.troubled());
        ASSERT_TRUE(s.processes);
        ASSERT_EQ(s.processes->size(), i < 4 ? 1U : 0U);
        if (i < 4) {
            const ProcessInfo& process = s.processes->front();
            EXPECT_EQ(*process.name, "python3");
            EXPECT_EQ(*process.alive, i != 2);
            EXPECT_EQ(*process.bytes, used[i] << 20);
        }
    }
    EXPECT_EQ(all[1].ecc->single_bit, 3U);
    EXPECT_EQ(all[1].ecc->single_bit_lifetime, 3U);
    EXPECT_EQ(all[1].ecc->double_bit, 0U);
    EXPECT_EQ(all[1].ecc->pages_isolated_single + all[1].ecc->pages_isolated_double, 1U);
    EXPECT_EQ(nodes.opened_hdc, 0) << "an overview needs no HDC";
}

TEST(HalSnapshot, TheDetailsComeOverUdisAndHdc) {
    FakeNodes nodes("handbook");
    Driver driver = nodes.connect();
    const DeviceSnapshot s =
        of(driver,
           Ask::overview | Ask::usages | Ask::frequencies | Ask::board | Ask::flash |
               Ask::pcie_errors | Ask::sensors | Ask::ecc_records | Ask::error_texts,
           1);
    EXPECT_EQ(*s.hbm_bandwidth_percent, 35) << why(s.hbm_bandwidth_percent);
    EXPECT_EQ(*s.cube_percent, *s.ai_core_percent);
    EXPECT_EQ(*s.hbm_percent, 43);
    EXPECT_EQ(s.ddr_bandwidth_percent.absence().reason, Reason::unsupported);
    EXPECT_EQ(*s.ai_core_mhz, *s.ai_core_rated_mhz);
    EXPECT_GT(*s.voltage_v, 0.5);
    EXPECT_EQ(s.pci_ids->vendor, 0x19e5U);
    EXPECT_EQ(s.pci_ids->device, 0xd802U);
    EXPECT_NE(*s.vdie_id, *s.ndie_id);
    EXPECT_FALSE(s.flash->empty());
    EXPECT_EQ(s.flash->front().size_bytes, 64U << 20);
    EXPECT_EQ(s.pcie_errors.absence().reason, Reason::unsupported) << "910B has no such counters";
    EXPECT_FALSE(s.sensors->empty());
    std::uint32_t errors = 0;
    for (const EccRecord& record : *s.single_bit_records) {
        errors += record.count;
        EXPECT_GT(record.time_s, 1600000000);
    }
    EXPECT_EQ(errors, 3U);
    EXPECT_TRUE(s.double_bit_records->empty());
    EXPECT_FALSE(s.troubled());
    EXPECT_GT(nodes.opened_hdc, 0);
}

TEST(HalSnapshot, WhatIsNotAskedIsUnknownAndNoTrouble) {
    FakeNodes nodes("single");
    Driver driver = nodes.connect();
    const DeviceSnapshot s = of(driver, Ask::telemetry);
    EXPECT_TRUE(s.temperature_c);
    EXPECT_EQ(s.health.absence(), (Absence{Reason::unknown, 0, "not asked"}));
    EXPECT_EQ(s.state, DeviceState::ok);
    EXPECT_FALSE(s.troubled());
}

struct Injected {
    const char* name;
    int result;
    Reason reason;
    bool troubled;
};

TEST(HalSnapshot, EachErrorOfTheDriverIsAReasonOfItsOwn) {
    static constexpr Injected kCases[] = {
        {"EACCES", -EACCES, Reason::denied, true},
        {"EPERM", -EPERM, Reason::denied, true},
        {"46", DV_E_NOT_PERMITTED, Reason::denied, true},
        {"88", DV_E_PERMISSION, Reason::denied, true},
        {"EIO", -EIO, Reason::failed, true},
        {"7", DV_E_INNER, Reason::failed, true},
        {"45", DV_E_RESETTING, Reason::failed, true},
        {"16", DV_E_TIMEOUT, Reason::timeout, true},
        {"ETIMEDOUT", -ETIMEDOUT, Reason::timeout, true},
        {"ENODEV", -ENODEV, Reason::lost, true},
        {"2", DV_E_INVALID_DEVICE, Reason::lost, true},
        // aicore_util has no fallback over HDC
        {"EOPNOTSUPP", -EOPNOTSUPP, Reason::unsupported, false},
        {"0xfffe", DV_E_NOT_SUPPORTED, Reason::unsupported, false},
    };
    for (const Injected& injected : kCases) {
        SCOPED_TRACE(injected.name);
        FakeNodes nodes("handbook");
        nodes.before = [&](const FakeNodes::Seen& seen) -> std::optional<int> {
            if (seen.udis == "aicore_util" && seen.device == 0)
                return injected.result;
            return std::nullopt;
        };
        Driver driver = nodes.connect();
        const auto all = driver.snapshot(driver.devices(), Ask::overview);
        ASSERT_FALSE(all[0].ai_core_percent);
        EXPECT_EQ(all[0].ai_core_percent.absence().reason, injected.reason);
        EXPECT_EQ(all[0].ai_core_percent.absence().error, injected.result);
        EXPECT_EQ(all[0].troubled(), injected.troubled);
        EXPECT_EQ(*all[0].temperature_c, 52);
        EXPECT_EQ(*all[1].ai_core_percent, 55);
        EXPECT_FALSE(all[1].troubled());
    }
}

TEST(HalSnapshot, ImpossibleSamplesAreOutOfRange) {
    struct Case {
        const char* name;
        std::vector<std::uint8_t> data;
    };
    const Case cases[] = {
        {"soc_max_temp", {0xFF, 0x7F}},
        {"soc_max_temp", {0xC3, 0xFF}}, // -61
        {"power_limit", {0xFF, 0xFF, 0xFF, 0x7F}},
        {"power_limit", {0xFF, 0xFF, 0, 0}},
        {"aicore_util", {101}},
        {"aicore_util", {0xFF}},
    };
    for (const Case& item : cases) {
        SCOPED_TRACE(std::string(item.name) + " " + std::to_string(item.data[0]));
        FakeNodes nodes("single");
        nodes.after = [&](const FakeNodes::Seen& seen, int result) {
            if (seen.udis == item.name)
                std::memcpy(seen.data(), item.data.data(), item.data.size());
            return result;
        };
        Driver driver = nodes.connect();
        const DeviceSnapshot s = of(driver, Ask::overview);
        const std::string name = item.name;
        const Absence absence = name == "soc_max_temp"  ? s.temperature_c.absence()
                                : name == "power_limit" ? s.power_w.absence()
                                                        : s.ai_core_percent.absence();
        EXPECT_EQ(absence.reason, Reason::out_of_range) << absence.detail;
        EXPECT_TRUE(s.troubled());
        EXPECT_EQ(nodes.opened_hdc, 0) << "an absurd value is no reason for the fallback";
    }
}

TEST(HalSnapshot, MemoryWithoutASizeIsAFailure) {
    FakeNodes nodes("single");
    nodes.after = [](const FakeNodes::Seen& seen, int result) {
        if (seen.udis == "hbm_mem_info")
            std::memset(seen.data(), 0, sizeof(dv_hbm_mem_info));
        return result;
    };
    Driver driver = nodes.connect();
    const DeviceSnapshot s = of(driver, Ask::overview | Ask::usages);
    EXPECT_EQ(s.hbm_total_mib.absence().reason, Reason::failed);
    EXPECT_EQ(s.hbm_used_mib.absence().reason, Reason::failed);
    EXPECT_EQ(s.hbm_unowned_mib.absence().reason, Reason::failed);
    EXPECT_EQ(s.hbm_percent.absence().reason, Reason::failed);
}

TEST(HalSnapshot, AWrongLengthGoesOverHdcWhereThereIsAFallback) {
    FakeNodes nodes("handbook");
    nodes.after = [](const FakeNodes::Seen& seen, int result) {
        if (seen.udis == "soc_max_temp")
            seen.reply().length = 4;
        if (seen.udis == "aicore_util")
            seen.reply().length = 4;
        if (seen.udis == "ecc_his_cnt")
            seen.reply().length = 400; // more than was offered
        return result;
    };
    Driver driver = nodes.connect();
    const DeviceSnapshot s = of(driver, Ask::telemetry | Ask::ecc, 1);
    EXPECT_EQ(*s.temperature_c, 48) << why(s.temperature_c);
    EXPECT_EQ(s.ai_core_percent.absence().reason, Reason::failed);
    EXPECT_EQ(s.ecc->single_bit_lifetime, 3U);
    EXPECT_GT(nodes.opened_hdc, 0);
}

TEST(HalSnapshot, InvalidEccCountsGoOverHdc) {
    FakeNodes nodes("handbook");
    nodes.after = [](const FakeNodes::Seen& seen, int result) {
        if (seen.udis == "ecc_rlt_cnt")
            std::memset(seen.data(), 0, sizeof(dv_ecc_now)); // valid 0
        return result;
    };
    Driver driver = nodes.connect();
    const DeviceSnapshot s = of(driver, Ask::ecc, 1);
    EXPECT_EQ(s.ecc->single_bit, 3U) << why(s.ecc);
}

TEST(HalSnapshot, RecordsComeOverHdcWhenUdisHasThemNot) {
    FakeNodes nodes("handbook");
    nodes.before = [](const FakeNodes::Seen& seen) -> std::optional<int> {
        if (seen.udis.starts_with("single_ecc") || seen.udis.starts_with("multi_ecc"))
            return -EOPNOTSUPP;
        return std::nullopt;
    };
    Driver driver = nodes.connect();
    const DeviceSnapshot s = of(driver, Ask::ecc_records, 1);
    ASSERT_TRUE(s.single_bit_records) << why(s.single_bit_records);
    std::uint32_t errors = 0;
    for (const EccRecord& record : *s.single_bit_records)
        errors += record.count;
    EXPECT_EQ(errors, 3U);
    EXPECT_TRUE(s.double_bit_records->empty());
}

TEST(HalSnapshot, ALostDeviceKeepsItsPlace) {
    FakeNodes nodes("handbook");
    Driver driver = nodes.connect();
    ASSERT_TRUE(driver.hotplug(driver.devices()[3], 2));
    const auto all = driver.snapshot(driver.devices(), Ask::overview);
    EXPECT_EQ(all[3].state, DeviceState::lost);
    EXPECT_EQ(all[3].temperature_c.absence().reason, Reason::lost);
    EXPECT_EQ(all[3].health.absence().reason, Reason::lost) << why(all[3].health);
    EXPECT_TRUE(all[3].troubled());
    EXPECT_EQ(*all[4].temperature_c, 45);
    Driver again = nodes.connect();
    ASSERT_EQ(again.devices().size(), 8U);
    EXPECT_EQ(again.devices()[3].npu_id, 3);
    EXPECT_EQ(again.devices()[4].npu_id, 4);
    ASSERT_TRUE(driver.hotplug(driver.devices()[3], 1));
    EXPECT_EQ(driver.snapshot(driver.devices(), Ask::overview)[3].state, DeviceState::ok);
}

TEST(HalSnapshot, AResettingDeviceSaysSo) {
    asc::sim::MachineOptions options;
    options.clock = asc::sim::Clock::virtual_time;
    FakeNodes nodes("handbook", options);
    Driver driver = nodes.connect();
    EXPECT_TRUE(driver.backend().virtual_clock);
    const std::uint32_t device = 4;
    UrdQuery query{};
    Driver::Impl& impl = Driver::Impl::of(driver);
    query.prepare(impl.nodes.urd, DV_MAIN_HOTRESET, DV_RESET_WHOLE, 0, &device, sizeof(device),
                  nullptr, 0);
    ASSERT_TRUE(impl.channel->call(query.call, Steady::now() + 1s));
    ASSERT_EQ(query.call.result, 0);
    const DeviceSnapshot s = of(driver, Ask::overview, 4);
    EXPECT_EQ(s.state, DeviceState::resetting) << s.state_detail;
    EXPECT_FALSE(s.health);
    nodes.machine->advance(3600'000'000'000ULL);
    EXPECT_EQ(of(driver, Ask::overview, 4).state, DeviceState::ok);
}

TEST(HalSnapshot, ADeniedDeviceSaysSo) {
    FakeNodes nodes("handbook");
    Driver driver = nodes.connect();
    nodes.before = [](const FakeNodes::Seen& seen) -> std::optional<int> {
        return seen.device == 2 ? std::optional<int>(-EACCES) : std::nullopt;
    };
    const auto all = driver.snapshot(driver.devices(), Ask::overview);
    EXPECT_EQ(all[2].state, DeviceState::denied);
    EXPECT_EQ(all[2].processes.absence().reason, Reason::denied);
    EXPECT_EQ(all[2].hbm_unowned_mib.absence().reason, Reason::denied);
    EXPECT_EQ(all[1].state, DeviceState::ok);
}

TEST(HalSnapshot, StartUpAndStatusStandBeforeHealth) {
    FakeNodes nodes("single");
    nodes.after = [](const FakeNodes::Seen& seen, int result) {
        if (seen.m(DV_M_STARTUP))
            static_cast<dv_startup*>(seen.argument)->process_status = 3;
        return result;
    };
    Driver driver = nodes.connect();
    DeviceSnapshot s = of(driver, Ask::state);
    EXPECT_EQ(s.state, DeviceState::resetting);
    EXPECT_EQ(s.health.absence().error, DV_E_TRY_AGAIN);
    nodes.after = [](const FakeNodes::Seen& seen, int result) {
        if (seen.m(DV_M_DEVICE_STATUS))
            *static_cast<std::uint32_t*>(seen.argument) = DV_DEVICE_LOST;
        return result;
    };
    s = of(driver, Ask::state);
    EXPECT_EQ(s.state, DeviceState::lost);
    EXPECT_EQ(s.health.absence().reason, Reason::lost);
}

TEST(HalSnapshot, ADisagreementOfTheSumsIsSaidNotHidden) {
    FakeNodes nodes("handbook");
    Driver driver = nodes.connect();
    nodes.after = [](const FakeNodes::Seen& seen, int result) {
        // One surface lies: 1 GiB more is used than anybody knows of.
        if (seen.udis == "hbm_mem_info") {
            auto* info = static_cast<dv_hbm_mem_info*>(seen.data());
            info->part[DV_MEMORY_PART_HBM].free_kb -= 1U << 20;
        }
        return result;
    };
    const DeviceSnapshot s = of(driver, Ask::overview, 0);
    EXPECT_EQ(*s.hbm_used_mib, 32768U + 1024U);
    EXPECT_EQ(s.hbm_unowned_mib.absence().reason, Reason::failed);
    EXPECT_THAT(s.hbm_unowned_mib.absence().detail, testing::HasSubstr("does not give"));
}

TEST(HalSnapshot, WithoutTheExtensionTheDriverIsARealOne) {
    FakeNodes nodes("handbook");
    nodes.before = [](const FakeNodes::Seen& seen) -> std::optional<int> {
        if (seen.number == DV_IOCTL_BIND &&
            std::string(static_cast<dv_bind*>(seen.argument)->module_name) == DS_MODULE_NAME)
            return -EINVAL;
        return std::nullopt;
    };
    Driver driver = nodes.connect();
    EXPECT_FALSE(driver.backend().simulator);
    EXPECT_EQ(driver.backend().simulator_text, "");
    ASSERT_EQ(driver.devices().size(), 8U);
    EXPECT_EQ(driver.devices()[5].npu_id, 5);
    const DeviceSnapshot s = of(driver, Ask::overview, 2);
    EXPECT_EQ(s.power_limit_w.absence().reason, Reason::unsupported);
    EXPECT_EQ(s.oom_count.absence().reason, Reason::unsupported);
    EXPECT_EQ(s.hbm_baseline_mib.absence().reason, Reason::unknown);
    EXPECT_EQ(s.hbm_unowned_mib.absence().reason, Reason::unknown) << "cannot tell";
    EXPECT_EQ(*s.hbm_used_mib, 65536U);
    EXPECT_EQ(*s.pages_pending, 0U);
    EXPECT_FALSE(s.troubled());
    EXPECT_EQ(driver.rules().absence().reason, Reason::unsupported);
    EXPECT_EQ(driver.hold_memory(driver.devices()[0], 1 << 20).absence().reason,
              Reason::unsupported);
}

TEST(HalSnapshot, AChipWithoutCachedMetricsIsAskedOverHdc) {
    FakeNodes nodes("handbook");
    nodes.after = [](const FakeNodes::Seen& seen, int result) {
        if (seen.is(DV_BASIC_CHIP_INFO))
            std::memcpy(static_cast<dv_chip_info*>(seen.output())->type, "Other", 6);
        return result;
    };
    Driver driver = nodes.connect();
    bool udis = false;
    nodes.before = [&](const FakeNodes::Seen& seen) -> std::optional<int> {
        udis = udis || seen.udis == "soc_max_temp";
        return std::nullopt;
    };
    const DeviceSnapshot s = of(driver, Ask::telemetry);
    EXPECT_EQ(*s.temperature_c, 52) << why(s.temperature_c);
    EXPECT_DOUBLE_EQ(*s.power_w, 280.0);
    EXPECT_FALSE(udis);
}

TEST(HalSnapshot, TwoDiesOfACardAreTwoDevices) {
    FakeNodes nodes("duo");
    Driver driver = nodes.connect();
    ASSERT_GE(driver.devices().size(), 2U);
    EXPECT_EQ(driver.devices()[0].npu_id, driver.devices()[1].npu_id);
    EXPECT_EQ(driver.devices()[0].chip_id, 0);
    EXPECT_EQ(driver.devices()[1].chip_id, 1);
    EXPECT_EQ(driver.devices()[1].chips_on_card, 2);
    const DeviceSnapshot s = of(driver, Ask::overview);
    EXPECT_EQ(s.hugepages_total.absence().reason, Reason::unsupported);
}

TEST(HalSnapshot, TopologyOfAPair) {
    FakeNodes nodes("handbook");
    Driver driver = nodes.connect();
    EXPECT_EQ(*driver.topology(driver.devices()[0], driver.devices()[0]), "X");
    EXPECT_EQ(*driver.topology(driver.devices()[0], driver.devices()[1]), "HCCS");
}

} // namespace
