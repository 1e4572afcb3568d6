#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Calls of the driver that wait by themselves: woken by what they wait for, by their time, by signals; and poll.
# seconds: 180
. tests/kernel/guest/lib.sh
load_module devices=4

out=$(mktemp)
python3 tests/kernel/waiting.py poll >"$out" 2>&1 &
said() { grep -q "$1" "$out"; }
check "without an event the file is not readable" within 30 said '^idle 0'
cat "$out"
check_text "the first read has none" '^first -110' "$(cat "$out")"
rule 'lost dev=1'
check "a fault wakes poll" within 30 said '^woken True'
wait
check_text "the event is read" '^event 0x40f84e00' "$(cat "$out")"
check_text "then it is not readable any more" '^after 0' "$(cat "$out")"
rule clear
sleep 1

python3 tests/kernel/waiting.py event 20000 >"$out" 2>&1 &
parked() { grep -q "parked=$1 " $debug/state; }
check "a read waits" within 30 parked 1
rule 'lost dev=2'
wait
check_text "a fault ends it" '^0x40f84e00' "$(cat "$out")"
rule clear
sleep 1

check_text "its time ends it" '^-110' "$(python3 tests/kernel/waiting.py event 500)"

rule 'surface cmd=dmp.temperature mode=delay ms=1500'
out_of_hdc=$(python3 tests/kernel/waiting.py hdc 2>&1)
echo "$out_of_hdc"
check_text "a delayed reply is not there at once" '^under way 0' "$out_of_hdc"
check_text "and wakes poll when it comes" '^arrived 1 True' "$out_of_hdc"
check_text "then it is read" '^celsius [45][0-9]' "$out_of_hdc"
rule clear

for signal in TERM KILL; do
    python3 tests/kernel/waiting.py event -1 >"$out" 2>&1 &
    waiting=$!
    check "a read without end waits" within 30 parked 1
    kill -$signal "$waiting"
    wait "$waiting"
    status=$?
    check_same "SIG$signal ends it" $((128 + $(kill -l $signal))) $status
    check "and its ticket is gone" within 5 parked 0
done

# Unplugged while one waits: the others go on, and so does the waiting one.
python3 tests/kernel/waiting.py event 20000 >"$out" 2>&1 &
check "a read waits again" within 30 parked 1
echo 'remove 3' >$debug/hotplug
rule 'lost dev=0'
wait
check_text "another device's removal does not end it, a fault does" '^0x40f84e00' "$(cat "$out")"
check "the module goes" within 10 unload_module
