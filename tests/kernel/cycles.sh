#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The module comes and goes, with devices, PCI functions, hwmon chips and open files (ASC_CYCLES=1000: many times).
# seconds: 300
. tests/kernel/guest/lib.sh
cycles=${ASC_CYCLES:-100}
free_kib() { awk '/MemAvailable/ {print $2}' /proc/meminfo; }
done_=0
for ((i = 0; i < cycles; ++i)); do
    insmod "$ASC_MODULE" devices=$((i % 3)) || break
    if [ $((i % 10)) = 0 ]; then
        exec 5<>/dev/davinci_manager
        rmmod davinci_sim 2>/dev/null && break
        exec 5<&-
    fi
    rmmod davinci_sim || break
    done_=$((done_ + 1))
    [ "$i" != 20 ] || before=$(free_kib)
done
check_same "load and unload" "$cycles" "$done_"
sync
after=$(free_kib)
# A leak of a page a cycle would be 4 MB and more; of the arena, gigabytes.
if [ $((before - after)) -lt 16384 ]; then
    ok "memory is where it was"
else
    not_ok "memory is where it was" "$before KiB, later $after KiB"
fi
check "no node is left" test ! -e /dev/davinci_manager
check_no_text "no PCI bus is left" '19e5' "$(lspci -n)"
