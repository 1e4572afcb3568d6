// SPDX-License-Identifier: Apache-2.0
// The commands of the one binary, for those that run others inside the program.
#pragma once

#include <string_view>

namespace asc::cmds {

using Applet = int (*)(int, char**);

// By its name; null when this program has none such.
Applet find_applet(std::string_view name);

} // namespace asc::cmds
