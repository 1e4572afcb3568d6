// SPDX-License-Identifier: Apache-2.0
// A scenario: a machine, and steps in time that make faults happen and say what must be seen of
// them. Read from TOML (docs/fault-injection.md has every key).
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace asc::faultinject {

using Json = nlohmann::json;

enum class Clock { real, virtual_time };
enum class Backend { socket, inproc, chardev };
std::string_view to_string(Backend backend); // "socket", "inproc", "chardev"
std::optional<Backend> backend_of(std::string_view name);

// One condition on a command's JSON.
struct Check {
    enum class How {
        equal,
        not_equal,
        less,
        less_equal,
        greater,
        greater_equal,
        near,    // within `within` of the number
        has,     // text: as a part; array: an element that is it, or an object with these members
        lacks,   // none of that
        length,  // of an array, object or text
        missing, // null, for this reason (Reading's words) where `value` is a text
        absent,  // there is no such place
    };
    std::string pointer; // RFC 6901
    How how = How::equal;
    Json value;
    double within = 0;
};
std::string_view to_string(Check::How how);

// What a command must show. Nothing given: that it ends with status 0.
struct Expectation {
    std::optional<std::vector<int>> status; // one of these
    std::vector<Check> json;
    // Texts are compared with runs of blanks made one; a text is part of a line, a line is a whole
    // one without the blanks at its ends.
    std::vector<std::string> text, not_text, line, not_line, error_text;
    bool given = false; // the file says what is expected
};

struct Step {
    enum class Kind {
        inject,  // text: the rule
        clear,   // text: name of the rule, or "all"
        run,     // words
        start,   // words, in the background
        kill,    // text: name of the process
        wait,    // text: name of the process
        settle,  // words, again and again
        advance, // duration_ns
        lose,    // device
        restore,
        remove,
    };
    Kind kind = Kind::run;
    std::uint32_t line = 0;             // of the file
    std::size_t index = 0;              // among the file's steps
    std::optional<std::uint64_t> at_ns; // since the first step
    std::string text;
    std::vector<std::string> words;
    std::string name; // "as"
    std::uint64_t duration_ns = 0;
    std::uint32_t device = 0;
    int signal = 9;
    Expectation expect;
    std::vector<std::string> notices; // faults that this step shows
    std::uint64_t within_ns = 0, every_ns = 0;
    std::uint64_t limit_ms = 0; // real time that a command may take
    // Virtual time passes in these steps while a command runs and a device is being reset.
    std::uint64_t pass_ns = 0, pass_limit_ns = 0;
};
std::string_view to_string(Step::Kind kind);

struct Scenario {
    std::string name, description;
    std::string source;       // file
    std::string profile;      // by name; empty when it stands in the file
    std::string profile_text; // TOML
    Clock clock = Clock::virtual_time;
    std::uint64_t seed = 1;
    std::vector<Backend> backends; // where it can run
    std::vector<Step> steps;

    bool runs_on(Backend backend) const;
};

constexpr std::size_t kScenarioMax = 1U << 20U; // bytes of a file
constexpr std::size_t kStepsMax = 1000;

// `source` names the text in errors, which say file, line, column, key and what is expected.
std::expected<Scenario, std::string> parse_scenario(std::string_view text, std::string_view source);

// The scenario's text with only these of its steps, for minimise; `steps` ascend.
std::expected<std::string, std::string> with_steps(std::string_view text, std::string_view source,
                                                   const std::vector<std::size_t>& steps);

} // namespace asc::faultinject
