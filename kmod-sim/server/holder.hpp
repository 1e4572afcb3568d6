// SPDX-License-Identifier: Apache-2.0
// What a resident's process is told and what it answers.
#pragma once

#include "kmod-sim/server/residents.hpp"

#include <array>
#include <string>
#include <string_view>

namespace asc::server {

inline constexpr std::string_view kHolderSettled = "settled\n";
inline constexpr char kHolderOption[] = "--holder";

// Environment of the holder; made before the fork, used after it.
class HolderArguments {
  public:
    HolderArguments(const std::string& socket, const Resident& resident, pid_t parent);
    char* const* environment() const { return pointers_.data(); }

  private:
    std::array<std::string, 6> text_;
    std::array<char*, 7> pointers_{};
};

// In the forked child: becomes the holder, whose words go to `report`. Only async-signal-safe
// calls.
[[noreturn]] void become_holder(const HolderArguments& arguments, int report);

} // namespace asc::server
