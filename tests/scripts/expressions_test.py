#!/usr/bin/env python3
"""docs/expressions.md has every built-in function of expressions, and no other."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def documented():
    page = (ROOT / "docs/expressions.md").read_text(encoding="utf-8")
    table = page.split("## Built-in functions")[1].split("\n## ")[0]
    names = set()
    for line in table.splitlines():
        if line.startswith("| `"):
            names.update(re.findall(r"`([^`]+)`", line.split(" | ")[0]))
    return names


def built_in():
    names = set()
    for file in (ROOT / "flow/data/internal").glob("*.cpp"):
        names.update(re.findall(r'registry\.add\(\s*"([^"]+)"', file.read_text(encoding="utf-8")))
    return names


class Expressions(unittest.TestCase):
    def test_documents_every_built_in_function(self):
        self.assertGreater(len(built_in()), 30)
        self.assertEqual(documented(), built_in())


if __name__ == "__main__":
    unittest.main()
