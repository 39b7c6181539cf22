#!/usr/bin/env python3
"""scripts/join_tests.py makes one source of several that define the same names."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/join_tests.py"

SOURCE = """#include <cstdio>

namespace weir {{
namespace {{

struct Counter {{
  int count = {count};
}};

const int printed = std::printf("%s:%d %d\\n", __FILE__, __LINE__, Counter().count);

}}  // namespace
}}  // namespace weir
"""


class JoinTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def join(self, *sources):
        return subprocess.run([sys.executable, SCRIPT, self.folder / "joined.cpp", *sources],
                              stderr=subprocess.PIPE, text=True, check=False)

    def test_each_source_keeps_its_names_and_its_lines(self):
        first = self.write("first_test.cpp", SOURCE.format(count=1))
        second = self.write("second_test.cpp", SOURCE.format(count=2))
        self.assertEqual(self.join(first, second).returncode, 0)
        main = self.write("main.cpp", '#include "joined.cpp"\nint main() {}\n')
        program = self.folder / "program"
        subprocess.run(["clang++-19", "-std=c++20", main, "-o", program], check=True)
        printed = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertEqual(printed, f"{first}:10 1\n{second}:10 2\n")

    def test_testing_is_what_it_was_whatever_came_before(self):
        shared = "namespace testing {\nstruct Test {};\n}  // namespace testing\n"
        mine = "namespace weir::testing {\nint scaled();\n}  // namespace weir::testing\n"
        use = ("namespace weir::flow {{\nnamespace {{\n{use}\n}}  // namespace\n"
               "}}  // namespace weir::flow\n")
        first = self.write("first_test.cpp", shared + mine + use.format(
            use="using Scaled = decltype(testing::scaled());"))
        second = self.write("second_test.cpp", use.format(use="struct Mine : testing::Test {};"))
        self.assertEqual(self.join(first, second).returncode, 0)
        subprocess.run(["clang++-19", "-std=c++20", "-fsyntax-only", self.folder / "joined.cpp"],
                       check=True)

    def test_a_source_without_an_unnamed_namespace_is_refused(self):
        source = self.write("open_test.cpp", "namespace weir {\nint open;\n}  // namespace weir\n")
        refused = self.join(source)
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"{source}: not one unnamed namespace", refused.stderr)
        self.assertFalse((self.folder / "joined.cpp").exists())


if __name__ == "__main__":
    unittest.main()
