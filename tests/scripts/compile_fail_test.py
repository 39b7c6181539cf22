#!/usr/bin/env python3
"""scripts/compile_fail.py passes only for the expected failure."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/compile_fail.py"
REFUSAL = 'static_assert(sizeof(char) == 2, "char is one byte");\n'


def run(source, *options, expect="char is one byte"):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "source.cpp")
        file.write_text(source, encoding="utf-8")
        return subprocess.run(
            [sys.executable, SCRIPT, "--expect", expect, *options, "--", "clang++-19", "-std=c++20",
             str(file)], stdout=subprocess.PIPE, text=True, check=False)


class CompileFail(unittest.TestCase):
    def test_passes_when_the_compiler_gives_the_expected_reason(self):
        self.assertEqual(run(REFUSAL).returncode, 0)

    def test_fails_when_the_file_compiles(self):
        result = run("int main() {}\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("it compiles", result.stdout)

    def test_fails_when_the_reason_is_another(self):
        result = run("int main() { return missing; }\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("does not match", result.stdout)

    def test_fails_when_the_reason_drowns_in_errors(self):
        result = run(REFUSAL * 3)
        self.assertEqual(result.returncode, 1)
        self.assertIn("3 errors", result.stdout)
        self.assertEqual(run(REFUSAL * 3, "--errors-max", "3").returncode, 0)


if __name__ == "__main__":
    unittest.main()
