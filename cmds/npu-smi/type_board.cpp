// SPDX-License-Identifier: Apache-2.0
// -t board, flash, pcie-err, sensors: what the hardware says of itself.
#include "cmds/npu-smi/session.hpp"
#include "cmds/npu-smi/types.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace asc::cmds::npu_smi {

using hal::Ask;
using hal::Reading;

namespace {

Field text_or_unknown(const std::string& text) {
    if (text.empty())
        return {hal::Reason::unknown};
    return Cell{text, {}};
}

Field hex(const Reading<std::uint32_t>& reading) {
    return field(reading, [](std::uint32_t value) { return fmt::format("0x{:02x}", value); });
}

template <std::uint32_t hal::PciIds::*member> Field pci_id(const TypeRow& row) {
    return field(row.device.pci_ids.map([](const hal::PciIds& ids) { return ids.*member; }),
                 [](std::uint32_t value) { return fmt::format("0x{:04X}", value); });
}

Field die_id(const Reading<std::array<std::uint32_t, 5>>& reading) {
    return field(reading.map([](const std::array<std::uint32_t, 5>& words) {
        return fmt::format("{:08X} {:08X} {:08X} {:08X} {:08X}", words[0], words[1], words[2],
                           words[3], words[4]);
    }));
}

// Revision letter of the board; the number is its place in the alphabet.
Field pcb_letter(const TypeRow& row) {
    return field(row.device.pcb_id, [](std::uint32_t id) {
        return id >= 1 && id <= 26 ? std::string(1, static_cast<char>('A' + id - 1))
                                   : std::string("NA");
    });
}

Field bus_upper(const TypeRow& row) {
    std::string text = row.device.ids.bus_id;
    std::ranges::transform(text, text.begin(), [](char c) {
        return static_cast<char>(c >= 'a' && c <= 'f' ? c - ('a' - 'A') : c);
    });
    return text_or_unknown(text);
}

Field not_in_interface(const TypeRow&) {
    return {hal::Reason::unsupported};
}

constexpr Item kBoardItems[] = {
    {"Product Name", "", not_in_interface, 30, Level::card},
    {"Model", "", not_in_interface, 30, Level::card},
    {"Manufacturer", "", not_in_interface, 30, Level::card},
    {"Serial Number", "serial",
     [](const TypeRow& row) { return text_or_unknown(row.device.ids.serial); }, 30, Level::card},
    {"Software Version", "driver_version",
     [](const TypeRow& row) { return text_or_unknown(row.backend.driver_version); }, 30,
     Level::card},
    {"Chip Type", "chip_type", [](const TypeRow& row) { return field(row.device.chip_type); }, 30,
     Level::chip},
    {"Chip Name", "chip_name", [](const TypeRow& row) { return field(row.device.chip_name); }, 30,
     Level::chip},
    {"Chip Version", "chip_version",
     [](const TypeRow& row) { return field(row.device.chip_version); }, 30, Level::chip},
    {"", "soc_version", [](const TypeRow& row) { return field(row.device.soc_version); }},
    {"Firmware Version", "firmware_version",
     [](const TypeRow& row) { return field(row.device.firmware_version); }, 30, Level::card},
    // Told by a check of the whole stack (asc-dmi check), not by the driver.
    {"Compatibility", "", [](const TypeRow&) -> Field { return {hal::Reason::unknown}; }, 30,
     Level::card},
    {"Board ID", "board_id", [](const TypeRow& row) { return hex(row.device.board_id); }},
    {"PCB ID", "pcb_id", pcb_letter},
    {"BOM ID", "bom_id", [](const TypeRow& row) { return field(row.device.bom_id); }},
    {"VDie ID", "vdie_id", [](const TypeRow& row) { return die_id(row.device.vdie_id); }, 30,
     Level::chip},
    {"NDie ID", "ndie_id", [](const TypeRow& row) { return die_id(row.device.ndie_id); }, 30,
     Level::chip},
    {"Chip Position ID", "",
     [](const TypeRow& row) -> Field {
         return Cell{row.device.ids.chip_id, {}};
     },
     30, Level::chip},
    {"PCIe Bus Info", "", bus_upper},
    {"Firmware Version", "", [](const TypeRow& row) { return field(row.device.firmware_version); },
     30, Level::chip},
    {"Slot ID", "slot_id", [](const TypeRow& row) { return field(row.device.slot_id); }, 30,
     Level::card},
    {"Class ID", "", not_in_interface, 30, Level::card},
    {"PCI Vendor ID", "pci_vendor_id", pci_id<&hal::PciIds::vendor>, 30, Level::card},
    {"PCI Device ID", "pci_device_id", pci_id<&hal::PciIds::device>, 30, Level::card},
    {"Subsystem Vendor ID", "pci_subsystem_vendor_id", pci_id<&hal::PciIds::subsystem_vendor>, 30,
     Level::card},
    {"Subsystem Device ID", "pci_subsystem_device_id", pci_id<&hal::PciIds::subsystem_device>, 30,
     Level::card},
    {"", "link_speed", [](const TypeRow& row) { return field(row.device.link_speed); }},
    {"", "numa_node", [](const TypeRow& row) { return field(row.device.numa_node); }},
    {"Chip Count", "",
     [](const TypeRow& row) -> Field {
         return Cell{row.device.ids.chips_on_card, {}};
     },
     30, Level::card},
};

constexpr Item kFlashItems[] = {
    {"Flash Count", "count",
     [](const TypeRow& row) {
         return field(row.device.flash.map(
             [](const std::vector<hal::FlashPart>& parts) { return parts.size(); }));
     }},
    {"", "parts",
     [](const TypeRow& row) {
         return field(row.device.flash.map([](const std::vector<hal::FlashPart>& parts) {
             Json list = Json::array();
             for (const hal::FlashPart& part : parts)
                 list.push_back(Json{{"id", fmt::format("{:X}", part.id)},
                                     {"manufacturer_id", part.manufacturer_id},
                                     {"size_mib", part.size_bytes >> 20}});
             return list;
         }));
     }},
};

std::string flash_lines(const TypeRow& row, Charset) {
    std::string text;
    if (!row.device.flash)
        return text;
    for (const hal::FlashPart& part : *row.device.flash) {
        text += key_value("Flash ID", fmt::format("{:X}", part.id));
        text += key_value("Manufacturer ID", fmt::format("0x{:X}", part.manufacturer_id));
        text += key_value("Capacity(MB)", fmt::format("{}", part.size_bytes >> 20));
    }
    return text;
}

// Order of the driver's 12 counters: driver-abi.md 10.2, 0x0690.
template <std::size_t index> Field pcie_counter(const TypeRow& row) {
    return field(row.device.pcie_errors.map([](const auto& counters) { return counters[index]; }));
}

constexpr Item kPcieItems[] = {
    {"TX Error Count", "", not_in_interface},
    {"RX Error Count", "rx_errors", pcie_counter<5>},
    {"Lcrc Error Count", "lcrc_errors", pcie_counter<10>},
    {"Ecrc Error Count", "", not_in_interface},
    {"Retry Count", "", not_in_interface},
    {"Dcrc Error Count", "dcrc_errors", pcie_counter<11>},
    {"PHY Lane Error Count", "phy_lane_errors", pcie_counter<6>},
};

constexpr Item kSensorItems[] = {
    {"", "sensors",
     [](const TypeRow& row) {
         return field(row.device.sensors.map([](const auto& sensors) {
             Json object = Json::object();
             for (const auto& [name, value] : sensors)
                 object[name] = value;
             return object;
         }));
     }},
};

std::string sensor_lines(const TypeRow& row, Charset charset) {
    if (!row.device.sensors)
        return key_value("Sensors", std::string(hal::to_cell(row.device.sensors.absence().reason)));
    std::string text;
    for (const auto& [name, value] : *row.device.sensors)
        text += key_value(printable(name, charset), fmt::format("{:g}", value));
    return text.empty() ? key_value("Sensors", "none") : text;
}

} // namespace

const Type kBoard{"board", Ask::identity | Ask::board, kBoardItems};
const Type kFlash{"flash", Ask::flash, kFlashItems, {}, flash_lines};
const Type kPcieErrors{"pcie-err", Ask::pcie_errors, kPcieItems};
const Type kSensors{"sensors", Ask::sensors, kSensorItems, {}, sensor_lines};

} // namespace asc::cmds::npu_smi
