// SPDX-License-Identifier: Apache-2.0
// The decisions around a reset, apart from doing it: who is in the way, and did it work. Pure.
#pragma once

#include "cmds/common/findings.hpp"
#include "hal/driver.hpp"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace asc::cmds::npu_smi {

// Why a device must not be reset now, and who is in the way; empty when nothing is. Open handles
// and live processes of the driver's list both count.
struct Obstacle {
    int status = 0;
    std::string text;
};
std::optional<Obstacle> reset_obstacle(const hal::DeviceSnapshot& device,
                                       const hal::Reading<std::vector<hal::Holder>>& holders);

struct ResetVerdict {
    bool success = false;
    std::string text; // of the failure, or what the device says now
};
// From what the driver answered and from the device read again. `before`: as it was.
ResetVerdict judge_reset(const hal::ActionResult& result, const hal::DeviceSnapshot& before,
                         const hal::DeviceSnapshot& after, double seconds);

// "pid 300 npu-monitord, /dev/davinci0, a service: stop it with its service manager"
std::string holder_text(const hal::Holder& holder);

} // namespace asc::cmds::npu_smi
