# SPDX-License-Identifier: Apache-2.0
# The hosts of the device model: profiles, machine, state file, socket server.
asc_add_test(test_host SOURCES test_host_machine.cpp test_host_profile.cpp test_host_state.cpp
    LIBS sim_host nlohmann_json::nlohmann_json)
