// SPDX-License-Identifier: Apache-2.0
// One call a run, on files that stay open: many more of them in the same time than in sequences.
// The machine is made anew now and then, so that what the calls left in it does not fill it.
#include "tests/fuzz/abi_program.hpp"

#include <optional>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr unsigned kRuns = 2000;
    static std::optional<asc::fuzz::Program> program;
    static unsigned runs = 0;
    if (runs++ % kRuns == 0) {
        program.emplace(data, size);
        program->open_all();
    }
    program->run_one(data, size);
    return 0;
}
