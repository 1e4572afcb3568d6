// SPDX-License-Identifier: Apache-2.0
#include "kmod-sim/server/options.hpp"

#include "kmod-sim/host/spelling.hpp"
#include "kmod-sim/server/client.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <sstream>

namespace asc::server {

namespace po = boost::program_options;

namespace {

// The long options of a description, with their dashes.
std::vector<std::string> spellings(const po::options_description& description) {
    std::vector<std::string> names;
    for (const auto& option : description.options())
        names.push_back("--" + option->long_name());
    return names;
}

std::string printable(std::string text) {
    std::ranges::replace_if(
        text, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
    return text;
}

} // namespace

Options::Options(const Verb& verb, std::vector<std::string> positional, bool command)
    : verb_(verb), positional_(std::move(positional)), takes_command_(command),
      description_("Options") {
    add()("help,h", "this text");
    for (const std::string& name : positional_)
        if (name != "words")
            add()(name.c_str(), po::value<std::string>(), "");
        else
            add()(name.c_str(), po::value<std::vector<std::string>>(), "");
}

std::optional<int> Options::parse(std::span<const std::string> arguments) {
    const auto split = std::ranges::find(arguments, "--");
    std::vector<std::string> own(arguments.begin(), split);
    if (split != arguments.end())
        command_.assign(split + 1, arguments.end());
    if (!takes_command_ && split != arguments.end()) {
        own.insert(own.end(), split + 1, arguments.end());
        command_.clear();
    }
    po::positional_options_description places;
    for (const std::string& name : positional_)
        places.add(name.c_str(), name == "words" ? -1 : 1);
    try {
        using namespace po::command_line_style;
        po::store(
            po::command_line_parser(own)
                .options(description_)
                .positional(places)
                .style((unix_style | allow_long_disguise) & ~allow_guessing & ~allow_long_disguise)
                .run(),
            values_);
        po::notify(values_);
    } catch (const po::unknown_option& error) {
        const std::string wrong = error.get_option_name();
        std::string what = "no option '" + printable(wrong) + "'";
        for (const std::string& known : spellings(description_))
            if (sim::is_near(wrong, known)) {
                what += "; did you mean '" + known + "'?";
                break;
            }
        return usage_error(what);
    } catch (const po::too_many_positional_options_error&) {
        return usage_error("more words than the verb takes" +
                           std::string(takes_command_ ? "; a command stands behind '--'" : ""));
    } catch (const po::error& error) {
        return usage_error(printable(error.what()));
    }
    if (has("help")) {
        help();
        return kDone;
    }
    return std::nullopt;
}

int Options::usage_error(const std::string& what) const {
    std::fprintf(stderr, "davsim %s: %s\nusage: davsim %s %s\n", std::string(verb_.name).c_str(),
                 what.c_str(), std::string(verb_.name).c_str(),
                 std::string(verb_.arguments).c_str());
    return kUsage;
}

int Options::fail(int status, const std::string& what) const {
    std::fprintf(stderr, "davsim %s: %s\n", std::string(verb_.name).c_str(), what.c_str());
    return status;
}

void Options::help() const {
    std::ostringstream text;
    text << "usage: davsim " << verb_.name << " " << verb_.arguments << "\n"
         << verb_.meaning << "\n\n";
    po::options_description shown("Options");
    for (const auto& option : description_.options())
        if (!option->description().empty())
            shown.add(option);
    text << shown
         << "\nStatus: 0 done; 2 usage; 4 not permitted; 5 no simulator there; 7 another protocol; "
            "8 failed.\n";
    print(text.str());
}

std::optional<std::uint64_t> whole_number(const std::string& text) {
    std::uint64_t value = 0;
    const bool hex = text.starts_with("0x");
    const char* first = text.data() + (hex ? 2 : 0);
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(first, last, value, hex ? 16 : 10);
    if (error != std::errc{} || end != last || first == last)
        return std::nullopt;
    return value;
}

int print(const std::string& text) {
    if (std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0)
        return kDone;
    if (errno == EPIPE)
        return kDone; // whoever read has had enough
    std::fprintf(stderr, "davsim: standard output: %s\n", std::strerror(errno));
    return kFailed;
}

} // namespace asc::server
