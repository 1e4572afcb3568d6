// SPDX-License-Identifier: Apache-2.0
// JSON of every command: keys in the order they were put, strings made valid UTF-8 beforehand.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace asc::cmds {

using Json = nlohmann::ordered_json;

// One document and its line end: indented for a single look, compact on one line for a series.
std::string json_text(const Json& document, bool one_line);

} // namespace asc::cmds
