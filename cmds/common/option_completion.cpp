// SPDX-License-Identifier: Apache-2.0
// Bash completion of an option table.
#include "cmds/common/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace asc::cmds {

namespace {

// The words that can stand after `front` ("" or "info") in a verb's name.
std::vector<std::string_view> following(const Program& program, std::string_view front) {
    std::vector<std::string_view> words;
    for (const Verb& verb : program.verbs) {
        std::string_view rest = verb.name;
        if (!front.empty()) {
            if (!rest.starts_with(front) || rest.size() <= front.size() ||
                rest[front.size()] != ' ')
                continue;
            rest.remove_prefix(front.size() + 1);
        }
        const std::string_view word = rest.substr(0, rest.find(' '));
        if (!word.empty() && std::ranges::find(words, word) == words.end())
            words.push_back(word);
    }
    return words;
}

void add_options(std::span<const Option> options, std::vector<std::string>& spellings) {
    for (const Option& option : options) {
        if (option.hidden)
            continue;
        spellings.push_back(fmt::format("--{}", option.name));
        if (option.letter != '\0')
            spellings.push_back(fmt::format("-{}", option.letter));
    }
}

// One branch of the case over the previous word: what the option's value can be.
std::string value_branch(const Option& option, std::string_view verb) {
    if (option.takes == Takes::nothing || option.optional_value || option.hidden)
        return {};
    std::string pattern = fmt::format("'{}:--{}'", verb, option.name);
    if (option.letter != '\0')
        pattern += fmt::format("|'{}:-{}'", verb, option.letter);
    const std::string answer = option.value == "FILE"
                                   ? "COMPREPLY=($(compgen -f -- \"$cur\"))"
                                   : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))",
                                                 fmt::join(option.choices, " "));
    return fmt::format("    {}) {}; return ;;\n", pattern, answer);
}

} // namespace

std::string bash_completion(const Program& program) {
    std::string function = "_" + std::string(program.name);
    std::ranges::replace(function, '-', '_');
    std::string values, options;
    for (const Verb& verb : program.verbs) {
        std::vector<std::string> spellings;
        add_options(verb.options, spellings);
        const std::vector<Option> common = common_options_of(program, &verb);
        add_options(common, spellings);
        std::ranges::sort(spellings);
        spellings.erase(std::ranges::unique(spellings).begin(), spellings.end());
        for (const Option& option : verb.options)
            values += value_branch(option, verb.name);
        for (const Option& option : common)
            values += value_branch(option, verb.name);
        std::vector<std::string_view> words = following(program, verb.name);
        options += fmt::format("    '{}') words='{} {}' ;;\n", verb.name, fmt::join(spellings, " "),
                               fmt::join(words, " "));
    }
    return fmt::format(
        R"(# bash completion of {0}; source it or put it in /usr/share/bash-completion/completions
{1}() {{
    local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} verb= words= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${{COMP_WORDS[i]}} in -*) break ;; *) verb="${{verb:+$verb }}${{COMP_WORDS[i]}}" ;; esac
    done
    case "$verb:$prev" in
{2}    esac
    case "$verb" in
    '') words='{4} --help --version' ;;
{3}    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -F {1} {0}
)",
        program.name, function, values, options, fmt::join(following(program, ""), " "));
}

} // namespace asc::cmds
