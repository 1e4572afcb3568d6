// SPDX-License-Identifier: Apache-2.0
// The option table of faultinject.
#pragma once

#include "cmds/common/options.hpp"

namespace asc::cmds::faultinject {

constexpr int kCannotRun = 77; // status of a run of which nothing can run here

const Program& program();

} // namespace asc::cmds::faultinject
