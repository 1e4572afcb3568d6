# SPDX-License-Identifier: Apache-2.0
# Rules, and what HBM holds: division, code, words, pages.
asc_add_test(test_rules SOURCES test_rules.cpp test_rule_text.cpp LIBS fi_core)
asc_add_test(test_div SOURCES test_div.cpp LIBS asc_wire)
asc_add_test(test_secded SOURCES test_secded.cpp LIBS sim_core)
asc_add_test(test_ecc SOURCES test_ecc.cpp test_ecc_rules.cpp test_pages.cpp LIBS sim_core)
