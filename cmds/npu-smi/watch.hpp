// SPDX-License-Identifier: Apache-2.0
// Metrics of `info watch` by their letters.
#pragma once

#include "cmds/common/records.hpp"
#include "hal/driver.hpp"

#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::cmds::npu_smi {

struct Metric {
    char letter;
    std::string_view title; // of the column
    std::string_view name;  // in JSON and CSV
    hal::Ask ask;
    Field (*get)(const hal::DeviceSnapshot&);
};

// In the order of the letters; all without any.
std::expected<std::vector<const Metric*>, std::string> chosen_metrics(std::string_view letters);
std::vector<std::string_view> watch_fields(std::span<const Metric* const> metrics);
Records watch_records(std::span<const Metric* const> metrics,
                      std::span<const hal::DeviceSnapshot> devices);
std::string watch_text(std::span<const Metric* const> metrics,
                       std::span<const hal::DeviceSnapshot> devices, bool header, Charset charset);

} // namespace asc::cmds::npu_smi
