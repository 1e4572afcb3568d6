#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that know nothing of us: lspci, sensors, udevadm see the devices; log, RAS record and uevent of a fault.
# seconds: 240
. tests/kernel/guest/lib.sh
load_module devices=8

pci=$(lspci -D -nn)
check_same "lspci shows eight accelerators" 8 "$(grep -c 'Processing accelerators \[1200\]: Huawei.*\[19e5:d802\]' <<<"$pci")"
check_text "with the profile's bus ids" '^0000:03:00\.0 ' "$pci"
check_text "and the driver that drives them" 'Kernel driver in use: davinci_sim' "$(lspci -k -s 0000:03:00.0)"
check_text "and a link" 'LnkSta:.*Speed 16GT/s.*Width x16' "$(lspci -vv -s 0000:03:00.0)"
check_same "link speed in sysfs" '16.0 GT/s PCIe' "$(cat /sys/bus/pci/devices/0000:03:00.0/current_link_speed)"
check "AER counters in sysfs" test -r /sys/bus/pci/devices/0000:03:00.0/aer_dev_correctable

sensors=$(sensors 2>&1)
check_same "sensors shows eight chips" 8 "$(grep -c '^davinci-pci-' <<<"$sensors")"
check_text "temperature" 'NPU: *\+4[0-9]\.[0-9]|NPU: *\+5[0-9]\.[0-9]' "$sensors"
check_text "HBM temperature" '^HBM: *\+' "$sensors"
check_text "power and cap" 'board: .*W .*cap = 350' "$sensors"
check_text "voltage" 'AI core: *850' "$sensors"
check_same "the number is the device's" "$(attribute 2 bus_id)" 0000:03:00.0

check_text "udevadm finds the node" 'DEVNAME=/dev/davinci2' "$(udevadm info /sys/class/devdrv-class/davinci2)"
check_text "under its PCI function" '0000:03:00\.0/devdrv-class/davinci2' "$(udevadm info --query=path /sys/class/devdrv-class/davinci2)"
check_text "attributes are walked" 'ATTR\{simulator/state\}=="ok"' "$(udevadm info -a /sys/class/devdrv-class/davinci2)"

events=$(mktemp)
SYSTEMD_IGNORE_CHROOT=1 udevadm monitor --kernel --property >"$events" &
monitor=$!
within 20 grep -q KERNEL "$events"
echo 1 >/sys/kernel/tracing/events/ras/non_standard_event/enable
rule 'lost dev=2'
check "a lost device: uevent" within 20 grep -q DAVINCI_STATE=lost "$events"
check_text "one line in the log" 'davinci2: fault 0x40F84E00 raised, severity critical' "$(dmesg)"
check_text "one RAS record" 'non_standard_event.*davinci2' "$(cat /sys/kernel/tracing/trace)"
check_same "and only one" 1 "$(grep -c 'non_standard_event:' /sys/kernel/tracing/trace)"
check_text "its sensors are errors, not zero" ERROR "$(sensors davinci-pci-0300 2>&1)"
check_text "and its configuration space all ones" '^00: ff ff ff ff ' "$(lspci -x -s 0000:03:00.0)"
rule clear
check "it comes back: uevent" within 20 grep -q DAVINCI_STATE=ok "$events"
check_text "a line in the log" 'davinci2: fault 0x40F84E00 recovered' "$(dmesg)"

: >"$events"
echo 'remove 3' >$debug/hotplug
check "a removed device has no node" test ! -e /dev/davinci3
check "and no PCI function" test ! -e /sys/bus/pci/devices/0000:04:00.0
check "uevent of the removal" within 20 grep -q '^ACTION=remove' "$events"
echo 'restore 3' >$debug/hotplug
check "restored: the node is there" test -c /dev/davinci3
check "and its PCI function" test -e /sys/bus/pci/devices/0000:04:00.0
check "and no other moved" test -c /dev/davinci7

: >"$events"
rule 'ecc bits=2 dev=1 page=100'
logged() { dmesg | grep -q "$1"; }
check "an uncorrectable error is logged" within 90 logged 'davinci1: fault 0x80E0'
kill "$monitor" 2>/dev/null
unload_module 2>/dev/null || { davsim-load --remove; unload_module; }
check "the bridges went" test ! -e /sys/bus/pci/devices/0000:03:00.0
