// SPDX-License-Identifier: Apache-2.0
// A profile: what machine the simulator is. Read from TOML (docs/simulator.md lists every key).
#pragma once

#include "kmod-sim/host/model.hpp"

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace asc::sim {

// Records of corrected (single) or detected (double) errors that lie back when the machine starts.
struct EccRecord {
    std::uint64_t address = 0;     // byte address in HBM
    std::uint32_t count = 1;       // errors at that address
    std::uint64_t age_seconds = 0; // before the start of the machine
};

struct DeviceProfile {
    sim_device_config config{};
    std::uint32_t ecc_single = 0, ecc_double = 0; // since the last reset
    std::uint32_t ecc_single_lifetime = 0, ecc_double_lifetime = 0;
    std::vector<EccRecord> single_records, double_records; // oldest first
    std::vector<std::uint32_t> isolated_pages;             // page numbers (64 KiB)
    bool isolated_by_double = false;
};

// A process that holds memory from the start.
struct ResidentProfile {
    std::uint32_t device = 0; // logical id
    std::uint64_t mib = 0;    // HBM it holds; 0: only a context
    std::string name;         // at most 15 bytes
    bool dead = false;        // was started and killed; its memory was not reclaimed
};

struct Profile {
    std::string name, driver_version, description;
    bool old_abi = false; // the older generation's interface alone
    std::vector<DeviceProfile> devices;
    std::vector<ResidentProfile> residents;
};

// By name (a profile that is built in) or by path (anything with '/' or ending in ".toml").
// The error names file, line, key and what is allowed.
std::expected<Profile, std::string> load_profile(std::string_view name_or_path);
// `source` names the text in errors.
std::expected<Profile, std::string> parse_profile(std::string_view text, std::string_view source);
std::vector<std::string_view> profile_names(); // built in, sorted

// What a device is when a profile says nothing: one 910B of 64 GiB.
DeviceProfile plain_device();
// The serial number that follows from the logical id.
void number_serial(sim_device_config& config);

} // namespace asc::sim
