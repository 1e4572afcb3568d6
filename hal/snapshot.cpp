// SPDX-License-Identifier: Apache-2.0
#include "hal/snapshot.hpp"

#include "hal/inspection.hpp"

namespace asc::hal {

std::string_view to_string(DeviceState state) {
    switch (state) {
    case DeviceState::ok:
        return "ok";
    case DeviceState::lost:
        return "lost";
    case DeviceState::timeout:
        return "timeout";
    case DeviceState::resetting:
        return "resetting";
    case DeviceState::denied:
        return "denied";
    case DeviceState::failed:
        break;
    }
    return "failed";
}

std::string_view to_string(Health health) {
    switch (health) {
    case Health::ok:
        return "OK";
    case Health::warning:
        return "Warning";
    case Health::alarm:
        return "Alarm";
    case Health::critical:
        return "Critical";
    }
    return "UNKNOWN";
}

bool DeviceSnapshot::troubled() const {
    if (state == DeviceState::lost || state == DeviceState::timeout ||
        state == DeviceState::denied || state == DeviceState::failed)
        return true;
    bool trouble = false;
    const auto look = [&](const auto& reading) {
        trouble = trouble || (!reading && reading.absence().reason != Reason::unsupported &&
                              reading.absence().reason != Reason::unknown);
    };
    for_each_reading(*this, look);
    if (processes)
        for (const ProcessInfo& process : *processes)
            look(process.bytes);
    if (error_codes)
        for (const ErrorCode& code : *error_codes)
            look(code.text);
    return trouble;
}

std::vector<DeviceSnapshot> Driver::snapshot(std::span<const DeviceIds> devices, Ask what) {
    impl_->enter();
    const Proc proc(impl_->options.proc_root);
    std::vector<std::unique_ptr<Inspection>> inspections;
    std::vector<Group*> groups;
    for (const DeviceIds& ids : devices) {
        auto& inspection =
            *inspections.emplace_back(std::make_unique<Inspection>(*impl_, ids, what));
        inspection.ask();
        groups.push_back(&inspection.question.group);
    }
    impl_->channel->run(groups);
    impl_->asked_before = true;
    std::vector<DeviceSnapshot> snapshots;
    for (const auto& inspection : inspections)
        snapshots.push_back(inspection->finish(proc));
    // Memory and owners are several questions: where somebody allocated or ended between them, the
    // sums are taken once more.
    for (std::size_t i = 0; i < snapshots.size(); ++i)
        for (int attempt = 0; attempt < 2 && inspections[i]->disagrees(); ++attempt) {
            inspections[i] =
                std::make_unique<Inspection>(*impl_, devices[i], Ask::memory | Ask::processes);
            inspections[i]->ask();
            impl_->ask(inspections[i]->question);
            const DeviceSnapshot again = inspections[i]->finish(proc);
            snapshots[i].hbm_total_mib = again.hbm_total_mib;
            snapshots[i].hbm_used_mib = again.hbm_used_mib;
            snapshots[i].hbm_baseline_mib = again.hbm_baseline_mib;
            snapshots[i].hbm_unowned_mib = again.hbm_unowned_mib;
            if (includes(what, Ask::processes))
                snapshots[i].processes = again.processes;
        }
    return snapshots;
}

} // namespace asc::hal
