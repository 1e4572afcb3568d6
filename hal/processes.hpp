// SPDX-License-Identifier: Apache-2.0
// Who holds a device's memory: the driver's list, the extension and /proc put together.
#pragma once

#include "hal/proc.hpp"
#include "hal/snapshot.hpp"
#include "hal/wire_types.hpp"

#include <functional>
#include <map>
#include <vector>

namespace asc::hal {

struct ProcessAnswers {                                   // what the driver said of one device
    Reading<std::vector<std::int64_t>> pids;              // 'M' 175 type 8
    std::map<std::int64_t, Reading<std::uint64_t>> bytes; // of each of them
    std::map<std::int64_t, bool> vanished;                // the driver knows it no more
    bool simulator = false;
    Reading<std::vector<SimProcess>> extension; // simulator only
};

struct ProcessList {
    Reading<std::vector<ProcessInfo>> processes;
    Reading<std::uint64_t> held_bytes; // by live processes and open handles
    bool full = false;                 // the driver's list had no room left
};

// `holds_node`: whether a process has the device's nodes open, asked only where the driver tells no
// start times.
ProcessList compose_processes(const ProcessAnswers& answers,
                              const Reading<std::uint64_t>& total_mib, const Proc& proc,
                              const std::function<Reading<bool>(std::int64_t)>& holds_node);

// Used - baseline - held, checked against the simulator's own figure.
Reading<std::uint64_t> unowned_mib(const Reading<Hbm>& hbm, const Reading<SimDevice>& sim,
                                   const ProcessList& list, bool& disagrees);

} // namespace asc::hal
