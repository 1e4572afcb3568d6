// SPDX-License-Identifier: Apache-2.0
// Where a scenario's commands run: as processes, or inside this program on a machine that they
// share with it.
#pragma once

#include "faultinject/scenario/judge.hpp"
#include "faultinject/scenario/process.hpp"
#include "hal/shared_machine.hpp"

#include <chrono>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace asc::faultinject {

// A command of this program by its name; null when there is none.
using Applet = int (*)(int, char**);
using FindApplet = std::function<Applet(std::string_view)>;

// Status of a worker whose command inside it did not end.
constexpr int kHungStatus = 97;

class Stage {
  public:
    virtual ~Stage() = default;
    // Runs a command to its end; `meanwhile` is called again and again while it runs.
    virtual std::expected<Finished, std::string> run(const std::vector<std::string>& words,
                                                     std::chrono::milliseconds limit,
                                                     const std::function<void()>& meanwhile) = 0;
    // Starts one in the background. Whoever holds memory has it when this returns.
    virtual std::expected<void, std::string> start(const std::string& name,
                                                   const std::vector<std::string>& words,
                                                   std::chrono::milliseconds limit) = 0;
    virtual std::expected<void, std::string> kill(const std::string& name, int signal) = 0;
    virtual std::expected<Finished, std::string> wait(const std::string& name,
                                                      std::chrono::milliseconds limit) = 0;
};

std::unique_ptr<Stage> make_process_stage(Variables variables);
std::unique_ptr<Stage> make_inproc_stage(const hal::SharedMachine& machine, FindApplet find);

// Why this scenario cannot run inside one program; empty when it can.
std::string inproc_obstacle(const Scenario& scenario, const FindApplet& find);

} // namespace asc::faultinject
