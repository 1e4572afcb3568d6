// SPDX-License-Identifier: Apache-2.0
// A profile's processes on the kernel module: asc-hold under the resident's name, on the real
// nodes.
#pragma once

#include "kmod-sim/load/module_tree.hpp"

#include <sys/types.h>

#include <expected>
#include <string>

namespace asc::load {

// Starts it and waits until it holds its memory; one that the profile calls dead is killed under a
// zombie rule then. The pid; the process goes on after this one has ended.
std::expected<pid_t, std::string> start_resident(const sim::ResidentProfile& resident,
                                                 const ModuleTree& module);

} // namespace asc::load
