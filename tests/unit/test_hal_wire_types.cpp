// SPDX-License-Identifier: Apache-2.0
// Impossible numbers never become values, and each error keeps its meaning.
#include "hal/wire_types.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>

using namespace asc::hal;

namespace {

TEST(HalNumbers, SensorsAreRangeChecked) {
    EXPECT_EQ(*temperature_from_wire(52), 52);
    EXPECT_EQ(*temperature_from_wire(-60), -60);
    EXPECT_EQ(*temperature_from_wire(200), 200);
    for (const std::int64_t bad : {-61LL, 201LL, 0x7FFFLL, 0xFFFFLL, 0x7FFFFFFFLL})
        EXPECT_EQ(temperature_from_wire(bad).absence().reason, Reason::out_of_range) << bad;
    EXPECT_DOUBLE_EQ(*power_from_wire(2800), 280.0);
    EXPECT_DOUBLE_EQ(*power_from_wire(0), 0.0);
    for (const std::uint64_t bad : {0xFFFFULL, 0x7FFFFFFFULL, 0xFFFFFFFFULL})
        EXPECT_EQ(power_from_wire(bad).absence().reason, Reason::out_of_range) << bad;
    EXPECT_EQ(*percent_from_wire(100), 100);
    EXPECT_EQ(percent_from_wire(101).absence().reason, Reason::out_of_range);
    EXPECT_EQ(percent_from_wire(0xFF).absence().reason, Reason::out_of_range);
    EXPECT_EQ(megahertz_from_wire(0xFFFFFFFFU).absence().reason, Reason::out_of_range);
    EXPECT_DOUBLE_EQ(*millivolt_from_wire(850), 0.85);
    EXPECT_EQ(millivolt_from_wire(0).absence().reason, Reason::out_of_range);
    EXPECT_EQ(counter_from_wire(0xFFFFFFFFU).absence().reason, Reason::out_of_range);
}

dv_hbm_mem_info memory(std::uint64_t total, std::uint64_t free) {
    dv_hbm_mem_info info{};
    info.part[DV_MEMORY_PART_HBM] = {total, free, {}};
    return info;
}
std::span<const std::uint8_t> bytes(const dv_hbm_mem_info& info) {
    return {reinterpret_cast<const std::uint8_t*>(&info), sizeof(info)};
}

TEST(HalNumbers, MemoryWithoutSizeIsAFailure) {
    const auto good = hbm_from_wire(bytes(memory(64 << 20, 16 << 20)));
    ASSERT_TRUE(good);
    EXPECT_EQ(good->total_kib, 64U << 20);
    EXPECT_EQ(good->used_kib, 48U << 20);
    EXPECT_EQ(hbm_from_wire(bytes(memory(0, 0))).absence().reason, Reason::failed);
    EXPECT_EQ(hbm_from_wire(bytes(memory(100, 101))).absence().reason, Reason::out_of_range);
    EXPECT_EQ(hbm_from_wire(bytes(memory(~0ULL, 1))).absence().reason, Reason::out_of_range);
    EXPECT_EQ(hbm_from_wire(bytes(memory(1, 1)).first(191)).absence().reason, Reason::failed);
}

TEST(HalNumbers, EccSentinelIsNoCount) {
    EXPECT_EQ(ecc_from_wire({3, 0, 1}, {3, 0, 1, 0})->single_bit_lifetime, 3U);
    EXPECT_EQ(ecc_from_wire({0xFFFFFFFF, 0, 1}, {}).absence().reason, Reason::out_of_range);
    EXPECT_EQ(ecc_from_wire({0, 0, 1}, {0, 0, 0, 0xFFFFFFFF}).absence().reason,
              Reason::out_of_range);
}

TEST(HalNumbers, TextsMustEndInside) {
    const std::array<std::uint8_t, 4> good{'a', 'b', 0, 'x'};
    EXPECT_EQ(*text_from_wire(good), "ab");
    const std::array<std::uint8_t, 2> endless{'a', 'b'};
    EXPECT_EQ(text_from_wire(endless).absence().reason, Reason::failed);
    EXPECT_EQ(text_from_wire(std::span(good).first(0)).absence().reason, Reason::unsupported);
}

TEST(HalNumbers, MeansLookAtTheBitmapAlone) {
    dv_core_utilisation cores{};
    cores.core_count = 4;
    cores.percent[0] = 10;
    cores.percent[1] = 30;
    cores.percent[3] = 90;
    const std::uint64_t first_two[2] = {3, 0}, none[2] = {0, 0}, all[2] = {15, 0};
    EXPECT_EQ(*mean_from_wire(cores, first_two), 20);
    EXPECT_EQ(*mean_from_wire(cores, all), 32);
    EXPECT_EQ(mean_from_wire(cores, none).absence().reason, Reason::unsupported);
    cores.percent[1] = 101;
    EXPECT_EQ(mean_from_wire(cores, all).absence().reason, Reason::out_of_range);
    cores.core_count = 129;
    EXPECT_EQ(mean_from_wire(cores, all).absence().reason, Reason::out_of_range);
    const std::array<std::uint8_t, 8> two{10, 0, 0, 0, 20, 0, 0, 0};
    EXPECT_EQ(*mean_from_wire(two, 2), 15);
    EXPECT_EQ(mean_from_wire(two, 3).absence().reason, Reason::failed);
}

dv_resource list_of(std::initializer_list<std::int32_t> pids) {
    dv_resource resource{};
    for (const std::int32_t pid : pids) {
        std::memcpy(resource.buffer + resource.buffer_len, &pid, sizeof(pid));
        resource.buffer_len += sizeof(pid);
    }
    return resource;
}

TEST(HalProcessList, ScrambledListsAreRefused) {
    EXPECT_EQ(*pids_from_wire(list_of({1234, 5678})), (std::vector<std::int64_t>{1234, 5678}));
    EXPECT_EQ(*pids_from_wire(list_of({1234, 0, 5678})), (std::vector<std::int64_t>{1234}));
    EXPECT_TRUE(pids_from_wire(list_of({}))->empty());
    for (const auto& bad : {list_of({1, -5}), list_of({1 << 30}), list_of({7, 7})})
        EXPECT_EQ(pids_from_wire(bad).absence().reason, Reason::out_of_range);
    dv_resource odd = list_of({1});
    odd.buffer_len = 6;
    EXPECT_EQ(pids_from_wire(odd).absence().reason, Reason::failed);
    odd.buffer_len = 300;
    EXPECT_EQ(pids_from_wire(odd).absence().reason, Reason::failed);
}

TEST(HalProcessList, NoProcessHasMoreThanTheDevice) {
    EXPECT_EQ(*process_bytes_from_wire(1ULL << 30, 65536), 1ULL << 30);
    EXPECT_EQ(process_bytes_from_wire((65536ULL << 20) + 1, 65536).absence().reason,
              Reason::out_of_range);
    EXPECT_EQ(process_bytes_from_wire(~0ULL, Reason::failed).absence().reason,
              Reason::out_of_range);
}

TEST(HalErrors, EachErrorHasItsReason) {
    const std::pair<std::int32_t, Reason> cases[] = {
        {-EACCES, Reason::denied},
        {-EPERM, Reason::denied},
        {DV_E_NOT_PERMITTED, Reason::denied},
        {DV_E_PERMISSION, Reason::denied},
        {-EOPNOTSUPP, Reason::unsupported},
        {DV_E_NOT_SUPPORTED, Reason::unsupported},
        {-ENODEV, Reason::lost},
        {-ENXIO, Reason::lost},
        {DV_E_INVALID_DEVICE, Reason::lost},
        {-ETIMEDOUT, Reason::timeout},
        {DV_E_TIMEOUT, Reason::timeout},
        {DV_E_RESETTING, Reason::failed},
        {-EIO, Reason::failed},
        {DV_E_INNER, Reason::failed},
        {4711, Reason::failed},
    };
    for (const auto& [result, reason] : cases) {
        EXPECT_EQ(absence_of_result(result).reason, reason) << result;
        EXPECT_EQ(absence_of_result(result).error, result);
        EXPECT_FALSE(absence_of_result(result).detail.empty()) << result;
    }
}

TEST(HalErrors, HdcNumbersAreNotErrnoNames) {
    EXPECT_EQ(driver_error_of_hdc(-20, DV_H_CONNECT), DV_E_NOT_LISTENING);
    EXPECT_EQ(driver_error_of_hdc(-9, DV_H_CONNECT), DV_E_NO_SESSION);
    EXPECT_EQ(driver_error_of_hdc(-17, DV_H_CONNECT), DV_E_NOT_READY);
    EXPECT_EQ(driver_error_of_hdc(-12, DV_H_CONNECT), DV_E_TIMEOUT);
    EXPECT_EQ(driver_error_of_hdc(-21, DV_H_PEEK), DV_E_WOULD_BLOCK);
    EXPECT_EQ(driver_error_of_hdc(-27, DV_H_PEEK), DV_E_TIMEOUT);
    EXPECT_EQ(driver_error_of_hdc(-28, DV_H_SEND), DV_E_TIMEOUT);
    EXPECT_EQ(driver_error_of_hdc(-22, DV_H_PEEK), DV_E_SESSION_CLOSED);
    EXPECT_EQ(driver_error_of_hdc(-41, DV_H_SEND), DV_E_NOT_PERMITTED);
    EXPECT_EQ(driver_error_of_hdc(-49, DV_H_CONNECT), DV_E_PEER_REBOOTED);
    EXPECT_EQ(driver_error_of_hdc(-13, DV_H_SEND), DV_E_SEND);
    EXPECT_EQ(driver_error_of_hdc(0, DV_H_SEND), 0);
}

TEST(HalReadings, AnAbsenceIsCarriedUnchanged) {
    const Reading<int> missing(Reason::failed, 7, "why");
    const Reading<double> mapped = missing.map([](int value) { return value / 10.0; });
    EXPECT_EQ(mapped.absence(), (Absence{Reason::failed, 7, "why"}));
    EXPECT_EQ(*Reading<int>(5).map([](int value) { return value + 1; }), 6);
    EXPECT_EQ(to_string(Reason::list_full), "list_full");
    EXPECT_EQ(to_cell(Reason::out_of_range), "ERR");
}

} // namespace
