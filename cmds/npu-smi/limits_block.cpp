// SPDX-License-Identifier: Apache-2.0
// What stands below the driver's table, and the view of one card.
#include "cmds/npu-smi/overview.hpp"
#include "cmds/npu-smi/session.hpp"

#include "cmds/common/selection.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace asc::cmds::npu_smi {

using hal::DeviceSnapshot;
using hal::Reading;

namespace {

// Parsers of the driver's table take '|' and '+' for its lines: a name that has one is escaped.
std::string without_rules(std::string text) {
    for (const auto& [mark, escaped] : {std::pair{'|', "\\x7c"}, std::pair{'+', "\\x2b"}})
        for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark))
            text.replace(at, 1, escaped);
    return text;
}

struct Entry {
    std::string text;
    bool marked = false; // not as it should be
};

Entry count(const Reading<std::uint32_t>& reading) {
    return {shown_number(reading), reading && *reading != 0};
}

// Since the reset, and for life in brackets.
Entry ecc_pair(const DeviceSnapshot& device, std::uint32_t hal::EccCounters::*now,
               std::uint32_t hal::EccCounters::*life) {
    if (!device.ecc)
        return {std::string(hal::to_cell(device.ecc.absence().reason)), false};
    const hal::EccCounters& ecc = *device.ecc;
    return {fmt::format("{} ({})", ecc.*now, ecc.*life), ecc.*now != 0};
}

Entry pages(const DeviceSnapshot& device) {
    return count(device.ecc.map([](const hal::EccCounters& ecc) {
        return ecc.pages_isolated_single + ecc.pages_isolated_double;
    }));
}

Entry unowned(const DeviceSnapshot& device, const std::optional<Earlier>& earlier) {
    const Reading<std::uint64_t> mib = unowned_mib(device, earlier);
    if (mib)
        return {fmt::format("{} MB", *mib), *mib > kUnownedToleranceMib};
    const hal::Reason reason = mib.absence().reason;
    const bool untold = reason == hal::Reason::unknown || reason == hal::Reason::unsupported ||
                        reason == hal::Reason::list_full;
    return {untold ? "cannot tell" : std::string(hal::to_cell(reason)), false};
}

constexpr std::size_t kColumnWidths[] = {6, 6, 13, 14, 14, 11, 11};

std::string limits_row(const DeviceSnapshot& device, const std::optional<Earlier>& earlier,
                       const Style& style) {
    std::string text = fmt::format("{:<6}{:<6}", device.ids.npu_id, device.ids.chip_id);
    if (device.state != hal::DeviceState::ok && device.state != hal::DeviceState::resetting) {
        text += paint(health_text(device), Colour::red, style);
        const std::string detail = without_rules(printable(device.state_detail, style.charset));
        return text + (detail.empty() ? "" : ": " + detail) + "\n";
    }
    Entry limit{shown_watt(device.power_limit_w), false};
    if (device.power_limit_w)
        limit.text += " W";
    const Entry entries[] = {
        limit,
        ecc_pair(device, &hal::EccCounters::single_bit, &hal::EccCounters::single_bit_lifetime),
        ecc_pair(device, &hal::EccCounters::double_bit, &hal::EccCounters::double_bit_lifetime),
        pages(device),
        count(device.oom_count),
        unowned(device, earlier)};
    std::size_t column = 2;
    for (const Entry& entry : entries) {
        const std::string marked = entry.marked ? entry.text + " !" : entry.text;
        const std::string cell =
            column < std::size(kColumnWidths) ? pad(marked, kColumnWidths[column]) : marked;
        text += entry.marked ? paint(cell, Colour::yellow, style) : cell;
        ++column;
    }
    return text + "\n";
}

std::string code_list(const DeviceSnapshot& device) {
    std::string text;
    if (device.error_codes)
        for (const hal::ErrorCode& code : *device.error_codes)
            text += fmt::format("{}{:04X}", text.empty() ? "" : " ", code.code);
    return text;
}

std::string findings_text(const Overview& overview, const Style& style) {
    std::string text;
    for (const Finding& finding : overview.findings) {
        const Colour colour =
            finding.severity == Finding::Severity::critical ? Colour::red : Colour::yellow;
        const std::string head =
            fmt::format("{}  {}  ", pad(device_name(finding.device), 7), to_string(finding.kind));
        text += finding.severity == Finding::Severity::note ? head : paint(head, colour, style);
        text += without_rules(printable(finding.text, style.charset));
        // As it is to be typed: nothing in it is escaped.
        text += fmt::format("\n         next: {}\n", finding.next);
    }
    return text;
}

std::string changes_text(const Overview& overview, const Style& style) {
    if (!overview.compared_with)
        return {};
    std::string text = fmt::format(
        "\nCompared with {}\n", without_rules(printable(*overview.compared_with, style.charset)));
    for (const Change& change : overview.changes)
        text += without_rules(printable(change_text(change), style.charset)) + "\n";
    return text + (overview.changes.empty() ? "no change\n" : "");
}

const std::optional<Earlier>& earlier_at(const Overview& overview, std::size_t i) {
    static const std::optional<Earlier> none;
    return i < overview.earlier.size() ? overview.earlier[i] : none;
}

std::string card_processes(const DeviceSnapshot& device, const std::optional<Earlier>& earlier,
                           const Style& style) {
    std::string text;
    if (!device.processes)
        return key_value("Processes",
                         printable("cannot be seen: " + absence_text(device.processes.absence()),
                                   style.charset));
    for (const hal::ProcessInfo& process : *device.processes) {
        const auto mib = process.bytes.map([](std::uint64_t bytes) { return bytes >> 20; });
        text += key_value(is_alive(process) ? "Process" : "Dead Owner",
                          fmt::format("{} {} {} MB", pid_text(process),
                                      process_name(process, style.charset), shown_number(mib)));
    }
    if (text.empty())
        text = key_value("Processes", "none");
    return text + key_value("Held by no live process", unowned(device, earlier).text);
}

} // namespace

std::string limits_block(const Overview& overview, const Style& style) {
    std::string text = paint("Limits and errors", Colour::bold, style) +
                       "  (ECC: since the reset, for life in brackets; ! marks trouble)\n";
    text += fmt::format("{:<6}{:<6}{:<13}{:<14}{:<14}{:<11}{:<11}{}\n", "NPU", "Chip",
                        "Power limit", "ECC single", "ECC double", "Pages off", "OOM count",
                        "Held by no live process");
    for (std::size_t i = 0; i < overview.devices.size(); ++i)
        text += limits_row(overview.devices[i], earlier_at(overview, i), style);
    for (const DeviceSnapshot& device : overview.devices)
        if (const std::string codes = code_list(device); !codes.empty())
            text += fmt::format("{} error codes: {}; see npu-smi info -t health {}{}{}\n",
                                device_name(device.ids), codes, device_options(device.ids),
                                overview.backend.next_argument.empty() ? "" : " ",
                                overview.backend.next_argument);
    if (!overview.findings.empty())
        text +=
            "\n" + paint("Findings", Colour::bold, style) + "\n" + findings_text(overview, style);
    text += changes_text(overview, style);
    if (overview.backend.simulator)
        text += fmt::format("\nBackend: {}\n",
                            without_rules(backend_text(overview.backend, style.charset)));
    return text;
}

std::string one_card_view(const Overview& overview, const Style& style) {
    std::string text = backend_line(overview.backend, style.charset);
    for (std::size_t i = 0; i < overview.devices.size(); ++i) {
        const DeviceSnapshot& device = overview.devices[i];
        const auto line = [&](std::string_view key, const std::string& value) {
            text += key_value(key, value);
        };
        if (i > 0)
            text += "\n";
        line("NPU ID", fmt::format("{}", device.ids.npu_id));
        line("Chip ID", fmt::format("{}", device.ids.chip_id));
        line("Phy ID", fmt::format("{}", device.ids.physical_id));
        line("Name", shown(full_chip_name(device), [&](const std::string& name) {
                 return printable(name, style.charset);
             }));
        line("Bus Id", device.ids.bus_id.empty() ? "NA" : device.ids.bus_id);
        line("Health", health_text(device));
        if (!device.state_detail.empty())
            line("State", printable(device.state_detail, style.charset));
        if (const std::string codes = code_list(device); !codes.empty())
            line("Error Code", codes);
        line("Temperature", shown_number(device.temperature_c) + " C");
        const bool second_die = family_of(device) == Family::a3 && device.ids.chip_id > 0;
        line("Power", fmt::format("{} / {} W", second_die ? "-" : shown_watt(device.power_w),
                                  shown_watt(device.power_limit_w)));
        line("AICore", shown_number(device.ai_core_percent) + " %");
        line("HBM", fmt::format("{} / {} MB", shown_number(device.hbm_used_mib),
                                shown_number(device.hbm_total_mib)));
        line("ECC Single Bit (lifetime)",
             ecc_pair(device, &hal::EccCounters::single_bit, &hal::EccCounters::single_bit_lifetime)
                 .text);
        line("ECC Double Bit (lifetime)",
             ecc_pair(device, &hal::EccCounters::double_bit, &hal::EccCounters::double_bit_lifetime)
                 .text);
        line("Pages Offlined", pages(device).text);
        line("OOM Count", shown_number(device.oom_count));
        line("Firmware Version", shown(device.firmware_version, [&](const std::string& version) {
                 return printable(version, style.charset);
             }));
        text += card_processes(device, earlier_at(overview, i), style);
    }
    if (!overview.findings.empty())
        text += "\nFindings\n" + findings_text(overview, style);
    return text + changes_text(overview, style);
}

} // namespace asc::cmds::npu_smi
