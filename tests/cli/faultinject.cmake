# SPDX-License-Identifier: Apache-2.0
foreach(case run running rules)
    asc_add_script_test(cli.faultinject.${case} TIMEOUT 120
        COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/faultinject" ${case})
endforeach()
asc_add_script_test(cli.faultinject.library TIMEOUT 400
    COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/faultinject" library)
