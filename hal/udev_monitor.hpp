// SPDX-License-Identifier: Apache-2.0
// Devices that come and go, told by udev. Only with libudev (option ASC_UDEV).
#pragma once

#include "hal/reading.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace asc::hal {

struct HotplugEvent {
    std::string action;     // "add", "remove", "change", ...
    std::string subsystem;  // "pci", or the class of the driver's nodes
    std::string name;       // sysfs name, e.g. "0000:01:00.0" or "davinci0"
    std::string node;       // "/dev/davinci0"; "" none
    std::string properties; // KEY=VALUE lines of the driver's own (NPU_*)
};

class UdevMonitor {
  public:
    // Missing (unsupported) in builds without libudev, failed where udev does not run.
    static Reading<std::shared_ptr<UdevMonitor>> open();
    ~UdevMonitor();
    UdevMonitor(const UdevMonitor&) = delete;
    UdevMonitor& operator=(const UdevMonitor&) = delete;

    int fd() const; // readable when an event waits
    // The next event of an NPU; missing (timeout) when none came.
    Reading<HotplugEvent> next(std::chrono::milliseconds limit);

  private:
    struct State;
    explicit UdevMonitor(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace asc::hal
