# SPDX-License-Identifier: Apache-2.0
# A virtual machine without hardware support (TCG): boots a kernel of the cache with this machine's whole user land,
# read-only under an overlay, and runs one program there. Sourced after kernel-image.sh.

guest_pass=42 # what the guest writes to the exit port when all is well; QEMU ends with 2 n + 1
guest_fail=43

# add_module MODULES NAME INTO: copies a module and, before it, those it needs; appends their order to INTO/order.
add_module() {
    local name=${2//-/_} file needs need
    file=$(find "$1" -name "${name//_/[-_]}.ko*" | head -n 1)
    [ -n "$file" ] || return 0 # built in, or not of this series
    ! grep -qx "$name" "$3/order" 2>/dev/null || return 0
    needs=$(/sbin/modinfo -F depends "$file")
    for need in ${needs//,/ }; do add_module "$1" "$need" "$3"; done
    case $file in
        *.xz) xz -dc "$file" >"$3/$name.ko" ;;
        *.ko) cp "$file" "$3/$name.ko" ;;
        *) die "$file: no way to unpack it" ;;
    esac
    echo "$name" >>"$3/order"
}

# guest_initramfs RELEASE: the small first user land; prints its path. Made again when a part of it is newer.
guest_initramfs() {
    local release=$1 out=$kernel_cache/$1/initramfs root modules name
    if [ "$out" -nt tests/kernel/guest/init ] && [ "$out" -nt scripts/lib/kernel-guest.sh ]; then
        echo "$out"
        return
    fi
    root=$(mktemp -d)
    mkdir -p "$root"/{bin,dev,proc,sys,modules,host,over,new}
    cp /bin/busybox "$root/bin/busybox"
    ln -s busybox "$root/bin/sh"
    cp tests/kernel/guest/init "$root/init"
    chmod 755 "$root/init"
    modules=$(kernel_modules "$release")
    for name in virtio_pci 9pnet_virtio 9p overlay; do add_module "$modules" "$name" "$root/modules"; done
    (cd "$root" && find . -print0 | cpio --null --quiet -o -H newc | gzip -1) >"$out.$$"
    mv "$out.$$" "$out"
    rm -rf "$root"
    echo "$out"
}

# guest_boot RELEASE JOB CPUS SECONDS TERMINAL: boots and waits. JOB is a folder that both sides write: the guest runs
# JOB/run there. The kernel's console goes to JOB/console, the program's terminal to TERMINAL (stdio or a file name).
# True only when the guest said that it passed.
guest_boot() {
    local release=$1 job=$2 cpus=$3 seconds=$4 terminal=$5 status=0 serial
    case $terminal in stdio) serial=(-serial stdio) ;; *) serial=(-serial "file:$terminal") ;; esac
    timeout --foreground -k 10 "$seconds" qemu-system-x86_64 \
        -accel tcg,thread=multi -machine q35 -cpu max -smp "$cpus" -m "${guest_memory:-2048}" \
        -nodefaults -display none -no-reboot -monitor none \
        -serial "file:$job/console" "${serial[@]}" \
        -device isa-debug-exit,iobase=0x501,iosize=1 \
        -fsdev local,id=host,path=/,security_model=none,readonly=on,multidevs=remap \
        -device virtio-9p-pci,fsdev=host,mount_tag=host \
        -fsdev "local,id=job,path=$job,security_model=none" \
        -device virtio-9p-pci,fsdev=job,mount_tag=job \
        -kernel "$kernel_cache/$release/vmlinux" -initrd "$(guest_initramfs "$release")" \
        -append "console=ttyS0 loglevel=4 log_buf_len=4M panic=-1 oops=panic net.ifnames=0 ${guest_append:-} asc.job=$job" \
        || status=$?
    case $status in
        $((2 * guest_pass + 1))) return 0 ;;
        $((2 * guest_fail + 1))) ;;
        124 | 137) echo "no end after $seconds s" >"$job/verdict" ;;
        *) echo "the guest ended without a verdict (QEMU's status $status): a panic, see the console" >"$job/verdict" ;;
    esac
    return 1
}
