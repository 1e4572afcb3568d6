// SPDX-License-Identifier: Apache-2.0
// The views of `npu-smi info` that ask the driver.
#pragma once

#include "cmds/npu-smi/overview.hpp"
#include "cmds/npu-smi/session.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace asc::cmds::npu_smi {

// Each takes its answer and shows it; the exit status.
int info(const Session& session); // table, or one card with -i
int info_list(const Session& session);
int info_map(const Session& session);
int info_type(const Session& session, std::string_view type);
int info_topo(const Session& session);
enum class ProcessLayout { full, vendor, scroll }; // -t proc, -t proc-mem, info proc
int info_processes(const Session& session, ProcessLayout layout);
int info_watch(const Session& session);
int health(const Session& session);
int events(const Session& session);
int set_reset(const Session& session, std::string_view type);
int clear_ecc(const Session& session);

// Devices, what their findings need besides, and the findings.
// `earlier`: as long as `devices`, or empty.
Overview take_overview(const Session& session, std::span<const hal::DeviceIds> devices,
                       std::vector<std::optional<Earlier>> earlier);

// The state file of --compare; nothing when there is no such option.
std::expected<std::optional<Baseline>, Failure> load_baseline(const Session& session);

} // namespace asc::cmds::npu_smi
