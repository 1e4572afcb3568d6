// SPDX-License-Identifier: Apache-2.0
// What is publicly known of fault codes (docs/npu-smi.md, "Fault codes").
#pragma once

#include <cstdint>
#include <string_view>

namespace asc::cmds {

enum class Handling { none, restart_request, restart_job, reset, separate, watch };

struct KnownError {
    std::uint32_t code;
    Handling handling;
    std::string_view meaning;
};

const KnownError* known_error(std::uint32_t code);
std::string_view next_step(Handling handling); // "end the jobs, then reset the chip"

} // namespace asc::cmds
