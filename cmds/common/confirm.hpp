// SPDX-License-Identifier: Apache-2.0
// The question before something is destroyed.
#pragma once

#include "cmds/common/streams.hpp"

#include <string_view>

namespace asc::cmds {

// A person can be asked: stdin and stderr are a terminal.
bool can_ask();

// Puts the question (its end "(Y/N)" is added) to stderr and reads a line. Only y and yes, in any
// case, are a yes; end of file is a no.
bool ask(Streams& streams, std::string_view question);

} // namespace asc::cmds
