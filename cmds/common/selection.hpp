// SPDX-License-Identifier: Apache-2.0
// Which devices a person means.
#pragma once

#include "hal/snapshot.hpp"

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::cmds {

// What a bare number names: the card, as in the vendor's tool, or the driver's index.
enum class Numbers { card, logical };

struct Selection {
    std::string device = "all"; // number, "all", bus id (with or without domain) or serial
    std::optional<int> chip;    // die on the card
    std::optional<int> physical;
};

// The devices in the order of the driver. The error says what there is.
std::expected<std::vector<hal::DeviceIds>, std::string>
select_devices(std::span<const hal::DeviceIds> devices, const Selection& selection,
               Numbers numbers = Numbers::card);

// "0000:01:00.0" of what a person or lspci writes ("01:00.0", upper case); "" when it is no bus id.
std::string normal_bus_id(std::string_view text);

// "NPU 2" or, on a card of several chips, "NPU 1 chip 0".
std::string device_name(const hal::DeviceIds& ids);
// The options that name it again: "-i 2" or "-i 1 -c 0".
std::string device_options(const hal::DeviceIds& ids);

} // namespace asc::cmds
