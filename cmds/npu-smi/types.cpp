// SPDX-License-Identifier: Apache-2.0
// Rendering of the types, and the short ones.
#include "cmds/npu-smi/types.hpp"

#include "cmds/npu-smi/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace asc::cmds::npu_smi {

using hal::Ask;
using hal::Reading;

namespace {

Field unsupported() {
    return {hal::Reason::unsupported};
}

Field watt(const Reading<double>& reading) {
    return field(reading, [](double value) { return fmt::format("{:.1f}", value); });
}

constexpr Item kTemp[] = {
    {"NPU Temperature (C)", "temperature_c",
     [](const TypeRow& row) { return field(row.device.temperature_c); }},
};

// The power stands last: a reader takes what follows the last colon.
constexpr Item kPower[] = {
    {"Power Limit(W)", "power_limit_w",
     [](const TypeRow& row) { return watt(row.device.power_limit_w); }},
    {"NPU Real-time Power(W)", "power_w",
     [](const TypeRow& row) { return watt(row.device.power_w); }},
};

constexpr Item kVolt[] = {
    {"Voltage(V)", "voltage_v",
     [](const TypeRow& row) {
         return field(row.device.voltage_v,
                      [](double volt) { return fmt::format("{:.2f}", volt); });
     }},
};

constexpr Item kMemory[] = {
    {"DDR Capacity(MB)", "ddr_total_mib",
     [](const TypeRow& row) { return field(row.device.ddr_total_mib); }},
    {"DDR Clock Speed(MHz)", "ddr_mhz", [](const TypeRow&) { return unsupported(); }},
    {"HBM Capacity(MB)", "hbm_total_mib",
     [](const TypeRow& row) { return field(row.device.hbm_total_mib); }},
    {"HBM Clock Speed(MHz)", "hbm_mhz",
     [](const TypeRow& row) { return field(row.device.hbm_mhz); }},
    {"HBM Temperature(C)", "hbm_temperature_c",
     [](const TypeRow& row) { return field(row.device.hbm_temperature_c); }},
    {"HBM Manufacturer ID", "hbm_manufacturer_id",
     [](const TypeRow& row) {
         return field(row.device.hbm_manufacturer_id,
                      [](std::uint32_t id) { return fmt::format("0x{:X}", id); });
     }},
};

constexpr Item kCommon[] = {
    {"Memory Usage Rate(%)", "ddr_percent", ddr_percent},
    {"HBM Usage Rate(%)", "hbm_percent",
     [](const TypeRow& row) { return field(row.device.hbm_percent); }},
    {"Aicore Usage Rate(%)", "aicore_percent",
     [](const TypeRow& row) { return field(row.device.ai_core_percent); }},
    {"Aicore Freq(MHZ)", "aicore_rated_mhz",
     [](const TypeRow& row) { return field(row.device.ai_core_rated_mhz); }},
    {"Aicore curFreq(MHZ)", "aicore_mhz",
     [](const TypeRow& row) { return field(row.device.ai_core_mhz); }},
    {"Aicore Count", "aicore_count",
     [](const TypeRow& row) { return field(row.device.ai_core_count); }},
    {"Temperature(C)", "temperature_c",
     [](const TypeRow& row) { return field(row.device.temperature_c); }},
    {"NPU Real-time Power(W)", "power_w",
     [](const TypeRow& row) { return watt(row.device.power_w); }},
};

// The vendor answers it on 310 alone, from a source that the driver's interface does not have.
constexpr Item kProduct[] = {
    {"Product Type", "product_type", [](const TypeRow&) { return unsupported(); }},
};

const Type kShort[] = {
    {"temp", Ask::telemetry, kTemp},
    {"power", Ask::telemetry | Ask::limits, kPower},
    {"volt", Ask::frequencies, kVolt},
    {"memory", Ask::memory | Ask::frequencies, kMemory},
    {"common", Ask::memory | Ask::usages | Ask::frequencies | Ask::identity | Ask::telemetry,
     kCommon},
    {"product", Ask::identity, kProduct},
};

} // namespace

const Type* find_type(std::string_view name) {
    for (const Type& type : kShort)
        if (type.name == name)
            return &type;
    for (const Type* type : {&kBoard, &kUsages, &kEcc, &kHealth, &kFlash, &kPcieErrors, &kSensors})
        if (type->name == name)
            return type;
    return nullptr;
}

std::vector<std::string_view> type_fields(const Type& type) {
    std::vector<std::string_view> names(std::begin(kIdNames), std::end(kIdNames));
    for (const Item& item : type.items)
        if (!item.name.empty())
            names.push_back(item.name);
    return names;
}

std::vector<Field> id_cells(const hal::DeviceIds& ids) {
    return {Cell{ids.npu_id, {}}, Cell{ids.chip_id, {}}, Cell{ids.physical_id, {}},
            ids.bus_id.empty() ? Field(hal::Reason::unknown) : Field(Cell{ids.bus_id, {}})};
}

Records type_records(const Type& type, std::span<const TypeRow> rows) {
    Records records{
        fmt::format("asc-tools/npu-smi.{}/1", type.name), "devices", type_fields(type), {}};
    for (const TypeRow& row : rows) {
        std::vector<Field>& cells = records.rows.emplace_back(id_cells(row.device.ids));
        for (const Item& item : type.items)
            if (!item.name.empty())
                cells.push_back(item.get(row));
    }
    return records;
}

bool supported_by_none(const Records& records, std::size_t id_fields) {
    return std::ranges::all_of(records.rows, [&](const std::vector<Field>& row) {
        return std::all_of(row.begin() + static_cast<std::ptrdiff_t>(id_fields), row.end(),
                           [](const Field& cell) {
                               return !cell && cell.absence().reason == hal::Reason::unsupported;
                           });
    });
}

std::string type_text(const Type& type, std::span<const TypeRow> rows, bool chip_given,
                      Charset charset) {
    std::string text = rows.empty() ? "" : backend_line(rows.front().backend, charset);
    int card = -1;
    for (const TypeRow& row : rows) {
        const hal::DeviceIds& ids = row.device.ids;
        const bool new_card = ids.npu_id != card;
        if (card >= 0)
            text += "\n";
        card = ids.npu_id;
        if (new_card || chip_given)
            text += key_value("NPU ID", fmt::format("{}", ids.npu_id));
        if (new_card && !chip_given)
            text += key_value("Chip Count", fmt::format("{}", ids.chips_on_card));
        if (chip_given || ids.chips_on_card > 1)
            text += key_value("Chip ID", fmt::format("{}", ids.chip_id));
        if (!row.device.state_detail.empty())
            text += key_value("State", fmt::format("{}: {}", health_text(row.device),
                                                   printable(row.device.state_detail, charset)));
        const bool other_keys = !type.items_310.empty() && family_of(row.device) == Family::i310;
        for (const Item& item : other_keys ? type.items_310 : type.items) {
            const bool shown_here =
                item.level == Level::both || (item.level == Level::chip) == chip_given;
            if (!item.key.empty() && shown_here)
                text += key_value(item.key, cell_text(item.get(row), charset), item.width);
        }
        if (type.further != nullptr)
            text += type.further(row, charset);
    }
    return text;
}

} // namespace asc::cmds::npu_smi
