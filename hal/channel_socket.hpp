// SPDX-License-Identifier: Apache-2.0
// The channel to davsimd.
#pragma once

#include "hal/channel.hpp"
#include "hal/driver.hpp"

#include <memory>

namespace asc::hal {

// Connects to the server at `path`, checks whose it is (our uid or root) and greets it. The error
// says what to do.
std::expected<std::unique_ptr<Channel>, ConnectError>
make_socket_channel(const std::string& path, std::chrono::milliseconds timeout);

} // namespace asc::hal
