// SPDX-License-Identifier: Apache-2.0
// What the HAL tells of a device. Units are in the names; a missing value carries its reason.
#pragma once

#include "hal/reading.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace asc::hal {

struct DeviceIds {
    int logical_id = -1;  // index in the driver's list
    int physical_id = -1; // N of /dev/davinciN
    int npu_id = -1;      // card
    int chip_id = -1;     // die on the card
    int chips_on_card = 1;
    std::string bus_id; // "0000:01:00.0" lower-case hex; "" unknown
    std::string serial; // "" unknown
};

// Which groups of a snapshot to ask for. What was not asked is Reason::unknown with detail "not
// asked".
enum class Ask : std::uint32_t {
    state = 1U << 0,       // state, health, error codes
    identity = 1U << 1,    // name, versions
    telemetry = 1U << 2,   // temperature, power, AI core use
    memory = 1U << 3,      // HBM sizes, baseline, unowned
    ecc = 1U << 4,         // counters
    ecc_records = 1U << 5, // record lists (costs more)
    processes = 1U << 6,
    usages = 1U << 7,      // all utilisations, HBM bandwidth over HDC included
    frequencies = 1U << 8, // and voltage
    board = 1U << 9,       // board, PCB, BOM, slot ids, PCI ids, die ids
    flash = 1U << 10,
    pcie_errors = 1U << 11,
    error_texts = 1U << 12, // text of each active error code
    sensors = 1U << 13,
    limits = 1U << 14, // power limit, OOM count
    overview = state | identity | telemetry | memory | ecc | processes | limits,
};
constexpr Ask operator|(Ask a, Ask b) {
    return static_cast<Ask>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool includes(Ask set, Ask part) {
    return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(part)) != 0;
}

enum class DeviceState { ok, lost, timeout, resetting, denied, failed };
std::string_view to_string(DeviceState state);

enum class Health : std::uint32_t { ok = 0, warning = 1, alarm = 2, critical = 3 };
std::string_view to_string(Health health); // "OK", "Warning", "Alarm", "Critical"

struct ErrorCode {
    std::uint32_t code = 0;
    Reading<std::string> text; // with Ask::error_texts
};

struct EccCounters {
    std::uint32_t single_bit = 0, double_bit = 0; // since reset
    std::uint32_t single_bit_lifetime = 0, double_bit_lifetime = 0;
    std::uint32_t pages_isolated_single = 0, pages_isolated_double = 0;
};

struct EccRecord {
    std::uint64_t address = 0;
    std::uint32_t count = 0;
    std::int64_t time_s = 0; // since the epoch
};

struct ProcessInfo {
    std::int64_t pid = 0; // as the driver shows it to us
    Reading<std::int64_t>
        host_pid;           // in the driver's own namespace, when known to differ or be the same
    bool resolvable = true; // false: `pid` is no process of our namespace, never look it up
    Reading<std::uint64_t> bytes;        // HBM on this device
    Reading<bool> alive;                 // by pid AND start time; unknown when it cannot be told
    Reading<std::string> name;           // raw bytes, not escaped
    Reading<std::string> state;          // one letter of proc(5): R S D Z T ...
    Reading<std::uint64_t> start_ticks;  // since boot
    Reading<std::int64_t> start_unix_ms; // since the epoch
    Reading<std::int64_t> parent_pid;
    Reading<std::uint32_t> uid;
};

struct FlashPart {
    std::uint64_t id = 0, size_bytes = 0;
    std::uint32_t manufacturer_id = 0, device_id = 0, vendor_id = 0, state = 0, sectors = 0;
};

struct PciIds {
    std::uint32_t vendor = 0, device = 0, subsystem_vendor = 0, subsystem_device = 0;
};

struct DeviceSnapshot {
    DeviceIds ids;
    DeviceState state = DeviceState::failed;
    std::string state_detail; // e.g. "no answer within 5 s"
    // state
    Reading<Health> health;
    Reading<std::vector<ErrorCode>> error_codes;
    Reading<std::uint32_t> boot_status;
    // identity
    Reading<std::string> chip_type, chip_name, chip_version; // "Ascend", "910B3", "V1"
    Reading<std::string> soc_version, firmware_version;
    Reading<int> ai_core_count, vector_core_count, ai_cpu_count, control_cpu_count;
    // telemetry
    Reading<int> temperature_c;
    Reading<double> power_w;
    Reading<int> ai_core_percent;
    // limits (extension only)
    Reading<double> power_limit_w;
    Reading<std::uint32_t> oom_count;
    // memory
    Reading<std::uint64_t> hbm_total_mib, hbm_used_mib;
    Reading<std::uint64_t> hbm_baseline_mib; // extension only
    // Used - baseline - what live processes and open handles hold. Unknown without a baseline;
    // list_full when the process list cannot carry all.
    Reading<std::uint64_t> hbm_unowned_mib;
    Reading<std::uint64_t> hugepages_total, hugepages_used;
    Reading<std::uint64_t> ddr_total_mib, ddr_used_mib; // 0 / 0 where the chip has none (910B)
    // ecc
    Reading<EccCounters> ecc;
    Reading<std::uint32_t> pages_pending; // extension, else record count minus isolated
    Reading<std::vector<EccRecord>> single_bit_records, double_bit_records;
    // processes
    Reading<std::vector<ProcessInfo>> processes;
    // usages, percent
    Reading<int> ai_cpu_percent, control_cpu_percent, vector_percent, cube_percent, npu_percent;
    Reading<int> hbm_percent, hbm_bandwidth_percent, ddr_bandwidth_percent;
    // frequencies and voltage
    Reading<int> ai_core_mhz, ai_core_rated_mhz, hbm_mhz, hbm_temperature_c;
    Reading<double> voltage_v;
    Reading<std::uint32_t> hbm_manufacturer_id;
    // board
    Reading<std::uint32_t> board_id, pcb_id, bom_id, slot_id, mainboard_id;
    Reading<PciIds> pci_ids;
    Reading<std::array<std::uint32_t, 5>> vdie_id, ndie_id;
    Reading<int> numa_node;
    Reading<std::string> cpu_affinity; // list, e.g. "0-23"
    Reading<std::string> link_speed;   // sysfs: "32.0 GT/s PCIe x16"
    Reading<std::vector<FlashPart>> flash;
    Reading<std::array<std::uint32_t, 12>> pcie_errors; // DMP 0x0690 order (driver-abi.md 10.2)
    // sensors: name, value in the unit of the name
    Reading<std::vector<std::pair<std::string, double>>> sensors;
    // true when a reading that was asked for is missing for another reason than unsupported or
    // unknown
    bool troubled() const;
};

struct Holder {
    std::int64_t pid = 0;
    std::string name, command_line; // raw bytes
    std::string state;              // letter of proc(5)
    std::string node;               // e.g. "/dev/davinci0"
    bool daemon = false;            // reparented to init, no terminal: a service
    bool memory = false;            // holds HBM there
};

struct Event {
    std::uint32_t id = 0;
    int physical_id = -1;
    int severity = 0;  // 0 warning, 1 minor, 2 major, 3 critical
    int assertion = 0; // 0 recovery, 1 occurrence, 2 one-off
    int node_type = 0, node_id = 0, sub_node_type = 0, sub_node_id = 0;
    std::int32_t serial = 0, notify_serial = 0;
    std::int64_t raised_ms = 0; // since the epoch
    std::int64_t pid = 0;
    std::string name, additional_info; // raw bytes
};

struct RuleState {
    std::uint32_t id = 0;
    std::uint64_t matches = 0, hits = 0;
    bool limited = false;
    std::uint32_t remaining = 0;
    std::string text;
};

} // namespace asc::hal
