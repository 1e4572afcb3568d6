// SPDX-License-Identifier: Apache-2.0
// Sequences: the input is a program of opens, calls, rules, time and ends.
#include "tests/fuzz/abi_program.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    asc::fuzz::Program program(data, size);
    program.run();
    return 0;
}
