#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each lint check is fed samples that break it, and one that does not: a check that cannot fail is none."""

import os
import tempfile
import unittest

import core_objects
import core_sources
import include_directions
import licences
import shape
import tree

DUAL = "// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0\n"
APACHE = "// SPDX-License-Identifier: Apache-2.0\n"
RULES, CORE, ABI = "faultinject/core/a.c", "kmod-sim/core/a.c", "kmod-sim/abi/a.c"


class CheckTest(unittest.TestCase):
    def problems(self, check, samples):
        with tempfile.TemporaryDirectory() as root:
            for name, text in samples.items():
                path = os.path.join(root, name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            return check.check(tree.Tree(root))

    def assert_found(self, check, samples, *words):
        found = self.problems(check, samples)
        for word in words:
            self.assertTrue(any(word in problem for problem in found), f"'{word}' is not in {found}")

    def assert_clean(self, check, samples):
        self.assertEqual(self.problems(check, samples), [])


class IncludeDirections(CheckTest):
    headers = {name: "" for name in (
        "ioctl/wire/w.h", "ioctl/format/f.h", "kmod-sim/core/c.h", "kmod-sim/abi/a.h", "kmod-sim/host/h.hpp",
        "faultinject/core/r.h", "hal/device.hpp", "hal/channel/socket.hpp", "hal/inproc.hpp", "perf/ring.hpp",
        "cmds/common/table.hpp")}

    def found_for(self, source, target, word=""):
        self.assert_found(include_directions, {**self.headers, source: f'#include "{target}"\n'},
                          f"{source}:1: includes \"{target}\"", word)

    def test_directions_that_leave_the_table(self):
        for source, target in (
                ("ioctl/wire/x.h", "kmod-sim/core/c.h"), ("ioctl/wire/x.h", "ioctl/format/f.h"),
                ("ioctl/format/x.h", "ioctl/wire/w.h"), ("kmod-sim/core/x.c", "kmod-sim/abi/a.h"),
                ("kmod-sim/abi/x.c", "kmod-sim/host/h.hpp"), ("faultinject/core/x.c", "kmod-sim/core/c.h"),
                ("kmod-sim/host/x.cpp", "hal/device.hpp"), ("kmod-sim/server/x.cpp", "hal/device.hpp"),
                ("kmod-sim/linux/x.c", "kmod-sim/host/h.hpp"), ("hal/x.cpp", "kmod-sim/abi/a.h"),
                ("hal/x.cpp", "kmod-sim/host/h.hpp"), ("hal/x.cpp", "perf/ring.hpp"),
                ("hal/dcmi/x.cpp", "kmod-sim/core/c.h"), ("hal/inproc.cpp", "faultinject/core/r.h"),
                ("perf/x.cpp", "ioctl/wire/w.h"), ("perf/workloads/x.cpp", "kmod-sim/core/c.h"),
                ("perf/x.cpp", "cmds/common/table.hpp"), ("faultinject/x.cpp", "kmod-sim/core/c.h"),
                ("cmds/npu-smi/x.cpp", "ioctl/wire/w.h"), ("cmds/npu-smi/x.cpp", "kmod-sim/core/c.h"),
                ("cmds/npu-smi/x.cpp", "hal/channel/socket.hpp"), ("cmds/npu-smi/x.cpp", "hal/inproc.hpp")):
            with self.subTest(source=source, target=target):
                self.found_for(source, target)

    def test_directions_of_the_table(self):
        pairs = (("kmod-sim/core/x.c", "ioctl/wire/w.h"), ("kmod-sim/core/x.c", "faultinject/core/r.h"),
                 ("kmod-sim/abi/x.c", "kmod-sim/core/c.h"), ("kmod-sim/host/x.cpp", "kmod-sim/abi/a.h"),
                 ("kmod-sim/server/x.cpp", "kmod-sim/host/h.hpp"), ("hal/x.cpp", "ioctl/wire/w.h"),
                 ("hal/inproc.cpp", "kmod-sim/host/h.hpp"), ("hal/channel/x.cpp", "hal/inproc.hpp"),
                 ("perf/x.cpp", "hal/device.hpp"), ("perf/bench/x.cpp", "kmod-sim/abi/a.h"),
                 ("cmds/npu-smi/x.cpp", "perf/ring.hpp"), ("tests/unit/x.cpp", "kmod-sim/core/c.h"))
        samples = dict(self.headers)
        for source, target in pairs:
            samples[source] = samples.get(source, "") + f'#include "{target}"\n'
        self.assert_clean(include_directions, samples)

    def test_wire_through_another_header(self):
        self.assert_found(include_directions, {
            "ioctl/wire/w.h": "", "hal/device.hpp": '#include "hal/raw.hpp"\n',
            "hal/raw.hpp": '#include "ioctl/wire/w.h"\n',
            "cmds/npu-smi/x.cpp": '#include "hal/device.hpp"\n'},
            "cmds/npu-smi/x.cpp: sees wire structs through hal/device.hpp -> hal/raw.hpp -> ioctl/wire/w.h")

    def test_system_headers_in_freestanding_code(self):
        for text in ("#include <string.h>\n", "#include <linux/types.h>\n",
                     "#ifdef __KERNEL__\n#include <stdio.h>\n#endif\n",
                     "#ifdef __KERNEL__\n#else\n#include <linux/types.h>\n#endif\n",
                     "#ifdef __KERNEL__\n#endif\n#  include  <errno.h>\n"):
            with self.subTest(text=text):
                self.assert_found(include_directions, {CORE: text}, "in freestanding code")
        self.assert_clean(include_directions, {
            CORE: "#ifdef __KERNEL__\n#include <linux/types.h>\n#else\n#include <stdint.h>\n#endif\n",
            "hal/x.cpp": "#include <string.h>\n"})

    def test_names(self):
        self.assert_found(include_directions, {"hal/x.cpp": '#include "x.hpp"\n', "hal/x.hpp": ""},
                          "no file seen from the root")
        self.assert_found(include_directions, {"hal/x.cpp": "#include WHATEVER\n"}, "must name its file")
        self.assert_found(include_directions, {"elsewhere/x.cpp": ""}, "stands in no folder")
        self.assert_found(include_directions, {**self.headers, "hal/x.cpp": "#include <kmod-sim/core/c.h>\n"},
                          'includes "kmod-sim/core/c.h"')

    def test_comments_are_no_includes(self):
        self.assert_clean(include_directions, {
            "hal/x.cpp": '// #include "a.h"\n/*\n#include "b.h"\n*/\nauto s = R"(\n)";\n'})


class Licences(CheckTest):
    texts = {"LICENSES/Apache-2.0.txt": "", "LICENSES/GPL-2.0-only.txt": ""}

    def test_missing_or_wrong(self):
        for name, text, word in (
                (CORE, "int x;\n", "no SPDX"), (CORE, APACHE, "licence 'Apache-2.0'"),
                ("hal/x.cpp", DUAL, "licence 'GPL-2.0-only OR"), ("kmod-sim/linux/x.c", DUAL, "licence"),
                ("ioctl/wire/x.h", "\n" + DUAL, "no SPDX"), ("scripts/x", "#!/bin/sh\necho\n", "no SPDX"),
                ("kmod-sim/core/CMakeLists.txt", "# SPDX-License-Identifier: GPL-2.0-only\n", "licence"),
                ("x.toml", "", "no SPDX")):
            with self.subTest(name=name, text=text):
                self.assert_found(licences, {**self.texts, name: text}, word)
        self.assert_found(licences, {"a.txt": ""}, "LICENSES/Apache-2.0.txt", "LICENSES/GPL-2.0-only.txt")

    def test_right(self):
        self.assert_clean(licences, {
            **self.texts, CORE: DUAL, "hal/x.cpp": APACHE, "notes.txt": "none\n",
            "kmod-sim/linux/x.c": "/* SPDX-License-Identifier: GPL-2.0-only */\n",
            "scripts/x": "#!/bin/sh\n# SPDX-License-Identifier: Apache-2.0\n",
            "ioctl/CMakeLists.txt": "# SPDX-License-Identifier: Apache-2.0\n"})


class CoreSources(CheckTest):
    def test_found(self):
        for text in ("int f(int a) { return a / 2; }", "int f(int a) { return a % 2; }",
                     "void f(int* a) { *a /= 2; }", "void f(int* a) { *a %= 2; }", "#define HALF(a) ((a) / 2)",
                     "int f(unsigned long a) { return a / sizeof(a); }", "float f(void);", "double f(void);"):
            with self.subTest(text=text):
                self.assert_found(core_sources, {CORE: DUAL + text + "\n"}, f"{CORE}:2:")
        self.assert_found(core_sources, {RULES: "double x;\n"}, "double")
        self.assert_found(core_sources, {ABI: "int a = 4 / 2;\n"}, "'/'")

    def test_clean(self):
        self.assert_clean(core_sources, {
            CORE: '#include "kmod-sim/core/div.h"\n// a / b % c, float\n/* 1 / 2 */\n'
                  "static const char* s = \"a / b %d\";\nstatic const char c = '/', d = '%';\n"
                  "int f(int floats[3]) { return sizeof(floats) / sizeof(floats[0]); }\n",
            "kmod-sim/core/div.h": "static int f(int a, int b) { return a / b; }\n",
            RULES: "int f(int a) { return a / 10; }\n", "hal/x.cpp": "double x = 1 / 2;\n"})


class CoreObjects(CheckTest):
    clean = {
        RULES: "int rule(int a);\nint rule(int a) { return a / 10; }\n",
        CORE: "void* memcpy(void*, const void*, unsigned long);\nint rule(int a);\nint core(int a);\n"
              "static const char* const names[] = {\"a\", \"b\"};\n"
              "int core(int a) { return names[a & 1][0] + rule(a); }\n",
        ABI: "int core(int a);\nint abi(int a);\nint abi(int a) { return core(a); }\n"}

    def found_with(self, source, text, *words):
        self.assert_found(core_objects, {**self.clean, source: self.clean[source] + text}, *words)

    def test_clean(self):
        self.assert_clean(core_objects, self.clean)

    def test_symbols(self):
        self.found_with(CORE, "int puts(const char*);\nint g(void) { return puts(names[0]); }\n", "'puts'")
        self.found_with(RULES, "int core(int);\nint up(void) { return core(1); }\n", "needs 'core'")
        self.found_with(ABI, "int state; int g(void) { return state++; }\n", "mutable data")
        self.found_with(ABI, "int g(void) { static int n = 3; return n++; }\n", "mutable data")

    @unittest.skipUnless("-m32" in core_objects.WIDTHS, "this compiler makes objects of one width")
    def test_division_that_needs_a_library_on_32_bits(self):
        self.found_with(RULES, "unsigned long long g(unsigned long long a, unsigned long long b);\n"
                        "unsigned long long g(unsigned long long a, unsigned long long b) { return a / b; }\n",
                        "-m32): needs '__udivdi3'")

    def test_frames(self):
        self.found_with(CORE, "void use(char*);\nvoid use(char* p) { *p = 1; }\n"
                        "int g(void) { volatile char b[2000]; b[0] = 1; return b[1999]; }\n", "frame")
        self.found_with(CORE, "int g(int n) { volatile char b[n]; b[0] = 1; return b[n - 1]; }\n", "vla")

    def test_floating_point(self):
        self.found_with(CORE, "int g(int a) { return (int)(a * 1.5); }\n", CORE)

    def test_recursion(self):
        self.found_with(CORE, "int g(int a);\nint h(int a) { return a ? g(a - 1) + 1 : 0; }\n"
                        "int g(int a) { return a ? h(a - 1) + 2 : 0; }\n", "recursion: ")

    def test_nothing_to_look_at(self):
        self.assert_found(core_objects, {"hal/x.cpp": ""}, "nothing to look at")


class Shape(CheckTest):
    def test_found(self):
        self.assert_found(shape, {"a.py": "\n" * 601}, "601 lines")
        self.assert_found(shape, {"a.cpp": "\n" * 601}, "601 lines")
        self.assert_found(shape, {"scripts/a": "#!/bin/sh\n" + "\n" * 601}, "lines, more than")
        self.assert_found(shape, {"a.sh": "if true; then\n"}, "does not parse")
        self.assert_found(shape, {"scripts/a": "#!/usr/bin/env bash\nfor\n"}, "does not parse")
        self.assert_found(shape, {"a.py": "def f(:\n"}, "a.py:1: does not parse")
        for text in ("see /wo" + "rk/main", "cd /tmp/" + "asc/x", "/home/" + "me/x", "deb." + "debian.org",
                     "registry." + "npmjs.org", "a/.lib" + "rary/b"):
            with self.subTest(text=text):
                self.assert_found(shape, {"a.md": f"one\n{text}\n"}, "a.md:2: '")

    def test_clean(self):
        self.assert_clean(shape, {"a.py": "\n" * 600, "a.md": "\n" * 700 + "net/work/x, $TMP/work/ and /tmp/asc\n",
                                  "a.sh": "true\n"})


class Text(unittest.TestCase):
    def test_lines_stay_when_comments_go(self):
        text = 'a /* b\nc */ d "//" \'"\' // e\nR"x(//)x" 1\'000 f\n'
        self.assertEqual(tree.without_comments(text), 'a     \n     d "//" \'"\'     \nR"x(//)x" 1\'000 f\n')


if __name__ == "__main__":
    unittest.main()
