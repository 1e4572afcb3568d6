#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The handbook's first three cases on the real nodes: status, an ageing card, memory that no process holds.
# seconds: 300
. tests/kernel/guest/lib.sh
info='npu-smi info -o json'
value() { $info | jq -c "$1"; }
becomes() { [ "$(value "$1")" = "$2" ]; }

check "the profile goes in" load_profile handbook
echo "---- npu-smi info ----"
npu-smi info
table=$(npu-smi info)

check_same "H1: eight rows" 8 "$(grep -cE '0000:0[1-8]:00\.0' <<<"$table")"
check_text "H1: HBM of card 0" '32768 */ *65536' "$table"
check_text "H1: block of limits and errors" 'Limits and errors' "$table"
check_text "H1: the simulator is named" '^Backend: chardev \(simulated, profile handbook\)' "$table"
check_text "H1: power and limit" 'Power +: 280\.0 / 350\.0 W' "$(npu-smi info -i 0)"
check_same "H1: temperatures" '[52,48,55,51]' "$(value '[.devices[].temperature_c][0:4]')"
check_same "H1: OOM count" 7 "$(value '.devices[2].oom_count')"
check_same "H1: one line with HBM" 'HBM : 65536 / 65536 MB' "$(npu-smi info -i 2 | grep HBM | tr -s ' \t' ' ' | sed 's/^ //')"
check_same "H1: findings of cards 1 and 2" '[1,2]' "$(value '[.findings[].npu_id]|unique')"

check_text "H2: single bit errors" 'Single Bit Errors +: 3$' "$(npu-smi info -t ecc -i 1)"
check_text "H2: double bit errors" 'Double Bit Errors +: 0$' "$(npu-smi info -t ecc -i 1)"
check_text "H2: page offlined" 'Memory Page Offlined +: 1$' "$(npu-smi info -t ecc -i 1)"
check_text "H2: firmware" 'Firmware Version +: 1\.76\.22\.3\.220$' "$(npu-smi info -t board -i 1)"
check_text "H2: known bad firmware" '1\.76\.22\.3\.310' "$(value '.findings[]|select(.npu_id==1 and .kind=="firmware_known_bad")|.text')"
check_same "H2: old errors are no growth" 0 "$(value '[.findings[]|select(.npu_id==1 and .kind=="ecc_growing")]|length')"

check_text "H3: held by no live process" '65536 MB held by no live process' "$(npu-smi info -t proc -i 2)"
check_same "H3: the owner is dead" '[false]' "$(value '[.devices[2].processes[]|.alive]')"
check_status "H3: no terminal, no -y" 200 npu-smi set -t device-reset -i 2 </dev/null
check_same "H3: and nothing changed" 65536 "$(value '.devices[2].hbm_used_mib')"
chmod 666 /dev/davinci* /dev/hisi_hdc
check_status "H3: not root" 214 setpriv --reuid 65534 --regid 65534 --clear-groups npu-smi set -t device-reset -i 2 -y
check_text "H3: a live holder is named" python3 "$(npu-smi set -t device-reset -i 3 -y 2>&1)"
check_same "H3: and keeps its memory" 10240 "$(value '.devices[3].hbm_used_mib')"
check "H3: root resets" npu-smi set -t device-reset -i 2 -y
check_same "H3: the memory is free" 'HBM : 0 / 65536 MB' "$(npu-smi info -i 2 | grep HBM | tr -s ' \t' ' ' | sed 's/^ //')"
check_same "H3: no other card was touched" '[32768,28416,0,10240]' "$(value '[.devices[].hbm_used_mib][0:4]')"

hold 4 2048
check_same "a holder's memory is seen" 2048 "$(value '.devices[4].hbm_used_mib')"
kill -9 "$held"
check "killed with -9: its memory is back" within 10 becomes '.devices[4].hbm_used_mib' 0

rule 'zombie dev=5'
hold 5 2048
kill -9 "$held"
check "under a zombie rule of debugfs it stays" within 10 becomes '[.devices[5].hbm_unowned_mib,.devices[5].processes[0].alive]' '[2048,false]'
check_text "the rule has been hit" 'hits=1 .*zombie dev=5' "$(cat $debug/rules)"
rule clear
check "a reset frees it" npu-smi set -t device-reset -i 5 -y
check_same "and all is free" 0 "$(value '.devices[5].hbm_used_mib')"

pkill -9 python3
check "residents killed: their memory is back" within 10 becomes '[.devices[].hbm_used_mib]|add' 0
check "all devices can be taken out" davsim-load --remove
check "the module goes" unload_module
