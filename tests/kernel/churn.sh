#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# 64 processes call, map, fork and are killed while devices are lost and come back and rules come and go
# (ASC_CHURN_SECONDS).
# seconds: 420
# cpus: 2
. tests/kernel/guest/lib.sh
load_module devices=8 mode=0666
"$ASC_BUILD/kernel/programs/kernel_churn" --processes 64 --seconds "${ASC_CHURN_SECONDS:-30}" &
churn=$!
while kill -0 "$churn" 2>/dev/null; do
    echo "lose 1" >$debug/hotplug
    rule 'surface cmd=udis.* probability=5 mode=err errno=EIO force=yes'
    echo "remove 2" >$debug/hotplug
    rule 'zombie probability=20'
    echo "restore 1" >$debug/hotplug
    rule 'surface cmd=devmng.* mode=delay ms=5 probability=2'
    echo "restore 2" >$debug/hotplug
    rule 'ecc bits=1 rate=50'
    rule clear
done
wait "$churn"
check_same "the processes came to their end" 0 $?
echo 'restore 1' >$debug/hotplug
echo 'restore 2' >$debug/hotplug
quiet() { grep -q 'open=0 parked=0' $debug/state; }
check "no file and no call is left" within 30 quiet
state=$(cat $debug/state)
check_same "eight devices are there" 8 "$(grep -c '^device=' <<<"$state")"
check_no_text "nothing is held by a living owner" 'owners=[1-9].* hbm_unowned=0 ' "$state"
check "every node is there" test -c /dev/davinci1 -a -c /dev/davinci2
check "the module goes" unload_module
