# SPDX-License-Identifier: Apache-2.0
"""Includes go down the table of the architecture and name files from the root of the tree."""

import re

import tree

ANYTHING = ("",)
WIRE = "ioctl/wire/"
# Parts of the HAL behind its front: a command never reaches past the HAL to a channel.
BEHIND_HAL = re.compile(r"^hal/(.*[/_])?(channel|chardev|socket|inproc)")

# Folder -> what it may include besides its own files; the longest folder that fits decides. The device
# model holds rules by value, so core stands on the rule engine. Benchmarks measure every layer and may,
# like the tests, include any of them.
TABLE = {
    "ioctl/wire/": (),
    "ioctl/format/": (),
    "faultinject/core/": ("ioctl/",),
    "kmod-sim/core/": ("ioctl/", "faultinject/core/"),
    "kmod-sim/abi/": ("ioctl/", "kmod-sim/core/", "faultinject/core/"),
    "kmod-sim/linux/": ("ioctl/", "kmod-sim/core/", "kmod-sim/abi/", "faultinject/core/"),
    "kmod-sim/host/": ("ioctl/", "kmod-sim/core/", "kmod-sim/abi/", "faultinject/core/"),
    "kmod-sim/server/": ("ioctl/", "kmod-sim/core/", "kmod-sim/abi/", "kmod-sim/host/",
                         "faultinject/core/"),
    "kmod-sim/load/": ("ioctl/", "kmod-sim/core/", "kmod-sim/host/", "faultinject/core/"),
    "hal/": ("ioctl/",),
    "hal/inproc": ("hal/", "ioctl/", "kmod-sim/core/", "kmod-sim/abi/", "kmod-sim/host/"),
    "hal/dcmi/": ("hal/", "ioctl/"),
    "perf/": ("hal/", "ioctl/format/"),
    "perf/bench/": ANYTHING,
    "faultinject/": ("hal/", "ioctl/format/"),
    # Not the rule engine, which is the simulator's.
    "cmds/": ("hal/", "perf/", "faultinject/scenario/", "faultinject/journal", "faultinject/sweep/",
              "faultinject/coverage", "faultinject/catalogue", "ioctl/format/", "generated/"),
    "tests/": ANYTHING,
}
FREESTANDING = ("ioctl/", "kmod-sim/core/", "kmod-sim/abi/", "faultinject/core/")
# Above the HAL: no wire structs, not even through a header of another folder.
ABOVE_HAL = ("cmds/", "perf/", "faultinject/")

_INCLUDE = re.compile(r'^\s*#\s*include\b\s*(?:"([^"]+)"|<([^>]+)>|(.*))')
_KERNEL_IF = re.compile(r"^\s*#\s*(?:ifdef\s+__KERNEL__|if\s+defined\s*\(?\s*__KERNEL__\s*\)?)\s*$")


def folder_of(name):
    """The row of the table that a file belongs to, or None."""
    rows = [row for row in TABLE if name.startswith(row)]
    return max(rows, key=len) if rows else None


def includes(text):
    """Yields (line, quoted name, angled name, other text, inside #ifdef __KERNEL__)."""
    stack = []  # one entry per open #if: True inside the kernel's branch
    for number, line in enumerate(tree.without_comments(text).split("\n"), 1):
        if re.match(r"\s*#\s*if", line):
            stack.append(bool(_KERNEL_IF.match(line)))
        elif re.match(r"\s*#\s*el", line) and stack:
            stack[-1] = False
        elif re.match(r"\s*#\s*endif", line) and stack:
            stack.pop()
        elif match := _INCLUDE.match(line):
            yield number, match[1], match[2], match[3], any(stack)


def check_system_header(name, kernel):
    if kernel:
        return name.startswith(("linux/", "asm/"))
    return name in ("stdint.h", "stddef.h")


def check_one(source, row, target):
    """Why this file may not include that one, or None."""
    if not target.startswith((row,) + TABLE[row]):
        allowed = ", ".join((row,) + TABLE[row])
        return f"{row} may include {allowed} alone"
    if folder_of(target) == "hal/inproc" and row != "hal/inproc" and not row.startswith("hal/"):
        if TABLE[row] != ANYTHING:
            return "the in-process channel is the HAL's own"
    if source.startswith(ABOVE_HAL) and TABLE[row] != ANYTHING and BEHIND_HAL.match(target):
        return "nothing above the HAL reaches past it to a channel"
    return None


def wire_path(sources, start):
    """The chain of includes from a file to a wire header, or None."""
    chains = [[start]]
    seen = {start}
    while chains:
        chain = chains.pop()
        for target in sources.get(chain[-1], ()):
            if target.startswith(WIRE):
                return chain + [target]
            if target not in seen:
                seen.add(target)
                chains.append(chain + [target])
    return None


def check(files):
    problems = []
    graph = {}
    for name in files.c_files():
        row = folder_of(name)
        if row is None:
            problems.append(f"{name}: stands in no folder of the table of include directions")
            continue
        freestanding = name.startswith(FREESTANDING)
        for line, quoted, angled, other, kernel in includes(files.text(name)):
            where = f"{name}:{line}"
            if other is not None:
                problems.append(f"{where}: an include must name its file: {other.strip()}")
                continue
            target = quoted or angled
            if angled and not files.exists(angled):
                if freestanding and not check_system_header(angled, kernel):
                    problems.append(f"{where}: <{angled}> in freestanding code; it has <stdint.h> and "
                                    "<stddef.h>, and <linux/...> under __KERNEL__")
                continue
            if not files.exists(target) and not target.startswith("generated/"):
                problems.append(f'{where}: "{target}" is no file seen from the root of the tree')
                continue
            graph.setdefault(name, []).append(target)
            if why := check_one(name, row, target):
                problems.append(f'{where}: includes "{target}", but {why}')
    for name in files.c_files(*ABOVE_HAL):
        row = folder_of(name)
        if name.startswith("faultinject/core/") or TABLE[row] == ANYTHING:
            continue
        chain = wire_path(graph, name)
        if chain and len(chain) > 2:  # a direct include is reported above
            problems.append(f"{name}: sees wire structs through {' -> '.join(chain[1:])}; they are for "
                            "kmod-sim/ and hal/ alone")
    return problems
