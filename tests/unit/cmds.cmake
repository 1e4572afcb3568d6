# SPDX-License-Identifier: Apache-2.0
if(TARGET npu_smi_cmd)
    asc_add_test(test_cmds
        SOURCES test_cmds_baseline.cpp test_cmds_findings.cpp test_cmds_lists.cpp
            test_cmds_options.cpp test_cmds_overview.cpp test_cmds_parsers.cpp
            test_cmds_processes.cpp test_cmds_records.cpp test_cmds_reset.cpp
            test_cmds_selection.cpp test_cmds_text.cpp test_cmds_types.cpp
        LIBS npu_smi_cmd)
endif()
