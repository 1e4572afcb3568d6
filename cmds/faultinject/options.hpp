// SPDX-License-Identifier: Apache-2.0
// The option table of faultinject.
#pragma once

#include "cmds/common/options.hpp"

namespace asc::cmds::faultinject {

const Program& program();

} // namespace asc::cmds::faultinject
