// SPDX-License-Identifier: Apache-2.0
// Where the wire's structs become the HAL's types: the one place that knows both, with the checks
// that keep an impossible number from going on as a value (driver-abi.md 4, 7, 8, 9, 10.2).
#pragma once

#include "hal/driver.hpp"
#include "hal/snapshot.hpp"
#include "ioctl/wire/davinci.h"
#include "ioctl/wire/davsim.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace asc::hal {

// ---- errors ----
// What the result of an ioctl means: > 0 a driver error, < 0 a negative errno (6.2).
Absence absence_of_result(std::int32_t result);
// HDC numbers come as errno and mean something else (10.1); the result is a driver error.
std::int32_t driver_error_of_hdc(std::int32_t result, std::uint32_t operation);
std::string error_text(std::int32_t result);

// ---- numbers ----
// Little-endian integer of exactly 1, 2, 4 or 8 bytes.
std::uint64_t unsigned_from_wire(std::span<const std::uint8_t> bytes);
Reading<int> temperature_from_wire(std::int64_t celsius);      // -60 .. 200
Reading<int> celsius_from_wire(std::uint64_t raw);             // signed in 16 bits
Reading<double> power_from_wire(std::uint64_t deciwatt);       // 0 .. 3000 W
Reading<double> millivolt_from_wire(std::uint64_t millivolt);  // V, 0 < v <= 5
Reading<int> percent_from_wire(std::uint64_t percent);         // 0 .. 100
Reading<int> megahertz_from_wire(std::uint64_t megahertz);     // 0 .. 20000
Reading<std::uint32_t> counter_from_wire(std::uint64_t value); // the sentinel 0xFFFFFFFF is none
Reading<std::uint64_t> process_bytes_from_wire(std::uint64_t bytes, // at most the device's memory
                                               const Reading<std::uint64_t>& total_mib);

// ---- texts ----
// Up to the first zero; all of it when there is none.
std::string text_from_wire(const char* text, std::size_t room);
// UDIS text: its end must be inside; out_len 0 and "" are absent (7).
Reading<std::string> text_from_wire(std::span<const std::uint8_t> data);

// ---- identity ----
struct ChipFacts { // E/29
    std::string type, name, version;
};
ChipFacts chip_from_wire(const dv_chip_info& info);

struct DeviceFacts { // 'M' 20
    int chip_id = 0, die_id = 0;
    int ai_cores = 0, vector_cores = 0, ai_cpus = 0, control_cpus = 0;
    std::uint32_t mainboard_id = 0;
    std::string soc_version;
    std::uint64_t ai_core_bitmap[2] = {}, vector_core_bitmap[2] = {};
};
DeviceFacts device_from_wire(const dv_device_info& info);

struct PciFacts { // E/7
    PciIds ids;
    std::uint32_t bus = 0, slot = 0, function = 0;
};
PciFacts pci_from_wire(const dv_pcie_info& info);
std::string bus_id_text(std::uint32_t domain, const PciFacts& pci); // "0000:01:00.0"

// ---- state ----
Reading<Health> health_from_wire(std::uint32_t value);
Reading<std::vector<ErrorCode>> codes_from_wire(const dv_event_codes& codes);
Event event_from_wire(const dv_event& event);

// ---- memory ----
struct Hbm {
    std::uint64_t total_kib = 0, used_kib = 0;
};
Reading<Hbm> hbm_from_wire(std::span<const std::uint8_t> data); // hbm_mem_info
Reading<EccCounters> ecc_from_wire(const dv_ecc_now& now, const dv_ecc_history& history);
EccRecord record_from_wire(const dv_single_record& record);
EccRecord record_from_wire(const dv_multi_record& record);
EccRecord record_from_wire(const dv_dmp_ecc_record& record);
FlashPart flash_from_wire(const dv_dmp_flash& flash);

// ---- utilisation ----
// Mean over the cores in the bitmap (7, module TS).
Reading<int> mean_from_wire(const dv_core_utilisation& cores, const std::uint64_t bitmap[2]);
// Mean of one u32 a core; the length must be 4 x count (aicpu_util, ccpu_util).
Reading<int> mean_from_wire(std::span<const std::uint8_t> data, int count);

// ---- processes ----
// The list of 'M' 175; out_of_range when a number can be no pid, failed when the length is wrong.
Reading<std::vector<std::int64_t>> pids_from_wire(const dv_resource& resource);

struct SimProcess { // ds_process
    std::int64_t host_pid = 0, caller_pid = 0;
    std::uint64_t start_ticks = 0, bytes = 0;
    bool ended = false, resolvable = true, scripted = false;
    std::uint32_t uid = 0;
    std::string name;
};
SimProcess process_from_wire(const ds_process& process);

struct SimDevice { // ds_device
    std::uint32_t state = 0;
    int card = 0, chip = 0, chips_on_card = 1, numa_node = 0;
    std::uint32_t pci_domain = 0;
    std::string serial;
    Reading<double> power_limit_w;
    Reading<std::uint32_t> oom_count;
    Reading<std::uint64_t> baseline_kib;
    std::uint64_t unowned_kib = 0;
    bool processes_known = true;
    std::uint32_t pages_pending = 0, reset_count = 0, reset_outcome = 0;
    std::uint32_t allocations = 0, owners = 0;
};
Reading<SimDevice> device_from_wire(const ds_device& device);
RuleState rule_from_wire(const ds_rule_get& rule);

// Word of npu-smi's topology table; the numbers are the simulator's own (driver_urd.h).
Reading<std::string> topology_from_wire(std::uint32_t value, bool simulator);

} // namespace asc::hal
