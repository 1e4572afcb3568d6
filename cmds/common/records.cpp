// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/records.hpp"

#include "cmds/common/csv.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace asc::cmds {

namespace {

// Raw text of a present value: what a table escapes and CSV quotes.
std::string raw_text(const Cell& cell) {
    if (!cell.text.empty())
        return cell.text;
    if (cell.value.is_string())
        return cell.value.get<std::string>();
    if (cell.value.is_number_float())
        return fmt::format("{}", cell.value.get<double>());
    return sanitised(cell.value).dump();
}

// CSV is for programs: the bare value, not the table's rendering.
std::string csv_text(const Field& field) {
    if (!field)
        return std::string(hal::to_cell(field.absence().reason));
    return raw_text(Cell{field->value, {}});
}

// Puts `value` at a dotted name, making the objects on the way.
void put(Json& object, std::string_view name, Json value) {
    Json* place = &object;
    for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
        place = &(*place)[std::string(name.substr(0, dot))];
        name.remove_prefix(dot + 1);
    }
    (*place)[std::string(name)] = std::move(value);
}

std::string_view next_word(std::string_view& list) {
    const std::size_t comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    list.remove_prefix(comma == std::string_view::npos ? list.size() : comma + 1);
    const std::size_t first = word.find_first_not_of(' ');
    const std::size_t last = word.find_last_not_of(' ');
    return first == std::string_view::npos ? std::string_view{}
                                           : word.substr(first, last - first + 1);
}

} // namespace

Json sanitised(Json value) {
    if (value.is_string())
        return valid_utf8(value.get_ref<const std::string&>());
    if (value.is_array())
        for (Json& element : value)
            element = sanitised(std::move(element));
    if (!value.is_object())
        return value;
    Json clean = Json::object();
    for (auto& [key, element] : value.items())
        clean[valid_utf8(key)] = sanitised(std::move(element));
    return clean;
}

std::string cell_text(const Field& field, Charset charset) {
    if (!field)
        return std::string(hal::to_cell(field.absence().reason));
    return printable(raw_text(*field), charset);
}

Json absence_json(const hal::Absence& absence) {
    Json json{{"reason", hal::to_string(absence.reason)}};
    if (absence.error != 0)
        json["error"] = absence.error;
    if (!absence.detail.empty())
        json["detail"] = valid_utf8(absence.detail);
    return json;
}

std::expected<std::vector<std::size_t>, std::string>
resolve_query(std::string_view query, std::span<const std::string_view> fields) {
    std::vector<std::size_t> positions;
    std::string_view rest = query;
    do {
        const std::string_view word = next_word(rest);
        const std::size_t before = positions.size();
        for (std::size_t i = 0; i < fields.size() && !word.empty(); ++i) {
            const bool inside = fields[i].starts_with(word) &&
                                (fields[i].size() == word.size() || fields[i][word.size()] == '.');
            if (inside && std::ranges::find(positions, i) == positions.end())
                positions.push_back(i);
            else if (inside)
                return std::unexpected(fmt::format("--query names '{}' twice", fields[i]));
        }
        if (positions.size() == before)
            return std::unexpected(fmt::format("--query: no field '{}'; known: {}", printable(word),
                                               fmt::join(fields, ", ")));
    } while (!rest.empty());
    return positions;
}

Records pick(const Records& records, std::span<const std::size_t> positions) {
    Records out{records.schema, records.list, {}, {}};
    for (const std::size_t position : positions)
        out.fields.push_back(records.fields[position]);
    for (const std::vector<Field>& row : records.rows) {
        std::vector<Field>& cells = out.rows.emplace_back();
        for (const std::size_t position : positions)
            cells.push_back(row[position]);
    }
    return out;
}

Json row_json(std::span<const std::string_view> fields, std::span<const Field> row) {
    Json object = Json::object();
    Json unavailable = Json::object();
    for (std::size_t i = 0; i < fields.size(); ++i) {
        put(object, fields[i], row[i] ? sanitised(row[i]->value) : Json());
        if (!row[i])
            unavailable[std::string(fields[i])] = absence_json(row[i].absence());
    }
    object["unavailable"] = std::move(unavailable);
    return object;
}

Json records_json(const Records& records, const Envelope& envelope, const Json& more) {
    Json document{{"schema", records.schema}};
    if (const hal::BackendInfo* backend = envelope.backend) {
        document["backend"] = valid_utf8(backend->name);
        if (backend->simulator)
            document["simulator"] = valid_utf8(backend->simulator_text);
        document["driver_version"] =
            backend->driver_version.empty() ? Json() : Json(valid_utf8(backend->driver_version));
    }
    if (envelope.time)
        document["time"] = *envelope.time;
    Json rows = Json::array();
    for (const std::vector<Field>& row : records.rows)
        rows.push_back(row_json(records.fields, row));
    document[records.list] = std::move(rows);
    for (const auto& [key, value] : more.items())
        document[key] = value;
    return document;
}

std::string records_csv(const Records& records, const Envelope& envelope) {
    std::string out;
    std::vector<std::string> line;
    if (envelope.header) {
        if (envelope.time)
            line.emplace_back("time");
        line.insert(line.end(), records.fields.begin(), records.fields.end());
        line.emplace_back("backend");
        out += csv_line(line);
    }
    for (const std::vector<Field>& row : records.rows) {
        line.clear();
        if (envelope.time)
            line.push_back(*envelope.time);
        for (const Field& field : row)
            line.push_back(csv_text(field));
        line.push_back(envelope.backend ? envelope.backend->name : std::string());
        out += csv_line(line);
    }
    return out;
}

std::string records_table(const Records& records, const Envelope& envelope, Charset charset) {
    std::vector<std::vector<std::string>> lines(1);
    lines[0].assign(records.fields.begin(), records.fields.end());
    for (const std::vector<Field>& row : records.rows) {
        std::vector<std::string>& cells = lines.emplace_back();
        for (const Field& field : row)
            cells.push_back(cell_text(field, charset));
    }
    std::vector<std::size_t> widths(records.fields.size());
    for (const auto& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], display_width(line[i]));
    std::string out;
    if (envelope.time)
        out.append("Time: ").append(*envelope.time).append("\n");
    if (envelope.backend && envelope.backend->simulator)
        out.append("Backend: ").append(backend_text(*envelope.backend, charset)).append("\n");
    for (const auto& line : lines) {
        std::string text;
        for (std::size_t i = 0; i < line.size(); ++i)
            text.append(pad(line[i], widths[i])).append("  ");
        text.erase(text.find_last_not_of(' ') + 1);
        out.append(text).append("\n");
    }
    return out;
}

std::string backend_text(const hal::BackendInfo& backend, Charset charset) {
    std::string text = printable(backend.name, charset);
    if (!backend.simulator)
        return text;
    const std::string what =
        backend.simulator_text.empty() ? "simulated" : printable(backend.simulator_text, charset);
    return text.append(" (").append(what).append(")");
}

} // namespace asc::cmds
