#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every ioctl with unreadable, unwritable, misaligned, huge and changing memory, on poisoned slabs.
# seconds: 300
# cpus: 2
# append: slub_debug=PZ,davinci_sim_request,kmalloc-8k,kmalloc-4k init_on_alloc=0
. tests/kernel/guest/lib.sh
load_module devices=4
"$ASC_BUILD/kernel/programs/kernel_arguments" | tee -a "$ASC_JOB/results" | grep -v '^ok'
check_same "the program came to its end" 0 "${PIPESTATUS[0]}"
check_text "no file is left open" 'open=0 parked=0' "$(cat $debug/state)"
check "the module goes" unload_module
