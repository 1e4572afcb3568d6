# SPDX-License-Identifier: Apache-2.0
"""What the compiled freestanding parts hold, on plain 64- and 32-bit objects.

Undefined symbols are memcpy, memset and memcmp alone; there is no mutable data, no recursion, no floating
point register and no frame above 1 KiB; no part needs a symbol of a part above it.
"""

import concurrent.futures
import os
import platform
import re
import subprocess
import tempfile

EXTERNS = {"memcpy", "memset", "memcmp"}
# Lowest first: each part may use itself and those before it.
PARTS = ("faultinject/core/", "kmod-sim/core/", "kmod-sim/abi/")
COMPILER = os.environ.get("CC", "gcc")
PLAIN = ["-std=gnu11", "-ffreestanding", "-fno-pie", "-fno-stack-protector", "-fno-asynchronous-unwind-tables"]
# An x86-64 compiler makes both; elsewhere the machine's own width is what can be looked at.
WIDTHS = ["-m64", "-m32"] if platform.machine() == "x86_64" else [""]
_FLOAT_REGISTER = re.compile(r"%(?:[xyz]mm|st|mm)\d*\b")
_EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')


def compile_one(root, source, out, flags):
    """Compiles to `out`; returns the compiler's complaint or ''."""
    command = [COMPILER, *PLAIN, *flags, "-I", ".", "-c", source, "-o", out]
    done = subprocess.run([word for word in command if word], cwd=root, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return f"{' '.join(command)}:\n{done.stdout}" if done.returncode else ""


def symbols(obj):
    """(defined, undefined, mutable data) of an object."""
    defined, undefined, data = set(), set(), set()
    for line in subprocess.run(["nm", "-P", obj], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.splitlines():
        name, kind = line.split()[:2]
        (undefined if kind in "Uwv" else defined).add(name)
        if kind in "BbDdCcSsGg":
            data.add(name)
    return defined, undefined, data


def cycle_in(graph):
    """A cycle of a call graph as a list of names, or None."""
    state = {}
    for start in graph:
        if start in state:
            continue
        path, walk = [start], [iter(graph[start])]
        state[start] = "open"
        while walk:
            step = next((n for n in walk[-1] if n in graph and state.get(n) != "done"), None)
            if step is None:
                state[path.pop()] = "done"
                walk.pop()
            elif state.get(step) == "open":
                return path[path.index(step):] + [step]
            else:
                state[step] = "open"
                path.append(step)
                walk.append(iter(graph[step]))
    return None


def check_symbols(objects, label):
    """objects: (part, source, object)"""
    problems = []
    below = set()
    for part in PARTS:
        seen = {source: symbols(obj) for owner, source, obj in objects if owner == part}
        below |= set().union(*(defined for defined, _, _ in seen.values()))
        for source, (_, undefined, data) in sorted(seen.items()):
            for name in sorted(undefined - below - EXTERNS):
                problems.append(f"{source} ({label}): needs '{name}', which is neither of its own part or one "
                                f"below nor one of {', '.join(sorted(EXTERNS))}")
            for name in sorted(data):
                problems.append(f"{source} ({label}): '{name}' is mutable data; state belongs in the arena")
    return problems


def check_registers(objects):
    problems = []
    for _, source, obj in objects:
        text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", obj], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        if match := _FLOAT_REGISTER.search(text):
            problems.append(f"{source}: uses the floating point register {match[0]}")
    return problems


def check_recursion(objects):
    graph = {}
    for _, _, obj in objects:
        with open(obj[:-2] + ".ci", encoding="utf-8") as file:
            for caller, callee in _EDGE.findall(file.read()):
                graph.setdefault(caller, set()).add(callee)
    cycle = cycle_in(graph)
    return [f"recursion: {' -> '.join(cycle)}"] if cycle else []


def check(files):
    sources = [(part, f) for part in PARTS for f in files.c_files(part) if f.endswith(".c")]
    problems = []
    with tempfile.TemporaryDirectory() as scratch, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:

        def objects_of(label, flags):
            """Compiles everything one way; what does not compile becomes a problem."""
            made = [(part, source, os.path.join(scratch, f"{label}{index}.o"))
                    for index, (part, source) in enumerate(sources)]
            errors = list(pool.map(lambda m: compile_one(files.root, m[1], m[2], flags), made))
            problems.extend(error for error in errors if error)
            return [m for m, error in zip(made, errors) if not error]

        frame = ["-Werror=frame-larger-than=1024", "-Werror=vla"]
        for width in WIDTHS:
            problems += check_symbols(objects_of(f"O2{width}", [width, "-O2", *frame]), f"-O2 {width}")
            problems += check_symbols(objects_of(f"O0{width}", [width, "-O0"]), f"-O0 {width}")
        general = objects_of("general", ["-O2", "-mgeneral-regs-only"])
        problems += check_registers(general)
        problems += check_recursion(objects_of("calls", ["-O0", "-fcallgraph-info"]))
    if not sources:
        problems.append(f"no C sources in {', '.join(PARTS)}: there is nothing to look at")
    return problems
