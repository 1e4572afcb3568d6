// SPDX-License-Identifier: Apache-2.0
// `info watch`: chosen metrics, one line a chip, again and again (facts of npu-smi, section 6).
#include "cmds/npu-smi/watch.hpp"

#include "cmds/npu-smi/info.hpp"
#include "cmds/npu-smi/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace asc::cmds::npu_smi {

using hal::Ask;
using hal::DeviceSnapshot;

namespace {

// Share of memory in use: HBM where there is some, else DDR.
Field memory_percent(const DeviceSnapshot& device) {
    if (device.hbm_percent || (device.hbm_total_mib && *device.hbm_total_mib > 0))
        return field(device.hbm_percent);
    if (!device.ddr_used_mib || !device.ddr_total_mib || *device.ddr_total_mib == 0)
        return field(device.hbm_percent);
    return Cell{*device.ddr_used_mib * 100 / *device.ddr_total_mib, {}};
}

constexpr Metric kMetrics[] = {
    {'p', "Pwr(W)", "power_w", Ask::telemetry,
     [](const DeviceSnapshot& device) {
         return field(device.power_w, [](double watt) { return fmt::format("{:.1f}", watt); });
     }},
    {'t', "Temp(C)", "temperature_c", Ask::telemetry,
     [](const DeviceSnapshot& device) { return field(device.temperature_c); }},
    {'a', "AI Core(%)", "aicore_percent", Ask::telemetry,
     [](const DeviceSnapshot& device) { return field(device.ai_core_percent); }},
    {'i', "AI Cpu(%)", "ai_cpu_percent", Ask::usages,
     [](const DeviceSnapshot& device) { return field(device.ai_cpu_percent); }},
    {'c', "Ctrl Cpu(%)", "control_cpu_percent", Ask::usages,
     [](const DeviceSnapshot& device) { return field(device.control_cpu_percent); }},
    {'m', "Memory(%)", "memory_percent", Ask::usages | Ask::memory, memory_percent},
    {'b', "Memory BW(%)", "memory_bandwidth_percent", Ask::usages,
     [](const DeviceSnapshot& device) {
         const bool hbm = device.hbm_bandwidth_percent || !device.ddr_bandwidth_percent;
         return field(hbm ? device.hbm_bandwidth_percent : device.ddr_bandwidth_percent);
     }},
    {'n', "NPU Util(%)", "npu_percent", Ask::usages,
     [](const DeviceSnapshot& device) { return field(device.npu_percent); }},
    {'u', "AI Cube(%)", "cube_percent", Ask::usages,
     [](const DeviceSnapshot& device) { return field(device.cube_percent); }},
};

} // namespace

std::expected<std::vector<const Metric*>, std::string> chosen_metrics(std::string_view letters) {
    std::vector<const Metric*> chosen;
    if (letters.empty())
        for (const Metric& metric : kMetrics)
            chosen.push_back(&metric);
    for (const char letter : letters) {
        const auto found = std::ranges::find(kMetrics, letter, &Metric::letter);
        if (found == std::end(kMetrics))
            return std::unexpected(fmt::format("Error parameter of -s: '{}' is no metric; known: "
                                               "ptaicmbnu",
                                               printable(std::string_view(&letter, 1))));
        if (std::ranges::find(chosen, found) == chosen.end())
            chosen.push_back(found);
    }
    return chosen;
}

Records watch_records(std::span<const Metric* const> metrics,
                      std::span<const DeviceSnapshot> devices) {
    Records records{"asc-tools/npu-smi.watch/1", "devices", watch_fields(metrics), {}};
    for (const DeviceSnapshot& device : devices) {
        std::vector<Field>& cells = records.rows.emplace_back(id_cells(device.ids));
        for (const Metric* metric : metrics)
            cells.push_back(metric->get(device));
    }
    return records;
}

std::vector<std::string_view> watch_fields(std::span<const Metric* const> metrics) {
    std::vector<std::string_view> names(std::begin(kIdNames), std::end(kIdNames));
    for (const Metric* metric : metrics)
        names.push_back(metric->name);
    return names;
}

std::string watch_text(std::span<const Metric* const> metrics,
                       std::span<const DeviceSnapshot> devices, bool header, Charset charset) {
    std::string text;
    if (header) {
        text += fmt::format("{:<12}{:<12}", "NpuID(Idx)", "ChipId(Idx)");
        for (const Metric* metric : metrics)
            text += fmt::format("{:<13}", metric->title);
        text += "\n";
    }
    for (const DeviceSnapshot& device : devices) {
        text += fmt::format("{:<12}{:<12}", device.ids.npu_id, device.ids.chip_id);
        for (const Metric* metric : metrics)
            text += pad(cell_text(metric->get(device), charset), 13);
        text += "\n";
    }
    return text;
}

int info_watch(const Session& session) {
    const auto metrics = chosen_metrics(session.arguments.text("metrics"));
    if (!metrics) {
        session.streams.error(metrics.error());
        return npu_smi_status::bad_parameter;
    }
    const auto ids = selected_devices(session);
    if (!ids) {
        session.streams.error(ids.error().text);
        return ids.error().status;
    }
    Ask ask = Ask::state;
    for (const Metric* metric : *metrics)
        ask = ask | metric->ask;
    bool first = true;
    const auto take = [&]() -> std::expected<Answer, Failure> {
        const auto devices =
            std::make_shared<std::vector<DeviceSnapshot>>(session.driver.snapshot(*ids, ask));
        const bool header = first;
        first = false;
        Answer answer;
        answer.records = watch_records(*metrics, *devices);
        answer.table = [devices, header, &metrics, &session] {
            const Charset charset = session.streams.style.charset;
            const std::string backend =
                header && session.backend().simulator
                    ? fmt::format("Backend: {}\n", backend_text(session.backend(), charset))
                    : std::string();
            return backend + watch_text(*metrics, *devices, header, charset);
        };
        answer.whole = !any_incomplete(*devices);
        return answer;
    };
    const Pace pace{true, session.arguments.number("delay").value_or(1)};
    return show(session, {watch_fields(*metrics), take}, pace);
}

} // namespace asc::cmds::npu_smi
