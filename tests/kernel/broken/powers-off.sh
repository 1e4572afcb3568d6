#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Must fail: the machine goes off after a good result, past the verdict.
# seconds: 90
. tests/kernel/guest/lib.sh
ok "a result before the end"
echo o >/proc/sysrq-trigger
sleep 20
