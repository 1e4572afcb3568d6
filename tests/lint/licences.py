# SPDX-License-Identifier: Apache-2.0
"""An SPDX line heads every text source and names the licence of its folder."""

import re

APACHE = "Apache-2.0"
DUAL = "GPL-2.0-only OR Apache-2.0"
GPL = "GPL-2.0-only"
FOLDERS = {
    "ioctl/": DUAL,
    "kmod-sim/core/": DUAL,
    "kmod-sim/abi/": DUAL,
    "faultinject/core/": DUAL,
    "kmod-sim/linux/": GPL,
}
SUFFIXES = (".c", ".h", ".cpp", ".hpp", ".def", ".S", ".py", ".sh", ".bash", ".cmake", ".toml", ".yml",
            ".yaml", ".awk", ".bt")
NAMES = ("CMakeLists.txt", "Kbuild", "Makefile", "Dockerfile", ".clang-format", ".clang-tidy", ".gitignore")
_LINE = re.compile(r"^(?://|#|/\*|<!--|;)\s*SPDX-License-Identifier: (.+?)\s*(?:\*/|-->)?$")


def is_source(files, name):
    if name.startswith("LICENSES/"):
        return False
    base = name.rsplit("/", 1)[-1]
    return base in NAMES or base.endswith(SUFFIXES) or files.data(name)[:2] == b"#!"


def allowed(name):
    """Licences that may head the file. A build file of a dual-licensed folder may be plain Apache."""
    rows = [row for row in FOLDERS if name.startswith(row)]
    if not rows:
        return (APACHE,)
    licence = FOLDERS[max(rows, key=len)]
    if licence == DUAL and name.endswith(("CMakeLists.txt", ".cmake")):
        return (DUAL, APACHE)
    return (licence,)


def check(files):
    problems = []
    for name in files.files:
        if not is_source(files, name):
            continue
        lines = files.text(name).split("\n", 2)
        head = lines[1] if lines[0].startswith("#!") and len(lines) > 1 else lines[0]
        match = _LINE.match(head)
        if not match:
            problems.append(f"{name}: no SPDX-License-Identifier in its first line (after '#!' if any)")
        elif match[1] not in allowed(name):
            problems.append(f"{name}: licence '{match[1]}', but its folder's is {' or '.join(allowed(name))}")
    for text in ("LICENSES/Apache-2.0.txt", "LICENSES/GPL-2.0-only.txt"):
        if not files.exists(text):
            problems.append(f"{text}: the licence's text is missing")
    return problems
