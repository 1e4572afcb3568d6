// SPDX-License-Identifier: Apache-2.0
// From what the devices say to what is to be done: pure, the same for every command and exporter.
#pragma once

#include "cmds/common/finding.hpp"
#include "hal/snapshot.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::cmds {

// Up to here memory without an owner is taken for rounding (sizes come in whole MiB, a context in
// parts of one).
inline constexpr std::uint64_t kUnownedToleranceMib = 8;
// Two errors closer together than this are growth (the vendor's frequency rules: 86400 s).
inline constexpr std::int64_t kGrowthWindowSeconds = 86400;
// Device memory above this is too hot (event 80E00209).
inline constexpr int kHotCelsius = 95;

// An earlier look at the same device: a state file, or the sample before in a series.
struct Earlier {
    std::optional<std::uint32_t> single_bit_lifetime, double_bit_lifetime;
    // Memory the device used while nothing ran on it.
    std::optional<std::uint64_t> idle_mib;
    std::string when; // for the text: "2026-12-01 02:25:31"
};

struct Subject {
    const hal::DeviceSnapshot* now = nullptr; // Ask::overview; the rest sharpens the texts
    // Who has the device open; not asked: nothing.
    std::optional<hal::Reading<std::vector<hal::Holder>>> holders;
    std::optional<Earlier> earlier;
};

struct FindingOptions {
    std::int64_t now_s = 0;    // wall clock of the device's side; 0 unknown
    std::string next_argument; // BackendInfo::next_argument
};

// In the order of `subjects`, the gravest of a device first.
std::vector<Finding> find_all(std::span<const Subject> subjects, const FindingOptions& options);

// Memory held by no live process. Without a baseline from the driver, `earlier` may have one.
hal::Reading<std::uint64_t> unowned_mib(const hal::DeviceSnapshot& device,
                                        const std::optional<Earlier>& earlier);

// Live holders that the driver's process list does not have.
std::vector<hal::Holder> unlisted_holders(const hal::DeviceSnapshot& device,
                                          std::span<const hal::Holder> holders);

// Worth asking for holders: memory without an owner, or it cannot be told.
bool needs_holders(const hal::DeviceSnapshot& device, const std::optional<Earlier>& earlier);
// Worth asking for ECC records and error texts.
bool needs_records(const hal::DeviceSnapshot& device);

struct KnownBadFirmware {
    std::string_view version, mended_in, trouble;
};
const KnownBadFirmware* known_bad_firmware(std::string_view version);

// "python3", escaped nowhere; "process" when it has no name here.
std::string process_label(std::int64_t pid, const hal::Reading<std::string>& name);

} // namespace asc::cmds
