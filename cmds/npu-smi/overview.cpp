// SPDX-License-Identifier: Apache-2.0
// What the layouts share, and the records of JSON and CSV.
#include "cmds/npu-smi/overview.hpp"

#include "cmds/common/times.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace asc::cmds::npu_smi {

using hal::DeviceSnapshot;
using hal::ProcessInfo;
using hal::Reading;

std::string shown_number(const Reading<int>& reading) {
    return shown(reading, [](int value) { return fmt::format("{}", value); });
}
std::string shown_number(const Reading<std::uint32_t>& reading) {
    return shown(reading, [](std::uint32_t value) { return fmt::format("{}", value); });
}
std::string shown_number(const Reading<std::uint64_t>& reading) {
    return shown(reading, [](std::uint64_t value) { return fmt::format("{}", value); });
}
std::string shown_watt(const Reading<double>& reading) {
    return shown(reading, [](double watt) { return fmt::format("{:.1f}", watt); });
}

std::string health_text(const DeviceSnapshot& device) {
    switch (device.state) {
    case hal::DeviceState::lost:
        return "LOST";
    case hal::DeviceState::timeout:
        return "TIMEOUT";
    case hal::DeviceState::denied:
        return "DENIED";
    case hal::DeviceState::resetting:
        return "RESETTING";
    case hal::DeviceState::ok:
    case hal::DeviceState::failed:
        break;
    }
    return shown(device.health,
                 [](hal::Health health) { return std::string(hal::to_string(health)); });
}

Reading<std::string> full_chip_name(const DeviceSnapshot& device) {
    return device.chip_name.map([&](const std::string& name) {
        return device.chip_type ? fmt::format("{} {}", *device.chip_type, name) : name;
    });
}

bool memory_is_ddr(const DeviceSnapshot& device) {
    const bool has_ddr = device.ddr_total_mib && *device.ddr_total_mib != 0;
    return has_ddr || !device.hbm_total_mib;
}

Family family_of(const DeviceSnapshot& device) {
    if (!device.chip_name)
        return Family::a2;
    if (device.chip_name->starts_with("310"))
        return Family::i310;
    return device.chip_name->starts_with("910_93") ? Family::a3 : Family::a2;
}

Family family_of(std::span<const DeviceSnapshot> devices) {
    for (const DeviceSnapshot& device : devices)
        if (device.chip_name)
            return family_of(device);
    // Nobody says its name: two chips on a card are the sign that is left.
    const bool two = std::ranges::any_of(
        devices, [](const DeviceSnapshot& device) { return device.ids.chips_on_card > 1; });
    return two ? Family::a3 : Family::a2;
}

bool is_alive(const ProcessInfo& process) {
    return !process.alive || *process.alive;
}

std::string pid_text(const ProcessInfo& process) {
    if (process.resolvable)
        return fmt::format("{}", process.pid);
    return fmt::format("{} (host)", process.host_pid ? *process.host_pid : process.pid);
}

std::string process_name(const ProcessInfo& process, Charset charset) {
    if (process.name)
        return printable(*process.name, charset);
    if (!process.resolvable)
        return "not in this namespace";
    return std::string(hal::to_cell(process.name.absence().reason));
}

std::string absence_text(const hal::Absence& absence) {
    if (!absence.detail.empty())
        return absence.detail;
    switch (absence.reason) {
    case hal::Reason::denied:
        return "not permitted";
    case hal::Reason::unsupported:
        return "not supported by this driver";
    case hal::Reason::failed:
        return absence.error == 0 ? "read failed" : fmt::format("error {}", absence.error);
    case hal::Reason::timeout:
        return "no answer in time";
    case hal::Reason::out_of_range:
        return "the driver's number is impossible";
    case hal::Reason::lost:
        return "the device is lost";
    case hal::Reason::list_full:
        return "the driver's process list is full";
    case hal::Reason::unresolvable:
        return "not in this namespace";
    case hal::Reason::unknown:
        break;
    }
    return "unknown";
}

namespace {

Json process_json(const ProcessInfo& process) {
    constexpr std::string_view names[] = {"pid",   "host_pid",   "name",       "hbm_mib", "state",
                                          "alive", "start_time", "parent_pid", "uid"};
    const auto local = [&](auto value) -> Field {
        if (process.resolvable)
            return Cell{Json(value), {}};
        return {hal::Reason::unresolvable, 0, "no process of this PID namespace"};
    };
    const Field host =
        process.host_pid || process.resolvable ? field(process.host_pid) : Cell{process.pid, {}};
    const Field row[] = {
        local(process.pid),
        host,
        field(process.name),
        field(process.bytes.map([](std::uint64_t bytes) { return bytes >> 20; })),
        field(process.state),
        field(process.alive),
        field(process.start_unix_ms.map([](std::int64_t ms) { return utc_text(ms); })),
        field(process.parent_pid),
        field(process.uid)};
    Json object = row_json(names, row);
    if (object["unavailable"].empty())
        object.erase("unavailable");
    return object;
}

template <std::uint32_t hal::EccCounters::*member> Field ecc_count(const DeviceSnapshot& device) {
    return field(device.ecc.map([](const hal::EccCounters& ecc) { return ecc.*member; }));
}

struct Row {
    const DeviceSnapshot& device;
    const std::optional<Earlier>& earlier;
};

constexpr Column<Row> kColumns[] = {
    {"npu_id",
     [](const Row& row) {
         return Field(Cell{row.device.ids.npu_id, {}});
     }},
    {"chip_id",
     [](const Row& row) {
         return Field(Cell{row.device.ids.chip_id, {}});
     }},
    {"phy_id",
     [](const Row& row) {
         return Field(Cell{row.device.ids.physical_id, {}});
     }},
    {"logical_id",
     [](const Row& row) {
         return Field(Cell{row.device.ids.logical_id, {}});
     }},
    {"bus_id",
     [](const Row& row) -> Field {
         if (row.device.ids.bus_id.empty())
             return {hal::Reason::unknown};
         return Cell{row.device.ids.bus_id, {}};
     }},
    {"name", [](const Row& row) { return field(full_chip_name(row.device)); }},
    {"health",
     [](const Row& row) {
         return field(row.device.health.map([](hal::Health h) { return hal::to_string(h); }));
     }},
    {"error_codes",
     [](const Row& row) {
         return field(row.device.error_codes.map([](const std::vector<hal::ErrorCode>& codes) {
             Json list = Json::array();
             for (const hal::ErrorCode& code : codes)
                 list.push_back(fmt::format("{:04X}", code.code));
             return list;
         }));
     }},
    {"temperature_c", [](const Row& row) { return field(row.device.temperature_c); }},
    {"power_w", [](const Row& row) { return field(row.device.power_w); }},
    {"power_limit_w", [](const Row& row) { return field(row.device.power_limit_w); }},
    {"aicore_percent", [](const Row& row) { return field(row.device.ai_core_percent); }},
    {"hbm_used_mib", [](const Row& row) { return field(row.device.hbm_used_mib); }},
    {"hbm_total_mib", [](const Row& row) { return field(row.device.hbm_total_mib); }},
    {"hbm_baseline_mib", [](const Row& row) { return field(row.device.hbm_baseline_mib); }},
    {"hbm_unowned_mib", [](const Row& row) { return field(unowned_mib(row.device, row.earlier)); }},
    {"ecc.single_bit",
     [](const Row& row) { return ecc_count<&hal::EccCounters::single_bit>(row.device); }},
    {"ecc.double_bit",
     [](const Row& row) { return ecc_count<&hal::EccCounters::double_bit>(row.device); }},
    {"ecc.single_bit_lifetime",
     [](const Row& row) { return ecc_count<&hal::EccCounters::single_bit_lifetime>(row.device); }},
    {"ecc.double_bit_lifetime",
     [](const Row& row) { return ecc_count<&hal::EccCounters::double_bit_lifetime>(row.device); }},
    {"ecc.pages_offlined",
     [](const Row& row) {
         return field(row.device.ecc.map([](const hal::EccCounters& ecc) {
             return ecc.pages_isolated_single + ecc.pages_isolated_double;
         }));
     }},
    {"ecc.pages_pending", [](const Row& row) { return field(row.device.pages_pending); }},
    {"oom_count", [](const Row& row) { return field(row.device.oom_count); }},
    {"firmware_version", [](const Row& row) { return field(row.device.firmware_version); }},
    {"state",
     [](const Row& row) {
         return Field(Cell{hal::to_string(row.device.state), {}});
     }},
    {"state_detail",
     [](const Row& row) {
         return Field(Cell{row.device.state_detail, {}});
     }},
    {"processes",
     [](const Row& row) {
         return field(row.device.processes.map(
             [](const std::vector<ProcessInfo>& list) { return processes_json(list); }));
     }},
};

} // namespace

Json processes_json(std::span<const ProcessInfo> processes) {
    Json list = Json::array();
    for (const ProcessInfo& process : processes)
        list.push_back(process_json(process));
    return list;
}

std::vector<std::string_view> overview_fields() {
    std::vector<std::string_view> names;
    for (const Column<Row>& column : kColumns)
        names.push_back(column.name);
    return names;
}

Records overview_records(const Overview& overview) {
    std::vector<Row> rows;
    const std::optional<Earlier> none;
    for (std::size_t i = 0; i < overview.devices.size(); ++i)
        rows.push_back(
            {overview.devices[i], i < overview.earlier.size() ? overview.earlier[i] : none});
    return make_records<Row>("asc-tools/npu-smi.info/1", "devices", kColumns, rows);
}

Json overview_more(const Overview& overview) {
    Json findings = Json::array();
    for (const Finding& finding : overview.findings)
        findings.push_back(finding_json(finding));
    Json more{{"findings", std::move(findings)}};
    if (!overview.compared_with)
        return more;
    Json changes = Json::array();
    for (const Change& change : overview.changes)
        changes.push_back(change_json(change));
    more["compared_with"] = valid_utf8(*overview.compared_with);
    more["changes"] = std::move(changes);
    return more;
}

} // namespace asc::cmds::npu_smi
