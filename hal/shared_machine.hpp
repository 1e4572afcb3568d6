// SPDX-License-Identifier: Apache-2.0
// One simulated machine inside this program that several connections share, for scenarios: what one
// command does the next one sees.
#pragma once

#include "hal/driver.hpp"

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

namespace asc::hal {

struct MachineSetup {
    std::string profile = "handbook"; // by name or path
    std::uint64_t seed = 1;
    bool virtual_clock = true;
    bool as_root = true; // whoever connects acts as root
};

// While it lives, connections to backend() in this process are connections to it.
class SharedMachine {
  public:
    static std::expected<SharedMachine, ConnectError> create(const MachineSetup& setup);
    SharedMachine(SharedMachine&&) noexcept;
    SharedMachine& operator=(SharedMachine&&) noexcept;
    ~SharedMachine();

    const std::string& backend() const { return backend_; } // "inproc:PROFILE"
    // A connection of somebody who never was a process: what it holds is shown as replayed, and
    // ends with it.
    std::expected<Driver, ConnectError> connect_as(const std::string& name,
                                                   const ConnectOptions& options) const;

  private:
    struct State;
    explicit SharedMachine(std::unique_ptr<State> state, std::string backend);
    std::unique_ptr<State> state_;
    std::string backend_;
};

} // namespace asc::hal
