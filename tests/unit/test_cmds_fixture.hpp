// SPDX-License-Identifier: Apache-2.0
// Devices as a driver would tell of them, for tests of what the commands make of it.
#pragma once

#include "cmds/npu-smi/overview.hpp"
#include "hal/driver.hpp"
#include "hal/snapshot.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace asc::test {

inline hal::DeviceSnapshot healthy_device(int index) {
    hal::DeviceSnapshot device;
    device.ids = {index,
                  index,
                  index,
                  0,
                  1,
                  fmt::format("0000:{:02x}:00.0", index + 1),
                  fmt::format("SN{:04}", index)};
    device.state = hal::DeviceState::ok;
    device.health = hal::Health::ok;
    device.error_codes = std::vector<hal::ErrorCode>{};
    device.boot_status = 16U;
    device.chip_type = std::string("Ascend");
    device.chip_name = std::string("910B");
    device.chip_version = std::string("V1");
    device.firmware_version = std::string("1.76.22.3.310");
    device.temperature_c = 45;
    device.power_w = 85.0;
    device.ai_core_percent = 0;
    device.power_limit_w = 350.0;
    device.oom_count = 0U;
    device.hbm_total_mib = std::uint64_t{65536};
    device.hbm_used_mib = std::uint64_t{0};
    device.hbm_baseline_mib = std::uint64_t{0};
    device.hbm_unowned_mib = std::uint64_t{0};
    device.hugepages_total = device.hugepages_used = hal::Absence{hal::Reason::unsupported, 0, {}};
    device.ddr_total_mib = device.ddr_used_mib = std::uint64_t{0};
    device.ecc = hal::EccCounters{};
    device.pages_pending = 0U;
    device.processes = std::vector<hal::ProcessInfo>{};
    return device;
}

inline hal::ProcessInfo process(std::int64_t pid, std::uint64_t mib, bool alive = true,
                                std::string name = "python3") {
    hal::ProcessInfo info;
    info.pid = pid;
    info.host_pid = pid;
    info.bytes = mib << 20;
    info.alive = alive;
    info.name = std::move(name);
    if (alive)
        info.state = std::string("S");
    info.start_unix_ms = std::int64_t{1764555931000}; // 2025-12-01T02:25:31Z
    info.parent_pid = std::int64_t{1};
    info.uid = 0U;
    return info;
}

// Makes used, unowned and the process list agree.
inline void hold(hal::DeviceSnapshot& device, std::vector<hal::ProcessInfo> processes) {
    std::uint64_t used = *device.hbm_baseline_mib, unowned = 0;
    for (const hal::ProcessInfo& one : processes) {
        used += *one.bytes >> 20;
        unowned += *one.alive ? 0 : *one.bytes >> 20;
    }
    device.hbm_used_mib = used;
    device.hbm_unowned_mib = unowned;
    device.processes = std::move(processes);
}

inline constexpr std::int64_t kNow = 1796091931; // 2026-12-01T02:25:31Z
inline constexpr std::int64_t kDay = 86400;

// The operators' handbook: card 1 ages, card 2 is full of memory that no live process holds.
inline std::vector<hal::DeviceSnapshot> handbook() {
    std::vector<hal::DeviceSnapshot> devices;
    for (int i = 0; i < 8; ++i)
        devices.push_back(healthy_device(i));
    const int temperatures[] = {52, 48, 55, 51};
    const double powers[] = {280, 265, 90, 95};
    for (std::size_t i = 0; i < 4; ++i) {
        devices[i].temperature_c = temperatures[i];
        devices[i].power_w = powers[i];
    }
    hold(devices[0], {process(1000, 32768)});
    hold(devices[1], {process(1001, 28416)});
    hold(devices[2], {process(4242, 65536, false)});
    hold(devices[3], {process(1003, 10240)});
    devices[0].ai_core_percent = 60;
    devices[1].firmware_version = std::string("1.76.22.3.220");
    devices[1].ecc = hal::EccCounters{3, 0, 3, 0, 1, 0};
    devices[1].single_bit_records = std::vector<hal::EccRecord>{{0x1000, 1, kNow - 61 * kDay},
                                                                {0x1400, 1, kNow - 47 * kDay},
                                                                {0x1800, 1, kNow - 33 * kDay}};
    devices[1].double_bit_records = std::vector<hal::EccRecord>{};
    devices[2].oom_count = 7U;
    return devices;
}

inline hal::DeviceSnapshot missing_device(int index, hal::DeviceState state, hal::Reason reason,
                                          std::string detail) {
    hal::DeviceSnapshot device = healthy_device(index);
    const hal::Absence absence{reason, 0, {}};
    device.state = state;
    device.state_detail = std::move(detail);
    device.health = absence;
    device.error_codes = absence;
    device.chip_name = device.chip_type = absence;
    device.firmware_version = absence;
    device.temperature_c = absence;
    device.power_w = absence;
    device.ai_core_percent = absence;
    device.power_limit_w = absence;
    device.oom_count = absence;
    device.hbm_total_mib = device.hbm_used_mib = absence;
    device.hbm_baseline_mib = device.hbm_unowned_mib = absence;
    device.hugepages_total = device.hugepages_used = absence;
    device.ddr_total_mib = device.ddr_used_mib = absence;
    device.ecc = absence;
    device.pages_pending = absence;
    device.processes = absence;
    return device;
}

inline hal::BackendInfo simulator() {
    hal::BackendInfo backend;
    backend.name = "unix:/run/sim";
    backend.simulator = true;
    backend.simulator_text = "simulated, profile handbook";
    backend.next_argument = "--backend unix:/run/sim";
    backend.driver_version = "25.2.0";
    return backend;
}

inline hal::BackendInfo real_driver() {
    hal::BackendInfo backend;
    backend.name = "chardev";
    backend.driver_version = "25.2.0";
    return backend;
}

// Someone who has the node open.
inline hal::Holder holder(std::int64_t pid, std::string name, std::string state = "S") {
    hal::Holder one;
    one.pid = pid;
    one.name = std::move(name);
    one.state = std::move(state);
    one.node = "/dev/davinci0";
    return one;
}

inline const cmds::Style kPlain{cmds::Charset::utf8, false, false};

// What `npu-smi info` makes of these devices.
inline cmds::npu_smi::Overview overview_of(std::vector<hal::DeviceSnapshot> devices) {
    cmds::npu_smi::Overview overview;
    overview.backend = simulator();
    overview.devices = std::move(devices);
    overview.earlier.resize(overview.devices.size());
    std::vector<cmds::Subject> subjects;
    for (const auto& device : overview.devices)
        subjects.push_back({&device, hal::Reading(std::vector<hal::Holder>{}), {}});
    overview.findings = cmds::find_all(subjects, {kNow, overview.backend.next_argument});
    return overview;
}

} // namespace asc::test
