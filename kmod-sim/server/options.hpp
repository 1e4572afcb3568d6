// SPDX-License-Identifier: Apache-2.0
// Option parsing of davsim's verbs: usage errors in two lines, near misses suggested.
#pragma once

#include <boost/program_options.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::server {

struct Verb {
    std::string_view name;
    std::string_view arguments; // as the usage shows them
    std::string_view meaning;
    int (*run)(const Verb& verb, std::span<const std::string> arguments);
};

class Options {
  public:
    // `positional`: names of arguments that stand without a dash, in order. `command`: the words
    // after "--" are a command to run.
    Options(const Verb& verb, std::vector<std::string> positional = {}, bool command = false);

    boost::program_options::options_description_easy_init add() {
        return description_.add_options();
    }

    // What was given; or the exit status when the verb ends here (--help 0, a usage error 2).
    std::optional<int> parse(std::span<const std::string> arguments);

    bool has(const char* name) const { return values_.count(name) != 0; }
    std::string text(const char* name, const std::string& otherwise = {}) const {
        return has(name) ? values_[name].as<std::string>() : otherwise;
    }
    std::vector<std::string> texts(const char* name) const {
        return has(name) ? values_[name].as<std::vector<std::string>>()
                         : std::vector<std::string>();
    }
    const std::vector<std::string>& command() const { return command_; }

    // Says what is wrong and how the verb is used; 2.
    int usage_error(const std::string& what) const;
    // Says what is wrong; `status`.
    int fail(int status, const std::string& what) const;

  private:
    void help() const;

    const Verb& verb_;
    std::vector<std::string> positional_;
    bool takes_command_;
    boost::program_options::options_description description_;
    boost::program_options::variables_map values_;
    std::vector<std::string> command_;
};

// A whole number in a text, or nothing.
std::optional<std::uint64_t> whole_number(const std::string& text);

// Prints on standard output; 0, or 8 when it cannot be written.
int print(const std::string& text);

} // namespace asc::server
