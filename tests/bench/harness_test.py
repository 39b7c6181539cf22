#!/usr/bin/env python3
"""Tests what all benchmark suites share: parsing, medians, targets, running, exit codes."""

import contextlib
import io
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from harness import main as command_line  # noqa: E402
from harness.bars import Bar, Report, at_least, at_most, figure  # noqa: E402
from harness.build import build_target  # noqa: E402
from harness.errors import CannotMeasure  # noqa: E402
from harness.results import parse_result  # noqa: E402
from harness.runner import Load, Program, execute, run_alternating, run_once  # noqa: E402
from harness.stats import median, paired_ratio, spread_percent, standard_error  # noqa: E402
from harness.suites import Suite, discover  # noqa: E402
from harness.table import format_table  # noqa: E402
from harness.turns import Comparison, Resident, Turns, take_turns  # noqa: E402


def quietly(function, *arguments):
    """Returns the result of the call and what it printed; its progress lines are dropped."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()) as errors:
        result = function(*arguments)
    return result, output.getvalue(), errors.getvalue()


def pretender(name, code, **properties):
    """A program that runs the given Python code; `workload` is its argument."""
    prelude = "import os, sys; workload = sys.argv[1]\n"
    return Program(name, (sys.executable, "-c", prelude + code), **properties)


class StatsTest(unittest.TestCase):
    def test_median_ignores_the_outlier(self):
        self.assertEqual(median([3, 1, 100]), 3)
        self.assertEqual(median([4, 2]), 3)

    def test_spread_is_half_the_range_in_percent_of_the_median(self):
        self.assertAlmostEqual(spread_percent([90, 100, 120]), 15)
        self.assertEqual(spread_percent([7]), 0)
        self.assertEqual(spread_percent([0, 0]), 0)

    def test_ratio_pairs_neighbouring_runs_so_that_a_slow_phase_cancels_out(self):
        self.assertEqual(paired_ratio([10, 20, 30], [100, 200, 300]), 0.1)

    def test_ratio_refuses_unequal_numbers_of_runs(self):
        with self.assertRaises(ValueError):
            paired_ratio([1, 2], [1])

    def test_error_shrinks_with_the_number_of_figures_and_ignores_an_outlier(self):
        self.assertEqual(standard_error([1]), float("inf"))
        self.assertEqual(standard_error([2] * 9), 0)
        few = [0.99, 1, 1.01, 1.02]
        self.assertAlmostEqual(standard_error(few * 25) / standard_error(few * 100), 2, places=1)
        self.assertLess(standard_error(few * 25 + [50]), 0.003)


class BarTest(unittest.TestCase):
    def test_line_has_name_measured_target_and_verdict(self):
        self.assertEqual(str(Bar("ping_pong_vs_go", 0.14, at_most(0.23))),
                         "bar ping_pong_vs_go 0.14 <=0.23 ok")
        self.assertEqual(str(Bar("count_m_per_s", 89.9, at_least(90))),
                         "bar count_m_per_s 89.9 >=90 short")

    def test_limit_itself_is_good_enough_in_both_directions(self):
        self.assertTrue(Bar("a", 50, at_most(50)).is_ok)
        self.assertTrue(Bar("a", 90, at_least(90)).is_ok)

    def test_note_follows_the_verdict(self):
        self.assertEqual(str(Bar("a", 1, at_most(2), "quick")), "bar a 1 <=2 ok (quick)")

    def test_large_limits_are_written_out(self):
        self.assertEqual(str(Bar("steps", 2_345_678, at_least(1_000_000))),
                         "bar steps 2345678 >=1000000 ok")

    def test_measured_just_beyond_the_limit_does_not_look_met(self):
        self.assertEqual(str(Bar("a", 50.04, at_most(50))), "bar a 50.04 <=50 short")

    def test_figures_keep_three_digits_without_exponents(self):
        self.assertEqual([figure(value) for value in (0, 0.00001, 0.1234, 12.34, 123.4, 1e9)],
                         ["0", "0.000010", "0.123", "12.3", "123", "1000000000"])

    def test_report_names_the_short_ones(self):
        report = Report()
        quietly(report.add, [Bar("a", 1, at_most(2)), Bar("b", 3, at_most(2))])
        self.assertEqual(report.short(), ["b"])


class ResultTest(unittest.TestCase):
    def test_reads_value_unit_and_extras_among_other_lines(self):
        result = parse_result("warming up\nRESULT memory 192.5 B spawn_ns=88 actors=10\n", "memory")
        self.assertEqual((result.value, result.unit), (192.5, "B"))
        self.assertEqual(result.figure("spawn_ns"), 88)
        self.assertEqual(result.figure(), 192.5)

    def test_refuses_what_is_not_one_good_line_for_the_workload(self):
        for output in ("", "RESULT ask 1 ns\nRESULT ask 2 ns\n", "RESULT ring 1 ns\n",
                       "RESULT ask fast ns\n", "RESULT ask 1\n", "RESULT ask 1 ns extra\n"):
            with self.subTest(output), self.assertRaises(CannotMeasure):
                parse_result(output, "ask")

    def test_missing_extra_is_named(self):
        with self.assertRaisesRegex(CannotMeasure, "spawn_ns"):
            parse_result("RESULT memory 1 B\n", "memory").figure("spawn_ns")


class RunnerTest(unittest.TestCase):
    def test_programs_alternate_and_some_run_in_fewer_rounds(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log")
            programs = [pretender(name, f"open({str(log)!r}, 'a').write('{name} ')\n"
                                        "print('RESULT', workload, 1, 'ns')")
                        for name in ("weir", "go", "caf")]
            results, _, _ = quietly(run_alternating, programs, "ask", Load(), 3, {"caf": 1})
            self.assertEqual(log.read_text().split(), "weir go caf weir go weir go".split())
        self.assertEqual({name: len(runs) for name, runs in results.items()},
                         {"weir": 3, "go": 3, "caf": 1})

    def test_scale_and_threads_reach_the_program_and_respect_its_maximum(self):
        program = pretender("caf", "print('RESULT', workload, os.environ['SCALE'], 'x',"
                                   " 'threads=' + os.environ['THREADS'])",
                            scale_max={"fork_join": 0.05})
        load = Load(scale=0.5, threads=1)
        self.assertEqual(run_once(program, "ask", load).value, 0.5)
        self.assertEqual(run_once(program, "fork_join", load).value, 0.05)
        self.assertEqual(run_once(program, "ask", load).figure("threads"), 1)

    def test_failure_carries_exit_code_and_last_words(self):
        with self.assertRaisesRegex(CannotMeasure, r"(?s)exit code 3\n.*wrong sum"):
            run_once(pretender("weir", "sys.exit(print('wrong sum') or 3)"), "ask", Load())

    def test_program_that_does_not_end_is_given_up(self):
        with self.assertRaisesRegex(CannotMeasure, "not done after"):
            execute([sys.executable, "-c", "input()"], seconds_max=0.01)

    def test_program_that_does_not_exist_is_named(self):
        with self.assertRaisesRegex(CannotMeasure, "/nowhere/prog does not exist"):
            execute(["/nowhere/prog"])

    def test_directory_that_is_not_configured_is_named(self):
        with self.assertRaisesRegex(CannotMeasure, "/nowhere is not configured"):
            build_target(Path("/nowhere"), "weir_bench_actors", "")


class TableTest(unittest.TestCase):
    def test_columns_are_aligned(self):
        self.assertEqual(format_table(["workload", "ns"], [["ask", "7"], ["ring", "12"]]),
                         "workload  ns\n--------  --\nask        7\nring      12")


class TurnsTest(unittest.TestCase):
    LOGS = ("print(NAME, file=open(LOG, 'a'))\n"
            "for line in sys.stdin:\n"
            "    print(NAME.lower(), file=open(LOG, 'a'))\n"
            "    print('RESULT', workload, VALUE, 'ns', flush=True)\n")

    def program(self, name, log, value):
        code = self.LOGS.replace("NAME", repr(name)).replace("VALUE", value)
        return pretender(name, code.replace("LOG", repr(str(log))))

    def test_both_stay_and_take_turns_in_changing_order_after_one_that_does_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log")
            base, ours = self.program("B", log, "10"), self.program("P", log, "20")
            limits = Turns(turns=3, processes_min=2, processes_max=2)
            comparison, _, _ = quietly(take_turns, [(base, ours)], "w", Load(), limits)
            order = log.read_text().split()
        self.assertEqual(sorted(order), sorted("BPbpbppbbp" * 2))
        self.assertEqual([line for line in order if line.islower()], list("bpbppbbp" * 2))
        self.assertEqual([len(turns) for turns in comparison.turns], [3, 3])
        self.assertEqual(comparison.ratio(), 0.5)

    def test_ends_when_precise_or_at_the_most_pairs(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log")
            base = self.program("B", log, "10")
            limits = Turns(turns=1, processes_min=3, processes_max=5)
            steady = self.program("S", log, "10")
            unsteady = self.program("U", log, "len(open(LOG).readlines())")
            comparisons = [quietly(take_turns, [(base, ours)], "w", Load(), limits)[0]
                           for ours in (steady, unsteady)]
        self.assertEqual([len(comparison.turns) for comparison in comparisons], [3, 5])

    def test_each_pair_is_used_as_often(self):
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log")
            pairs = [(self.program("B", log, "10"), self.program("P", log, "10")),
                     (self.program("C", log, "10"), self.program("Q", log, "20"))]
            limits = Turns(turns=1, processes_min=3, processes_max=9)
            comparison, _, _ = quietly(take_turns, pairs, "w", Load(), limits)
        self.assertEqual(comparison.ratios(), [1, 0.5] * 4 + [1])
        self.assertEqual(comparison.ratio(), 1)
        self.assertEqual(len(comparison.turns), 9)

    def test_ratio_is_the_median_of_the_medians_of_the_processes(self):
        def turns(*ratios):
            return [(parse_result(f"RESULT w {ratio} ns", "w"), parse_result("RESULT w 1 ns", "w"))
                    for ratio in ratios]
        self.assertEqual(Comparison([turns(1, 2, 9), turns(4, 4), turns(0, 3)]).ratio(), 2)

    def test_program_that_fails_is_named_with_its_exit_code(self):
        failing = pretender("weir", "sys.stdin.readline(); sys.exit(3)")
        with self.assertRaisesRegex(CannotMeasure, "exit code 3"), Resident(failing, "w", Load()) as it:
            it.measure()

    def test_program_that_does_not_answer_is_given_up(self):
        silent = pretender("weir", "sys.stdin.read()")
        with self.assertRaisesRegex(CannotMeasure, "exit code -9"), \
                Resident(silent, "w", Load(), seconds_max=0.01) as it:
            it.measure()


class Pretended(Suite):
    name = "pretended"

    def __init__(self, bars=(), problem=None):
        self.bars = bars
        self.problem = problem

    def workloads(self):
        return [("ask", "requests")]

    def run(self, options, report):
        report.add(self.bars)
        if self.problem:
            raise CannotMeasure(self.problem)


class CommandLineTest(unittest.TestCase):
    def run_suite(self, suite, *arguments):
        return quietly(command_line.main, ["pretended", *arguments], {"pretended": suite})

    def test_all_met_exits_with_0_and_prints_every_bar(self):
        code, output, _ = self.run_suite(Pretended([Bar("a", 1, at_most(2))]))
        self.assertEqual((code, output), (0, "bar a 1 <=2 ok\n"))

    def test_one_short_among_others_exits_with_1_and_is_named(self):
        bars = [Bar("a", 1, at_most(2)), Bar("b", 3, at_most(2)), Bar("c", 3, at_least(2))]
        code, output, errors = self.run_suite(Pretended(bars))
        self.assertEqual(code, 1)
        self.assertIn("bar b 3 <=2 short\n", output)
        self.assertIn("3 bars, short: b\n", errors)

    def test_what_cannot_be_measured_exits_with_2_after_the_bars_known_so_far(self):
        code, output, errors = self.run_suite(Pretended([Bar("a", 3, at_most(2))], "no go here"))
        self.assertEqual((code, output), (2, "bar a 3 <=2 short\n"))
        self.assertIn("cannot measure: no go here", errors)

    def test_unknown_workload_or_peer_is_refused(self):
        for argument in ("--only=nonsense", "--peers=nonsense", "--runs=0"):
            with self.subTest(argument), self.assertRaises(SystemExit) as refusal:
                self.run_suite(Pretended(), argument)
            self.assertEqual(refusal.exception.code, 2)

    def test_list_runs_nothing(self):
        code, output, _ = self.run_suite(Pretended(problem="was run"), "--list")
        self.assertEqual(code, 0)
        self.assertIn("ask", output)

    def test_suites_are_found_by_their_folders(self):
        self.assertLessEqual({"actors", "compile", "simulation", "telemetry"}, set(discover()))


if __name__ == "__main__":
    unittest.main()
