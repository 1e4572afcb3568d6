// SPDX-License-Identifier: Apache-2.0
// What only a simulator tells: its journal, and the driver's commands by the names that rules use.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::hal {

// In the order of the wire's numbers.
enum class JournalKind {
    other, // of a later version
    open,
    release,
    call,
    fault, // code: rule, a: number of the match
    alloc,
    free,
    oom,
    ecc,
    page,
    event, // code: event id, a: assertion
    state, // code: state entered
    reset, // code: outcome, a: boot status
    clock,
    lost, // a: records that nobody drained in time
};
std::string_view to_string(JournalKind kind);

struct JournalRecord {
    JournalKind kind = JournalKind::other;
    int device = -1; // -1: the system
    std::uint64_t sequence = 0, time_ns = 0;
    std::uint32_t client = 0, code = 0; // client: ordinal of the open file, 0 none
    std::string_view command;           // of fault and call: as rules spell it; else empty
    std::uint64_t a = 0, b = 0;
};

struct JournalPart {
    std::vector<JournalRecord> records;
    std::uint64_t next = 0; // cursor for the next read
    std::uint64_t lost = 0; // records that were overwritten before they were read
};

struct DriverCommand {
    std::string_view name;   // "udis.soc_max_temp"
    std::string_view errors; // legal errors, parted by blanks: "EACCES ENODEV 7"
    bool reads = true;       // it changes nothing
};
// Every command that a rule can name.
std::span<const DriverCommand> driver_commands();
const DriverCommand* find_command(std::string_view name);

} // namespace asc::hal
