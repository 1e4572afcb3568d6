// SPDX-License-Identifier: Apache-2.0
// A state file: what the devices said at one time, to compare with later (--save, --compare).
#pragma once

#include "cmds/common/findings.hpp"
#include "cmds/common/json.hpp"
#include "hal/driver.hpp"
#include "hal/snapshot.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace asc::cmds {

inline constexpr std::string_view kBaselineSchema = "asc-tools/npu-smi.baseline/1";

// A field that the device did not give is absent; in the file it is null.
struct SavedDevice {
    hal::DeviceIds ids; // npu_id, chip_id, bus_id, serial
    std::optional<std::string> name, firmware_version;
    std::optional<std::uint64_t> hbm_total_mib, hbm_used_mib;
    std::optional<std::uint64_t> processes; // that were alive
    std::optional<std::uint32_t> single_bit, double_bit, single_bit_lifetime, double_bit_lifetime,
        pages_offlined, oom_count;
};

struct Baseline {
    std::int64_t saved_at_ms = 0; // since the epoch
    std::string driver_version, backend;
    std::vector<SavedDevice> devices;
};

Baseline make_baseline(std::span<const hal::DeviceSnapshot> devices,
                       const hal::BackendInfo& backend, std::int64_t now_ms);
std::string baseline_text(const Baseline& baseline);
// The error names the field and what is wrong with it.
std::expected<Baseline, std::string> parse_baseline(std::string_view text);

// The same device by its serial number, else by bus id.
const SavedDevice* find_saved(const Baseline& baseline, const hal::DeviceIds& ids);
// For the findings; nothing when the device was not there.
std::optional<Earlier> earlier_of(const Baseline& baseline, const hal::DeviceIds& ids);

struct Change {
    hal::DeviceIds device;
    std::string field; // as in JSON; "device" when it is new or gone
    Json before, after;
};
// Differences worth telling: memory in use, errors, pages, OOM count, firmware, devices themselves.
std::vector<Change> compare(const Baseline& baseline, std::span<const hal::DeviceSnapshot> now);
Json change_json(const Change& change);
std::string change_text(const Change& change); // "NPU 0 hbm_used_mib: 3400 before, 3600 now"

} // namespace asc::cmds
