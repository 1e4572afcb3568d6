// SPDX-License-Identifier: Apache-2.0
#include "cmds/faultinject/tap.hpp"

#include <fmt/format.h>

namespace asc::cmds::faultinject {

namespace {

// '#' would begin a directive.
std::string description(std::string_view text) {
    std::string out;
    for (const char c : printable(text)) {
        if (c == '#' || c == '\\')
            out += '\\';
        out += c;
    }
    return out;
}

// A text of JSON is one of YAML.
std::string yaml_text(std::string_view text) {
    return fi::Json(valid_utf8(text)).dump();
}

std::string diagnostics(const fi::StepResult& result) {
    std::string out = "      ---\n      complaints:\n";
    for (const std::string& complaint : result.complaints)
        out += fmt::format("        - {}\n", yaml_text(complaint));
    if (!result.out.empty())
        out += fmt::format("      stdout: {}\n", yaml_text(result.out));
    if (!result.error.empty())
        out += fmt::format("      stderr: {}\n", yaml_text(result.error));
    return out + "      ...\n";
}

} // namespace

void Tap::plan(std::size_t count) {
    out_.write(fmt::format("TAP version 14\n1..{}\n", count));
}

void Tap::begin(const fi::Scenario& scenario, const fi::Venue& venue, std::uint64_t seed) {
    ++number_;
    steps_ = scenario.steps.size();
    ended_ = 0;
    const std::string machine = scenario.profile_text.empty()
                                    ? fmt::format("profile {}", printable(scenario.profile))
                                    : std::string("a profile of its own");
    head_ = fmt::format("# Subtest: {}\n    # {}, {}, {} clock, seed {}\n    1..{}\n",
                        description(scenario.name), fi::to_string(venue.backend), machine,
                        scenario.clock == fi::Clock::real ? "real" : "virtual", seed, steps_);
}

void Tap::step(const fi::StepResult& result) {
    std::string text = std::exchange(head_, {});
    text += fmt::format("    {} {} - {}\n", result.ok() ? "ok" : "not ok", result.index + 1,
                        description(result.what));
    if (!result.ok())
        text += diagnostics(result);
    ++ended_;
    out_.write(text);
    out_.flush();
}

void Tap::end(const fi::Scenario& scenario, const fi::Outcome& outcome) {
    using Kind = fi::Outcome::Kind;
    std::string text;
    if (ended_ != 0 && ended_ < steps_)
        text += "    # the other steps did not run\n";
    text += fmt::format("{} {} - {}", outcome.kind == Kind::failed ? "not ok" : "ok", number_,
                        description(scenario.name));
    if (outcome.kind == Kind::cannot_run)
        text += fmt::format(" # SKIP {}", description(outcome.why));
    text += "\n";
    if (outcome.kind == Kind::failed && !outcome.why.empty())
        text += fmt::format("  ---\n  message: {}\n  ...\n", yaml_text(outcome.why));
    head_.clear();
    out_.write(text);
    out_.flush();
}

} // namespace asc::cmds::faultinject
