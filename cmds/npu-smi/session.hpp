// SPDX-License-Identifier: Apache-2.0
// What a verb of npu-smi has to work with, and how its answer reaches the user.
#pragma once

#include "cmds/common/options.hpp"
#include "cmds/common/records.hpp"
#include "cmds/common/selection.hpp"
#include "cmds/common/statuses.hpp"
#include "cmds/common/streams.hpp"
#include "hal/driver.hpp"

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace asc::cmds::npu_smi {

struct Failure {
    int status = npu_smi_status::failed;
    std::string text;
};

struct Session {
    const Arguments& arguments;
    Streams& streams;
    hal::Driver& driver;
    std::chrono::steady_clock::time_point start;

    const hal::BackendInfo& backend() const { return driver.backend(); }
    // Wall clock of the device's side, ms since the epoch.
    std::int64_t device_now_ms() const;
    // "npu-smi VERB OPTIONS" with --backend when that is not the default.
    std::string command(std::string_view verb, const hal::DeviceIds& ids) const;
};

// The devices that -i, -c and -p name.
std::expected<std::vector<hal::DeviceIds>, Failure> selected_devices(const Session& session);
// Exactly one: for what must not hit more than was meant. On a card of several chips -c is needed.
std::expected<hal::DeviceIds, Failure> selected_device(const Session& session);

// One answer, in every format.
struct Answer {
    Records records;
    std::function<Json()> more;         // further members of the JSON document; may be empty
    std::function<std::string()> table; // the vendor's layout; empty: a plain table
    bool whole = true;                  // false: a row is missing something that should be there
};

struct View {
    std::vector<std::string_view> fields; // for --query, checked before anything is asked
    std::function<std::expected<Answer, Failure>()> take;
};

// Pace of a view that repeats by itself (info watch, info proc); its table then has the vendor's
// lines and no time.
struct Pace {
    bool repeats = false;
    double seconds = 1;
};

// Takes the answer once, or as --watch and --count say, and writes it. The exit status.
int show(const Session& session, const View& view, const Pace& pace = {});

// True when a row must count as incomplete (status 3).
bool incomplete(const hal::DeviceSnapshot& device);
bool any_incomplete(std::span<const hal::DeviceSnapshot> devices);

// "\tKEY   : VALUE\n" with the vendor's padding.
std::string key_value(std::string_view key, std::string_view value, std::size_t width = 30);
// The line that names a simulator at the head of key and value output; empty on a real driver.
std::string backend_line(const hal::BackendInfo& backend, Charset charset);

} // namespace asc::cmds::npu_smi
