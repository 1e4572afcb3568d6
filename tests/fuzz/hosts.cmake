# SPDX-License-Identifier: Apache-2.0
asc_add_fuzzer(state SOURCES fuzz_state.cpp LIBS sim_host nlohmann_json::nlohmann_json)
asc_add_fuzzer(framing SOURCES fuzz_framing.cpp LIBS davsim_cmd)
asc_add_fuzzer(message SOURCES fuzz_message.cpp LIBS davsim_cmd asc_hal)
