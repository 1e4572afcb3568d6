#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""command_reference.py [--write]: docs/driver-commands.md must be what ioctl/wire/commands.def says.

The page is printed by a program compiled from the table itself; --write puts it in place."""
import difflib
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE = os.path.join(ROOT, "docs", "driver-commands.md")
PROGRAM = r"""
#include "ioctl/wire/commands.h"
#include <stdio.h>
static const char* length(uint32_t value, char* text) {
    if (value == DV_LEN_ANY) return "up to 4096";
    if (value == DV_LEN_BIG) return "up to 2 MiB";
    snprintf(text, 32, "%u", value);
    return text;
}
static const char *const scope[] = {"-", "system", "device", "system and device"};
static const char *const effect[] = {"reads", "changes", "destroys"};
static void rows(unsigned kind, const char* title, const char* head) {
    char in[32], out[32];
    printf("\n## %s\n\n%s\n", title, head);
    for (unsigned id = 1; id < DV_CMD_COUNT; ++id) {
        const struct dv_command_info* c = dv_command(id);
        if (c->kind != kind) continue;
        if (kind == DV_KIND_IOCTL)
            printf("| `%s` | 0x%08X | %s | 0x%X | %s | %s | %s |\n", c->name, c->number, length(c->in_len, in), c->mask,
                   scope[c->scope], effect[c->effect], c->errors);
        else if (kind == DV_KIND_URD)
            printf("| `%s` | 0x%02X/%u | %s | %s | 0x%X | %s | %s | %s |\n", c->name, c->number >> 8, c->number & 255,
                   length(c->in_len, in), length(c->out_len, out), c->mask, scope[c->scope], effect[c->effect], c->errors);
        else if (kind == DV_KIND_UDIS)
            printf("| `udis.%s` | %u | %s | %s |\n", c->name, c->module, c->out_len ? length(c->out_len, out) : "any", c->errors);
        else
            printf("| `%s` | 0x%04X | %s | %s | 0x%X | %s | %s |\n", c->name, c->number, length(c->in_len, in),
                   length(c->out_len, out), c->mask, effect[c->effect], c->errors);
    }
}
int main(void) {
    printf("<!-- SPDX-License-Identifier: Apache-2.0 -->\n# Commands of the driver's interface\n\n"
           "Made from `ioctl/wire/commands.def`, which the simulator, the channels, rules and traces use; "
           "`tests/lint/command_reference.py --write` makes it anew.\nNames are what `cmd=` of a rule and `davsim trace` "
           "say. Lengths are bytes; a mask is the access mask of the driver (0: anybody).\n");
    rows(DV_KIND_IOCTL, "ioctl numbers", "| name | number | argument | mask | scope | effect | legal errors |\n|---|---|---|---|---|---|---|");
    rows(DV_KIND_URD, "URD functions", "| name | main/sub | input | output | mask | scope | effect | legal errors |\n|---|---|---|---|---|---|---|---|");
    rows(DV_KIND_UDIS, "UDIS values", "| name | module | bytes | legal errors |\n|---|---|---|---|");
    rows(DV_KIND_DMP, "DMP functions over HDC", "| name | opcode | request | reply | mask | effect | legal errors |\n|---|---|---|---|---|---|---|");
    return 0;
}
"""


def printed():
    with tempfile.TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "page.c"), os.path.join(folder, "page")
        with open(source, "w", encoding="ascii") as file:
            file.write(PROGRAM)
        subprocess.run(["gcc", "-std=gnu11", "-I", ROOT, source, "-o", program], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout


def problems():
    """Lines that say where the page differs from the table."""
    try:
        with open(PAGE, encoding="ascii") as file:
            current = file.read()
    except FileNotFoundError:
        current = ""
    wanted = printed()
    if wanted.count("\n") < 60:
        return ["the table printed next to nothing"]
    return list(difflib.unified_diff(current.splitlines(), wanted.splitlines(), "docs/driver-commands.md",
                                     "commands.def", lineterm="", n=0))


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        os.makedirs(os.path.dirname(PAGE), exist_ok=True)
        with open(PAGE, "w", encoding="ascii") as out:
            out.write(printed())
        sys.exit(0)
    found = problems()
    print("\n".join([*found, "run command_reference.py --write"]) if found else "command_reference: 0 problems")
    sys.exit(1 if found else 0)
