// SPDX-License-Identifier: Apache-2.0
// The whole state of a machine as text (JSON, every field by name, versioned), so that another
// build on another machine loads it or refuses it naming the field (docs/simulator.md).
#pragma once

#include "kmod-sim/host/machine.hpp"

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace asc::sim {

std::string save_state(Machine& machine);

// A live owner of the saved machine: its process is not there any more, somebody has to stand for
// it (Machine::adopt_owner).
struct SavedOwner {
    std::uint32_t device = 0, owner = 0;
    std::string name;
    std::uint64_t bytes = 0;
};

struct LoadedState {
    std::unique_ptr<Machine> machine;
    std::vector<SavedOwner> owners;
};

// `options`: host, client_limit; `clock` counts when `force_clock` is set, else the file's holds.
// In real time the wall clock is the present one. The error names the field: path, what is
// expected, what was found.
std::expected<LoadedState, std::string>
load_state(std::string_view text, const MachineOptions& options, bool force_clock = false);

// Lets scripted clients stand for the owners, as an in-process machine does for its residents.
std::expected<void, std::string> adopt_scripted(LoadedState& state);

} // namespace asc::sim
