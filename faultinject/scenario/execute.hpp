// SPDX-License-Identifier: Apache-2.0
// A whole scenario: sets its machine up, or takes one that runs already, and runs it there.
#pragma once

#include "faultinject/scenario/runner.hpp"
#include "faultinject/scenario/stage.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace asc::faultinject {

struct Venue {
    Backend backend = Backend::socket;
    std::string running; // "unix:PATH" or "chardev": a machine that runs already; empty: one of its
                         // own
};

struct ExecuteOptions {
    std::optional<std::uint64_t> seed; // in place of the scenario's
    bool without_faults = false;
    FindApplet find; // commands of this program, which inproc needs
};

struct Outcome {
    enum class Kind { passed, failed, cannot_run };
    Kind kind = Kind::failed;
    std::string why; // of cannot_run, and of what failed outside of the steps
};

Outcome execute(const Scenario& scenario, const Venue& venue, const ExecuteOptions& options,
                const Observer& observer);

} // namespace asc::faultinject
