// SPDX-License-Identifier: Apache-2.0
// Processes of the devices as text and records: pure. Three answers are kept apart: there are none,
// there are some that have no name in this PID namespace, they cannot be seen.
#pragma once

#include "cmds/common/findings.hpp"
#include "cmds/npu-smi/overview.hpp"
#include "cmds/npu-smi/session.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::cmds::npu_smi {

struct ProcessLook {
    hal::DeviceSnapshot device;
    std::optional<hal::Reading<std::vector<hal::Holder>>> holders; // asked only by -t proc
    std::optional<Earlier> earlier;
};

// Findings that are about processes and their memory.
std::vector<Finding> process_findings(std::span<const ProcessLook> looks,
                                      const FindingOptions& options);

std::vector<std::string_view> process_fields();
// A row a process, dead owners included (alive: false); a device whose list is missing has one row
// with the reason.
Records process_records(std::span<const ProcessLook> looks);
// Per device: memory, processes (null and a reason when they cannot be seen), holders; findings.
Json process_more(std::span<const ProcessLook> looks, std::span<const Finding> findings);

// -t proc: name, memory, start of each live process; dead owners; unowned memory; unlisted holders.
std::string process_text(std::span<const ProcessLook> looks, std::span<const Finding> findings,
                         Charset charset);
// -t proc-mem, as the vendor prints it.
std::string process_memory_text(std::span<const ProcessLook> looks, bool chip_given,
                                Charset charset);
// info proc: one line a process, again and again.
std::string process_scroll_text(std::span<const ProcessLook> looks, bool header, Charset charset);

} // namespace asc::cmds::npu_smi
