"""Simulation: scheduling steps per second on one thread."""

from harness.bars import Bar, at_least, figure
from harness.build import build_target
from harness.runner import Load, Program, run_alternating
from harness.stats import median, spread_percent
from harness.suites import Suite
from harness.table import format_table

TARGET = at_least(1_000_000)


class Simulation(Suite):
    name = "simulation"
    summary = "scheduling steps per second of a simulated system"

    def workloads(self):
        return [("steps", "scheduling steps of actors that message each other")]

    def run(self, options, report):
        binary = build_target(options.build_dir, "weir_bench_simulation",
                              "does bench/simulation have a CMakeLists.txt?")
        runs = options.runs or (3 if options.quick else 5)
        results = run_alternating([Program("weir", (str(binary),))], "steps",
                                  Load(scale=0.1 if options.quick else 1.0), runs)["weir"]
        rates = [result.value for result in results]
        print(format_table(["workload", "unit", "weir", "spread"],
                           [["steps", results[0].unit, figure(median(rates)),
                             f"±{spread_percent(rates):.0f}%"]]))
        print()
        report.add([Bar("simulation_steps_per_second", median(rates), TARGET)])


SUITE = Simulation()
