#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Must fail: all its checks hold, but the kernel's log has a warning.
# seconds: 90
. tests/kernel/guest/lib.sh
ok "a result before the end"
echo "WARNING: CPU: 0 PID: 1 at made/up.c:1" >/dev/kmsg
