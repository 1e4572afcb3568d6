#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Must fail: says that it passed, then the kernel panics.
# seconds: 90
. tests/kernel/guest/lib.sh
ok "a result before the end"
echo c >/proc/sysrq-trigger
