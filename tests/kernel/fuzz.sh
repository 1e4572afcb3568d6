#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The ioctl fuzzer: numbers, arguments and pointers around those of commands.def, on files that close under it
# (ASC_FUZZ_CALLS, ASC_FUZZ_SEED).
# seconds: 300
# cpus: 2
. tests/kernel/guest/lib.sh
load_module devices=8 mode=0666
calls=${ASC_FUZZ_CALLS:-300000}
out=$("$ASC_BUILD/kernel/programs/kernel_fuzz" --calls "$calls" --seed "${ASC_FUZZ_SEED:-1}" 2>&1)
status=$?
echo "$out"
check_same "the fuzzer came to its end" 0 "$status"
# Most calls must be refused and many answered: else it does not reach what it should.
answered=$(sed -n 's/.* calls, \([0-9]*\) answered.*/\1/p' <<<"$out")
if [ "${answered:-0}" -gt $((calls / 10)) ]; then ok "it reaches the commands ($answered of $calls answered)"; else not_ok "it reaches the commands" "$answered of $calls answered"; fi
rule clear
quiet() { grep -q 'open=0 parked=0' $debug/state; }
check "no file and no call is left" within 20 quiet
all_ok() { [ "$(cat /sys/class/devdrv-class/davinci*/simulator/state | sort | uniq -c | tr -s ' ')" = ' 8 ok' ]; }
check "the devices come back" within 60 all_ok
check "the driver still answers" npu-smi info
check "the module goes" unload_module
