"""Workflows: the engine on a store, beside RocksDB alone writing as often."""

from harness.bars import Bar, at_least, at_most, figure
from harness.build import build_target
from harness.runner import Load, Program, run_alternating
from harness.stats import median
from harness.suites import Suite
from harness.table import format_table

WORKLOADS = [
    ("cycle_durable", "executions made, claimed and completed, 256 in flight, `durable`"),
    ("cycle_buffered", "the same, `buffered`"),
    ("chain", "workflows of ten executions in a row, `buffered`"),
    ("race", "of 1,000 executions 500 decide: from the deciding one until the others are cancelled"),
    ("finished", "`cycle_buffered` with 1 M finished executions present, by the same without"),
]
WITH_RAW = {"cycle_durable"}
ONCE = {"finished"}


class Workflows(Suite):
    name = "workflows"
    summary = "executions, chains and races of them, on the embedded store"

    def workloads(self):
        return WORKLOADS

    def run(self, options, report):
        binary = str(build_target(options.build_dir, "weir_bench_workflows",
                                  "does bench/workflows have a CMakeLists.txt?"))
        programs = {name: Program(name, (binary, name)) for name in ("weir", "raw")}
        runs = options.runs or (1 if options.quick else 5)
        load = Load(scale=0.05 if options.quick else 1.0)
        rows, bars = [], []
        for workload, _ in WORKLOADS:
            if not options.wants(workload):
                continue
            subjects = [programs["weir"]] + ([programs["raw"]] if workload in WITH_RAW else [])
            results = run_alternating(subjects, workload, load, 1 if workload in ONCE else runs)
            rows.append(row(workload, results))
            bars += BARS[workload](results)
        print(format_table(["workload", "unit", "weir", "raw RocksDB", "more"], rows))
        print()
        report.add(bars)


def middle(results, subject="weir", key=None):
    return median([result.figure(key) for result in results[subject]])


def row(workload, results):
    extras = results["weir"][0].extras
    more = " ".join(f"{key}={figure(middle(results, key=key))}" for key in extras)
    raw = figure(middle(results, "raw")) if "raw" in results else "-"
    return [workload, results["weir"][0].unit, figure(middle(results)), raw, more]


def cycle_durable(results):
    pairs = zip(results["weir"], results["raw"])
    return [Bar("workflows_cycle_durable_per_second", middle(results), at_least(20_000)),
            Bar("workflows_cycle_durable_vs_raw",
                median([ours.figure() / theirs.figure() for ours, theirs in pairs]),
                at_least(0.25))]


BARS = {
    "cycle_durable": cycle_durable,
    "cycle_buffered": lambda results: [
        Bar("workflows_cycle_buffered_per_second", middle(results), at_least(60_000))],
    "chain": lambda results: [Bar("workflows_chain_per_second", middle(results), at_least(3_000))],
    "race": lambda results: [Bar("workflows_race_p99_ms", middle(results), at_most(20))],
    "finished": lambda results: [Bar("workflows_finished_ratio", middle(results), at_least(0.9))],
}

SUITE = Workflows()
