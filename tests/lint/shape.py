# SPDX-License-Identifier: Apache-2.0
"""No file too long, no script that does not parse, nothing that holds on one machine alone."""

import re
import subprocess

LONGEST = 600
SUFFIXES = (".c", ".h", ".cpp", ".hpp", ".sh", ".py")
# Joined here so that this file does not hold what it looks for.
MACHINE = [
    re.compile(r"(?:^|[^\w.])/(?:" + "|".join(["work", "farm"]) + r")/"),
    re.compile("/tmp/" + r"asc/"),
    re.compile("/home/" + r"[a-z]\w*/"),
    re.compile(r"\b(?:deb|security)\." + r"debian\.org\b"),
    re.compile(r"\bregistry\." + r"npmjs\b|\bpypi\." + r"org\b|\bproxy\." + r"golang\b"),
    re.compile(r"\.lib" + r"rary/"),
]


def interpreter(files, name):
    """'bash', 'python3' or another word of the '#!' line, '' when there is none."""
    first = files.data(name)[:80].split(b"\n")[0].decode("utf-8", errors="replace")
    return re.split(r"[/ ]", first)[-1] if first.startswith("#!") else ""


def check(files):
    problems = []
    for name in files.files:
        if files.is_binary(name):
            continue
        text = files.text(name)
        runner = interpreter(files, name)
        length = text.count("\n")
        if (name.endswith(SUFFIXES) or runner) and length > LONGEST:
            problems.append(f"{name}: {length} lines, more than {LONGEST}; what else lives in it?")
        for number, line in enumerate(text.split("\n"), 1):
            for pattern in MACHINE:
                if match := pattern.search(line):
                    problems.append(f"{name}:{number}: '{match[0].strip()}' holds on one machine alone")
        if runner in ("bash", "sh") or name.endswith((".sh", ".bash")):
            done = subprocess.run([runner or "bash", "-n"], input=text, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            if done.returncode:
                problems.append(f"{name}: does not parse: {done.stdout.strip()}")
        if runner.startswith("python") or name.endswith(".py"):
            try:
                compile(text, name, "exec")
            except SyntaxError as error:
                problems.append(f"{name}:{error.lineno}: does not parse: {error.msg}")
    return problems
