// SPDX-License-Identifier: Apache-2.0
// The verbs of davsim, one function each: what it prints, what it returns as exit status.
#pragma once

#include "kmod-sim/server/options.hpp"

#include <span>
#include <string>

namespace asc::server {

int start_verb(const Verb& verb, std::span<const std::string> arguments);
int run_verb(const Verb& verb, std::span<const std::string> arguments);
int trace_verb(const Verb& verb, std::span<const std::string> arguments);
int stop_verb(const Verb& verb, std::span<const std::string> arguments);
int status_verb(const Verb& verb, std::span<const std::string> arguments);
int save_verb(const Verb& verb, std::span<const std::string> arguments);
int load_verb(const Verb& verb, std::span<const std::string> arguments);
int clock_verb(const Verb& verb, std::span<const std::string> arguments);
int rule_verb(const Verb& verb, std::span<const std::string> arguments);
int profile_verb(const Verb& verb, std::span<const std::string> arguments);
int add_device_verb(const Verb& verb, std::span<const std::string> arguments);
int hotplug_verb(const Verb& verb, std::span<const std::string> arguments); // by the verb's name

} // namespace asc::server
