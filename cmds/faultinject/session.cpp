// SPDX-License-Identifier: Apache-2.0
#include "cmds/faultinject/session.hpp"

#include "cmds/common/times.hpp"
#include "cmds/faultinject/options.hpp"

#include <fmt/format.h>

#include <chrono>
#include <thread>

namespace asc::cmds::faultinject {

int Session::fail(int status, const std::string& text) const {
    streams.error(text);
    return streams.finish(status, status::failed);
}

int Session::usage(const std::string& text) const {
    const std::vector<std::string> words{std::string(arguments.verb->name)};
    streams.usage_error(text, usage_line(program(), words));
    return streams.finish(status::usage, status::failed);
}

std::expected<hal::Driver, int> connect(const Session& session) {
    hal::ConnectOptions options;
    options.backend = session.arguments.text("backend");
    if (const auto seconds = session.arguments.number("timeout"))
        options.timeout = std::chrono::milliseconds(static_cast<std::int64_t>(*seconds * 1000));
    auto driver = hal::Driver::connect(options);
    if (!driver)
        return std::unexpected(session.fail(status_of(driver.error().kind), driver.error().text));
    if (!driver->backend().simulator)
        return std::unexpected(session.fail(
            status::failed,
            fmt::format("{} is a real driver, which takes no faults: its own way (E/26) serves the "
                        "process dmp_daemon alone and is built into no host driver; "
                        "'davsim start' makes a simulator, --backend names it",
                        printable(driver->backend().name))));
    return std::move(*driver);
}

int status_of_absence(const hal::Absence& absence) {
    switch (absence.reason) {
    case hal::Reason::denied:
        return status::not_permitted;
    case hal::Reason::timeout:
        return status::timeout;
    default:
        return status::failed;
    }
}

int show(const Session& session, const hal::BackendInfo* backend,
         const std::function<std::expected<Records, hal::Absence>()>& take) {
    Streams& streams = session.streams;
    const Arguments& arguments = session.arguments;
    const std::string_view format = arguments.text("output", "table");
    const bool series = arguments.has("watch");
    const std::chrono::duration<double> period(arguments.number("watch").value_or(0));
    Envelope envelope{backend, {}, series, true};
    for (int taken = 1;; ++taken) {
        auto records = take();
        if (!records)
            return session.fail(status_of_absence(records.error()), records.error().detail);
        if (arguments.has("query")) {
            const auto positions = resolve_query(arguments.text("query"), records->fields);
            if (!positions)
                return session.usage(positions.error());
            *records = pick(*records, *positions);
        }
        if (series)
            envelope.time = format == "table" ? local_text(now_ms()) : utc_text(now_ms());
        streams.out.write(format == "json" ? json_text(records_json(*records, envelope), series)
                          : format == "csv"
                              ? records_csv(*records, envelope)
                              : records_table(*records, envelope, streams.style.charset));
        streams.out.flush();
        envelope.header = false;
        if (!series || taken == arguments.whole("count").value_or(0) || streams.out.closed() ||
            streams.out.error() != 0)
            return streams.finish(status::ok, status::failed);
        std::this_thread::sleep_for(period);
    }
}

} // namespace asc::cmds::faultinject
