// SPDX-License-Identifier: Apache-2.0
// Option tables. From the same tables come parsing, --help, usage errors, bash completion and the
// manual page (--help=bash, --help=man).
#pragma once

#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::cmds {

enum class Takes { nothing, text, whole, decimal, choice, list }; // list: parted by commas

struct Option {
    std::string_view name; // long name without "--"
    char letter = '\0';
    Takes takes = Takes::nothing;
    std::string_view value = {}; // what help calls the value: "SECONDS"
    std::string_view text = {};
    double least = 0, most = 0;                     // of whole and decimal
    std::span<const std::string_view> choices = {}; // of choice; of text only for completion
    bool optional_value = false;                    // only as --name=VALUE
    bool hidden = false;                            // neither help nor completion shows it
};

// Words that stand without a dash, or behind "--".
struct Operands {
    std::string_view value = {}; // what help calls them: "FILE..."
    std::size_t least = 0, most = 0;
};

struct Verb {
    std::string_view name; // "info", "info watch"; "" for a command without verbs
    std::string_view text; // one sentence
    std::span<const Option> options;
    std::string_view notes = {}; // paragraphs below the options in help and manual
    std::span<const std::string_view> without = {}; // common options that make no sense here
    Operands operands = {};
};

struct StatusText {
    int status;
    std::string_view text;
};

struct Program {
    std::string_view name;
    std::string_view text;
    std::span<const Verb> verbs;
    std::span<const Option> common; // every verb takes these as well
    std::span<const StatusText> statuses;
    std::string_view examples = {};
};

// What every command takes: backend, timeout, output, query, watch, count, ascii, help.
std::span<const Option> common_options();

// The common options that a verb takes: those not among `without` and not its own.
std::vector<Option> common_options_of(const Program& program, const Verb* verb);

class Arguments {
  public:
    const Verb* verb = nullptr; // none: only help and version can be set
    std::vector<std::string> operands;

    bool has(std::string_view name) const { return values_.contains(name); }
    std::string_view text(std::string_view name, std::string_view otherwise = {}) const;
    std::optional<double> number(std::string_view name) const;
    std::optional<int> whole(std::string_view name) const;
    void set(std::string_view name, std::string value);

  private:
    std::map<std::string, std::string, std::less<>> values_;
};

// `words` without the program's name. The error is one sentence for a person and names what is
// wrong and a near miss, if there is one.
std::expected<Arguments, std::string> parse_arguments(const Program& program,
                                                      std::span<const std::string> words);

// "usage: npu-smi info [-i NPU] ... ; npu-smi info --help tells more", one line without its end.
// `words`: those of the command line, to find the verb.
std::string usage_line(const Program& program, std::span<const std::string> words);

// --help of the program (verb null) or of one verb.
std::string help_text(const Program& program, const Verb* verb);
std::string manual_page(const Program& program);     // troff
std::string bash_completion(const Program& program); // a script to source
// The text that --help[=KIND] asks for; the error names the kinds.
std::expected<std::string, std::string> help_of_kind(const Program& program, const Verb* verb,
                                                     std::string_view kind);

// The known word nearest to a wrong one; empty when none is near.
std::string_view nearest(std::string_view wrong, std::span<const std::string_view> known);

// The verb whose words the command line starts with (the longest), and how many words it took.
struct VerbMatch {
    const Verb* verb = nullptr;
    std::size_t words = 0;
};
VerbMatch find_verb(const Program& program, std::span<const std::string> words);

} // namespace asc::cmds
