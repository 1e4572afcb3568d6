// SPDX-License-Identifier: Apache-2.0
// The driver of the machine, real or simulated: connection, negotiation, devices, actions.
#pragma once

#include "hal/reading.hpp"
#include "hal/simulator.hpp"
#include "hal/snapshot.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace asc::hal {

using namespace std::chrono_literals;

struct ConnectOptions {
    // "" takes ASC_DEVICE (ignored in set-id programs), else the real driver.
    // "chardev" the real driver or the kernel module, "unix:PATH" a davsimd, "inproc:PROFILE" a
    // private simulator.
    std::string backend;
    std::chrono::milliseconds timeout{5000}; // per device and question
    // Chardev: calls run in a helper process, so that one that never returns cannot keep this
    // program. Programs that hold memory (owners) need false: the driver must see them, not the
    // helper.
    bool isolate = true;
    std::string sysfs_root = "/sys"; // PCI facts
    std::string dev_root = "/dev";   // nodes of chardev
    std::string proc_root = "/proc"; // processes and holders
};

// Why there is no driver to talk to. The commands turn the kind into their exit status.
struct ConnectError {
    enum class Kind {
        bad_backend,  // the backend's text cannot be understood
        no_driver,    // node or socket missing (ENOENT), nobody answers
        denied,       // EACCES, EPERM: `text` shows owner, mode and our ids
        busy,         // held by another (EBUSY, driver error 87)
        abi_mismatch, // a driver generation or protocol this program cannot speak
        untrusted,    // a server of another user
        timeout,
        failed,
    };
    Kind kind = Kind::failed;
    int error = 0;    // errno or driver error
    std::string text; // what, where and what to do, one or two sentences
};

struct BackendInfo {
    std::string name;           // as printed: "chardev", "unix:PATH", "inproc:PROFILE"
    bool simulator = false;     // our extension answered
    std::string simulator_text; // e.g. "simulated, profile handbook"; empty on a real driver
    std::string next_argument;  // what a follow-up command needs: "--backend unix:PATH", or empty
    std::string driver_version; // "" unknown
    std::string profile;        // of a simulator: as it names itself
    std::uint64_t seed = 0;     // of a simulator
    bool virtual_clock = false;
    std::uint64_t wall_ms = 0; // the device side's wall clock at connection; 0 unknown
};

// Result of an action on a device. `code` 0: done.
struct ActionResult {
    enum class Kind { done, denied, unsupported, busy, failed, timeout, lost };
    Kind kind = Kind::done;
    int error = 0;
    std::string text;
    explicit operator bool() const { return kind == Kind::done; }
};

struct EventFilter {
    std::optional<std::uint32_t> event_id;
    std::optional<int> severity;
    int device = -1; // logical id, -1 all
};

class Driver {
  public:
    // Opens, negotiates (URD, else the older generation is recognised and named) and lists the
    // devices.
    static std::expected<Driver, ConnectError> connect(const ConnectOptions& options);
    Driver(Driver&&) noexcept;
    Driver& operator=(Driver&&) noexcept;
    ~Driver();

    const BackendInfo& backend() const;
    // Devices in ascending logical id; ids never move while the driver is loaded.
    const std::vector<DeviceIds>& devices() const;

    // Asks all `devices` side by side; each has the deadline of ConnectOptions. A device that is
    // slow, lost or forbidden keeps its entry, with the reason in every reading asked for. Order as
    // given.
    std::vector<DeviceSnapshot> snapshot(std::span<const DeviceIds> devices, Ask what);

    // Who keeps the device busy: open handles and memory, seen from the channel and /proc. Missing
    // when they cannot be told (no permission): unknown, never none.
    Reading<std::vector<Holder>> holders(const DeviceIds& device);

    Reading<std::string> topology(const DeviceIds& a, const DeviceIds& b); // "HCCS", "PHB", ...

    // Resets the chip in band and waits until it has booted or `limit` has passed; `progress` gets
    // the boot status.
    ActionResult reset(const DeviceIds& device, std::chrono::milliseconds limit,
                       const std::function<void(std::uint32_t boot_status)>& progress = {});
    ActionResult clear_ecc(const DeviceIds& device);

    // Blocks for the next fault event; no value after `limit` (timeout) or when `stop` is set.
    Reading<Event> next_event(const EventFilter& filter, std::chrono::milliseconds limit,
                              const std::atomic<bool>* stop = nullptr);
    Reading<std::vector<Event>> event_history(const DeviceIds& device);
    Reading<std::string> event_text(const DeviceIds& device, std::uint32_t event_id);

    // ---- owners (the simulator only: unsupported elsewhere) ----
    // Opens the device's node and allocates HBM for this process; it is held until the Driver goes
    // or release.
    Reading<std::uint64_t> hold_memory(const DeviceIds& device, std::uint64_t bytes,
                                       bool context = true);

    // ---- simulator's controls (owner or root) ----
    Reading<std::uint32_t>
    add_rule(const std::string& text);         // id; failed with position and reason in detail
    ActionResult clear_rule(std::uint32_t id); // 0: all
    Reading<std::vector<RuleState>> rules();
    Reading<std::uint64_t> advance_clock(std::chrono::nanoseconds by); // new now, ns; 0 only reads
    ActionResult hotplug(const DeviceIds& device, int operation); // 0 remove, 1 restore, 2 lose
    // What happened, from number `cursor` on (0: the oldest that is kept).
    Reading<JournalPart> journal(std::uint64_t cursor);

    class Impl;

  private:
    explicit Driver(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace asc::hal
