// SPDX-License-Identifier: Apache-2.0
// Which channel is meant: the option, the environment, or the real driver.
#pragma once

#include "hal/channel.hpp"
#include "hal/driver.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace asc::hal {

struct Backend {
    enum class Kind { chardev, socket, inproc };
    Kind kind = Kind::chardev;
    std::string target;        // path of the socket, profile
    std::string name;          // as printed
    std::string next_argument; // what a follow-up command needs; empty for the default
};

// `option` first; when it is empty ASC_DEVICE, which set-id programs ignore; else chardev.
std::expected<Backend, ConnectError> choose_backend(std::string_view option);
std::expected<std::unique_ptr<Channel>, ConnectError> open_channel(const Backend& backend,
                                                                   const ConnectOptions& options);

} // namespace asc::hal
