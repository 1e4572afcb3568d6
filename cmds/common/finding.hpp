// SPDX-License-Identifier: Apache-2.0
// What a person should know of a device, and the command to type next.
#pragma once

#include "cmds/common/json.hpp"
#include "hal/snapshot.hpp"

#include <string>
#include <string_view>

namespace asc::cmds {

struct Finding {
    enum class Kind {
        unowned_hbm,
        ecc_corrected,
        ecc_growing,
        ecc_uncorrectable,
        pages_pending,
        oom,
        firmware_known_bad,
        firmware_mixed,
        thermal,
        device_lost,
        holder_defunct,
        holder_uninterruptible,
    };
    enum class Severity { note, warning, critical };

    Kind kind = Kind::oom;
    Severity severity = Severity::warning;
    hal::DeviceIds device;
    std::string text; // for people; raw names of processes may be in it
    std::string next; // a command line, with --backend when that is not the default
};

std::string_view to_string(Finding::Kind kind); // the spelling of JSON
std::string_view to_string(Finding::Severity severity);
Json finding_json(const Finding& finding);

} // namespace asc::cmds
