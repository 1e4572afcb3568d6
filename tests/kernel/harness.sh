#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The guest itself: the host's user land, the right kernel, the tools.
# seconds: 60
. tests/kernel/guest/lib.sh
check_same "the kernel is the one asked for" "$ASC_RELEASE" "$(uname -r)"
check "the tree is there under its own path" test -f "$ASC_ROOT/scripts/kernel-test"
check "programs of the host run" python3 -c 'print("python")'
check "udevadm runs" udevadm --version
check "devtmpfs has nodes" test -c /dev/null
check "a module of this kernel loads" modprobe configfs
