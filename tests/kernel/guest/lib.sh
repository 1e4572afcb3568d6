# SPDX-License-Identifier: Apache-2.0
# For the tests of this folder, which run in the guest: sourced.

# ok NAME / not_ok NAME WHY: a result. The test goes on after a failure.
ok() { echo "ok $test_name: $1" | tee -a "$ASC_JOB/results"; }
not_ok() { echo "not ok $test_name: $1${2:+ ($2)}" | tee -a "$ASC_JOB/results"; }
skip() { echo "skip $test_name: $1" | tee -a "$ASC_JOB/results"; }
test_name=$(basename "$0" .sh)

# check NAME COMMAND...: the command's status decides.
check() {
    local name=$1 status=0
    shift
    "$@" || status=$?
    if [ "$status" = 0 ]; then ok "$name"; else not_ok "$name" "status $status of: $*"; fi
}
# check_status NAME STATUS COMMAND...: it must end with exactly this status.
check_status() {
    local name=$1 want=$2 status=0
    shift 2
    "$@" || status=$?
    if [ "$status" = "$want" ]; then ok "$name"; else not_ok "$name" "status $status, not $want, of: $*"; fi
}
# check_text NAME PATTERN TEXT: the text has a line that matches the extended expression.
check_text() {
    if grep -Eq -- "$2" <<<"$3"; then
        ok "$1"
    else
        not_ok "$1" "no line matches '$2'"
        printf '%s\n' "$3"
    fi
}
check_no_text() {
    if grep -Eq -- "$2" <<<"$3"; then
        not_ok "$1" "a line matches '$2'"
        printf '%s\n' "$3"
    else
        ok "$1"
    fi
}
# refuses NAME TEXT COMMAND...: the command fails, and the system's message has this text.
refuses() {
    local name=$1 text=$2 said
    shift 2
    if said=$("$@" 2>&1); then
        not_ok "$name" "was taken: $*"
    elif grep -qF -- "$text" <<<"$said"; then
        ok "$name"
    else
        not_ok "$name" "'$said' instead of '$text'"
    fi
}
# put VALUE FILE: one write(2), whose error is the command's.
put() { printf '%s\n' "$1" | dd of="$2" status=none conv=notrunc; }
check_same() { # NAME WANT GOT
    if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "want '$2', got '$3'"; fi
}
# expect_log PATTERN: this line of the kernel's log is wanted, however it looks.
expect_log() { printf '%s\n' "$1" >>/tmp/dmesg-expected; }
# within SECONDS COMMAND...: the command becomes true in that time.
within() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.1
    done
}

debug=/sys/kernel/debug/davinci_sim
# load_module WORD...: with its parameters.
load_module() { insmod "$ASC_MODULE" "$@"; }
unload_module() { rmmod davinci_sim; }
# load_profile NAME WORD...: the module without devices of its own, then the profile and its processes.
load_profile() {
    local name=$1
    shift
    load_module devices=0 slots=16 "$@" && davsim-load --profile "$name"
}
# hold DEVICE MIB: a process that holds memory; its pid in $held.
hold() {
    local said
    said=$(mktemp)
    asc-hold --device "$1" --mib "$2" --backend chardev >"$said" 2>&1 &
    held=$!
    within 20 grep -q holding "$said" || cat "$said"
    rm -f "$said"
}
# attribute DEVICE NAME: of the simulator's group in sysfs.
attribute() { cat "/sys/class/devdrv-class/davinci$1/simulator/$2"; }
# attribute_is DEVICE NAME VALUE
attribute_is() { [ "$(attribute "$1" "$2")" = "$3" ]; }
rule() { echo "$1" >"$debug/rules"; }
