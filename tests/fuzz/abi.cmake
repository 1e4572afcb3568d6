# SPDX-License-Identifier: Apache-2.0
asc_add_fuzzer(fuzz_abi SOURCES fuzz_abi.cpp abi_program.cpp LIBS sim_abi)
asc_add_fuzzer(fuzz_call SOURCES fuzz_call.cpp abi_program.cpp LIBS sim_abi)
