// SPDX-License-Identifier: Apache-2.0
// One answer in every format: rows of named fields become JSON, CSV or a plain table, whole or as
// --query picks them. A missing value carries its reason into each of them.
#pragma once

#include "cmds/common/json.hpp"
#include "cmds/common/text.hpp"
#include "hal/driver.hpp"
#include "hal/reading.hpp"

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::cmds {

// A value for programs and as a table shows it; an empty text: the value itself. Texts may hold raw
// bytes; every output escapes them for itself.
struct Cell {
    Json value;
    std::string text;
};
using Field = hal::Reading<Cell>;

// A reading as a field. The second form says how a table writes a present value.
template <class T> Field field(const hal::Reading<T>& reading) {
    return reading.map([](const T& value) { return Cell{Json(value), {}}; });
}
template <class T, class F> Field field(const hal::Reading<T>& reading, F text) {
    return reading.map([&](const T& value) { return Cell{Json(value), text(value)}; });
}

// What a table shows: the value, or "NA", "DENIED", "ERR" ... Printable.
std::string cell_text(const Field& field, Charset charset);
// {"reason": "...", "error": N, "detail": "..."}; error and detail only when there are any.
Json absence_json(const hal::Absence& absence);
// Strings anywhere in a value made valid UTF-8.
Json sanitised(Json value);

struct Records {
    std::string schema;                   // "asc-tools/npu-smi.info/1"
    std::string list;                     // key of the rows in JSON: "devices"
    std::vector<std::string_view> fields; // dotted names: "ecc.single_bit"
    std::vector<std::vector<Field>> rows; // each as long as `fields`
};

template <class Row> struct Column {
    std::string_view name;
    Field (*get)(const Row&);
};

template <class Row>
Records make_records(std::string schema, std::string list, std::span<const Column<Row>> columns,
                     std::span<const Row> rows) {
    Records records{std::move(schema), std::move(list), {}, {}};
    for (const Column<Row>& column : columns)
        records.fields.push_back(column.name);
    for (const Row& row : rows) {
        std::vector<Field>& cells = records.rows.emplace_back();
        cells.reserve(columns.size());
        for (const Column<Row>& column : columns)
            cells.push_back(column.get(row));
    }
    return records;
}

// Positions of the fields that --query names, in its order. The error names the first unknown one
// and lists the known. A name that is the front part of dotted ones ("ecc") stands for all of them.
std::expected<std::vector<std::size_t>, std::string>
resolve_query(std::string_view query, std::span<const std::string_view> fields);
Records pick(const Records& records, std::span<const std::size_t> positions);

// What stands around the rows.
struct Envelope {
    const hal::BackendInfo* backend = nullptr;
    std::optional<std::string> time; // of a sample in a series: ISO 8601
    bool one_line = false;           // JSON
    bool header = true;              // CSV
};

Json row_json(std::span<const std::string_view> fields, std::span<const Field> row);
// {"schema", "backend", "driver_version", "time", LIST: [...], and the members of `more`}.
Json records_json(const Records& records, const Envelope& envelope, const Json& more = {});
std::string records_csv(const Records& records, const Envelope& envelope);
// Header of field names, columns parted by two blanks.
std::string records_table(const Records& records, const Envelope& envelope, Charset charset);

// "unix:PATH (simulated, profile handbook)" for a person; only the name on a real driver.
std::string backend_text(const hal::BackendInfo& backend, Charset charset);

} // namespace asc::cmds
