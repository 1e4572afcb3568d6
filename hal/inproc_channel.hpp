// SPDX-License-Identifier: Apache-2.0
// The in-process channel: a private simulator inside this program.
#pragma once

#include "hal/channel.hpp"
#include "hal/driver.hpp"

#include <memory>
#include <string>

namespace asc::hal {

// `profile`: a built-in name, or the path of a profile. The error names what is wrong with it.
std::expected<std::unique_ptr<Channel>, ConnectError>
make_inproc_channel(const std::string& profile);

} // namespace asc::hal
