#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Telemetry pages by mmap: read-only, up to date without a call, and a mapping keeps the module.
# seconds: 180
. tests/kernel/guest/lib.sh
load_module devices=4
"$ASC_BUILD/kernel/programs/kernel_telemetry" | tee -a "$ASC_JOB/results"
check_same "the program came to its end" 0 "${PIPESTATUS[0]}"
check_text "nothing is mapped any more" ' mapped=0' "$(cat $debug/state)"

coproc "$ASC_BUILD/kernel/programs/kernel_telemetry" hold
holder=$COPROC_PID
read -r said <&"${COPROC[0]}"
check_same "a process has a page and no file descriptor" holding "$said"
check_text "the driver counts it" ' mapped=1' "$(cat $debug/state)"
check_status "the module does not go" 1 unload_module
kill -9 "$holder"
wait "$holder" 2>/dev/null
check "killed: it goes" within 10 unload_module
