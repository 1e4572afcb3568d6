// SPDX-License-Identifier: Apache-2.0
// The journal of a scenario: one JSON object a line. First a head, then for each step what was
// done, what the simulator recorded meanwhile and what came of it, at last an end.
//   {"journal":1,"scenario":"zombie","backend":"socket","profile":"handbook","clock":"virtual","seed":1}
//   {"step":1,"inject":"zombie dev=2","rule":1}
//   {"step":2,"device":2,"time_ns":0,"record":"fault","rule":1,"match":1}
//   {"step":3,"run":"npu-smi info -i 2","status":0,"ok":true,"notices":["zombie"],
//    "hit":["zombie dev=2"]}
//   {"end":true,"ok":true,"steps":3}
// With a virtual clock the same seed gives the same bytes; with the real one times are left out.
#pragma once

#include "faultinject/scenario/scenario.hpp"
#include "hal/simulator.hpp"

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace asc::faultinject {

constexpr int kJournalVersion = 1;

// ---- writing ----
std::string journal_head(const Scenario& scenario, Backend backend, std::uint64_t seed);
// The records of one step, by device, time and open file. `start_ns`: when the scenario began.
std::string journal_records(std::size_t step, std::vector<hal::JournalRecord> records,
                            std::uint64_t start_ns, bool with_times);

// ---- reading ----
struct JournalStep {
    std::size_t step = 0;
    std::string command; // of run, wait and settle
    bool ok = false;
    std::vector<std::string> notices; // faults that the step shows when it is ok
    std::vector<std::string> hit;     // rules that had fired by then
};

struct JournalRun { // one scenario
    std::string scenario, backend, profile, clock;
    std::uint64_t seed = 0;
    bool ended = false, ok = false;
    std::vector<JournalStep> steps; // those that ran a command
    std::size_t records = 0, faults = 0;
};

// Every scenario of a journal file. The error says file, line and what is wrong.
std::expected<std::vector<JournalRun>, std::string> read_journal(std::string_view text,
                                                                 std::string_view source);

} // namespace asc::faultinject
