#!/usr/bin/env python3
"""Tests the suites themselves: their bars, their peers, what they say when something is missing."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from actors import instructions, programs  # noqa: E402
from actors.suite import SUITE, workload_bars  # noqa: E402
from actors.workloads import WORKLOADS  # noqa: E402
from compile.suite import parse_budget  # noqa: E402
from harness import main as command_line  # noqa: E402
from harness.errors import CannotMeasure  # noqa: E402
from harness.results import Result  # noqa: E402
from harness.runner import Program  # noqa: E402

BARS = """
ping_pong_ns <=50, ping_pong_vs_go <=0.23, count_m_per_s >=90, count_vs_go >=2.8,
count_bounded_m_per_s >=70, count_bounded_vs_go >=2.2, many_to_one_m_per_s >=35,
many_to_one_vs_go >=1.25, many_to_one_bounded_m_per_s >=25, ring_ns <=25, ring_vs_go <=0.2,
skynet_ms <=120, skynet_vs_go <=0.2, fork_join_ms <=220, fork_join_vs_go <=0.7, big_m_per_s >=30,
big_vs_go >=2.4, ask_ns <=70, ask_vs_go <=0.2, ask_deadline_ns <=90, ask_deadline_vs_go <=0.1,
memory_bytes <=256, memory_spawn_ns <=180, timers_cpu_ns <=350, timers_vs_go <=0.3
"""

# Prints the figure it was made with, whatever the workload.
PRETENDER = """
import sys
print("RESULT", sys.argv[2], float(sys.argv[1]), "unit", "spawn_ns=1", "p50_ns=1", "p99_ns=2",
      "p999_ns=3")
"""


def results_of(workload, **runs):
    return {name: [Result(workload.name, value, workload.unit, {"spawn_ns": 88})
                   for value in figures] for name, figures in runs.items()}


class BarsTest(unittest.TestCase):
    def test_every_target_of_the_suite_is_there(self):
        bars = []
        for workload in WORKLOADS:
            bars += workload_bars(workload, results_of(workload, weir=[1], go=[1]))
        self.assertEqual([f"{bar.name} {bar.target}" for bar in bars],
                         [bar.strip() for bar in BARS.replace("\n", " ").split(",")])

    def test_measured_is_the_median_of_ours_and_of_the_paired_ratios(self):
        ping_pong = WORKLOADS[0]
        absolute, ratio = workload_bars(
            ping_pong, results_of(ping_pong, weir=[30, 20, 90], go=[300, 100, 450]))
        self.assertEqual(absolute.measured, 30)
        self.assertEqual(ratio.measured, 0.2)

    def test_without_go_only_the_absolute_bars_remain(self):
        bars = workload_bars(WORKLOADS[0], results_of(WORKLOADS[0], weir=[30]))
        self.assertEqual([bar.name for bar in bars], ["ping_pong_ns"])

    def test_spawn_time_is_read_from_the_memory_result(self):
        memory = next(workload for workload in WORKLOADS if workload.name == "memory")
        bars = workload_bars(memory, results_of(memory, weir=[192]))
        self.assertEqual([bar.measured for bar in bars], [192, 88])


class PeersTest(unittest.TestCase):
    def test_newest_go_is_chosen_by_number_not_by_letter(self):
        with tempfile.TemporaryDirectory() as folder:
            for version in ("1.9", "1.23", "1.19"):
                compiler = Path(folder, f"go-{version}/bin/go")
                compiler.parent.mkdir(parents=True)
                compiler.touch(mode=0o755)
            self.assertEqual(programs.newest_go(Path(folder)), Path(folder, "go-1.23/bin/go"))

    def test_no_go_is_no_compiler(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(programs.newest_go(Path(folder)))

    def missing(self, peer, patch):
        with tempfile.TemporaryDirectory() as folder, patch:
            Path(folder, "CMakeCache.txt").touch()
            with self.assertRaises(CannotMeasure) as refusal:
                programs.prepare(peer, Path(folder))
        return str(refusal.exception)

    def test_missing_peer_says_what_to_install(self):
        no_go = mock.patch.object(programs, "newest_go", return_value=None)
        self.assertIn("install golang-go", self.missing("go", no_go))
        no_erlang = mock.patch.object(programs.shutil, "which", return_value=None)
        self.assertIn("install erlang-base", self.missing("erlang", no_erlang))
        for peer, package in (("caf", "libcaf-dev"), ("asio", "libboost1.83-dev")):
            no_target = mock.patch.multiple("harness.build", has_target=lambda *_: False,
                                            cmake=lambda *_: "")
            self.assertIn(f"install {package}", self.missing(peer, no_target))


class RunTest(unittest.TestCase):
    """Runs the whole suite with programs that only pretend to measure."""

    def run_suite(self, figures, *arguments):
        def prepare(name, _):
            if name not in figures:
                raise CannotMeasure(f"the peer {name} is missing: install it")
            return Program(name, (sys.executable, "-c", PRETENDER, str(figures[name])))

        output, errors = io.StringIO(), io.StringIO()
        with mock.patch("actors.suite.prepare", prepare), contextlib.redirect_stdout(output), \
                contextlib.redirect_stderr(errors):
            code = command_line.main(["actors", "--runs=1", *arguments], {"actors": SUITE})
        return code, output.getvalue(), errors.getvalue()

    def test_met_bars_exit_with_0(self):
        code, output, _ = self.run_suite({"weir": 20, "go": 200}, "--only=ring", "--peers=go")
        self.assertEqual(code, 0)
        self.assertIn("bar ring_ns 20 <=25 ok\nbar ring_vs_go 0.1 <=0.2 ok\n", output)

    def test_ratio_alone_short_exits_with_1(self):
        code, output, _ = self.run_suite({"weir": 20, "go": 50}, "--only=ring", "--peers=go")
        self.assertEqual(code, 1)
        self.assertIn("bar ring_vs_go 0.4 <=0.2 short\n", output)

    def test_missing_peer_exits_with_2_before_anything_is_measured(self):
        code, output, errors = self.run_suite({"weir": 20, "go": 200}, "--only=ring")
        self.assertEqual((code, output), (2, ""))
        self.assertIn("the peer erlang is missing", errors)

    def test_quick_says_so_on_each_bar_and_what_scales_differently(self):
        _, output, _ = self.run_suite({"weir": 20, "go": 200}, "--only=ring,skynet", "--peers=go",
                                      "--quick")
        self.assertIn("bar ring_ns 20 <=25 ok (quick)\n", output)
        self.assertIn("ok (quick: a smaller tree, in ms per million actors)\n", output)

    def test_idle_is_given_in_percent_of_the_second(self):
        code, output, _ = self.run_suite({"weir": 0.002}, "--only=idle", "--peers=")
        self.assertEqual(code, 1)
        self.assertIn("bar idle_cpu_percent 0.2 <=0.1 short\n", output)

    def test_sections_show_ours_beside_go(self):
        code, output, _ = self.run_suite({"weir": 20, "go": 200}, "--only=latency,threads",
                                         "--peers=go")
        self.assertEqual(code, 0)
        self.assertRegex(output, r"p50 +p99 +p99\.9\n")
        self.assertRegex(output, r"count +M/s +20 +20 +200 +200\n")


class InstructionsTest(unittest.TestCase):
    def test_start_up_cancels_out(self):
        def count(_, workload, scale):
            return 5_000_000 + 240 * instructions.MESSAGES[workload] * scale

        with mock.patch.object(instructions, "count", count):
            self.assertAlmostEqual(instructions.per_message(None, "ping_pong"), 240)

    def test_total_is_read_from_callgrind(self):
        self.assertEqual(instructions.collected("==7== Events    : Ir\n==7== Collected : 123\n"), 123)
        with self.assertRaises(CannotMeasure):
            instructions.collected("valgrind: cannot run")


class CompileTest(unittest.TestCase):
    def test_budget_is_read(self):
        self.assertEqual(parse_budget("1.25 s 1.2 CPU s 310 MB bench/compile/a.cpp\n"),
                         (1.25, 1.2, 310))
        with self.assertRaises(CannotMeasure):
            parse_budget("error: no such file\n")


if __name__ == "__main__":
    unittest.main()
