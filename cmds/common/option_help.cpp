// SPDX-License-Identifier: Apache-2.0
// What people read of an option table: usage, help, manual page.
#include "cmds/common/options.hpp"

#include "cmds/common/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace asc::cmds {

namespace {

constexpr std::size_t kColumns = 88; // of help
constexpr std::size_t kIndent = 26;  // of an option's text
constexpr std::string_view kKinds[] = {"text", "man", "bash"};

std::string full_name(const Program& program, const Verb* verb) {
    return verb == nullptr || verb->name.empty() ? std::string(program.name)
                                                 : fmt::format("{} {}", program.name, verb->name);
}

// "-o, --output FORMAT"
std::string spelling(const Option& option) {
    std::string text = option.letter != '\0' ? fmt::format("-{}, ", option.letter) : "    ";
    text += fmt::format("--{}", option.name);
    if (option.takes == Takes::nothing)
        return text;
    return text + (option.optional_value ? fmt::format("[={}]", option.value)
                                         : fmt::format(" {}", option.value));
}

// Words of `text` in lines of at most kColumns, each after the first behind `indent` blanks.
std::string folded(std::string_view text, std::size_t column, std::size_t indent) {
    std::string out;
    bool first = true;
    while (!text.empty()) {
        const std::size_t blank = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, blank);
        text.remove_prefix(std::min(blank + 1, text.size()));
        if (!first && column + 1 + word.size() > kColumns) {
            out.append("\n").append(indent, ' ');
            column = indent;
        } else if (!first) {
            out += ' ';
            ++column;
        }
        out.append(word);
        column += word.size();
        first = false;
    }
    return out.append("\n");
}

std::string option_lines(std::span<const Option> options) {
    std::string out;
    for (const Option& option : options) {
        if (option.hidden)
            continue;
        std::string head = "  " + spelling(option);
        if (head.size() + 2 > kIndent)
            head.append("\n").append(kIndent, ' ');
        else
            head.append(kIndent - head.size(), ' ');
        std::string text(option.text);
        if (option.takes == Takes::choice && text.find(option.choices.front()) == std::string::npos)
            text += fmt::format(": {}", fmt::join(option.choices, " "));
        out += head + folded(text, kIndent, kIndent);
    }
    return out;
}

std::string paragraphs(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        out += folded(text.substr(0, end), 0, 2);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
}

// " FILE..." or " [FILE...]"
std::string operands_of(const Verb& verb) {
    if (verb.operands.most == 0)
        return {};
    return verb.operands.least == 0 ? fmt::format(" [{}]", verb.operands.value)
                                    : fmt::format(" {}", verb.operands.value);
}

std::string status_lines(const Program& program) {
    std::string out = "\nExit status:\n";
    for (const StatusText& status : program.statuses)
        out += fmt::format("  {:<5}{}", status.status, folded(status.text, 7, 7));
    return out;
}

// In troff a leading dot or quote is a request and a '-' would become a hyphen.
std::string troff(std::string_view text) {
    std::string out;
    bool line_start = true;
    for (const char c : text) {
        if (line_start && (c == '.' || c == '\''))
            out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else
            out += c;
        line_start = c == '\n';
    }
    return out;
}

std::string troff_options(std::span<const Option> options) {
    std::string out;
    for (const Option& option : options) {
        if (option.hidden)
            continue;
        std::string text(option.text);
        if (option.takes == Takes::choice && text.find(option.choices.front()) == std::string::npos)
            text += fmt::format(": {}", fmt::join(option.choices, " "));
        std::string head = spelling(option);
        head.erase(0, head.find_first_not_of(' '));
        out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", troff(head), troff(text));
    }
    return out;
}

} // namespace

std::string usage_line(const Program& program, std::span<const std::string> words) {
    const Verb* verb = find_verb(program, words).verb;
    const std::string name = full_name(program, verb);
    std::string text = "usage: " + name;
    if (verb == nullptr) {
        std::vector<std::string_view> names;
        for (const Verb& one : program.verbs)
            names.push_back(one.name);
        return fmt::format("{} COMMAND [OPTION...]; COMMAND is one of: {}; {} --help tells more",
                           text, fmt::join(names, ", "), name);
    }
    for (const Option& option : verb->options) {
        if (option.hidden)
            continue;
        const std::string shown = option.letter != '\0' ? fmt::format("-{}", option.letter)
                                                        : fmt::format("--{}", option.name);
        text += option.takes == Takes::nothing ? fmt::format(" [{}]", shown)
                                               : fmt::format(" [{} {}]", shown, option.value);
    }
    return fmt::format("{} [OPTION...]{}; {} --help tells more", text, operands_of(*verb), name);
}

std::string help_text(const Program& program, const Verb* verb) {
    const std::string name = full_name(program, verb);
    if (verb == nullptr) {
        std::string out =
            fmt::format("usage: {} COMMAND [OPTION...]\n{}\n\nCommands:\n", name, program.text);
        for (const Verb& one : program.verbs)
            out += fmt::format("  {:<14}{}", one.name, folded(one.text, 16, 16));
        out +=
            "\nOptions of every command:\n" + option_lines(program.common) + status_lines(program);
        if (!program.examples.empty())
            out += fmt::format("\nExamples:\n{}", program.examples);
        return out + fmt::format("\n{} COMMAND --help tells more of one.\n", name);
    }
    std::string out =
        fmt::format("usage: {} [OPTION...]{}\n{}\n", name, operands_of(*verb), verb->text);
    if (!verb->options.empty())
        out += "\nOptions:\n" + option_lines(verb->options);
    if (!verb->notes.empty())
        out += "\n" + paragraphs(verb->notes);
    return out + "\nOptions of every command:\n" + option_lines(common_options_of(program, verb)) +
           status_lines(program);
}

std::string manual_page(const Program& program) {
    std::string upper(program.name);
    std::ranges::transform(upper, upper.begin(), [](char c) {
        return static_cast<char>(c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c);
    });
    std::string out =
        fmt::format(".TH {} 1 \"\" \"asc-tools {}\" \"asc-tools\"\n", troff(upper), ASC_VERSION);
    out += fmt::format(".SH NAME\n{} \\- {}\n", troff(program.name), troff(program.text));
    out += fmt::format(".SH SYNOPSIS\n.B {}\n.I COMMAND\n[\\fIOPTION\\fR...]\n.SH COMMANDS\n",
                       troff(program.name));
    for (const Verb& verb : program.verbs) {
        out += fmt::format(".SS {} {}{}\n{}\n", troff(program.name), troff(verb.name),
                           troff(operands_of(verb)), troff(verb.text));
        out += troff_options(verb.options);
        if (!verb.notes.empty())
            out += fmt::format(".PP\n{}\n", troff(verb.notes));
    }
    out += ".SH OPTIONS\nEvery command takes these.\n" + troff_options(program.common);
    out += ".SH EXIT STATUS\n";
    for (const StatusText& status : program.statuses)
        out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", status.status, troff(status.text));
    if (!program.examples.empty())
        out += fmt::format(".SH EXAMPLES\n.nf\n{}.fi\n", troff(program.examples));
    return out;
}

std::expected<std::string, std::string> help_of_kind(const Program& program, const Verb* verb,
                                                     std::string_view kind) {
    if (kind.empty() || kind == "text")
        return help_text(program, verb);
    if (kind == "man")
        return manual_page(program);
    if (kind == "bash")
        return bash_completion(program);
    return std::unexpected(
        fmt::format("--help={} is unknown; known: {}", printable(kind), fmt::join(kKinds, " ")));
}

} // namespace asc::cmds
