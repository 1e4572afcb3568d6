#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The machine by hand through configfs: every wrong value is refused by the write that says it.
# seconds: 180
. tests/kernel/guest/lib.sh
load_module devices=0 slots=4 mode=0666
config=/sys/kernel/config/davinci_sim

refuses "an id beyond the slots" 'Numerical result out of range' mkdir $config/4
refuses "a name that is no number" 'Invalid argument' mkdir $config/card
refuses "a number in another way" 'Invalid argument' mkdir $config/01
check "a device is made" mkdir $config/2
refuses "a second time" 'File exists' mkdir $config/2
check "it is not there before it is enabled" test ! -e /dev/davinci2
check_status "its id is its name's" 1 test -e $config/2/device_id

refuses "too much memory" 'Numerical result out of range' put 99999999 $config/2/hbm_mib
refuses "more than 32 bits" 'Numerical result out of range' put 4294967296 $config/2/hbm_mib
refuses "no number" 'Invalid argument' put much $config/2/hbm_mib
refuses "a negative one" 'Invalid argument' put -1 $config/2/hbm_mib
refuses "nothing at all" 'Invalid argument' put '' $config/2/hbm_mib
refuses "a name that is too long" 'Argument list too long' put "$(printf 'S%.0s' {1..200})" $config/2/serial
refuses "a name that cannot be printed" 'Invalid argument' put $'SN\t1' $config/2/serial
refuses "a record without its time" 'Invalid argument' put '0x1000 3' $config/2/ecc_single_record
refuses "a state between on and off" 'Invalid argument' put 7 $config/2/enable
refuses "off: rmdir takes it out" 'Invalid argument' put 0 $config/2/enable
check "memory is set" put 2048 $config/2/hbm_mib
check_same "and read back" 2048 "$(cat $config/2/hbm_mib)"
refuses "a page behind the memory" 'Numerical result out of range' put 32768 $config/2/isolated_page
check "the last page" put 32767 $config/2/isolated_page
check "a baseline beyond the memory is set" put 4096 $config/2/baseline_mib
refuses "but does not come up" 'Invalid argument' put 1 $config/2/enable
check "a baseline" put 100 $config/2/baseline_mib
check "a serial number" put SN-HAND $config/2/serial
check "a PCI bus" put 7 $config/2/pci_bus
check "it comes up" put 1 $config/2/enable
check_same "enable is read back" 1 "$(cat $config/2/enable)"
refuses "up twice" 'Device or resource busy' put 1 $config/2/enable
refuses "what is up does not change" 'Device or resource busy' put 1024 $config/2/hbm_mib
check "its node is there" test -c /dev/davinci2
check_same "with this memory" '[2048,100]' "$(npu-smi info -o json | jq -c '.devices[0]|[.hbm_total_mib,.hbm_used_mib]')"
check_same "this serial number" SN-HAND "$(attribute 2 serial)"
check_same "its page out of use" 1 "$(attribute 2 pages_isolated)"
check "and this place" test -e /sys/bus/pci/devices/0000:07:00.0

refuses "a name of the machine that is too long" 'Argument list too long' put "$(printf 'P%.0s' {1..100})" $config/profile
check "a name of the machine" put by-hand $config/profile
check_text "which npu-smi tells" 'profile by-hand' "$(npu-smi info)"
refuses "the module stays while a device is made" 'in use' unload_module

# One that stands on the same bus has no PCI function, and says so; it works all the same.
mkdir $config/0 && put 7 $config/0/pci_bus && put 1 $config/0/enable
check "a second device on a bus that is taken" test -c /dev/davinci0
check_text "the log tells it" 'PCI bus 0000:07 of its own; davinci0' "$(dmesg)"
check_same "both answer" '[0,2]' "$(npu-smi info -o json | jq -c '[.devices[].npu_id]')"

check "rmdir takes it out" rmdir $config/2
check "its node goes" test ! -e /dev/davinci2
check "and its place" test ! -e /sys/bus/pci/devices/0000:07:00.0
check "the id is free again" mkdir $config/2
rmdir $config/2 $config/0
check "the module goes" unload_module
check "and its folder" test ! -e $config
