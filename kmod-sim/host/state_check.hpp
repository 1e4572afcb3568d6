// SPDX-License-Identifier: Apache-2.0
// What must hold between the fields of a loaded state, so that the device model can rely on it as
// it relies on its own.
#pragma once

#include "kmod-sim/host/model.hpp"

#include <string>

namespace asc::sim {

// Throws StateFault for the first field that does not fit the others. `path` is the device's.
void check_device(const ::sim& model, const struct ::sim_device& device, const std::string& path);

} // namespace asc::sim
