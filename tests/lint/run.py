#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py CHECK [ROOT]: one check over the tree; prints what does not hold and ends 1, else 0."""

import importlib
import os
import sys

import tree

CHECKS = ("core_objects", "core_sources", "include_directions", "licences", "shape")


def main(arguments):
    if not arguments or arguments[0] not in CHECKS or len(arguments) > 2:
        print(f"usage: run.py {'|'.join(CHECKS)} [ROOT]", file=sys.stderr)
        return 2
    here = os.path.dirname(os.path.abspath(__file__))
    files = tree.Tree(arguments[1] if len(arguments) > 1 else os.path.join(here, "..", ".."))
    problems = importlib.import_module(arguments[0]).check(files)
    for problem in problems:
        print(problem)
    print(f"{arguments[0]}: {len(files.files)} files, {len(problems)} problems")
    return 1 if problems or not files.files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
