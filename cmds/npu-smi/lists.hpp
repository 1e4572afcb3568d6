// SPDX-License-Identifier: Apache-2.0
// Lists of cards and chips and the links between them, as text and records: pure.
#pragma once

#include "cmds/common/records.hpp"
#include "cmds/npu-smi/overview.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::cmds::npu_smi {

std::vector<std::string_view> list_fields();
Records list_records(std::span<const hal::DeviceSnapshot> devices);
std::string list_text(std::span<const hal::DeviceSnapshot> devices, const hal::BackendInfo& backend,
                      Charset charset);

// npu, chip, logical and physical id, bus id: three id spaces, each labelled.
std::vector<std::string_view> map_fields();
Records map_records(std::span<const hal::DeviceSnapshot> devices);
std::string map_text(std::span<const hal::DeviceSnapshot> devices, const hal::BackendInfo& backend,
                     Charset charset);

struct Topology {
    std::vector<hal::DeviceSnapshot> devices;                  // Ask::board
    std::vector<std::vector<hal::Reading<std::string>>> links; // [from][to]: "HCCS", "X"
};
std::vector<std::string_view> topology_fields();
Records topology_records(const Topology& topology);
std::string topology_text(const Topology& topology, const hal::BackendInfo& backend,
                          Charset charset);

} // namespace asc::cmds::npu_smi
