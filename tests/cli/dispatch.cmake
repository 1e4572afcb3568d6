# SPDX-License-Identifier: Apache-2.0
asc_add_script_test(cli.dispatch COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/dispatch")
