// SPDX-License-Identifier: Apache-2.0
// What a command showed, held against what a scenario expects.
#pragma once

#include "faultinject/scenario/scenario.hpp"

#include <string>
#include <vector>

namespace asc::faultinject {

// A command that has ended, or was ended.
struct Finished {
    int status = 0;         // as a shell has it: 128 + n after signal n
    bool timed_out = false; // it was killed because its time was over
    std::string out, error; // what it wrote
};

// One sentence for each thing that is not as expected; empty when all is.
std::vector<std::string> complaints(const Expectation& expect, const Finished& finished);

// The condition on a document; empty when it holds, else what is there instead.
std::string complaint(const Check& check, const Json& document);

} // namespace asc::faultinject
