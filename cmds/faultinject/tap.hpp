// SPDX-License-Identifier: Apache-2.0
// Results of scenarios as TAP version 14: a test for each, its steps as subtests.
#pragma once

#include "cmds/common/streams.hpp"
#include "faultinject/scenario/execute.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace asc::cmds::faultinject {

namespace fi = asc::faultinject;

class Tap {
  public:
    explicit Tap(Output& out) : out_(out) {}

    void plan(std::size_t count);
    void begin(const fi::Scenario& scenario, const fi::Venue& venue, std::uint64_t seed);
    void step(const fi::StepResult& result);
    void end(const fi::Scenario& scenario, const fi::Outcome& outcome);

  private:
    Output& out_;
    std::size_t number_ = 0; // of the last scenario that has begun
    std::size_t steps_ = 0;  // that the scenario has, and that have ended
    std::size_t ended_ = 0;
    std::string head_; // of the subtest, which a scenario that cannot run has not
};

} // namespace asc::cmds::faultinject
