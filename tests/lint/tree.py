# SPDX-License-Identifier: Apache-2.0
"""The tree as the lint checks see it: its files, and C text without comments or literals."""

import os
import re
import subprocess

C_SUFFIXES = (".c", ".h", ".cpp", ".hpp", ".def")

_COMMENT_OR_LITERAL = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?\*/"""
    r"""|(?P<literal>R"(?P<mark>[^(\s\\]*)\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*")"""
    r"""|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'""",
    re.DOTALL,
)


class Tree:
    """Files below a root, as paths relative to it with '/' between the parts."""

    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.files = sorted(self._from_git() or self._from_walk())

    def _from_git(self):
        """Tracked files and new ones that are not ignored; None when the root is no git checkout."""
        if not os.path.exists(os.path.join(self.root, ".git")):
            return None
        out = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", self.root, "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"],
            check=True, stdout=subprocess.PIPE).stdout
        names = {name for name in out.decode().split("\0") if name}
        return [name for name in names if os.path.isfile(os.path.join(self.root, name))]

    def _from_walk(self):
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = [f for f in folders if f != ".git" and not f.startswith("build")]
            found += [os.path.relpath(os.path.join(folder, n), self.root) for n in names]
        return found

    def c_files(self, *folders):
        return [f for f in self.files if f.endswith(C_SUFFIXES) and (not folders or f.startswith(folders))]

    def exists(self, name):
        return os.path.isfile(os.path.join(self.root, name))

    def data(self, name):
        with open(os.path.join(self.root, name), "rb") as file:
            return file.read()

    def text(self, name):
        return self.data(name).decode("utf-8", errors="replace")

    def is_binary(self, name):
        return b"\0" in self.data(name)


def _spaces(text):
    return re.sub(r"[^\n]", " ", text)


def without_comments(text):
    """The same text with comments blanked; lines and columns stay."""

    def blank(match):
        return match[0] if match["literal"] or match[0].startswith("'") else _spaces(match[0])

    return _COMMENT_OR_LITERAL.sub(blank, text)


def code_only(text):
    """The same text with comments, strings, characters and #include lines blanked."""
    text = _COMMENT_OR_LITERAL.sub(lambda match: _spaces(match[0]), text)
    return re.sub(r"^[ \t]*#[ \t]*include[^\n]*", lambda match: _spaces(match[0]), text, flags=re.MULTILINE)


def line_of(text, position):
    return text.count("\n", 0, position) + 1
