// SPDX-License-Identifier: Apache-2.0
// The commands and options of npu-smi.
#pragma once

#include "cmds/common/options.hpp"

#include <string_view>

namespace asc::cmds::npu_smi {

const Program& program();

// A `-t` type that the vendor's tool knows for this verb ("info", "set", "clear"), whether this
// program answers it or not.
bool is_vendor_type(std::string_view verb, std::string_view type);

} // namespace asc::cmds::npu_smi
