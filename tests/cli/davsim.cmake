# SPDX-License-Identifier: Apache-2.0
asc_add_script_test(cli.davsim_protocol COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/davsim_protocol" TIMEOUT 150)
asc_add_script_test(cli.davsim_run COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/davsim_run" TIMEOUT 150)
asc_add_script_test(cli.davsim_stress COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/davsim_stress" TIMEOUT 150)
