// SPDX-License-Identifier: Apache-2.0
// `npu-smi info`: every device on a screen. The driver's table as third parties parse it, below it
// what that table has no room for. Pure: snapshots in, text or records out.
#pragma once

#include "cmds/common/baseline.hpp"
#include "cmds/common/findings.hpp"
#include "cmds/common/records.hpp"
#include "cmds/common/streams.hpp"
#include "hal/driver.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace asc::cmds::npu_smi {

struct Overview {
    hal::BackendInfo backend;
    std::vector<hal::DeviceSnapshot> devices;
    std::vector<std::optional<Earlier>> earlier; // as long as devices
    std::vector<Finding> findings;
    std::optional<std::string> compared_with; // path of the state file
    std::vector<Change> changes;
};

// Which of the vendor's layouts a machine has.
enum class Family {
    a2,   // 910, 910B: 99 columns
    a3,   // 910_93: 99 columns and Phy-ID
    i310, // 310, 310P: 106 columns, no device memory beside DDR
};
Family family_of(std::span<const hal::DeviceSnapshot> devices);
Family family_of(const hal::DeviceSnapshot& device);

// The vendor's table with the processes (facts of npu-smi 4.1, 4.2, 4.4).
std::string driver_table(const Overview& overview, const Style& style);
// "Limits and errors", findings, changes and the backend; holds neither '|' nor '+'.
std::string limits_block(const Overview& overview, const Style& style);
// `info -i N`: one line a value. Exactly one line of a device has the word HBM.
std::string one_card_view(const Overview& overview, const Style& style);

std::vector<std::string_view> overview_fields();
Records overview_records(const Overview& overview);
// Findings, and changes when there was something to compare with.
Json overview_more(const Overview& overview);

// Processes of a device as JSON, with "unavailable" in those that lack something.
Json processes_json(std::span<const hal::ProcessInfo> processes);
bool is_alive(const hal::ProcessInfo& process); // what cannot be told counts as alive
// The number to show: "4242", or "9001 (host)" when it is no process of our namespace.
std::string pid_text(const hal::ProcessInfo& process);
// Its name, "not in this namespace", or why there is none. Printable.
std::string process_name(const hal::ProcessInfo& process, Charset charset);
// Why a list of processes is missing, in words: "not permitted".
std::string absence_text(const hal::Absence& absence);

// A present value written by `text`, or the word for its absence.
template <class T, class F> std::string shown(const hal::Reading<T>& reading, F text) {
    return reading ? text(*reading) : std::string(hal::to_cell(reading.absence().reason));
}
std::string shown_number(const hal::Reading<int>& reading);
std::string shown_number(const hal::Reading<std::uint32_t>& reading);
std::string shown_number(const hal::Reading<std::uint64_t>& reading);
std::string shown_watt(const hal::Reading<double>& reading); // one decimal
// "OK", "Warning" ..., or what keeps the device from saying: "LOST", "TIMEOUT", "RESETTING".
std::string health_text(const hal::DeviceSnapshot& device);
// The chip's memory where the table has one column for it: DDR, unless it has none and the driver
// reports the memory under the other name.
bool memory_is_ddr(const hal::DeviceSnapshot& device);
// "Ascend 910B"
hal::Reading<std::string> full_chip_name(const hal::DeviceSnapshot& device);

} // namespace asc::cmds::npu_smi
