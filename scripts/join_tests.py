#!/usr/bin/env python3
"""Joins the sources of several tests into one, which compiles in less time than they take alone.

Usage: join_tests.py OUTPUT SOURCE...

Tests keep what they define in an unnamed namespace, and many define a `Counter` there. In OUTPUT
each source has a namespace of its own within it, by the name of its file. `testing` is the name of
GoogleTest's namespace and of some of Weir's: what one does not have is looked for in those outside,
so that it does not matter which of them the sources before have declared.
"""

import re
import sys
from pathlib import Path

BEGIN = re.compile(r"^namespace \{$", re.MULTILINE)
END = re.compile(r"^\}  // namespace$", re.MULTILINE)
NAMED = re.compile(r"^namespace ([\w:]+) \{$", re.MULTILINE)


class CannotJoin(Exception):
    """A source that must be compiled alone."""


def prelude(texts):
    """Returns declarations by which each namespace `testing` has what the next one outside has."""
    around = set()
    for text in texts:
        for name in NAMED.findall(text):
            parts = name.split("::")
            around.update("::".join(parts[:length]) for length in range(1, len(parts) + 1))
    lines = ["namespace testing {}"]
    for name in sorted(around):
        outer = "::".join(["", *name.split("::")[:-1], "testing"])
        lines.append(f"namespace {name}::testing {{ using namespace {outer}; }}")
    return "\n".join(lines) + "\n"


def joined(path, text):
    """Returns the source as a part of a larger one; compilers name the lines of the original."""
    for mark in BEGIN, END:
        if len(mark.findall(text)) != 1:
            raise CannotJoin(f"{path}: not one unnamed namespace; list it as ALONE in weir_test()")
    text = BEGIN.sub(f"namespace {{ namespace {path.stem} {{", text)
    text = END.sub("} }  // namespace", text)
    return f'#line 1 "{path}"\n{text}'


def main(arguments):
    output, *sources = map(Path, arguments)
    try:
        texts = [source.read_text(encoding="utf-8") for source in sources]
        parts = [prelude(texts), *map(joined, sources, texts)]
    except CannotJoin as problem:
        print(problem, file=sys.stderr)
        return 1
    output.write_text("\n".join(parts), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
