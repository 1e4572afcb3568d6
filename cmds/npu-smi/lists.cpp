// SPDX-License-Identifier: Apache-2.0
// `info -l`, `info -m`, `info -t topo`: what there is and how it hangs together.
#include "cmds/npu-smi/lists.hpp"

#include "cmds/npu-smi/info.hpp"
#include "cmds/npu-smi/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

namespace asc::cmds::npu_smi {

using hal::DeviceIds;
using hal::DeviceSnapshot;

namespace {

struct Card {
    const DeviceSnapshot* first = nullptr;
    std::size_t chips = 0;
};

std::vector<Card> cards_of(std::span<const DeviceSnapshot> devices) {
    std::map<int, Card> cards;
    for (const DeviceSnapshot& device : devices) {
        Card& card = cards[device.ids.npu_id];
        card.first = card.first == nullptr ? &device : card.first;
        ++card.chips;
    }
    std::vector<Card> list;
    for (const auto& [id, card] : cards)
        list.push_back(card);
    return list;
}

Field serial_of(const DeviceIds& ids) {
    if (ids.serial.empty())
        return {hal::Reason::unknown};
    return Cell{ids.serial, {}};
}

constexpr Column<Card> kCardColumns[] = {
    {"npu_id",
     [](const Card& card) -> Field {
         return Cell{card.first->ids.npu_id, {}};
     }},
    {"serial", [](const Card& card) { return serial_of(card.first->ids); }},
    {"chip_count",
     [](const Card& card) -> Field {
         return Cell{card.chips, {}};
     }},
};

using Chip = const DeviceSnapshot*;

constexpr Column<Chip> kChipColumns[] = {
    {"npu_id",
     [](const Chip& chip) -> Field {
         return Cell{chip->ids.npu_id, {}};
     }},
    {"chip_id",
     [](const Chip& chip) -> Field {
         return Cell{chip->ids.chip_id, {}};
     }},
    {"logical_id",
     [](const Chip& chip) -> Field {
         return Cell{chip->ids.logical_id, {}};
     }},
    {"phy_id",
     [](const Chip& chip) -> Field {
         return Cell{chip->ids.physical_id, {}};
     }},
    {"bus_id",
     [](const Chip& chip) -> Field {
         if (chip->ids.bus_id.empty())
             return {hal::Reason::unknown};
         return Cell{chip->ids.bus_id, {}};
     }},
    {"serial", [](const Chip& chip) { return serial_of(chip->ids); }},
    {"name", [](const Chip& chip) { return field(full_chip_name(*chip)); }},
};

template <class Row, std::size_t N>
std::vector<std::string_view> names_of(const Column<Row> (&columns)[N]) {
    std::vector<std::string_view> names;
    for (const Column<Row>& column : columns)
        names.push_back(column.name);
    return names;
}

// One answer from the identity of the selected devices.
template <class Make>
int show_identity(const Session& session, std::vector<std::string_view> fields, Make make) {
    const auto ids = selected_devices(session);
    if (!ids) {
        session.streams.error(ids.error().text);
        return ids.error().status;
    }
    const auto take = [&]() -> std::expected<Answer, Failure> {
        const auto devices = std::make_shared<std::vector<DeviceSnapshot>>(
            session.driver.snapshot(*ids, hal::Ask::identity));
        Answer answer = make(devices);
        answer.whole = !any_incomplete(*devices);
        return answer;
    };
    return show(session, {std::move(fields), take});
}

// Rows and columns of the topology: readers take what follows "NPU" for a number.
std::string topology_name(const DeviceIds& ids) {
    return fmt::format("NPU{}", ids.chips_on_card > 1 ? ids.logical_id : ids.npu_id);
}

struct Pair {
    const DeviceSnapshot* device = nullptr;
    std::size_t index = 0;
    const Topology* topology = nullptr;
};

constexpr std::string_view kLegend =
    "\nLegend:\n\n"
    "  X       = the chip itself\n"
    "  SYS     = through PCIe and the link between two NUMA nodes\n"
    "  PHB     = through PCIe and the host bridge of one CPU\n"
    "  PIX     = through one PCIe switch\n"
    "  PXB     = through several PCIe switches\n"
    "  HCCS    = through HCCS\n"
    "  SIO     = through SIO\n"
    "  HCCS_SW = through an HCCS switch\n"
    "  UB      = through UB\n"
    "  NA      = not known\n";

} // namespace

std::vector<std::string_view> list_fields() {
    return names_of(kCardColumns);
}

Records list_records(std::span<const DeviceSnapshot> devices) {
    const std::vector<Card> cards = cards_of(devices);
    return make_records<Card>("asc-tools/npu-smi.list/1", "cards", kCardColumns, cards);
}

std::string list_text(std::span<const DeviceSnapshot> devices, const hal::BackendInfo& backend,
                      Charset charset) {
    const std::vector<Card> cards = cards_of(devices);
    std::string text = backend_line(backend, charset);
    text += key_value("Total Count", fmt::format("{}", cards.size()));
    for (const Card& card : cards) {
        text += "\n" + key_value("NPU ID", fmt::format("{}", card.first->ids.npu_id));
        text += key_value("Serial Number", cell_text(serial_of(card.first->ids), charset));
        text += key_value("Chip Count", fmt::format("{}", card.chips));
    }
    return text;
}

std::vector<std::string_view> map_fields() {
    return names_of(kChipColumns);
}

Records map_records(std::span<const DeviceSnapshot> devices) {
    std::vector<Chip> chips;
    for (const DeviceSnapshot& device : devices)
        chips.push_back(&device);
    return make_records<Chip>("asc-tools/npu-smi.map/1", "devices", kChipColumns, chips);
}

std::string map_text(std::span<const DeviceSnapshot> devices, const hal::BackendInfo& backend,
                     Charset charset) {
    const bool phy = family_of(devices) == Family::a3;
    const std::string phy_head = phy ? fmt::format("{:<30}", "Chip Phy-ID") : "";
    std::string text = fmt::format("\t{:<30}{:<30}{:<30}{}{}\n", "NPU ID", "Chip ID",
                                   "Chip Logic ID", phy_head, "Chip Name");
    for (const DeviceSnapshot& device : devices) {
        const DeviceIds& ids = device.ids;
        const std::string phy_cell = phy ? fmt::format("{:<30}", ids.physical_id) : "";
        text += fmt::format("\t{:<30}{:<30}{:<30}{}{}\n", ids.npu_id, ids.chip_id, ids.logical_id,
                            phy_cell, cell_text(field(full_chip_name(device)), charset));
    }
    // Readers of this table skip a line whose third word is no number; a blank line breaks them.
    for (const DeviceSnapshot& device : devices)
        text += fmt::format("\tNPU {} chip {}: logical id {}, physical id {}, bus id {}\n",
                            device.ids.npu_id, device.ids.chip_id, device.ids.logical_id,
                            device.ids.physical_id,
                            device.ids.bus_id.empty() ? "NA" : device.ids.bus_id);
    if (backend.simulator)
        text += fmt::format("\tBackend is simulated: {}\n", backend_text(backend, charset));
    return text;
}

std::vector<std::string_view> topology_fields() {
    return {"npu_id", "chip_id", "phy_id", "links", "cpu_affinity"};
}

Records topology_records(const Topology& topology) {
    constexpr Column<Pair> columns[] = {
        {"npu_id",
         [](const Pair& row) -> Field {
             return Cell{row.device->ids.npu_id, {}};
         }},
        {"chip_id",
         [](const Pair& row) -> Field {
             return Cell{row.device->ids.chip_id, {}};
         }},
        {"phy_id",
         [](const Pair& row) -> Field {
             return Cell{row.device->ids.physical_id, {}};
         }},
        {"links",
         [](const Pair& row) -> Field {
             Json links = Json::object();
             for (std::size_t i = 0; i < row.topology->devices.size(); ++i) {
                 const auto& link = row.topology->links[row.index][i];
                 links[topology_name(row.topology->devices[i].ids)] = link ? Json(*link) : Json();
             }
             return Cell{std::move(links), {}};
         }},
        {"cpu_affinity", [](const Pair& row) { return field(row.device->cpu_affinity); }},
    };
    std::vector<Pair> rows;
    for (std::size_t i = 0; i < topology.devices.size(); ++i)
        rows.push_back({&topology.devices[i], i, &topology});
    return make_records<Pair>("asc-tools/npu-smi.topo/1", "devices", columns, rows);
}

std::string topology_text(const Topology& topology, const hal::BackendInfo& backend,
                          Charset charset) {
    std::string text = "\t   ";
    for (const DeviceSnapshot& device : topology.devices)
        text += fmt::format("{:<11}", topology_name(device.ids));
    text += "CPU Affinity\n";
    for (std::size_t i = 0; i < topology.devices.size(); ++i) {
        text += fmt::format("{:<11}", topology_name(topology.devices[i].ids));
        for (const hal::Reading<std::string>& link : topology.links[i])
            text += pad(cell_text(field(link), charset), 10) + " ";
        text += cell_text(field(topology.devices[i].cpu_affinity), charset) + "\n";
    }
    text += kLegend;
    if (backend.simulator)
        text += fmt::format("\nBackend: {}\n", backend_text(backend, charset));
    return text;
}

int info_list(const Session& session) {
    return show_identity(session, list_fields(), [&](auto devices) {
        Answer answer;
        answer.records = list_records(*devices);
        answer.table = [devices, &session] {
            return list_text(*devices, session.backend(), session.streams.style.charset);
        };
        return answer;
    });
}

int info_map(const Session& session) {
    return show_identity(session, map_fields(), [&](auto devices) {
        Answer answer;
        answer.records = map_records(*devices);
        answer.table = [devices, &session] {
            return map_text(*devices, session.backend(), session.streams.style.charset);
        };
        return answer;
    });
}

int info_topo(const Session& session) {
    const auto ids = selected_devices(session);
    if (!ids) {
        session.streams.error(ids.error().text);
        return ids.error().status;
    }
    const auto take = [&]() -> std::expected<Answer, Failure> {
        const auto topology = std::make_shared<Topology>();
        topology->devices = session.driver.snapshot(*ids, hal::Ask::board);
        Answer answer;
        for (const DeviceIds& from : *ids) {
            auto& row = topology->links.emplace_back();
            for (const DeviceIds& to : *ids) {
                row.push_back(from.logical_id == to.logical_id
                                  ? hal::Reading<std::string>(std::string("X"))
                                  : session.driver.topology(from, to));
                const bool missing = !row.back() &&
                                     row.back().absence().reason != hal::Reason::unsupported &&
                                     row.back().absence().reason != hal::Reason::unknown;
                answer.whole = answer.whole && !missing;
            }
        }
        answer.records = topology_records(*topology);
        answer.table = [topology, &session] {
            return topology_text(*topology, session.backend(), session.streams.style.charset);
        };
        answer.whole = answer.whole && !any_incomplete(topology->devices);
        return answer;
    };
    return show(session, {topology_fields(), take});
}

} // namespace asc::cmds::npu_smi
