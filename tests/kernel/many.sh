#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# As many devices as there may be: 64, by parameter and as a profile.
# seconds: 240
. tests/kernel/guest/lib.sh
load_module devices=64 mode=0666
check_same "64 nodes" 64 "$(ls -d /dev/davinci[0-9]* | wc -l)"
check_same "64 PCI functions" 64 "$(lspci -n | grep -c 19e5:d802)"
check_same "64 hwmon chips" 64 "$(grep -l '^davinci$' /sys/class/hwmon/*/name | wc -l)"
out=$(npu-smi info)
check_same "npu-smi: 64 rows" 64 "$(grep -cE '0000:[0-4][0-9A-F]:00\.0' <<<"$out")"
check_same "json: all of them well" '[64,63]' "$(npu-smi info -o json | jq -c '[(.devices|length),.devices[63].npu_id]')"
echo 'lose 63' >$debug/hotplug
check_same "the last one is lost" lost "$(attribute 63 state)"
check_same "its neighbour is not" ok "$(attribute 62 state)"
for ((i = 0; i < 64; ++i)); do rule "lost dev=$i" || break; done
all() { [ "$(cat /sys/class/devdrv-class/*/simulator/state | sort -u)" = "$1" ]; }
check "a rule each loses all" within 20 all lost
check_same "each one's fault is logged" 64 "$(dmesg | grep -o 'davinci[0-9]*: fault 0x40F84E00 raised' | sort -u | wc -l)"
rule clear
echo 'restore 63' >$debug/hotplug
check "and all come back" within 20 all ok
check "the module goes" unload_module
check_same "no node is left" 0 "$(ls -d /dev/davinci* 2>/dev/null | wc -l)"

load_module devices=0 slots=64 mode=0666
check "the profile of a rack goes in" davsim-load --profile rack
check_same "64 devices" 64 "$(npu-smi info -o json | jq '.devices|length')"
check "all can be taken out" davsim-load --remove
check "the module goes again" unload_module
