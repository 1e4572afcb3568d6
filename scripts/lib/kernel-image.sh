# SPDX-License-Identifier: Apache-2.0
# Kernels to build for and to boot: Debian's own packages, unpacked into a cache and never installed, image and
# headers always of one version (the module's symbol versions refuse another). Sourced after common.sh.

kernel_cache=${ASC_KERNEL_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/asc-tools/kernel}

# apt_depends PACKAGE PATTERN: the first dependency that matches, '' when there is none.
apt_depends() { apt-cache depends --important "$1" 2>/dev/null | sed -n "s/^ *Depends: \($2\)\$/\1/p" | head -n 1; }

# kernel_release WANTED: the release that '', a series such as 6.12, or a whole release such as 6.1.0-57-amd64
# stands for. Without package lists the newest unpacked one serves.
kernel_release() {
    local wanted=$1 machine image
    machine=$(dpkg --print-architecture)
    case $wanted in
        '') image=$(apt_depends "linux-image-$machine" 'linux-image-[0-9].*') ;;
        *-*) image=linux-image-$wanted ;;
        *)
            image=$(apt_depends "linux-image-$wanted-$machine" 'linux-image-[0-9].*')
            [ -n "$image" ] || [[ $(apt_depends "linux-image-$machine" 'linux-image-.*') != "linux-image-$wanted".* ]] ||
                image=$(apt_depends "linux-image-$machine" 'linux-image-[0-9].*')
            ;;
    esac
    if [ -z "$image" ]; then
        image=$(find "$kernel_cache" -mindepth 1 -maxdepth 1 -type d -name "${wanted:-[0-9]}*" -printf 'linux-image-%f\n' \
            2>/dev/null | sort -V | tail -n 1)
        [ -n "$image" ] || die "no kernel '${wanted:-of this Debian}' among the known packages; apt-get update first"
    fi
    echo "${image#linux-image-}"
}

# unpack PACKAGE INTO: downloads a package unless it is kept already and unpacks it.
unpack() {
    local kept=$kernel_cache/archives deb
    mkdir -p "$kept"
    deb=$(find "$kept" -name "$1_*.deb" | sort -V | tail -n 1)
    if [ -z "$deb" ]; then
        say "kernel: downloading $1"
        (cd "$kept" && apt-get -q download "$1" >/dev/null 2>&1) ||
            die "apt-get could not download $1; is the package list fresh (apt-get update)?"
        deb=$(find "$kept" -name "$1_*.deb" | sort -V | tail -n 1)
    fi
    dpkg -x "$deb" "$2"
}

# The kernel proper inside a bzImage: it boots by PVH at once, while the bzImage unpacks itself for 6 s.
extract_vmlinux() { # BZIMAGE OUT
    python3 - "$1" "$2" <<'END'
import lzma, struct, sys
data = open(sys.argv[1], "rb").read()
setup = (data[0x1F1] or 4) + 1
offset, length = struct.unpack_from("<II", data, 0x248)
payload = data[setup * 512 + offset:setup * 512 + offset + length]
if payload[:6] != b"\xfd7zXZ\0":
    sys.exit(f"the payload of {sys.argv[1]} is not xz")
open(sys.argv[2], "wb").write(lzma.LZMADecompressor().decompress(payload))
END
}

# kernel_prepare RELEASE: sees to it that $kernel_cache/RELEASE holds vmlinux, the modules and a tree to build against.
kernel_prepare() {
    local release=$1 into=$kernel_cache/$1 part headers=linux-headers-$1 common kbuild
    [ ! -e "$into/ready" ] || return 0
    command -v dpkg >/dev/null && command -v apt-get >/dev/null || die "kernels come as Debian packages; this is no Debian"
    part=$into.part.$$
    rm -rf "$part"
    mkdir -p "$part"
    unpack "linux-image-$release" "$part"
    unpack "$headers" "$part"
    common=$(apt_depends "$headers" 'linux-headers-.*-common')
    kbuild=$(apt_depends "$headers" 'linux-kbuild-.*')
    [ -n "$common" ] && [ -n "$kbuild" ] || die "$headers names neither its common part nor linux-kbuild"
    unpack "$common" "$part"
    unpack "$kbuild" "$part"
    extract_vmlinux "$part/boot/vmlinuz-$release" "$part/vmlinux"
    # What the packages call by the path they would be installed to.
    sed -i "s|/usr/src/|$into/usr/src/|g" "$part/usr/src/$headers/Makefile" "$part/usr/src/$headers/.kernelvariables"
    if [ -d "$part/usr/lib/modules" ]; then modules=$part/usr; else modules=$part; fi
    /sbin/depmod -b "$modules" "$release"
    touch "$part/ready"
    rm -rf "$into"
    mv "$part" "$into"
}

# Folder to hand to make -C.
kernel_headers() { echo "$kernel_cache/$1/usr/src/linux-headers-$1"; }
# Folder of the release's modules.
kernel_modules() {
    local at=$kernel_cache/$1/lib/modules/$1
    [ -d "$at" ] || at=$kernel_cache/$1/usr/lib/modules/$1
    echo "$at"
}

# udevadm comes from a package whose installation would change the host's own service manager.
kernel_udev_tools() {
    local into=$kernel_cache/tools
    if [ ! -e "$into/ready" ]; then
        rm -rf "$into"
        mkdir -p "$into"
        unpack udev "$into"
        unpack libkmod2 "$into"
        touch "$into/ready"
    fi
    echo "$into"
}
