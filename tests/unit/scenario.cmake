# SPDX-License-Identifier: Apache-2.0
# Faults on purpose: the HAL's part, scenarios, journal, coverage, sweep.
if(TARGET sim_host)
    asc_add_test(test_scenario_hal SOURCES test_scenario_hal.cpp LIBS asc_hal)
endif()
