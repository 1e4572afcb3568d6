// SPDX-License-Identifier: Apache-2.0
#include "faultinject/journal.hpp"

#include <algorithm>
#include <tuple>

namespace asc::faultinject {

namespace {

using Line = nlohmann::ordered_json; // keys stand in the order in which they are put

std::string written(const Line& line) {
    return line.dump(-1, ' ', false, Line::error_handler_t::replace) + "\n";
}

// What the numbers of a record mean.
void put_details(const hal::JournalRecord& record, Line& line) {
    using Kind = hal::JournalKind;
    if (!record.command.empty())
        line["command"] = record.command;
    switch (record.kind) {
    case Kind::fault:
        line["rule"] = record.code;
        line["match"] = record.a;
        return;
    case Kind::call:
        line["result"] = static_cast<std::int32_t>(record.code);
        return;
    case Kind::open:
        line["node"] = record.a;
        line["index"] = record.b;
        return;
    case Kind::release:
        line["reclaimed"] = record.a;
        line["left"] = record.b;
        return;
    case Kind::alloc:
        line["bytes"] = record.a;
        line["address"] = record.b;
        return;
    case Kind::free:
    case Kind::oom:
        line["bytes"] = record.a;
        return;
    case Kind::ecc:
        line["outcome"] = record.code == 1   ? "corrected"
                          : record.code == 2 ? "detected"
                                             : "miscorrected";
        line["address"] = record.a;
        line["syndrome"] = record.b;
        return;
    case Kind::page:
        line["state"] = record.code;
        line["address"] = record.a;
        return;
    case Kind::event: {
        char id[16];
        std::snprintf(id, sizeof(id), "0x%08X", record.code);
        line["id"] = id;
        line["assertion"] = record.a;
        return;
    }
    case Kind::state:
        line["state"] = record.code;
        return;
    case Kind::reset:
        line["outcome"] = record.code;
        line["boot_status"] = record.a;
        return;
    case Kind::clock:
        line["advance_ns"] = record.a;
        return;
    case Kind::lost:
        line["records"] = record.a;
        return;
    case Kind::other:
        line["code"] = record.code;
        line["a"] = record.a;
        line["b"] = record.b;
    }
}

} // namespace

std::string journal_head(const Scenario& scenario, Backend backend, std::uint64_t seed) {
    Line line;
    line["journal"] = kJournalVersion;
    line["scenario"] = scenario.name;
    line["backend"] = to_string(backend);
    line["profile"] = scenario.profile_text.empty() ? scenario.profile : "in the scenario";
    line["clock"] = scenario.clock == Clock::real ? "real" : "virtual";
    line["seed"] = seed;
    return written(line);
}

std::string journal_records(std::size_t step, std::vector<hal::JournalRecord> records,
                            std::uint64_t start_ns, bool with_times) {
    // Files that are open side by side are served in no certain order, each alone in its own.
    if (!with_times)
        for (hal::JournalRecord& record : records)
            record.time_ns = 0;
    std::ranges::stable_sort(records, [](const auto& a, const auto& b) {
        return std::tie(a.device, a.time_ns, a.client, a.sequence) <
               std::tie(b.device, b.time_ns, b.client, b.sequence);
    });
    std::string out;
    for (const hal::JournalRecord& record : records) {
        Line line;
        line["step"] = step;
        if (record.device >= 0)
            line["device"] = record.device;
        if (with_times)
            line["time_ns"] = record.time_ns - std::min(record.time_ns, start_ns);
        line["record"] = hal::to_string(record.kind);
        if (record.client != 0)
            line["client"] = record.client;
        put_details(record, line);
        out += written(line);
    }
    return out;
}

namespace {

std::vector<std::string> texts_at(const Json& line, const char* key) {
    std::vector<std::string> out;
    if (const auto found = line.find(key); found != line.end() && found->is_array())
        for (const Json& text : *found)
            if (text.is_string())
                out.push_back(text.get<std::string>());
    return out;
}

// Takes one line in; the error says what is wrong with it.
std::expected<void, std::string> take(const Json& line, std::vector<JournalRun>& runs) {
    if (!line.is_object())
        return std::unexpected("no JSON object");
    if (line.contains("journal")) {
        if (line["journal"] != Json(kJournalVersion))
            return std::unexpected("a journal of another version: " + line["journal"].dump());
        JournalRun run;
        run.scenario = line.value("scenario", "");
        run.backend = line.value("backend", "");
        run.profile = line.value("profile", "");
        run.clock = line.value("clock", "");
        run.seed = line.value("seed", std::uint64_t{0});
        if (run.scenario.empty() || !backend_of(run.backend))
            return std::unexpected("a head without a scenario or a known backend");
        runs.push_back(std::move(run));
        return {};
    }
    if (runs.empty())
        return std::unexpected("a journal begins with its head");
    JournalRun& run = runs.back();
    if (run.ended)
        return std::unexpected("something follows the scenario's end");
    if (line.contains("end")) {
        run.ended = true;
        run.ok = line.value("ok", false);
        return {};
    }
    if (line.contains("record")) {
        ++run.records;
        run.faults += line["record"] == Json("fault");
        return {};
    }
    for (const char* key : {"run", "wait", "settle"})
        if (line.contains(key))
            run.steps.push_back({line.value("step", std::size_t{0}), line.value(key, ""),
                                 line.value("ok", false), texts_at(line, "notices"),
                                 texts_at(line, "hit")});
    return {};
}

} // namespace

std::expected<std::vector<JournalRun>, std::string> read_journal(std::string_view text,
                                                                 std::string_view source) {
    std::vector<JournalRun> runs;
    std::size_t number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        const auto fail = [&](const std::string& what) {
            return std::unexpected(std::string(source) + ":" + std::to_string(number) + ": " +
                                   what);
        };
        try {
            if (auto taken = take(Json::parse(line, nullptr, false), runs); !taken)
                return fail(taken.error());
        } catch (const Json::exception&) {
            return fail("a value of a wrong kind");
        }
    }
    return runs;
}

} // namespace asc::faultinject
