#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Devices that the device cgroup forbids do not exist for a process (cgroup v1 here: the guest has no BPF tool).
# seconds: 180
. tests/kernel/guest/lib.sh
load_module devices=4 mode=0666
mkdir -p /tmp/devices
if ! mount -t cgroup -o devices devices /tmp/devices 2>/dev/null; then
    skip "this kernel has no device controller of cgroup v1"
    unload_module
    exit 0
fi
mkdir /tmp/devices/box
number() { printf '%d:%d' "0x$(stat -c %t "$1")" "0x$(stat -c %T "$1")"; }
echo "c $(number /dev/davinci0) rwm" >/tmp/devices/box/devices.deny
echo "c $(number /dev/davinci2) rwm" >/tmp/devices/box/devices.deny
boxed() { bash -c 'echo $$ >/tmp/devices/box/cgroup.procs && exec "$@"' boxed "$@"; }
ids() { jq -c '[.devices[].npu_id]'; }
check_same "the others are seen" '[1,3]' "$(boxed npu-smi info -o json 2>/dev/null | ids)"
check_same "whatever the environment says" '[1,3]' "$(ASCEND_VISIBLE_DEVICES=0,1,2,3 boxed npu-smi info -o json 2>/dev/null | ids)"
check_status "the node is closed by the kernel itself" 1 boxed bash -c 'exec 5</dev/davinci0' 2>/dev/null
check_same "outside all are seen" '[0,1,2,3]' "$(npu-smi info -o json 2>/dev/null | ids)"
unload_module
