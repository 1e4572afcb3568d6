// SPDX-License-Identifier: Apache-2.0
// The vendor's default table. Third parties parse it by position and by words: widths, words and
// the order of lines come from the facts of npu-smi, sections 4 and 8.2, and are not to be
// improved.
#include "cmds/npu-smi/overview.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace asc::cmds::npu_smi {

using hal::DeviceSnapshot;
using hal::ProcessInfo;

namespace {

struct Layout {
    std::size_t title_version, title_driver;  // cells of the title line
    std::array<std::size_t, 3> cells;         // inner widths of the device part
    std::array<std::size_t, 4> process_cells; // of the process part
    std::string_view header_1, header_2, process_header;
};

constexpr Layout kA2{24,
                     53,
                     {27, 15, 53},
                     {27, 15, 26, 26},
                     "| NPU   Name                | Health        | Power(W)    Temp(C)           "
                     "Hugepages-Usage(page) |",
                     "| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  "
                     "HBM-Usage(MB)         |",
                     "| NPU     Chip              | Process id    | Process name             | "
                     "Process memory(MB)       |"};
constexpr Layout kA3{kA2.title_version,
                     kA2.title_driver,
                     kA2.cells,
                     kA2.process_cells,
                     kA2.header_1,
                     "| Chip  Phy-ID              | Bus-Id        | AICore(%)   "
                     "Memory-Usage(MB)  HBM-Usage(MB)         |",
                     kA2.process_header};
constexpr Layout k310{
    40,
    44,
    {31, 17, 54},
    {31, 17, 26, 27},
    "| NPU     Name                  | Health          | Power(W)     Temp(C)           "
    "Hugepages-Usage(page) |",
    "| Chip    Device                | Bus-Id          | AICore(%)    Memory-Usage(MB)        "
    "                |",
    "| NPU     Chip                  | Process id      | Process name             | "
    "Process memory(MB)        |"};

const Layout& layout_of(Family family) {
    switch (family) {
    case Family::a3:
        return kA3;
    case Family::i310:
        return k310;
    case Family::a2:
        break;
    }
    return kA2;
}

template <std::size_t N> std::string rule(char line, const std::array<std::size_t, N>& cells) {
    std::string text = "+";
    for (const std::size_t cell : cells)
        text.append(cell, line).append(1, '+');
    return text.append(1, '\n');
}

std::size_t inner_width(const Layout& layout) {
    return layout.cells[0] + layout.cells[1] + layout.cells[2] + 2;
}

std::string title(const Layout& layout, const hal::BackendInfo& backend, Charset charset) {
    const std::string driver = backend.driver_version.empty()
                                   ? std::string("NA")
                                   : printable(backend.driver_version, charset);
    return fmt::format("| npu-smi {} Version: {} |\n", fit(ASC_VERSION, layout.title_version),
                       fit(driver, layout.title_driver));
}

std::string health_cell(const DeviceSnapshot& device, std::size_t width, const Style& style) {
    const std::string text = health_text(device);
    const std::string cell = fit(text, width);
    if (text == "OK")
        return paint(cell, Colour::green, style);
    const bool mild = text == "Warning" || text == "RESETTING" || text == "NA";
    return paint(cell, mild ? Colour::yellow : Colour::red, style);
}

std::string bus_cell(const DeviceSnapshot& device) {
    std::string text = device.ids.bus_id.empty() ? "NA" : device.ids.bus_id;
    std::ranges::transform(text, text.begin(), [](char c) {
        return static_cast<char>(c >= 'a' && c <= 'f' ? c - ('a' - 'A') : c);
    });
    return text;
}

std::string name_cell(const DeviceSnapshot& device, std::size_t width, Charset charset) {
    return fit(
        shown(device.chip_name, [&](const std::string& name) { return printable(name, charset); }),
        width);
}

// A driver without huge pages has 0 of 0, as the vendor shows it; readers want digits there.
std::string hugepages(const hal::Reading<std::uint64_t>& pages) {
    const bool none = !pages && pages.absence().reason == hal::Reason::unsupported;
    return none ? "0" : shown_number(pages);
}

// "used / total" in the vendor's two cells; a word that is longer than a number takes from the
// blanks.
std::string share_cells(const std::string& used, const std::string& total, std::size_t used_width,
                        std::size_t total_width) {
    return fit(pad(used, used_width) + "/ " + total, used_width + 2 + total_width);
}

std::string rows_910(const DeviceSnapshot& device, bool phy_column, const Style& style) {
    // The second die has no power of its own: the card's stands with the first.
    const std::string power =
        phy_column && device.ids.chip_id > 0 ? "-" : shown_watt(device.power_w);
    std::string text = fmt::format(
        "| {:<5} {}| {} | {} {} {} |\n", device.ids.npu_id, name_cell(device, 20, style.charset),
        health_cell(device, 13, style), fit(power, 11), fit(shown_number(device.temperature_c), 17),
        share_cells(hugepages(device.hugepages_used), hugepages(device.hugepages_total), 6, 13));
    const std::string ids =
        phy_column ? fmt::format("{:<5} {:<20}", device.ids.chip_id, device.ids.physical_id)
                   : fmt::format("{:<26}", device.ids.chip_id);
    return text + fmt::format("| {}| {} | {} {} {} |\n", ids, pad(bus_cell(device), 13),
                              fit(shown_number(device.ai_core_percent), 11),
                              share_cells(shown_number(device.ddr_used_mib),
                                          shown_number(device.ddr_total_mib), 5, 10),
                              share_cells(shown_number(device.hbm_used_mib),
                                          shown_number(device.hbm_total_mib), 6, 13));
}

std::string rows_310(const DeviceSnapshot& device, const Style& style) {
    const bool ddr = memory_is_ddr(device);
    std::string text = fmt::format(
        "| {:<7} {}| {} | {} {} {} |\n", device.ids.npu_id, name_cell(device, 22, style.charset),
        health_cell(device, 15, style), fit(shown_watt(device.power_w), 12),
        fit(shown_number(device.temperature_c), 17),
        share_cells(hugepages(device.hugepages_used), hugepages(device.hugepages_total), 6, 13));
    return text +
           fmt::format("| {:<7} {:<22}| {} | {} {} |\n", device.ids.chip_id, device.ids.logical_id,
                       pad(bus_cell(device), 15), fit(shown_number(device.ai_core_percent), 12),
                       share_cells(shown_number(ddr ? device.ddr_used_mib : device.hbm_used_mib),
                                   shown_number(ddr ? device.ddr_total_mib : device.hbm_total_mib),
                                   5, 32));
}

std::string process_row(const DeviceSnapshot& device, const ProcessInfo& process,
                        const Layout& layout, Charset charset) {
    const auto& cells = layout.process_cells;
    const auto mib = process.bytes.map([](std::uint64_t bytes) { return bytes >> 20; });
    const std::string ids = fmt::format("{:<7} {}", device.ids.npu_id, device.ids.chip_id);
    return fmt::format(
        "| {}| {} | {} | {} |\n", pad(ids, cells[0] - 1), fit(pid_text(process), cells[1] - 2),
        fit(process_name(process, charset), cells[2] - 2), fit(shown_number(mib), cells[3] - 2));
}

// The card's processes; one line when there are none, another when they cannot be seen.
std::string process_rows(std::span<const DeviceSnapshot* const> card, const Layout& layout,
                         Charset charset) {
    std::string rows;
    for (const DeviceSnapshot* device : card) {
        if (!device->processes) {
            const std::string why = absence_text(device->processes.absence());
            const std::string text =
                fmt::format("Processes of NPU {} chip {} cannot be seen: {}", device->ids.npu_id,
                            device->ids.chip_id, printable(why, charset));
            rows += fmt::format("| {} |\n", fit(text, inner_width(layout) - 2));
            continue;
        }
        for (const ProcessInfo& process : *device->processes)
            if (is_alive(process))
                rows += process_row(*device, process, layout, charset);
    }
    if (rows.empty())
        rows = fmt::format("| {} |\n", pad(fmt::format("No running processes found in NPU {:<7}",
                                                       card.front()->ids.npu_id),
                                           inner_width(layout) - 2));
    return rows;
}

} // namespace

std::string driver_table(const Overview& overview, const Style& style) {
    const Family family = family_of(overview.devices);
    const Layout& layout = layout_of(family);
    const std::array<std::size_t, 1> whole{inner_width(layout)};
    const std::string strong = rule('=', layout.cells);
    std::string text = rule('-', whole) + title(layout, overview.backend, style.charset);
    text += rule('-', layout.cells);
    text.append(layout.header_1).append("\n").append(layout.header_2).append("\n").append(strong);
    std::map<int, std::vector<const DeviceSnapshot*>> cards;
    for (const DeviceSnapshot& device : overview.devices)
        cards[device.ids.npu_id].push_back(&device);
    for (const auto& [npu_id, chips] : cards) {
        for (const DeviceSnapshot* device : chips) {
            if (device != chips.front())
                text += rule('-', whole);
            text += family == Family::i310 ? rows_310(*device, style)
                                           : rows_910(*device, family == Family::a3, style);
        }
        text += strong;
    }
    text += rule('-', layout.process_cells);
    text.append(layout.process_header).append("\n").append(rule('=', layout.process_cells));
    for (const auto& [npu_id, chips] : cards)
        text += process_rows(chips, layout, style.charset) + rule('=', layout.process_cells);
    return text;
}

} // namespace asc::cmds::npu_smi
