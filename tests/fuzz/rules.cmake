# SPDX-License-Identifier: Apache-2.0
asc_add_fuzzer(rules SOURCES fuzz_rules.cpp LIBS fi_core DICT rules.dict)
