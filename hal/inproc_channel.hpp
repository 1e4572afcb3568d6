// SPDX-License-Identifier: Apache-2.0
// The in-process channel: a simulator inside this program, private unless it is shared by name.
#pragma once

#include "hal/channel.hpp"
#include "hal/driver.hpp"
#include "hal/shared_machine.hpp"

#include <memory>
#include <string>

namespace asc::hal {

// `profile`: a built-in name, or the path of a profile. The error names what is wrong with it.
std::expected<std::unique_ptr<Channel>, ConnectError>
make_inproc_channel(const std::string& profile);

// A machine that make_inproc_channel() takes for its profile as long as the handle lives; busy when
// there is one for that profile already.
class InprocHandle {
  public:
    virtual ~InprocHandle() = default;
    // The channel of somebody who is no process.
    virtual std::unique_ptr<Channel> channel_as(const std::string& name) = 0;
};
std::expected<std::unique_ptr<InprocHandle>, ConnectError>
share_inproc_machine(const MachineSetup& setup);

} // namespace asc::hal
