// SPDX-License-Identifier: Apache-2.0
#include "faultinject/scenario/runner.hpp"

#include "faultinject/journal.hpp"
#include "faultinject/scenario/words.hpp"

#include <algorithm>
#include <sstream>
#include <thread>

namespace asc::faultinject {

namespace {

using Line = nlohmann::ordered_json;
using Kind = Step::Kind;

// The journal's ring has 8192 records: virtual time passes in slices that fill a part of it.
constexpr std::uint64_t kSliceMax = 3600ULL * 1000000000, kSliceMin = 1000000;
constexpr std::size_t kSliceFull = 2048, kSliceEmpty = 256;
constexpr std::size_t kOutputShown = 2000;   // bytes of a command's output in a complaint
constexpr std::uint32_t kStateResetting = 1; // of a journal's state record

std::string joined_words(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& word : words) {
        const bool plain = !word.empty() && word.find_first_of(" \t'\"\\") == std::string::npos;
        out.append(out.empty() ? "" : " ");
        out.append(plain ? word : "'" + word + "'");
    }
    return out;
}

// All words of the notice stand in the rule: "reset outcome=hang" in "reset dev=0 outcome=hang".
bool is_of(const std::string& rule, const std::string& notice) {
    std::istringstream wanted(notice);
    for (std::string word; wanted >> word;) {
        std::istringstream words(rule);
        std::string have;
        bool found = false;
        while (!found && words >> have)
            found = have == word;
        if (!found)
            return false;
    }
    return true;
}

std::string text_of(const hal::Absence& absence) {
    return absence.detail.empty() ? std::string(hal::to_string(absence.reason)) : absence.detail;
}

} // namespace

std::string step_text(const Step& step) {
    std::string out(to_string(step.kind));
    out += " ";
    switch (step.kind) {
    case Kind::run:
    case Kind::start:
    case Kind::settle:
        return out + joined_words(step.words);
    case Kind::advance:
        return out + duration_text(step.duration_ns);
    case Kind::lose:
    case Kind::restore:
    case Kind::remove:
        return out + std::to_string(step.device);
    default:
        return out + step.text;
    }
}

Runner::Runner(const Scenario& scenario, hal::Driver& driver, Stage& stage,
               const Observer& observer, const RunOptions& options)
    : scenario_(scenario), driver_(driver), stage_(stage), observer_(observer), options_(options),
      slice_ns_(kSliceMax) {}

bool Runner::run() {
    observer_.journal(journal_head(scenario_, options_.backend, options_.seed));
    start_ns_ = now_ns();
    start_ = std::chrono::steady_clock::now();
    // What was before the scenario is none of its journal.
    if (const auto part = driver_.journal(0))
        cursor_ = part->next;
    bool all = true;
    for (const Step& step : scenario_.steps) {
        observer_.begins(step);
        StepResult result;
        result.index = step.index;
        result.what = step_text(step);
        run_step(step, result);
        all = all && result.ok();
        observer_.ended(result);
    }
    if (options_.take_back)
        for (const std::uint32_t id : added_)
            driver_.clear_rule(id);
    Line line;
    line["end"] = true;
    line["ok"] = all;
    line["steps"] = scenario_.steps.size();
    observer_.journal(line.dump() + "\n");
    return all;
}

void Runner::run_step(const Step& step, StepResult& result) {
    records_.clear();
    if (step.at_ns)
        go_to(*step.at_ns, result);
    const auto done = [&](const std::expected<void, std::string>& outcome) {
        if (!outcome)
            result.complaints.push_back(outcome.error());
        tell(step, result, -1);
    };
    const std::chrono::milliseconds limit(step.limit_ms);
    switch (step.kind) {
    case Kind::inject:
        return inject(step, result);
    case Kind::clear:
        return clear(step, result);
    case Kind::run:
        return run_command(step, result);
    case Kind::start:
        return done(stage_.start(step.name, step.words, limit));
    case Kind::kill:
        return done(stage_.kill(step.text, step.signal));
    case Kind::wait:
        if (const auto finished = stage_.wait(step.text, limit))
            judge(step, *finished, result);
        else
            done(std::unexpected(finished.error()));
        return;
    case Kind::settle:
        return settle(step, result);
    case Kind::advance:
        advance(step.duration_ns, result);
        return tell(step, result, -1);
    case Kind::lose:
    case Kind::restore:
    case Kind::remove:
        return hotplug(step, result);
    }
}

// ---- faults ----

void Runner::inject(const Step& step, StepResult& result) {
    if (options_.without_faults)
        return tell(step, result, -1);
    const auto id = driver_.add_rule(step.text);
    if (!id)
        result.complaints.push_back(text_of(id.absence()));
    else
        added_.push_back(*id);
    if (id && !step.name.empty())
        rules_[step.name] = *id;
    tell(step, result, -1);
}

void Runner::clear(const Step& step, StepResult& result) {
    note_hits();
    if (!options_.without_faults) {
        const auto found = rules_.find(step.text);
        if (step.text != "all" && found == rules_.end())
            result.complaints.push_back("the rule '" + step.text + "' was not set");
        else if (const auto done = driver_.clear_rule(step.text == "all" ? 0 : found->second);
                 !done)
            result.complaints.push_back(done.text);
    }
    tell(step, result, -1);
}

void Runner::hotplug(const Step& step, StepResult& result) {
    hal::DeviceIds ids;
    ids.logical_id = static_cast<int>(step.device);
    const int operation = step.kind == Kind::remove ? 0 : step.kind == Kind::restore ? 1 : 2;
    if (!options_.without_faults)
        if (const auto done = driver_.hotplug(ids, operation); !done)
            result.complaints.push_back(done.text);
    tell(step, result, -1);
}

void Runner::note_hits() {
    if (const auto rules = driver_.rules())
        for (const hal::RuleState& rule : *rules)
            known_rules_[rule.id] = rule;
}

std::vector<std::string> Runner::hit_rules() const {
    std::vector<std::string> out;
    for (const auto& [id, rule] : known_rules_)
        if (rule.hits != 0)
            out.push_back(rule.text);
    return out;
}

// ---- commands ----

void Runner::run_command(const Step& step, StepResult& result) {
    std::uint64_t passed = 0;
    std::function<void()> meanwhile;
    if (step.pass_ns != 0)
        meanwhile = [&] { pass(step, passed); };
    const auto finished =
        stage_.run(step.words, std::chrono::milliseconds(step.limit_ms), meanwhile);
    if (finished)
        return judge(step, *finished, result);
    result.complaints.push_back(finished.error());
    tell(step, result, -1);
}

void Runner::settle(const Step& step, StepResult& result) {
    for (std::uint64_t waited = 0;; waited += step.every_ns) {
        const auto finished = stage_.run(step.words, std::chrono::milliseconds(step.limit_ms), {});
        if (!finished) {
            result.complaints.push_back(finished.error());
            return tell(step, result, -1);
        }
        const bool over = waited + step.every_ns > step.within_ns;
        if (over || complaints(step.expect, *finished).empty()) {
            judge(step, *finished, result);
            return;
        }
        if (scenario_.clock == Clock::real)
            std::this_thread::sleep_for(std::chrono::nanoseconds(step.every_ns));
        else
            advance(step.every_ns, result);
    }
}

void Runner::judge(const Step& step, const Finished& finished, StepResult& result) {
    const std::vector<std::string> found = complaints(step.expect, finished);
    if (options_.without_faults) {
        // Without its fault the step must not be as expected; other steps are not looked at.
        if (!step.notices.empty() && found.empty())
            result.complaints.push_back("it shows the same without the fault");
    } else {
        result.complaints.insert(result.complaints.end(), found.begin(), found.end());
        check_notices(step, result);
    }
    if (!result.ok()) {
        result.out = finished.out.substr(0, kOutputShown);
        result.error = finished.error.substr(0, kOutputShown);
    }
    tell(step, result, finished.status);
}

// What is noticed must have happened.
void Runner::check_notices(const Step& step, StepResult& result) {
    if (step.notices.empty())
        return;
    note_hits();
    const std::vector<std::string> hit = hit_rules();
    for (const std::string& notice : step.notices)
        if (std::ranges::none_of(hit, [&](const auto& rule) { return is_of(rule, notice); }))
            result.complaints.push_back("no rule of '" + notice + "' has fired by now");
}

// ---- the journal ----

std::size_t Runner::drain(StepResult& result) {
    const auto part = driver_.journal(cursor_);
    if (!part) {
        result.complaints.push_back("the journal cannot be read: " + text_of(part.absence()));
        return 0;
    }
    if (part->lost != 0)
        result.complaints.push_back(std::to_string(part->lost) +
                                    " records of the journal are lost: too much happened at once");
    cursor_ = part->next;
    for (const hal::JournalRecord& record : part->records)
        if (record.kind == hal::JournalKind::state)
            resetting_[record.device] = record.code == kStateResetting;
    records_.insert(records_.end(), part->records.begin(), part->records.end());
    return part->records.size();
}

void Runner::tell(const Step& step, StepResult& result, int status) {
    drain(result);
    const std::size_t number = step.index + 1;
    observer_.journal(
        journal_records(number, records_, start_ns_, scenario_.clock == Clock::virtual_time));
    records_.clear();
    Line line;
    line["step"] = number;
    const std::string text = step_text(step);
    const std::string_view key = to_string(step.kind);
    line[std::string(key)] = text.substr(key.size() + 1);
    if (status >= 0)
        line["status"] = status;
    line["ok"] = result.ok();
    if (!step.notices.empty()) {
        line["notices"] = step.notices;
        line["hit"] = hit_rules();
    }
    observer_.journal(line.dump(-1, ' ', false, Line::error_handler_t::replace) + "\n");
}

// ---- time ----

std::uint64_t Runner::now_ns() {
    const auto now = driver_.advance_clock(std::chrono::nanoseconds(0));
    return now ? *now : 0;
}

void Runner::advance(std::uint64_t ns, StepResult& result) {
    while (ns > 0) {
        const std::uint64_t slice = std::min(ns, slice_ns_);
        if (const auto now = driver_.advance_clock(std::chrono::nanoseconds(slice)); !now) {
            result.complaints.push_back("the clock does not move: " + text_of(now.absence()));
            return;
        }
        ns -= slice;
        const std::size_t came = drain(result);
        if (came > kSliceFull)
            slice_ns_ = std::max(kSliceMin, slice_ns_ / 2);
        else if (came < kSliceEmpty)
            slice_ns_ = std::min(kSliceMax, slice_ns_ * 2);
    }
}

void Runner::go_to(std::uint64_t at_ns, StepResult& result) {
    if (scenario_.clock == Clock::real) {
        std::this_thread::sleep_until(start_ + std::chrono::nanoseconds(at_ns));
        return;
    }
    const std::uint64_t now = now_ns() - start_ns_;
    if (now > at_ns)
        result.complaints.push_back("its time " + duration_text(at_ns) + " is past, it is " +
                                    duration_text(now));
    else
        advance(at_ns - now, result);
}

// While a device is being reset virtual time passes, in steps that depend on nothing else, so that
// the same happens at the same time in each run.
void Runner::pass(const Step& step, std::uint64_t& passed) {
    StepResult ignored; // the step's own drain complains of the same
    drain(ignored);
    while (passed < step.pass_limit_ns &&
           std::ranges::any_of(resetting_, [](const auto& device) { return device.second; })) {
        driver_.advance_clock(std::chrono::nanoseconds(step.pass_ns));
        passed += step.pass_ns;
        drain(ignored);
    }
}

} // namespace asc::faultinject
