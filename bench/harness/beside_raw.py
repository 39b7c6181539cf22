"""Suites of one program that does each workload as Weir, or as what is below it alone."""

from harness.bars import figure
from harness.build import build_target
from harness.runner import Load, Program, run_alternating
from harness.stats import median
from harness.suites import Suite
from harness.table import format_table


class BesideRaw(Suite):
    """Weir beside what is below it, such as raw RocksDB, in alternating runs.

    Subclasses name their workloads; `bars` has a function of results for each, `only_weir` those
    that `peer` has nothing like, and `once` those that are too long to be repeated.
    """

    peer = "raw RocksDB"

    descriptions = ()
    bars = {}
    only_weir = frozenset()
    once = frozenset()

    def workloads(self):
        return self.descriptions

    def run(self, options, report):
        binary = str(build_target(options.build_dir, f"weir_bench_{self.name}",
                                  f"does bench/{self.name} have a CMakeLists.txt?"))
        programs = {name: Program(name, (binary, name)) for name in ("weir", "raw")}
        runs = options.runs or (1 if options.quick else 5)
        load = Load(scale=0.05 if options.quick else 1.0)
        rows, bars = [], []
        for workload, _ in self.descriptions:
            if not options.wants(workload):
                continue
            subjects = [programs["weir"]]
            if workload not in self.only_weir:
                subjects.append(programs["raw"])
            results = run_alternating(subjects, workload, load,
                                      1 if workload in self.once else runs)
            rows.append(row(workload, results))
            bars += self.bars[workload](results)
        print(format_table(["workload", "unit", "weir", self.peer, "more"], rows))
        print()
        report.add(bars)


def middle(results, subject="weir", key=None):
    return median([result.figure(key) for result in results[subject]])


def ratio(results, key=None):
    """Weir's figure by that of the raw run beside it; the median of the pairs."""
    pairs = zip(results["weir"], results["raw"])
    return median([ours.figure(key) / theirs.figure(key) for ours, theirs in pairs])


def row(workload, results):
    extras = results["weir"][0].extras
    more = " ".join(f"{key}={figure(middle(results, key=key))}" for key in extras)
    raw = figure(middle(results, "raw")) if "raw" in results else "-"
    return [workload, results["weir"][0].unit, figure(middle(results)), raw, more]
