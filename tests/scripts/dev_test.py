#!/usr/bin/env python3
"""./dev says what it takes, refuses the rest before it installs or builds anything, and calls CMake and
CTest with what it was told. Those, and the script that installs, are stubs here."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SUBCOMMANDS = ("run", "test", "fuzz", "bench", "check", "build", "docs", "format", "clean")
STUB = '#!/bin/sh\necho "$(basename "$0")" "$@" >>"$CALLS"\n'


class Dev(unittest.TestCase):
    def setUp(self):
        self.directory = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.directory)
        shutil.copy(ROOT / "dev", self.directory)
        (self.directory / "CMakePresets.json").touch()
        (self.directory / "bench/actors").mkdir(parents=True)
        (self.directory / "bench/actors/suite.py").touch()
        for preset in ("release", "joined", "asan", "tsan", "dev"):
            (self.directory / "build" / preset).mkdir(parents=True)
        for name in ("scripts/install_dependencies.sh", "bin/cmake", "bin/ctest", "bin/python3"):
            path = self.directory / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(STUB)
            path.chmod(0o755)

    def dev(self, *arguments):
        """Its exit code, what it printed, and the programs that it called."""
        calls = self.directory / "calls"
        calls.write_text("")
        environment = {**os.environ, "CALLS": str(calls), "CTEST_PARALLEL_LEVEL": "2",
                       "PATH": f"{self.directory}/bin:{os.environ['PATH']}"}
        done = subprocess.run([self.directory / "dev", *arguments], env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return done.returncode, done.stdout + done.stderr, calls.read_text().splitlines()

    def test_every_subcommand_tells_how_it_is_used(self):
        code, overview, calls = self.dev("--help")
        self.assertEqual((code, calls), (0, []))
        for name in SUBCOMMANDS:
            self.assertIn(f"\n  {name}", overview)
            code, text, calls = self.dev(name, "--help")
            self.assertEqual((code, calls), (0, []), name)
            self.assertTrue(text.startswith(f"Usage: ./dev {name}"), text)

    def test_without_a_subcommand_it_tells_how_it_is_used_and_fails(self):
        code, text, calls = self.dev()
        self.assertEqual((code, calls), (2, []))
        self.assertTrue(text.startswith("Usage: ./dev"))

    def test_what_it_does_not_know_is_refused_before_anything_is_done(self):
        cases = {
            ("nonsense",): "unknown subcommand 'nonsense'",
            ("test", "--nonsense"): "test: unknown option '--nonsense'",
            ("test", "one", "two"): "test: one filter only, 'two' is a second",
            ("test", ""): "test: the filter is empty",
            ("test", "--asan", "--tsan"): "test: --asan or --tsan, not both",
            ("test", "--tsan", "Mailbox", "--joined"): "test: --tsan or --joined, not both",
            ("bench",): "bench: which suite?",
            ("bench", "--quick"): "bench: which suite?",
            ("bench", "nonsense"): "bench: no suite 'nonsense'",
            ("check", "nonsense"): "check: unknown argument 'nonsense'",
            ("build", "nonsense"): "build: unknown preset 'nonsense'",
            ("build", ""): "build: unknown preset ''",
            ("build", "asan", "tsan"): "build: unexpected argument 'tsan'",
            ("docs", "all"): "docs: unexpected argument 'all'",
            ("format", "dev"): "format: unexpected argument 'dev'",
            ("clean", "all"): "clean: unexpected argument 'all'",
        }
        for arguments, message in cases.items():
            code, text, calls = self.dev(*arguments)
            self.assertEqual((code, calls), (1, []), arguments)
            self.assertIn(f"dev: {message}", text)
        self.assertTrue((self.directory / "build").exists(), "clean removed it")

    def test_tests_are_built_and_run_with_the_preset_and_the_filter(self):
        for option, preset in ((None, "release"), ("--joined", "joined"), ("--asan", "asan"),
                               ("--tsan", "tsan")):
            code, _, calls = self.dev("test", "runtime.Mailbox", *([option] if option else []))
            self.assertEqual(code, 0)
            self.assertEqual(calls, ["install_dependencies.sh build",
                                     f"cmake --fresh --preset {preset}",
                                     f"cmake --build --preset {preset}",
                                     f"ctest --preset {preset} --parallel 2 --tests-regex runtime.Mailbox"])

    def test_what_is_configured_is_not_configured_again(self):
        self.dev("build")
        _, _, calls = self.dev("build")
        self.assertEqual(calls, ["install_dependencies.sh build", "cmake --build --preset release"])
        _, _, calls = self.dev("build", "tsan")
        self.assertIn("cmake --fresh --preset tsan", calls)

    def test_what_fails_ends_it(self):
        (self.directory / "scripts/install_dependencies.sh").write_text("#!/bin/sh\nexit 7\n")
        code, _, calls = self.dev("test")
        self.assertEqual((code, calls), (7, []))

    def test_a_suite_of_benchmarks_gets_its_arguments(self):
        code, _, calls = self.dev("bench", "actors", "--quick")
        self.assertEqual((code, calls[0]), (0, "install_dependencies.sh build bench"))
        self.assertEqual(calls[-1], "python3 bench/run.py actors --quick")

    def test_clean_removes_what_was_built(self):
        self.assertEqual(self.dev("clean")[0], 0)
        self.assertFalse((self.directory / "build").exists())


if __name__ == "__main__":
    unittest.main()
