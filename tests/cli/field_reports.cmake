# SPDX-License-Identifier: Apache-2.0
foreach(case B01 B02 B04 B05 B06 B08 B10 B13 B14 B15 B18 B20 B21 B23 B25 B29 E01 E02 E03 E04)
    asc_add_script_test(cli.field_report.${case} TIMEOUT 150
        COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/field_reports" ${case})
endforeach()
