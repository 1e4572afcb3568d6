// SPDX-License-Identifier: Apache-2.0
// `events`: what the driver remembers of faults, and those to come.
#include "cmds/npu-smi/events.hpp"

#include "cmds/common/error_codes.hpp"
#include "cmds/common/times.hpp"
#include "cmds/npu-smi/info.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

namespace asc::cmds::npu_smi {

using hal::DeviceIds;
using hal::Event;

namespace {

// A short wait, so that a closed pipe is noticed and devices take turns.
constexpr auto kWait = std::chrono::milliseconds(500);

std::string severity_text(int severity) {
    constexpr std::array<std::string_view, 4> names{"warning", "minor", "major", "critical"};
    return severity >= 0 && severity < 4 ? std::string(names[static_cast<std::size_t>(severity)])
                                         : fmt::format("{}", severity);
}

std::string assertion_text(int assertion) {
    constexpr std::array<std::string_view, 3> names{"cleared", "raised", "once"};
    return assertion >= 0 && assertion < 3 ? std::string(names[static_cast<std::size_t>(assertion)])
                                           : fmt::format("{}", assertion);
}

std::string name_of(const Event& event) {
    if (!event.name.empty())
        return event.name;
    const KnownError* known = known_error(event.id);
    return known != nullptr ? std::string(known->meaning) : std::string("-");
}

constexpr Column<EventRow> kColumns[] = {
    {"time",
     [](const EventRow& row) -> Field {
         return Cell{utc_text(row.event.raised_ms), {}};
     }},
    {"npu_id",
     [](const EventRow& row) -> Field {
         if (!row.ids)
             return {hal::Reason::unknown, 0, "no device has this physical id now"};
         return Cell{row.ids->npu_id, {}};
     }},
    {"chip_id",
     [](const EventRow& row) -> Field {
         if (!row.ids)
             return {hal::Reason::unknown};
         return Cell{row.ids->chip_id, {}};
     }},
    {"phy_id",
     [](const EventRow& row) -> Field {
         return Cell{row.event.physical_id, {}};
     }},
    {"event_id",
     [](const EventRow& row) -> Field {
         return Cell{fmt::format("{:04X}", row.event.id), {}};
     }},
    {"severity",
     [](const EventRow& row) -> Field {
         return Cell{severity_text(row.event.severity), {}};
     }},
    {"assertion",
     [](const EventRow& row) -> Field {
         return Cell{assertion_text(row.event.assertion), {}};
     }},
    {"name",
     [](const EventRow& row) -> Field {
         return Cell{name_of(row.event), {}};
     }},
    {"additional_info",
     [](const EventRow& row) -> Field {
         return Cell{row.event.additional_info, {}};
     }},
    {"serial",
     [](const EventRow& row) -> Field {
         return Cell{row.event.serial, {}};
     }},
    {"pid",
     [](const EventRow& row) -> Field {
         return Cell{row.event.pid, {}};
     }},
};

const DeviceIds* device_of(std::span<const DeviceIds> devices, int physical_id) {
    const auto found = std::ranges::find(devices, physical_id, &DeviceIds::physical_id);
    return found == devices.end() ? nullptr : &*found;
}

int follow(const Session& session, std::span<const DeviceIds> ids) {
    Streams& streams = session.streams;
    const std::string_view format = session.arguments.text("output", "table");
    std::vector<std::size_t> picked;
    if (session.arguments.has("query")) {
        auto positions = resolve_query(session.arguments.text("query"), event_fields());
        if (!positions) {
            streams.error(positions.error());
            return streams.finish(npu_smi_status::bad_parameter, npu_smi_status::file);
        }
        picked = std::move(*positions);
    }
    const int count = session.arguments.whole("count").value_or(0);
    const bool all = ids.size() == session.driver.devices().size();
    Envelope envelope{&session.backend(), {}, true, true};
    if (format == "table" && picked.empty())
        streams.out.write(event_text({}, session.backend(), true, streams.style.charset));
    streams.notice("waiting for events; Ctrl-C ends");
    int seen = 0;
    while (!streams.out.closed() && streams.out.error() == 0) {
        hal::EventFilter filter;
        if (!all && ids.size() == 1)
            filter.device = ids.front().logical_id;
        const hal::Reading<Event> event = session.driver.next_event(filter, kWait);
        if (!event) {
            if (event.absence().reason == hal::Reason::timeout)
                continue;
            streams.error(fmt::format("events: {}", absence_text(event.absence())));
            const hal::Reason reason = event.absence().reason;
            return streams.finish(reason == hal::Reason::denied ? npu_smi_status::not_permitted
                                  : reason == hal::Reason::unsupported
                                      ? npu_smi_status::not_supported
                                      : npu_smi_status::failed,
                                  npu_smi_status::file);
        }
        const DeviceIds* device = device_of(ids, event->physical_id);
        if (device == nullptr && !all)
            continue;
        const EventRow row{*event, device == nullptr ? std::nullopt : std::optional(*device)};
        Records records = event_records(std::span(&row, 1));
        if (!picked.empty())
            records = pick(records, picked);
        if (format == "json")
            streams.out.write(json_text(records_json(records, envelope), true));
        else if (format == "csv")
            streams.out.write(records_csv(records, envelope));
        else if (!picked.empty())
            streams.out.write(records_table(records, envelope, streams.style.charset));
        else
            streams.out.write(
                event_text(std::span(&row, 1), session.backend(), false, streams.style.charset));
        streams.out.flush();
        envelope.header = false;
        if (++seen == count)
            break;
    }
    return streams.finish(npu_smi_status::ok, npu_smi_status::file);
}

} // namespace

std::vector<std::string_view> event_fields() {
    std::vector<std::string_view> names;
    for (const Column<EventRow>& column : kColumns)
        names.push_back(column.name);
    return names;
}

Records event_records(std::span<const EventRow> rows) {
    return make_records<EventRow>("asc-tools/npu-smi.events/1", "events", kColumns, rows);
}

std::string event_text(std::span<const EventRow> rows, const hal::BackendInfo& backend, bool header,
                       Charset charset) {
    std::string text;
    if (header && backend.simulator)
        text += fmt::format("Backend: {}\n", backend_text(backend, charset));
    if (header)
        text += fmt::format("{:<21}{:<6}{:<6}{:<11}{:<10}{:<9}{}\n", "Time", "NPU", "Chip", "Event",
                            "Severity", "Kind", "Name");
    for (const EventRow& row : rows) {
        const std::string npu = row.ids ? fmt::format("{}", row.ids->npu_id) : "-";
        const std::string chip = row.ids ? fmt::format("{}", row.ids->chip_id) : "-";
        std::string name = printable(name_of(row.event), charset);
        if (!row.event.additional_info.empty())
            name += " (" + printable(row.event.additional_info, charset) + ")";
        text += fmt::format("{:<21}{:<6}{:<6}{:<11}{:<10}{:<9}{}\n",
                            local_text(row.event.raised_ms), npu, chip,
                            fmt::format("{:04X}", row.event.id), severity_text(row.event.severity),
                            assertion_text(row.event.assertion), name);
    }
    return text;
}

int events(const Session& session) {
    const auto ids = selected_devices(session);
    if (!ids) {
        session.streams.error(ids.error().text);
        return ids.error().status;
    }
    if (session.arguments.has("follow"))
        return follow(session, *ids);
    // With --watch, --count is the number of looks, as everywhere; else of events.
    const bool series = session.arguments.has("watch");
    const int last = series ? 0 : session.arguments.whole("count").value_or(0);
    const auto take = [&]() -> std::expected<Answer, Failure> {
        const auto rows = std::make_shared<std::vector<EventRow>>();
        Answer answer;
        std::size_t unsupported = 0;
        for (const DeviceIds& device : *ids) {
            const auto history = session.driver.event_history(device);
            if (!history) {
                const hal::Absence& absence = history.absence();
                if (absence.reason == hal::Reason::unsupported) {
                    ++unsupported;
                    continue;
                }
                answer.whole = false;
                session.streams.notice(
                    fmt::format("events of {}: {}", device_name(device), absence_text(absence)));
                continue;
            }
            for (const Event& event : *history)
                rows->push_back({event, device});
        }
        if (unsupported == ids->size())
            return std::unexpected(Failure{npu_smi_status::not_supported,
                                           "This device does not support querying events."});
        std::ranges::stable_sort(*rows, {},
                                 [](const EventRow& row) { return row.event.raised_ms; });
        if (last > 0 && rows->size() > static_cast<std::size_t>(last))
            rows->erase(rows->begin(), rows->end() - last);
        answer.records = event_records(*rows);
        answer.table = [rows, &session] {
            const std::string text =
                event_text(*rows, session.backend(), true, session.streams.style.charset);
            return rows->empty() ? text + "no events\n" : text;
        };
        return answer;
    };
    return show(session, {event_fields(), take});
}

} // namespace asc::cmds::npu_smi
