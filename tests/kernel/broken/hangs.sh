#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Must fail: never ends.
# seconds: 40
. tests/kernel/guest/lib.sh
ok "a result before the end"
sleep 1000
