// SPDX-License-Identifier: Apache-2.0
#include "hal/udev_monitor.hpp"

#ifdef ASC_HAVE_UDEV
#include <libudev.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#endif

namespace asc::hal {

#ifdef ASC_HAVE_UDEV

namespace {

std::string text(const char* value) {
    return value == nullptr ? std::string() : std::string(value);
}

// PCI functions of the vendor (19e5 and the OEM ids of driver-abi.md 2.5) and the driver's nodes.
bool is_npu(udev_device* device) {
    const std::string_view name = udev_device_get_sysname(device);
    if (name.starts_with("davinci") || name == "hisi_hdc")
        return true;
    const char* ids = udev_device_get_property_value(device, "PCI_ID");
    if (ids == nullptr)
        return false;
    const std::string_view vendor = std::string_view(ids).substr(0, 4);
    return vendor == "19E5" || vendor == "20C6" || vendor == "203F" || vendor == "20E9";
}

} // namespace

struct UdevMonitor::State {
    udev* context = nullptr;
    udev_monitor* monitor = nullptr;
    ~State() {
        if (monitor != nullptr)
            udev_monitor_unref(monitor);
        if (context != nullptr)
            udev_unref(context);
    }
};

Reading<std::shared_ptr<UdevMonitor>> UdevMonitor::open() {
    auto state = std::make_unique<State>();
    state->context = udev_new();
    if (state->context != nullptr)
        state->monitor = udev_monitor_new_from_netlink(state->context, "udev");
    if (state->monitor == nullptr || udev_monitor_enable_receiving(state->monitor) < 0)
        return Absence{Reason::failed, -errno, "udev's events cannot be received"};
    return std::shared_ptr<UdevMonitor>(new UdevMonitor(std::move(state)));
}

int UdevMonitor::fd() const {
    return udev_monitor_get_fd(state_->monitor);
}

Reading<HotplugEvent> UdevMonitor::next(std::chrono::milliseconds limit) {
    const auto end = std::chrono::steady_clock::now() + limit;
    for (;;) {
        const auto left =
            std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
        pollfd watched{fd(), POLLIN, 0};
        const int ready = poll(&watched, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
        if (ready < 0 && errno != EINTR)
            return Absence{Reason::failed, -errno, std::strerror(errno)};
        if (ready > 0) {
            udev_device* device = udev_monitor_receive_device(state_->monitor);
            if (device != nullptr && is_npu(device)) {
                HotplugEvent event;
                event.action = text(udev_device_get_action(device));
                event.subsystem = text(udev_device_get_subsystem(device));
                event.name = text(udev_device_get_sysname(device));
                event.node = text(udev_device_get_devnode(device));
                udev_list_entry* entry = nullptr;
                udev_list_entry_foreach(entry, udev_device_get_properties_list_entry(device)) {
                    const std::string key = text(udev_list_entry_get_name(entry));
                    if (key.starts_with("NPU_"))
                        event.properties +=
                            key + "=" + text(udev_list_entry_get_value(entry)) + "\n";
                }
                udev_device_unref(device);
                return event;
            }
            if (device != nullptr)
                udev_device_unref(device);
        }
        if (std::chrono::steady_clock::now() >= end)
            return Absence{Reason::timeout, 0, "no event"};
    }
}

#else

struct UdevMonitor::State {};

Reading<std::shared_ptr<UdevMonitor>> UdevMonitor::open() {
    return Absence{Reason::unsupported, 0, "this build has no libudev"};
}

int UdevMonitor::fd() const {
    return -1;
}

Reading<HotplugEvent> UdevMonitor::next(std::chrono::milliseconds) {
    return Absence{Reason::unsupported, 0, "this build has no libudev"};
}

#endif

UdevMonitor::UdevMonitor(std::unique_ptr<State> state) : state_(std::move(state)) {}
UdevMonitor::~UdevMonitor() = default;

} // namespace asc::hal
