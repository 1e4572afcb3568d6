// SPDX-License-Identifier: Apache-2.0
#include "cmds/npu-smi/reset.hpp"

#include "cmds/common/selection.hpp"
#include "cmds/common/statuses.hpp"
#include "cmds/npu-smi/overview.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace asc::cmds::npu_smi {

using hal::DeviceSnapshot;
using hal::Holder;

namespace {

constexpr std::uint32_t kBooted = 16; // boot status of a device that has started

// A listed live process as a holder, for those that no open handle shows.
Holder holder_of(const hal::ProcessInfo& process) {
    Holder holder;
    holder.pid = process.pid;
    holder.name = process.name ? *process.name : std::string();
    holder.state = process.state ? *process.state : std::string();
    holder.memory = true;
    return holder;
}

// "" or what the memory shows: more in use than an idle device has, and nobody who holds it.
std::string memory_not_free(const DeviceSnapshot& before, const DeviceSnapshot& after) {
    if (!after.hbm_used_mib)
        return fmt::format("its memory cannot be read: {}",
                           absence_text(after.hbm_used_mib.absence()));
    if (after.hbm_unowned_mib && *after.hbm_unowned_mib > kUnownedToleranceMib)
        return fmt::format("{} MB are still held by no live process", *after.hbm_unowned_mib);
    const bool untold = !after.hbm_unowned_mib && !after.hbm_baseline_mib;
    const bool nobody = after.processes && after.processes->empty();
    if (untold && nobody && before.hbm_used_mib && before.processes && !before.processes->empty() &&
        *after.hbm_used_mib >= *before.hbm_used_mib)
        return fmt::format("{} MB are used as before", *after.hbm_used_mib);
    return {};
}

} // namespace

std::string holder_text(const Holder& holder) {
    std::string text =
        fmt::format("pid {} {}", holder.pid, holder.name.empty() ? "(no name here)" : holder.name);
    if (!holder.node.empty())
        text += fmt::format(", {}", holder.node);
    if (holder.state == "D")
        return text + ", in uninterruptible sleep: it cannot be killed, wait or reboot";
    if (holder.state == "Z")
        return text + ", defunct: its parent must collect it";
    return text + (holder.daemon ? ", a service: stop it through its service manager"
                                 : ": end it or wait for its end");
}

std::optional<Obstacle> reset_obstacle(const DeviceSnapshot& device,
                                       const hal::Reading<std::vector<Holder>>& holders) {
    if (!holders) {
        const bool denied = holders.absence().reason == hal::Reason::denied;
        return Obstacle{denied ? npu_smi_status::not_permitted : npu_smi_status::failed,
                        fmt::format("{} is not reset: who holds it is unknown ({})",
                                    device_name(device.ids),
                                    denied ? "need root" : absence_text(holders.absence()))};
    }
    std::vector<Holder> in_the_way = *holders;
    if (device.processes)
        for (const hal::ProcessInfo& process : *device.processes)
            if (is_alive(process) &&
                std::ranges::find(in_the_way, process.pid, &Holder::pid) == in_the_way.end())
                in_the_way.push_back(holder_of(process));
    if (in_the_way.empty())
        return std::nullopt;
    std::string text = fmt::format("{} is not reset, it is in use by ", device_name(device.ids));
    for (std::size_t i = 0; i < in_the_way.size(); ++i)
        text += (i > 0 ? "; " : "") + holder_text(in_the_way[i]);
    return Obstacle{npu_smi_status::held, std::move(text)};
}

ResetVerdict judge_reset(const hal::ActionResult& result, const DeviceSnapshot& before,
                         const DeviceSnapshot& after, double seconds) {
    const auto failed = [&](const std::string& why) {
        return ResetVerdict{false, fmt::format("reset FAILED: {}", why)};
    };
    // What the driver answered is not enough; a device that is back has the last word.
    using Kind = hal::ActionResult::Kind;
    const bool gone = result.kind == Kind::timeout || result.kind == Kind::lost ||
                      (result && after.state != hal::DeviceState::ok);
    if (gone)
        return failed(fmt::format("not back after {:.0f}s{}", seconds,
                                  result.text.empty() ? "" : " (" + result.text + ")"));
    if (!result)
        return failed(result.text.empty() ? fmt::format("error {}", result.error) : result.text);
    if (after.boot_status && *after.boot_status != kBooted)
        return failed(
            fmt::format("not back after {:.0f}s, boot status {}", seconds, *after.boot_status));
    if (!after.health)
        return failed(
            fmt::format("its health cannot be read: {}", absence_text(after.health.absence())));
    if (*after.health == hal::Health::critical)
        return failed("the device is back, but its health is Critical");
    if (const std::string why = memory_not_free(before, after); !why.empty())
        return failed(why);
    return {true, fmt::format("health {}, {} / {} MB in use", hal::to_string(*after.health),
                              shown_number(after.hbm_used_mib), shown_number(after.hbm_total_mib))};
}

} // namespace asc::cmds::npu_smi
