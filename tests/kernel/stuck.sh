#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A rule makes one device's call sleep as a stuck driver does: the table and the prompt come all the same.
# seconds: 300
. tests/kernel/guest/lib.sh
load_module devices=4

ms() { date +%s%3N; }
start=$(ms)
npu-smi info >/dev/null
usual=$(($(ms) - start))

rule 'surface cmd=udis.soc_max_temp dev=1 mode=never interruptible=no'
start=$(ms)
out=$(npu-smi info --timeout 3 2>&1) # the shell waits for the process and for whoever holds its output
status=$?
took=$(($(ms) - start))
echo "$out"
check_same "npu-smi says that one row failed" 3 "$status"
check_same "it has the other rows" 4 "$(grep -cE '0000:0[1-4]:00\.0' <<<"$out")"
check_text "and the reason in the row" TIMEOUT "$out"
# Programs start slowly in this guest: a second more than the deadline, beside what is usual.
if [ "$took" -le $((usual + 4000)) ]; then
    ok "the shell has its prompt back ($took ms, usually $usual)"
else
    not_ok "the shell has its prompt back" "after $took ms, usually $usual"
fi

d_state() { ps -eLo state=,wchan:20= | grep -q '^D *davsim'; }
check "a thread sleeps in D state" within 10 d_state
check_text "the model has it parked" 'parked=[1-9]' "$(cat $debug/state)"
check_status "the module cannot go" 1 unload_module
ps -eLo pid=,lwp=,state=,wchan=,comm= | grep ' D '
kill -9 $(ps -eLo pid=,state= | awk '$2=="D"{print $1}') 2>/dev/null
sleep 1
check "no signal ends it" d_state
rule clear
echo 1 >$debug/let_go
no_d_state() { ! d_state; }
check "let go by hand it ends" within 20 no_d_state

# The same call, interruptible: a signal ends it.
rule 'surface cmd=devmng.device_status mode=never interruptible=yes'
python3 - <<'END' &
import fcntl, os, struct
fd = os.open("/dev/davinci_manager", os.O_RDWR)
fcntl.ioctl(fd, 0x5A00, struct.pack("<256si", b"DEVMNG", 0))
fcntl.ioctl(fd, 0x4D07, bytearray(4))
END
waiting=$!
parked() { grep -q 'parked=1' $debug/state; }
check "it waits" within 20 parked
kill -TERM "$waiting"
wait "$waiting"
check_same "a signal ends it" 143 $?
check_text "and the ticket is gone" 'parked=0' "$(cat $debug/state)"
rule clear

# A delay holds for as long as it says, and the others are not held up.
rule 'surface cmd=devmng.device_status dev=0 mode=delay ms=3000'
cat >/tmp/status.py <<'END'
import fcntl, os, struct, sys, time
fd = os.open("/dev/davinci_manager", os.O_RDWR)
fcntl.ioctl(fd, 0x5A00, struct.pack("<256si", b"DEVMNG", 0))
start = time.monotonic()
argument = bytearray(struct.pack("<I", int(sys.argv[1])))
fcntl.ioctl(fd, 0x4D07, argument)
print(f"{time.monotonic() - start:.1f}")
END
python3 /tmp/status.py 0 >/tmp/slow &
other=$(python3 /tmp/status.py 1)
wait
check "a delayed call takes its time" awk -v t="$(cat /tmp/slow)" 'BEGIN { exit !(t >= 2.9) }'
check "another device's call does not wait for it" awk -v t="$other" 'BEGIN { exit !(t < 2.5) }'
rule clear
within 10 unload_module
check "the module goes" test ! -e /dev/davinci_manager
