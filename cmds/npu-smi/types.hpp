// SPDX-License-Identifier: Apache-2.0
// The `info -t` types that are a list of values per chip: one table gives the vendor's keys in
// their order, the fields of JSON and the columns of CSV.
#pragma once

#include "cmds/common/records.hpp"
#include "cmds/npu-smi/overview.hpp"
#include "hal/driver.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::cmds::npu_smi {

struct TypeRow {
    const hal::DeviceSnapshot& device;
    const hal::BackendInfo& backend;
};

enum class Level { both, card, chip }; // without or with -c

struct Item {
    std::string_view key;  // of the vendor; "": only in JSON and CSV
    std::string_view name; // in JSON and CSV; "": only a line
    Field (*get)(const TypeRow&);
    std::size_t width = 30; // of the key
    Level level = Level::both;
};

struct Type {
    std::string_view name;
    hal::Ask ask;
    std::span<const Item> items;
    std::span<const Item> items_310 = {}; // lines of those chips, where they differ
    // Lines whose number depends on the values, after those of the items; may be null.
    std::string (*further)(const TypeRow&, Charset) = nullptr;
};

// Null for a name that is none of these (proc, topo and proc-mem are views of their own).
const Type* find_type(std::string_view name);

// Ids first, then the named items: the same for every chip.
std::vector<std::string_view> type_fields(const Type& type);
Records type_records(const Type& type, std::span<const TypeRow> rows);
// Key and value lines; `chip_given`: -c was there.
std::string type_text(const Type& type, std::span<const TypeRow> rows, bool chip_given,
                      Charset charset);
// No device has any of it.
bool supported_by_none(const Records& records, std::size_t id_fields);
inline constexpr std::size_t kIdFields = 4;
// npu_id, chip_id, phy_id, bus_id of a row.
std::vector<Field> id_cells(const hal::DeviceIds& ids);
inline constexpr std::string_view kIdNames[kIdFields] = {"npu_id", "chip_id", "phy_id", "bus_id"};

// Error codes with text, meaning and next step, for JSON.
Json errors_json(const hal::DeviceSnapshot& device);

// Share of DDR in use. A chip without DDR has 0 of 0, which the vendor shows as 0.
Field ddr_percent(const TypeRow& row);

extern const Type kBoard, kUsages, kEcc, kHealth, kFlash, kPcieErrors, kSensors;

} // namespace asc::cmds::npu_smi
