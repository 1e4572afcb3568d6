# SPDX-License-Identifier: Apache-2.0
# Faults on purpose: the HAL's part, scenarios, journal, coverage, sweep.
if(TARGET sim_host)
    asc_add_test(test_scenario_hal SOURCES test_scenario_hal.cpp LIBS asc_hal)
    asc_add_test(test_scenario_text SOURCES test_scenario_reader.cpp test_scenario_judge.cpp
        LIBS asc_faultinject)
    asc_add_test(test_scenario_run SOURCES test_scenario_run.cpp LIBS asc_faultinject)
endif()
