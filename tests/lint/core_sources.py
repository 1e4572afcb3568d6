# SPDX-License-Identifier: Apache-2.0
"""What the text of the freestanding parts may not hold: division outside core/div.h, floating point."""

import re

import tree

FREESTANDING = ("kmod-sim/core/", "kmod-sim/abi/", "faultinject/core/")
# The rule engine stands below core and cannot use its div.h; that its divisions are 32-bit ones is
# proved by the symbols of its 32-bit objects.
DIVISION_FREE = ("kmod-sim/core/", "kmod-sim/abi/")
DIVISION_FILE = "kmod-sim/core/div.h"
_TOKEN = re.compile(r"[A-Za-z_]\w*|0[xX][0-9A-Fa-f]+\w*|[0-9][\w.']*|/=?|%=?|\S")


def _size_of_array(tokens, position):
    """True for the constant 'sizeof(a) / sizeof(...)'."""
    if tokens[position + 1:position + 2] != ["sizeof"] or tokens[position - 1] != ")":
        return False
    depth = 0
    for index in range(position - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(tokens[index], 0)
        if depth == 0:
            return index > 0 and tokens[index - 1] == "sizeof"
    return False


def check(files):
    problems = []
    for name in files.c_files(*FREESTANDING):
        code = tree.code_only(files.text(name))
        matches = list(_TOKEN.finditer(code))
        tokens = [match[0] for match in matches]
        for index, token in enumerate(tokens):
            where = f"{name}:{tree.line_of(code, matches[index].start())}"
            if token in ("float", "double"):
                problems.append(f"{where}: '{token}' in a part that links in kernels")
            if (token in ("/", "%", "/=", "%=") and name.startswith(DIVISION_FREE)
                    and name != DIVISION_FILE and not _size_of_array(tokens, index)):
                problems.append(f"{where}: operator '{token}'; division stands in {DIVISION_FILE} alone")
    return problems
