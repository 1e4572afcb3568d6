#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The second client, in Python and sharing no header, asks the real nodes and must hear what npu-smi hears.
# seconds: 240
. tests/kernel/guest/lib.sh
check "the profile goes in" load_profile handbook
out=$(python3 tests/conformance/compare_clients.py /dev 2>&1)
status=$?
echo "$out"
check_same "both clients tell the same of every device" 0 "$status"
check_text "eight devices" '^8 devices compared, 0 differences' "$out"
