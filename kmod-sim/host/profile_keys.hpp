// SPDX-License-Identifier: Apache-2.0
// The keys of a device in a profile: one table for the reader, for its error messages and for the
// manual (a test compares them).
#pragma once

#include "kmod-sim/host/profile.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace asc::sim {

struct DeviceText { // a text field of sim_device_config
    char* (*place)(sim_device_config&);
    std::size_t room; // with the terminator
};

struct DeviceWatt { // written in W with one decimal, kept in 0.1 W
    std::uint32_t sim_device_config::*place;
};

struct DeviceKey {
    std::string_view name;
    std::variant<std::uint32_t sim_device_config::*, std::int32_t sim_device_config::*, DeviceWatt,
                 DeviceText>
        place;
    double minimum, maximum; // of a number
    std::string_view meaning;
};

std::span<const DeviceKey> device_keys();

} // namespace asc::sim
