// SPDX-License-Identifier: Apache-2.0
// A simulated machine behind the chardev channel's system calls: what a test puts between sees
// every call, may answer it itself, and may change what the driver wrote.
#pragma once

#include "hal/channel_chardev.hpp"
#include "hal/driver_impl.hpp"
#include "kmod-sim/host/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace asc::test {

class FakeNodes {
  public:
    explicit FakeNodes(const std::string& profile, sim::MachineOptions options = {}) {
        auto loaded = sim::load_profile(profile);
        if (!loaded)
            throw std::runtime_error(loaded.error());
        auto made = sim::Machine::create(*loaded, options);
        if (!made)
            throw std::runtime_error(made.error());
        machine = std::move(*made);
        identity = sim::self_identity();
    }

    // The call that a test looks at: of a URD envelope also main and sub command and UDIS name.
    struct Seen {
        std::uint32_t number = 0;
        void* argument = nullptr;
        bool urd = false;
        dv_urd envelope{};
        std::string udis; // name asked for; "" none
        std::uint32_t device = ~0U;
        bool is(std::uint32_t sub) const {
            return urd && envelope.main_command == DV_MAIN_BASIC && envelope.sub_command == sub;
        }
        bool m(std::uint32_t n) const { return number == DV_IO('M', n); }
        bool h(std::uint32_t n) const { return number == DV_IO('H', n); }
        void* data() const { // of a UDIS query
            return reinterpret_cast<void*>(
                reinterpret_cast<const dv_udis_get*>(envelope.input)->data);
        }
        dv_udis_reply& reply() const { return *reinterpret_cast<dv_udis_reply*>(envelope.output); }
        void* output() const { return reinterpret_cast<void*>(envelope.output); }
    };

    std::unique_ptr<sim::Machine> machine;
    sim_ident identity;
    std::function<std::optional<int>(const Seen&)> before; // a value answers in the driver's place
    std::function<int(const Seen&, int)> after;            // may change answer and result
    std::function<std::optional<int>(const std::string&)> opening; // a value is the error
    int opened_hdc = 0;

    hal::SysOps ops() { return {&FakeNodes::open, &FakeNodes::ioctl, &FakeNodes::close, this}; }

    std::expected<hal::Driver, hal::ConnectError>
    try_connect(hal::ConnectOptions options = direct()) {
        hal::BackendInfo info;
        info.name = "chardev";
        return hal::Driver::Impl::connect(
            hal::make_chardev_channel(options.dev_root, options.isolate, ops()), info, options);
    }
    hal::Driver connect(hal::ConnectOptions options = direct()) {
        auto driver = try_connect(std::move(options));
        if (!driver)
            throw std::runtime_error(driver.error().text);
        return std::move(*driver);
    }
    static hal::ConnectOptions direct() {
        hal::ConnectOptions options;
        options.isolate = false;
        return options;
    }

  private:
    static int open(void* context, const char* path, int) {
        auto& self = *static_cast<FakeNodes*>(context);
        const std::string name = path;
        if (self.opening)
            if (const auto error = self.opening(name))
                return -*error;
        const std::string last = name.substr(name.rfind('/') + 1);
        std::uint32_t node = DV_NODE_IS_MANAGER, index = 0;
        if (last == "hisi_hdc") {
            node = DV_NODE_IS_HDC;
            ++self.opened_hdc;
        } else if (last == "davinci_manager") {
            node = DV_NODE_IS_MANAGER;
        } else if (last.starts_with("davinci")) {
            node = DV_NODE_IS_DEVICE;
            index = static_cast<std::uint32_t>(std::atoi(last.c_str() + 7));
        } else {
            return -ENOENT;
        }
        const auto opened = self.machine->open(node, index, self.identity);
        return opened ? static_cast<int>(*opened) : -opened.error();
    }

    static int ioctl(void* context, int fd, unsigned long number, void* argument) {
        auto& self = *static_cast<FakeNodes*>(context);
        Seen seen;
        seen.number = static_cast<std::uint32_t>(number);
        seen.argument = argument;
        const std::uint32_t magic = seen.number >> 8;
        if (number == DV_IOCTL_URD || magic == DV_MAIN_BASIC || magic == DV_MAIN_HOTRESET) {
            seen.urd = true;
            seen.envelope = *static_cast<dv_urd*>(argument);
            if (seen.is(DV_BASIC_UDIS_GET)) {
                seen.udis = reinterpret_cast<const dv_udis_get*>(seen.envelope.input)->name;
                seen.device = seen.envelope.device_id;
            } else if (seen.envelope.input != 0) {
                seen.device = *reinterpret_cast<const std::uint32_t*>(seen.envelope.input);
            }
        } else if (argument != nullptr && magic == 'M') {
            const std::size_t at = seen.m(DV_M_DEVICE_INFO) ? 4 : 0;
            std::memcpy(&seen.device, static_cast<char*>(argument) + at, sizeof(seen.device));
        } else if (argument != nullptr && (magic & 0xFF) == 'S') {
            std::memcpy(&seen.device, static_cast<char*>(argument) + 4, sizeof(seen.device));
        }
        if (self.before)
            if (const auto answer = self.before(seen))
                return *answer;
        const int result =
            self.machine
                ->call(static_cast<std::uint32_t>(fd), seen.number,
                       reinterpret_cast<std::uint64_t>(argument), 1, sim::own_memory())
                .result;
        return self.after ? self.after(seen, result) : result;
    }

    static void close(void* context, int fd) {
        static_cast<FakeNodes*>(context)->machine->release(static_cast<std::uint32_t>(fd));
    }
};

template <class T> std::string why(const hal::Reading<T>& reading) {
    if (reading)
        return "a value";
    return std::string(hal::to_string(reading.absence().reason)) + " " +
           std::to_string(reading.absence().error) + " " + reading.absence().detail;
}

} // namespace asc::test
