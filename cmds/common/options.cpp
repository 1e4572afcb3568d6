// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/options.hpp"

#include "cmds/common/text.hpp"

#include <boost/program_options/errors.hpp>
#include <boost/program_options/options_description.hpp>
#include <boost/program_options/parsers.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace asc::cmds {

namespace po = boost::program_options;

namespace {

constexpr std::string_view kFormats[] = {"table", "json", "csv"};

constexpr Option kCommon[] = {
    {.name = "output",
     .letter = 'o',
     .takes = Takes::choice,
     .value = "FORMAT",
     .text = "table (default), json or csv",
     .choices = kFormats},
    {.name = "query",
     .takes = Takes::text,
     .value = "FIELD,...",
     .text = "only these fields, by their names in JSON (ecc.single_bit); a wrong one lists them"},
    {.name = "watch",
     .takes = Takes::decimal,
     .value = "SECONDS",
     .text = "again and again, SECONDS apart; JSON: one document a line",
     .least = 0.05,
     .most = 86400},
    {.name = "count",
     .takes = Takes::whole,
     .value = "N",
     .text = "end after N times",
     .least = 1,
     .most = 1e9},
    {.name = "backend",
     .takes = Takes::text,
     .value = "BACKEND",
     .text = "chardev (the driver), unix:PATH or inproc:PROFILE (simulators); "
             "without it ASC_DEVICE, then the driver"},
    {.name = "timeout",
     .takes = Takes::decimal,
     .value = "SECONDS",
     .text = "how long each device may take to answer (5)",
     .least = 0.05,
     .most = 3600},
    {.name = "ascii", .text = "no character beyond ASCII"},
    {.name = "help",
     .letter = 'h',
     .takes = Takes::text,
     .value = "KIND",
     .text = "this help; =man prints the manual page, =bash the completion",
     .optional_value = true},
};

std::string spelled(const Option& option) {
    return option.letter != '\0' ? fmt::format("-{}", option.letter)
                                 : fmt::format("--{}", option.name);
}

const Option* find_option(std::span<const Option> options, std::string_view key) {
    const auto found = std::ranges::find(options, key, &Option::name);
    return found == options.end() ? nullptr : &*found;
}

// Empty when the value is right, else the complaint.
std::string complaint_about(const Option& option, const std::string& value) {
    const std::string name = spelled(option);
    if (option.takes == Takes::choice &&
        std::ranges::find(option.choices, value) == option.choices.end()) {
        const std::string_view near = nearest(value, option.choices);
        const std::string hint =
            near.empty() ? std::string() : fmt::format("did you mean '{}'? ", near);
        return fmt::format("{} '{}' is unknown; {}known: {}", name, printable(value), hint,
                           fmt::join(option.choices, " "));
    }
    if (option.takes != Takes::whole && option.takes != Takes::decimal)
        return {};
    double number = 0;
    const char* end = value.data() + value.size();
    const auto [stop, error] = std::from_chars(value.data(), end, number, std::chars_format::fixed);
    const bool whole = option.takes == Takes::whole;
    if (error != std::errc{} || stop != end || !(number >= option.least && number <= option.most) ||
        (whole && value.find('.') != std::string::npos))
        return fmt::format("{} '{}' is no {} from {} to {}", name, printable(value),
                           whole ? "whole number" : "number", option.least, option.most);
    return {};
}

po::options_description describe(std::span<const Option> options) {
    po::options_description description;
    for (const Option& option : options) {
        std::string name(option.name);
        if (option.letter != '\0')
            name.append(",").append(1, option.letter);
        if (option.takes == Takes::nothing)
            description.add_options()(name.c_str(), "");
        else if (option.optional_value)
            description.add_options()(name.c_str(), po::value<std::string>()->implicit_value(""),
                                      "");
        else
            description.add_options()(name.c_str(), po::value<std::string>(), "");
    }
    return description;
}

std::string unknown_option(const std::string& name, std::span<const Option> options) {
    std::string text = fmt::format("unknown option '{}'", printable(name));
    const std::string_view bare =
        std::string_view(name).substr(std::min(name.find_first_not_of('-'), name.size()));
    std::vector<std::string_view> known;
    for (const Option& option : options)
        if (!option.hidden)
            known.push_back(option.name);
    if (const std::string_view near = nearest(bare, known); !near.empty())
        text += fmt::format("; did you mean '--{}'?", near);
    return text;
}

std::expected<std::vector<po::option>, std::string> tokens_of(const std::vector<std::string>& words,
                                                              std::span<const Option> options) {
    // The library's own guessing of shortened names is off: a script must not break when a name
    // joins the table.
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    const po::options_description description = describe(options);
    try {
        return po::command_line_parser(words).options(description).style(style).run().options;
    } catch (const po::unknown_option& error) {
        return std::unexpected(unknown_option(error.get_option_name(), options));
    } catch (const po::invalid_command_line_syntax& error) {
        const std::string name = error.get_option_name();
        const bool extra = error.kind() == po::invalid_command_line_syntax::extra_parameter;
        return std::unexpected(
            fmt::format("{} {}", printable(name), extra ? "takes no value" : "needs a value"));
    } catch (const po::error& error) {
        return std::unexpected(printable(error.what()));
    }
}

} // namespace

std::span<const Option> common_options() {
    return kCommon;
}

std::vector<Option> common_options_of(const Program& program, const Verb* verb) {
    std::vector<Option> options;
    for (const Option& option : program.common) {
        const bool left_out =
            verb != nullptr &&
            (find_option(verb->options, option.name) != nullptr ||
             std::ranges::find(verb->without, option.name) != verb->without.end());
        if (!left_out)
            options.push_back(option);
    }
    return options;
}

std::string_view Arguments::text(std::string_view name, std::string_view otherwise) const {
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : std::string_view(found->second);
}

std::optional<double> Arguments::number(std::string_view name) const {
    const auto found = values_.find(name);
    if (found == values_.end())
        return std::nullopt;
    double number = 0; // was checked when it was parsed
    std::from_chars(found->second.data(), found->second.data() + found->second.size(), number);
    return number;
}

std::optional<int> Arguments::whole(std::string_view name) const {
    const std::optional<double> value = number(name);
    return value ? std::optional<int>(static_cast<int>(*value)) : std::nullopt;
}

void Arguments::set(std::string_view name, std::string value) {
    values_.insert_or_assign(std::string(name), std::move(value));
}

std::string_view nearest(std::string_view wrong, std::span<const std::string_view> known) {
    std::string_view best;
    std::size_t best_distance = 3; // more than two slips are another word
    for (const std::string_view word : known) {
        const std::size_t distance = edit_distance(wrong, word);
        if (distance < best_distance && distance < word.size()) {
            best = word;
            best_distance = distance;
        }
    }
    return best;
}

VerbMatch find_verb(const Program& program, std::span<const std::string> words) {
    VerbMatch best;
    for (const Verb& verb : program.verbs) {
        std::string_view rest = verb.name;
        std::size_t count = 0;
        while (!rest.empty() && count < words.size()) {
            const std::string_view word = rest.substr(0, rest.find(' '));
            if (words[count] != word)
                break;
            rest.remove_prefix(std::min(word.size() + 1, rest.size()));
            ++count;
        }
        if (rest.empty() && (best.verb == nullptr || count > best.words))
            best = {&verb, count};
    }
    return best;
}

std::expected<Arguments, std::string> parse_arguments(const Program& program,
                                                      std::span<const std::string> words) {
    const VerbMatch match = find_verb(program, words);
    if (match.verb == nullptr && words.empty())
        return std::unexpected(std::string("no command given"));
    if (match.verb == nullptr && !words[0].starts_with('-')) {
        std::vector<std::string_view> names;
        for (const Verb& verb : program.verbs)
            names.push_back(verb.name);
        const std::string_view near = nearest(words[0], names);
        return std::unexpected(
            fmt::format("no command '{}'{}", printable(words[0]),
                        near.empty() ? std::string() : fmt::format("; did you mean '{}'?", near)));
    }
    std::vector<Option> options = common_options_of(program, match.verb);
    if (match.verb != nullptr)
        options.insert(options.end(), match.verb->options.begin(), match.verb->options.end());
    const std::vector<std::string> rest(words.begin() + static_cast<std::ptrdiff_t>(match.words),
                                        words.end());
    const auto tokens = tokens_of(rest, options);
    if (!tokens)
        return std::unexpected(tokens.error());
    Arguments arguments;
    arguments.verb = match.verb;
    for (const po::option& token : *tokens) {
        if (token.position_key >= 0) {
            const std::string word = token.value.empty() ? "" : token.value.front();
            if (match.verb == nullptr || arguments.operands.size() == match.verb->operands.most)
                return std::unexpected(fmt::format("unexpected '{}'", printable(word)));
            arguments.operands.push_back(word);
            continue;
        }
        const Option* option = find_option(options, token.string_key);
        if (option == nullptr)
            return std::unexpected(unknown_option(token.string_key, options));
        if (arguments.has(option->name))
            return std::unexpected(fmt::format("{} is given twice", spelled(*option)));
        const std::string value = token.value.empty() ? std::string() : token.value.front();
        if (std::string complaint = complaint_about(*option, value); !complaint.empty())
            return std::unexpected(std::move(complaint));
        arguments.set(option->name, value);
    }
    if (match.verb != nullptr && !arguments.has("help") &&
        arguments.operands.size() < match.verb->operands.least)
        return std::unexpected(fmt::format("{} is needed", match.verb->operands.value));
    return arguments;
}

} // namespace asc::cmds
