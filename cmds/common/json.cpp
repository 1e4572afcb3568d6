// SPDX-License-Identifier: Apache-2.0
#include "cmds/common/json.hpp"

namespace asc::cmds {

std::string json_text(const Json& document, bool one_line) {
    // Strings were made valid before; `replace` only keeps a slip from ending the command.
    return document.dump(one_line ? -1 : 2, ' ', false, Json::error_handler_t::replace)
        .append("\n");
}

} // namespace asc::cmds
