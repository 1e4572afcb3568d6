// SPDX-License-Identifier: Apache-2.0
// Fault events as text and records: pure.
#pragma once

#include "cmds/common/records.hpp"
#include "hal/driver.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::cmds::npu_smi {

struct EventRow {
    hal::Event event;
    std::optional<hal::DeviceIds> ids; // of the device with the event's physical id
};

std::vector<std::string_view> event_fields();
Records event_records(std::span<const EventRow> rows);
std::string event_text(std::span<const EventRow> rows, const hal::BackendInfo& backend, bool header,
                       Charset charset);

} // namespace asc::cmds::npu_smi
