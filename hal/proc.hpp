// SPDX-License-Identifier: Apache-2.0
// What /proc tells of processes. All texts are hostile: a name may hold any byte but 0.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace asc::hal {

struct ProcStat { // proc(5), stat
    char state = '?';
    std::int64_t parent = 0;
    std::int64_t terminal = 0; // device number, 0 none
    std::int64_t threads = 0;
    std::uint64_t start_ticks = 0;
};

class Proc {
  public:
    explicit Proc(std::string root) : root_(std::move(root)) {}

    enum class Found { yes, no, unreadable };
    Found stat(std::int64_t pid, ProcStat& out) const;
    std::optional<std::string> name(std::int64_t pid) const;         // comm, raw
    std::optional<std::string> command_line(std::int64_t pid) const; // words parted by blanks, raw
    std::optional<std::uint32_t> uid(std::int64_t pid) const;        // real
    std::int64_t boot_time_s() const;                                // 0 unknown
    static std::int64_t ticks_per_second();
    // True when our pid namespace is not the initial one: ids of the driver may mean others then.
    bool foreign_namespace() const;
    std::vector<std::int64_t> pids() const;
    // Calls `look` with the path of each open descriptor; false when they cannot be read.
    bool descriptors(std::int64_t pid, const std::function<void(const std::string&)>& look) const;
    const std::string& root() const { return root_; }

  private:
    std::optional<std::string> file(std::int64_t pid, const char* name) const;

    std::string root_;
    mutable std::optional<std::int64_t> boot_time_;
};

// The fields behind the last ')' of a stat line; the name before it may hold ')' and blanks.
std::optional<ProcStat> parse_stat(const std::string& line);

} // namespace asc::hal
