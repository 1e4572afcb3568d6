#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a process sees is the driver's decision: device cgroup, granted list; never its environment.
# seconds: 240
. tests/kernel/guest/lib.sh
load_module devices=4 mode=0666
count() { npu-smi info -o json 2>/dev/null | jq '.devices|length'; }
check_same "the host sees all" 4 "$(count)"

# A granted list, for the container of a process.
unshare --mount --pid --fork --kill-child --mount-proc sleep 600 &
outer=$!
has_child() { inner=$(pgrep --parent "$outer") && [ "$(cat "/proc/$inner/comm")" = sleep ]; }
within 20 has_child
inside() { nsenter --target "$inner" --mount --pid --root --wd="$PWD" -- "$@"; }
echo "pid=$inner devices=1,3" >$debug/grants
check_text "the list is read back" "pid=$inner devices=1,3" "$(cat $debug/grants)"
ids() { inside npu-smi info -o json 2>/dev/null | jq -c '[.devices[].npu_id]'; }
check_same "inside, two devices" '[1,3]' "$(ids)"
check_same "whatever the environment says" '[1,3]' "$(inside env ASCEND_VISIBLE_DEVICES=0-3 ASCEND_DEVICE_ID=0 npu-smi info -o json 2>/dev/null | jq -c '[.devices[].npu_id]')"
check_status "another's device cannot be opened" 1 inside bash -c 'exec 5</dev/davinci0' 2>/dev/null
check "a granted one can" inside bash -c 'exec 5</dev/davinci1'
check_same "the host still sees all" 4 "$(count)"
check_status "the host itself cannot be granted less" 1 bash -c "echo 'pid=$$ devices=0' >$debug/grants" 2>/dev/null
check_status "a bad list is refused" 1 bash -c "echo 'pid=$inner devices=0-99' >$debug/grants" 2>/dev/null
echo clear >$debug/grants
check_same "cleared: all again" '[0,1,2,3]' "$(ids)"

cat >/tmp/upgrade.py <<'END'
"""A raw DMP upgrade request (0x0603), as a program inside a container might send it; prints the driver's error."""
import sys
sys.path.insert(0, "tests/conformance")
import independent_client as c
driver = c.NodeDriver("/dev")
client = c.Client(driver)
try:
    client.dmp(int(sys.argv[1]), 3, 0x0603, bytes(16))
    print("done")
except c.Failure as failure:
    print("error", failure.result)
END
# Unprivileged inside: no CAP_SYS_ADMIN in the first user namespace.
inside_plain() { inside setpriv --bounding-set -sys_admin --inh-caps -sys_admin -- "$@"; }
check_same "a raw upgrade from inside is refused" 'error 46' "$(inside_plain python3 /tmp/upgrade.py 1 2>&1 | tail -n 1)"
check_text "and nothing is staged" '"running"|1.76.22.3.310' "$(npu-smi info -t board -i 1)"
kill -9 "$outer"
wait "$outer" 2>/dev/null
check "the module goes" within 10 unload_module
