#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The module loads, makes its nodes, refuses bad parameters, and goes again.
# seconds: 120
. tests/kernel/guest/lib.sh

check_status "devices=65 is refused" 1 load_module devices=65
check_status "clock=fast is refused" 1 load_module clock=fast
check_text "the log says what is allowed" "devices=65 is not in 0..64" "$(dmesg)"

check "it loads" load_module devices=4 mode=0640 gid=42 uid=7
for node in davinci_manager hisi_hdc devmm_svm davinci0 davinci1 davinci2 davinci3; do
    check_same "/dev/$node: character device, mode, owner" "character special file 640 7:42" "$(stat -c '%F %a %u:%g' /dev/$node)"
done
check "there is no davinci4" test ! -e /dev/davinci4
check_text "debugfs has the machine" 'slots=12 open=0 parked=0' "$(cat $debug/state)"
exec 5</dev/davinci1
check_text "an open file is a client" 'open=1' "$(cat $debug/state)"
check_status "with an open file it does not go" 1 unload_module
exec 5<&-
check "it goes" unload_module
check "its nodes went" test ! -e /dev/davinci_manager
check "and comes back" load_module devices=0
check_text "without devices" 'slots=8' "$(cat $debug/state)"
unload_module
