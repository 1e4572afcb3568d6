// SPDX-License-Identifier: Apache-2.0
#include "cmds/npu-smi/session.hpp"

#include "cmds/common/times.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace asc::cmds::npu_smi {

using hal::DeviceIds;
using hal::DeviceSnapshot;

std::int64_t Session::device_now_ms() const {
    // A virtual clock stands still; every other device shares our time.
    if (backend().virtual_clock && backend().wall_ms != 0)
        return static_cast<std::int64_t>(backend().wall_ms);
    return now_ms();
}

std::string Session::command(std::string_view verb, const DeviceIds& ids) const {
    std::string text = fmt::format("npu-smi {} {}", verb, device_options(ids));
    if (!backend().next_argument.empty())
        text.append(" ").append(backend().next_argument);
    return text;
}

std::expected<std::vector<DeviceIds>, Failure> selected_devices(const Session& session) {
    const std::vector<DeviceIds>& all = session.driver.devices();
    if (all.empty())
        return std::unexpected(
            Failure{npu_smi_status::no_driver, "There is no NPU card on this server."});
    Selection selection;
    selection.device = session.arguments.text("device", "all");
    selection.chip = session.arguments.whole("chip");
    selection.physical = session.arguments.whole("physical");
    auto devices = select_devices(all, selection);
    if (!devices)
        return std::unexpected(Failure{npu_smi_status::bad_parameter, devices.error()});
    return *devices;
}

std::expected<DeviceIds, Failure> selected_device(const Session& session) {
    if (!session.arguments.has("device"))
        return std::unexpected(
            Failure{npu_smi_status::bad_parameter, "This command must input card id and chip id."});
    const auto devices = selected_devices(session);
    if (!devices)
        return std::unexpected(devices.error());
    if (devices->size() == 1)
        return devices->front();
    const std::string_view name = session.arguments.text("device");
    const bool one_card = std::ranges::all_of(
        *devices, [&](const DeviceIds& ids) { return ids.npu_id == devices->front().npu_id; });
    return std::unexpected(
        Failure{npu_smi_status::bad_parameter,
                one_card ? fmt::format("NPU {} has {} chips; say which one with -c",
                                       devices->front().npu_id, devices->size())
                         : fmt::format("-i {} names {} devices; this command takes one",
                                       printable(name), devices->size())});
}

namespace {

enum class Format { table, json, csv };

Format format_of(const Arguments& arguments) {
    const std::string_view name = arguments.text("output", "table");
    return name == "json" ? Format::json : name == "csv" ? Format::csv : Format::table;
}

std::string render(const Session& session, Answer answer, Format format, const Envelope& envelope,
                   std::span<const std::size_t> picked) {
    const Charset charset = session.streams.style.charset;
    if (!picked.empty())
        answer.records = pick(answer.records, picked);
    if (format == Format::csv)
        return records_csv(answer.records, envelope);
    if (format == Format::json) {
        const Json more = answer.more && picked.empty() ? answer.more() : Json::object();
        return json_text(records_json(answer.records, envelope, more), envelope.one_line);
    }
    if (!picked.empty() || !answer.table)
        return records_table(answer.records, envelope, charset);
    const std::string time =
        envelope.time ? fmt::format("Time: {}\n", *envelope.time) : std::string();
    return time + answer.table();
}

} // namespace

int show(const Session& session, const View& view, const Pace& pace) {
    const Arguments& arguments = session.arguments;
    Streams& streams = session.streams;
    std::vector<std::size_t> picked;
    if (arguments.has("query")) {
        auto positions = resolve_query(arguments.text("query"), view.fields);
        if (!positions) {
            streams.error(positions.error());
            return streams.finish(npu_smi_status::bad_parameter, npu_smi_status::file);
        }
        picked = std::move(*positions);
    }
    const bool series = pace.repeats || arguments.has("watch");
    const std::chrono::duration<double> period(arguments.number("watch").value_or(pace.seconds));
    const int count = arguments.whole("count").value_or(0); // 0: for ever
    const Format format = format_of(arguments);
    Envelope envelope{&session.backend(), {}, series, true};
    int status = npu_smi_status::ok;
    auto due = std::chrono::steady_clock::now();
    for (int taken = 1;; ++taken) {
        if (arguments.has("watch") || (series && format != Format::table))
            envelope.time = format == Format::table ? local_text(now_ms()) : utc_text(now_ms());
        auto answer = view.take();
        if (!answer) {
            streams.error(answer.error().text);
            return streams.finish(answer.error().status, npu_smi_status::file);
        }
        if (!answer->whole)
            status = npu_smi_status::partial;
        streams.out.write(render(session, std::move(*answer), format, envelope, picked));
        envelope.header = false;
        streams.out.flush();
        if (!series || taken == count || streams.out.closed() || streams.out.error() != 0)
            return streams.finish(status, npu_smi_status::file);
        // From due time to due time, so that the work between does not add up; what was missed
        // is not made up for.
        due = std::max(due + std::chrono::duration_cast<std::chrono::nanoseconds>(period),
                       std::chrono::steady_clock::now());
        std::this_thread::sleep_until(due);
    }
}

bool incomplete(const DeviceSnapshot& device) {
    return (device.state != hal::DeviceState::ok && device.state != hal::DeviceState::resetting) ||
           device.troubled();
}

bool any_incomplete(std::span<const DeviceSnapshot> devices) {
    return std::ranges::any_of(devices, incomplete);
}

std::string key_value(std::string_view key, std::string_view value, std::size_t width) {
    return fmt::format("\t{} : {}\n", pad(key, width), value);
}

std::string backend_line(const hal::BackendInfo& backend, Charset charset) {
    return backend.simulator ? key_value("Backend", backend_text(backend, charset)) : std::string();
}

} // namespace asc::cmds::npu_smi
