// SPDX-License-Identifier: Apache-2.0
// `info -t proc`, `info -t proc-mem`, `info proc`: who holds memory on the devices, and what no
// live process holds.
#include "cmds/npu-smi/processes.hpp"

#include "cmds/common/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace asc::cmds::npu_smi {

using hal::DeviceSnapshot;
using hal::Holder;
using hal::ProcessInfo;
using hal::Reading;

namespace {

Reading<std::uint64_t> mib_of(const ProcessInfo& process) {
    return process.bytes.map([](std::uint64_t bytes) { return bytes >> 20; });
}

std::string start_text(const ProcessInfo& process) {
    return shown(process.start_unix_ms, [](std::int64_t ms) { return local_text(ms); });
}

std::string holder_name(const Holder& holder, Charset charset) {
    return printable(holder.name, charset);
}

// Aligned columns behind a tab.
std::string columns(const std::vector<std::array<std::string, 5>>& lines) {
    std::array<std::size_t, 5> widths{};
    for (const auto& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], display_width(line[i]));
    std::string out;
    for (const auto& line : lines) {
        std::string text = "\t";
        for (std::size_t i = 0; i < line.size(); ++i)
            text += pad(line[i], widths[i] + 2);
        text.erase(text.find_last_not_of(' ') + 1);
        out += text + "\n";
    }
    return out;
}

std::string unlisted_text(const DeviceSnapshot& device,
                          const std::optional<Reading<std::vector<Holder>>>& holders,
                          Charset charset) {
    if (!holders)
        return {};
    if (!*holders)
        return fmt::format("\tholders unknown ({})\n",
                           holders->absence().reason == hal::Reason::denied
                               ? "need root"
                               : printable(absence_text(holders->absence()), charset));
    std::string text;
    for (const Holder& holder : unlisted_holders(device, **holders))
        text +=
            fmt::format("\tpid {} {} has {} open{} and is not in the driver's list{}\n", holder.pid,
                        holder_name(holder, charset), printable(holder.node, charset),
                        holder.memory ? " with memory" : "", holder.daemon ? " (a service)" : "");
    return text;
}

std::string list_text(const ProcessLook& look, Charset charset) {
    const DeviceSnapshot& device = look.device;
    if (!device.processes)
        return fmt::format("\tprocesses cannot be seen: {}\n",
                           printable(absence_text(device.processes.absence()), charset));
    std::vector<std::array<std::string, 5>> lines{
        {"Process id", "Process name", "HBM used(MB)", "Started", "State"}};
    std::string dead;
    std::size_t foreign = 0;
    for (const ProcessInfo& process : *device.processes) {
        const std::string name = process_name(process, charset);
        if (!is_alive(process)) {
            dead += fmt::format("\tpid {} {} is dead and its {} MB were not given back\n",
                                pid_text(process), name, shown_number(mib_of(process)));
            continue;
        }
        foreign += process.resolvable ? 0 : 1;
        lines.push_back({pid_text(process), name, shown_number(mib_of(process)),
                         start_text(process),
                         shown(process.state, [](const std::string& state) { return state; })});
    }
    std::string text = lines.size() > 1 ? columns(lines) : std::string("\tno processes\n");
    if (foreign > 0)
        text += fmt::format("\t{} process{} not resolvable from this PID namespace\n", foreign,
                            foreign == 1 ? "" : "es");
    return text + dead;
}

// Below the tolerance there is no finding that says it, and when it cannot be told neither.
std::string unowned_text(const ProcessLook& look, Charset charset) {
    const Reading<std::uint64_t> mib = unowned_mib(look.device, look.earlier);
    if (mib && (*mib == 0 || *mib > kUnownedToleranceMib))
        return {};
    if (mib)
        return fmt::format("\t{} MB held by no live process (rounding)\n", *mib);
    const hal::Absence& absence = mib.absence();
    const std::string why =
        absence.reason == hal::Reason::unknown || absence.reason == hal::Reason::unsupported
            ? std::string("what an idle device uses is not known; compare with "
                          "a state file (--save, --compare)")
            : absence_text(absence);
    return fmt::format("\theld by no live process: cannot tell: {}\n", printable(why, charset));
}

struct ProcessRow {
    const ProcessLook* look = nullptr;
    const ProcessInfo* process = nullptr; // null: the device has none to show
};

template <class F> Field of_process(const ProcessRow& row, F get) {
    if (row.process != nullptr)
        return get(*row.process);
    return {row.look->device.processes ? hal::Absence{hal::Reason::unsupported, 0, "no process"}
                                       : row.look->device.processes.absence()};
}

constexpr Column<ProcessRow> kProcessColumns[] = {
    {"npu_id",
     [](const ProcessRow& row) -> Field {
         return Cell{row.look->device.ids.npu_id, {}};
     }},
    {"chip_id",
     [](const ProcessRow& row) -> Field {
         return Cell{row.look->device.ids.chip_id, {}};
     }},
    {"phy_id",
     [](const ProcessRow& row) -> Field {
         return Cell{row.look->device.ids.physical_id, {}};
     }},
    {"pid",
     [](const ProcessRow& row) {
         return of_process(row, [](const ProcessInfo& process) -> Field {
             if (!process.resolvable)
                 return {hal::Reason::unresolvable, 0, "no process of this PID namespace"};
             return Cell{process.pid, {}};
         });
     }},
    {"host_pid",
     [](const ProcessRow& row) {
         return of_process(row, [](const ProcessInfo& process) -> Field {
             if (!process.host_pid && !process.resolvable)
                 return Cell{process.pid, {}};
             return field(process.host_pid);
         });
     }},
    {"name",
     [](const ProcessRow& row) {
         return of_process(row, [](const ProcessInfo& process) { return field(process.name); });
     }},
    {"hbm_mib",
     [](const ProcessRow& row) {
         return of_process(row, [](const ProcessInfo& process) { return field(mib_of(process)); });
     }},
    {"start_time",
     [](const ProcessRow& row) {
         return of_process(row, [](const ProcessInfo& process) {
             return field(process.start_unix_ms.map([](std::int64_t ms) { return utc_text(ms); }));
         });
     }},
    {"state",
     [](const ProcessRow& row) {
         return of_process(row, [](const ProcessInfo& process) { return field(process.state); });
     }},
    {"alive",
     [](const ProcessRow& row) {
         return of_process(row, [](const ProcessInfo& process) { return field(process.alive); });
     }},
};

Json holders_json(const std::optional<Reading<std::vector<Holder>>>& holders) {
    if (!holders || !*holders)
        return {};
    Json list = Json::array();
    for (const Holder& holder : **holders)
        list.push_back(Json{{"pid", holder.pid},
                            {"name", valid_utf8(holder.name)},
                            {"node", valid_utf8(holder.node)},
                            {"state", valid_utf8(holder.state)},
                            {"service", holder.daemon},
                            {"memory", holder.memory}});
    return list;
}

} // namespace

std::vector<Finding> process_findings(std::span<const ProcessLook> looks,
                                      const FindingOptions& options) {
    std::vector<Subject> subjects;
    for (const ProcessLook& look : looks)
        subjects.push_back({&look.device, look.holders, look.earlier});
    std::vector<Finding> findings = find_all(subjects, options);
    std::erase_if(findings, [](const Finding& finding) {
        using Kind = Finding::Kind;
        return finding.kind != Kind::unowned_hbm && finding.kind != Kind::holder_defunct &&
               finding.kind != Kind::holder_uninterruptible && finding.kind != Kind::device_lost;
    });
    return findings;
}

std::vector<std::string_view> process_fields() {
    std::vector<std::string_view> names;
    for (const Column<ProcessRow>& column : kProcessColumns)
        names.push_back(column.name);
    return names;
}

Records process_records(std::span<const ProcessLook> looks) {
    std::vector<ProcessRow> rows;
    for (const ProcessLook& look : looks) {
        if (look.device.processes)
            for (const ProcessInfo& process : *look.device.processes)
                rows.push_back({&look, &process});
        else
            rows.push_back({&look, nullptr}); // what cannot be seen must not look like nothing
    }
    return make_records<ProcessRow>("asc-tools/npu-smi.proc/1", "processes", kProcessColumns, rows);
}

Json process_more(std::span<const ProcessLook> looks, std::span<const Finding> findings) {
    constexpr std::string_view names[] = {"npu_id",          "chip_id",       "phy_id",
                                          "hbm_used_mib",    "hbm_total_mib", "hbm_baseline_mib",
                                          "hbm_unowned_mib", "processes",     "holders"};
    Json devices = Json::array();
    for (const ProcessLook& look : looks) {
        const DeviceSnapshot& device = look.device;
        Field holders{hal::Reason::unknown, 0, "not asked"};
        if (look.holders)
            holders = look.holders->map([&](const std::vector<Holder>&) {
                return Cell{holders_json(look.holders), {}};
            });
        const Field row[] = {Cell{device.ids.npu_id, {}},
                             Cell{device.ids.chip_id, {}},
                             Cell{device.ids.physical_id, {}},
                             field(device.hbm_used_mib),
                             field(device.hbm_total_mib),
                             field(device.hbm_baseline_mib),
                             field(unowned_mib(device, look.earlier)),
                             field(device.processes.map([](const std::vector<ProcessInfo>& list) {
                                 return processes_json(list);
                             })),
                             holders};
        devices.push_back(row_json(names, row));
    }
    Json list = Json::array();
    for (const Finding& finding : findings)
        list.push_back(finding_json(finding));
    return Json{{"devices", std::move(devices)}, {"findings", std::move(list)}};
}

std::string process_text(std::span<const ProcessLook> looks, std::span<const Finding> findings,
                         Charset charset) {
    std::string text;
    for (const ProcessLook& look : looks) {
        if (!text.empty())
            text += "\n";
        text += key_value("NPU ID", fmt::format("{}", look.device.ids.npu_id));
        text += key_value("Chip ID", fmt::format("{}", look.device.ids.chip_id));
        text += key_value("Phy ID", fmt::format("{}", look.device.ids.physical_id));
        text += list_text(look, charset);
        text += unowned_text(look, charset);
        text += unlisted_text(look.device, look.holders, charset);
        for (const Finding& finding : findings)
            if (finding.device.logical_id == look.device.ids.logical_id)
                text += fmt::format("\t{}\n\tnext: {}\n", printable(finding.text, charset),
                                    finding.next);
    }
    return text;
}

std::string process_memory_text(std::span<const ProcessLook> looks, bool chip_given,
                                Charset charset) {
    std::string text;
    for (const ProcessLook& look : looks) {
        const DeviceSnapshot& device = look.device;
        if (!text.empty())
            text += "\n";
        text += key_value("NPU ID", fmt::format("{}", device.ids.npu_id));
        text += chip_given || device.ids.chips_on_card > 1
                    ? key_value("Chip ID", fmt::format("{}", device.ids.chip_id))
                    : key_value("Chip Count", fmt::format("{}", device.ids.chips_on_card));
        if (!device.processes) {
            text += fmt::format("\tProcesses cannot be seen: {}\n",
                                printable(absence_text(device.processes.absence()), charset));
            continue;
        }
        std::string lines;
        for (const ProcessInfo& process : *device.processes)
            if (is_alive(process))
                lines += fmt::format("\tProcess id:{:<7} Process name:{} Process memory(MB):{}\n",
                                     pid_text(process), pad(process_name(process, charset), 17),
                                     shown_number(mib_of(process)));
        text += lines.empty() ? "\tNo process in device.\n" : lines;
    }
    return text;
}

std::string process_scroll_text(std::span<const ProcessLook> looks, bool header, Charset charset) {
    std::string text;
    if (header)
        text = fmt::format("{:<12}{:<12}{:<16}{:<24}{:<20}{}\n", "NpuID(Idx)", "ChipId(Idx)",
                           "Process id", "Process name", "Process memory(MB)", "State");
    for (const ProcessLook& look : looks) {
        const DeviceSnapshot& device = look.device;
        const std::string ids = fmt::format("{:<12}{:<12}", device.ids.npu_id, device.ids.chip_id);
        if (!device.processes) {
            text += fmt::format("{}{}\n", ids,
                                printable(absence_text(device.processes.absence()), charset));
            continue;
        }
        std::size_t live = 0;
        for (const ProcessInfo& process : *device.processes) {
            if (!is_alive(process))
                continue;
            ++live;
            text += fmt::format("{}{}{}{}{}\n", ids, pad(pid_text(process), 16),
                                fit(process_name(process, charset), 23) + " ",
                                pad(shown_number(mib_of(process)), 20),
                                shown(process.state, [](const std::string& s) { return s; }));
        }
        if (live == 0)
            text += fmt::format("{}{:<16}{:<24}{:<20}{}\n", ids, "-", "-", "-", "-");
    }
    return text;
}

} // namespace asc::cmds::npu_smi
