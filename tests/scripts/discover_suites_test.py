#!/usr/bin/env python3
"""cmake/weir_discover_suites.cmake makes one CTest case of each suite of a GoogleTest program."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "cmake/weir_discover_suites.cmake"

# Says what GoogleTest would.
PROGRAM = f"""#!{sys.executable}
import sys
LIST = '''Running main() from gtest_main.cc
Plain.
  Passes
  Passes.Too
Engines/Given.
  Passes/0  # GetParam() = 1
Typed/memory.  # TypeParam = weir::Memory
  Passes
Broken.
  Fails
  IsSkipped
Absent.
  IsSkipped
'''
SKIPPED = "[  PASSED  ] 0 tests.\\n[  SKIPPED ] 1 test, listed below:\\n[  SKIPPED ] a.IsSkipped"
SAID = {{"Broken": SKIPPED + "\\n[  FAILED  ] 1 test, listed below:\\n[  FAILED  ] Broken.Fails",
        "Absent": SKIPPED}}
if sys.argv[1] == "--gtest_list_tests":
    print(LIST, end="")
else:
    suite = sys.argv[1].removeprefix("--gtest_filter=").removesuffix(".*")
    print(SAID.get(suite, f"[  PASSED  ] 2 tests of {{suite}}."))
    sys.exit(suite == "Broken")
"""


class DiscoverSuites(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = Path(folder.name) / "program"
        program.write_text(PROGRAM, encoding="utf-8")
        program.chmod(0o755)
        (Path(folder.name) / "CTestTestfile.cmake").write_text(
            f'include("{SCRIPT}")\nweir_add_suites("module." "{program}")\n', encoding="utf-8")
        ran = subprocess.run(["ctest", "--test-dir", folder.name, "--output-on-failure"],
                             capture_output=True, text=True, check=False)
        self.output = ran.stdout
        self.outcomes = dict(re.findall(r"Test +#\d+: (\S+) \.*(?:\*\*\*| +)(\w+)", ran.stdout))

    def test_runs_each_suite_once(self):
        self.assertEqual(self.outcomes, {
            "module.Plain": "Passed", "module.Engines/Given": "Passed",
            "module.Typed/memory": "Passed", "module.Broken": "Failed", "module.Absent": "Skipped"})

    def test_names_the_test_that_failed(self):
        self.assertIn("[  FAILED  ] Broken.Fails", self.output)


if __name__ == "__main__":
    unittest.main()
