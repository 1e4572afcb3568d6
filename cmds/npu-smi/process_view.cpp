// SPDX-License-Identifier: Apache-2.0
// Asks the driver for processes and holders.
#include "cmds/npu-smi/info.hpp"
#include "cmds/npu-smi/processes.hpp"

#include "cmds/common/files.hpp"

#include <memory>

namespace asc::cmds::npu_smi {

using hal::DeviceIds;
using hal::DeviceSnapshot;

namespace {

struct Sample {
    std::vector<ProcessLook> looks;
    std::vector<Finding> findings;
};

std::shared_ptr<Sample> take_sample(const Session& session, std::span<const DeviceIds> ids,
                                    bool with_holders, const std::optional<Baseline>& baseline) {
    auto sample = std::make_shared<Sample>();
    for (DeviceSnapshot& device :
         session.driver.snapshot(ids, hal::Ask::state | hal::Ask::memory | hal::Ask::processes)) {
        ProcessLook look{std::move(device), {}, {}};
        if (baseline)
            look.earlier = earlier_of(*baseline, look.device.ids);
        if (with_holders && look.device.state == hal::DeviceState::ok)
            look.holders = session.driver.holders(look.device.ids);
        sample->looks.push_back(std::move(look));
    }
    sample->findings = process_findings(
        sample->looks, {session.device_now_ms() / 1000, session.backend().next_argument});
    return sample;
}

} // namespace

int info_processes(const Session& session, ProcessLayout layout) {
    const auto ids = selected_devices(session);
    if (!ids) {
        session.streams.error(ids.error().text);
        return ids.error().status;
    }
    const auto baseline = load_baseline(session);
    if (!baseline) {
        session.streams.error(baseline.error().text);
        return baseline.error().status;
    }
    bool first = true;
    const auto take = [&]() -> std::expected<Answer, Failure> {
        const auto sample = take_sample(session, *ids, layout == ProcessLayout::full, *baseline);
        const bool header = first;
        first = false;
        Answer answer;
        answer.records = process_records(sample->looks);
        answer.more = [sample] { return process_more(sample->looks, sample->findings); };
        answer.table = [sample, layout, header, &session]() -> std::string {
            const Charset charset = session.streams.style.charset;
            if (layout == ProcessLayout::scroll)
                return process_scroll_text(sample->looks, header, charset);
            const std::string head = backend_line(session.backend(), charset);
            if (layout == ProcessLayout::vendor)
                return head +
                       process_memory_text(sample->looks, session.arguments.has("chip"), charset);
            return head + process_text(sample->looks, sample->findings, charset);
        };
        for (const ProcessLook& look : sample->looks)
            answer.whole = answer.whole && !incomplete(look.device);
        return answer;
    };
    const Pace pace{layout == ProcessLayout::scroll, session.arguments.number("delay").value_or(1)};
    return show(session, {process_fields(), take}, pace);
}

} // namespace asc::cmds::npu_smi
