// SPDX-License-Identifier: Apache-2.0
// Runs the steps of a scenario on a machine that is there already.
#pragma once

#include "faultinject/scenario/scenario.hpp"
#include "faultinject/scenario/stage.hpp"
#include "hal/driver.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace asc::faultinject {

struct StepResult {
    std::size_t index = 0;
    std::string what; // "run npu-smi info"
    std::vector<std::string> complaints;
    std::string out, error; // beginning of what the command wrote; when there are complaints
    bool ok() const { return complaints.empty(); }
};

struct RunOptions {
    Backend backend = Backend::socket;
    std::uint64_t seed = 1;
    // The faults are left out: a step that says which faults it notices must fail then.
    bool without_faults = false;
    bool take_back = false; // the rules that it has set, at the end
};

// What is told while it runs. `journal` gets whole lines.
struct Observer {
    std::function<void(const Step&)> begins;
    std::function<void(const StepResult&)> ended;
    std::function<void(const std::string&)> journal;
};

// The step in words, as results and journals name it.
std::string step_text(const Step& step);

class Runner {
  public:
    Runner(const Scenario& scenario, hal::Driver& driver, Stage& stage, const Observer& observer,
           const RunOptions& options);
    // True when every step is as expected. Steps after one that failed run all the same.
    bool run();

  private:
    void run_step(const Step& step, StepResult& result);
    void inject(const Step& step, StepResult& result);
    void clear(const Step& step, StepResult& result);
    void run_command(const Step& step, StepResult& result);
    void settle(const Step& step, StepResult& result);
    void hotplug(const Step& step, StepResult& result);
    void judge(const Step& step, const Finished& finished, StepResult& result);
    void check_notices(const Step& step, StepResult& result);
    void tell(const Step& step, StepResult& result, int status); // to the journal

    // time
    void advance(std::uint64_t ns, StepResult& result);
    void go_to(std::uint64_t at_ns, StepResult& result);
    std::uint64_t now_ns();
    void pass(const Step& step, std::uint64_t& passed);
    // journal and rules
    std::size_t drain(StepResult& result); // how many records came
    void note_hits();
    std::vector<std::string> hit_rules() const;

    const Scenario& scenario_;
    hal::Driver& driver_;
    Stage& stage_;
    const Observer& observer_;
    RunOptions options_;
    std::uint64_t start_ns_ = 0, slice_ns_ = 0, cursor_ = 0;
    std::chrono::steady_clock::time_point start_;
    std::vector<hal::JournalRecord> records_;             // of the present step
    std::map<int, bool> resetting_;                       // by device
    std::map<std::string, std::uint32_t> rules_;          // by the name that the scenario gives
    std::vector<std::uint32_t> added_;                    // every rule
    std::map<std::uint32_t, hal::RuleState> known_rules_; // as last seen
};

} // namespace asc::faultinject
