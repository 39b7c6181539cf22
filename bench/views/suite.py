"""Views: operators with their state beside loops written by hand, in alternating runs."""

from harness.bars import Bar, at_least, figure
from harness.build import build_target
from harness.runner import Load, Program, run_alternating
from harness.stats import median
from harness.suites import Suite
from harness.table import format_table

#: Name, description, and how many times as fast as the loop it must be.
WORKLOADS = [
    ("filter_map", "a filter and four expressions", 0.5),
    ("group_by_10k", "count, sum and max of 10 k groups, inserts and deletes", 0.3),
    ("group_by_1m", "count and sum of 1 M groups, inserts and deletes", 0.4),
    ("join", "inner join of 1 M with 100 k rows, both changing", 0.35),
    ("top_n", "the ten first of each of 100 k groups", 0.35),
]


class Views(Suite):
    name = "views"
    summary = "operators over batches of 1,024 changes, as ratios to hand-written loops"

    def workloads(self):
        return [(name, description) for name, description, _ in WORKLOADS]

    def run(self, options, report):
        binary = str(build_target(options.build_dir, "weir_bench_views",
                                  "does bench/views have a CMakeLists.txt?"))
        programs = [Program(name, (binary, name)) for name in ("weir", "hand")]
        runs = options.runs or (1 if options.quick else 5)
        load = Load(scale=0.05 if options.quick else 1.0)
        rows, bars = [], []
        for workload, _, target in WORKLOADS:
            if not options.wants(workload):
                continue
            results = run_alternating(programs, workload, load, runs)
            pairs = zip(results["weir"], results["hand"])
            ratio = median([theirs.figure() / ours.figure() for ours, theirs in pairs])
            rows.append([workload, "ns", *(figure(median([r.figure() for r in results[name]]))
                                           for name in ("weir", "hand")),
                         figure(median([r.figure("state_mb") for r in results["weir"]]))])
            bars.append(Bar(f"views_{workload}_vs_hand", ratio, at_least(target)))
        print(format_table(["workload", "unit", "weir", "by hand", "state MiB"], rows))
        print()
        report.add(bars)


SUITE = Views()
