// SPDX-License-Identifier: Apache-2.0
// Work in a child of this program, which may crash or never end.
#pragma once

#include <chrono>
#include <expected>
#include <functional>
#include <string>
#include <string_view>

namespace asc::faultinject {

struct ChildEnd {
    int status = 0;         // as a shell has it: 128 + n after signal n
    bool timed_out = false; // it was killed because its time was over
};

// Tells the parent one line; a line holds no line break.
using Tell = std::function<void(std::string_view)>;

// Forks; `work` runs in the child and its result is the child's status. Every line that it tells is
// handed to `line` here, as it comes. The caller must have no other thread. The error says why
// there is no child.
std::expected<ChildEnd, std::string> in_child(const std::function<int(const Tell&)>& work,
                                              const std::function<void(std::string_view)>& line,
                                              std::chrono::milliseconds limit);

} // namespace asc::faultinject
