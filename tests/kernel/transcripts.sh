#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The conformance transcripts on the real nodes: the bytes that were typed by hand, as in-process and over the socket.
# seconds: 420
. tests/kernel/guest/lib.sh
out=$(python3 tests/kernel/nodes_transcripts.py "$ASC_MODULE" 2>&1)
status=$?
echo "$out"
while IFS= read -r line; do
    case $line in
        *': ok, '*) ok "${line}" ;;
        *': FAILED, '*) not_ok "$line" ;;
    esac
done <<<"$out"
check_same "all transcripts hold" 0 "$status"
