# SPDX-License-Identifier: Apache-2.0
if(TARGET sim_abi)
  asc_add_fuzzer(fuzz_abi SOURCES fuzz_abi.cpp LIBS sim_abi)
endif()
