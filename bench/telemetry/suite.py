"""Telemetry: what it costs in the message path: off, measuring, and recording none, some or all."""

from harness.bars import Bar, at_least, at_most, figure
from harness.build import build_target
from harness.runner import Load, Program, run_beside
from harness.stats import median, paired_ratio, spread_percent
from harness.suites import Suite
from harness.table import format_table

#: Each runs beside `bare`, which is built without telemetry, again and again.
MODES = ("off", "metrics", "none", "one_percent", "all")

# Speeds relative to `bare`.
OFF = at_least(0.99)
METRICS = at_least(0.95)
ONE_PERCENT = at_least(0.97)
ALL_NS = at_most(1500)
ALLOCATIONS = at_most(0.001)


class Telemetry(Suite):
    name = "telemetry"
    summary = "cost of telemetry in `count` and `ask`, as ratios to a build without it"

    def workloads(self):
        return [("count", "100,000 traces of 100 messages to one receiver"),
                ("ask", "100,000 traces of 10 sequential requests")]

    def run(self, options, report):
        hint = "does bench/telemetry have a CMakeLists.txt?"
        binary = str(build_target(options.build_dir, "weir_bench_telemetry", hint))
        bare = str(build_target(options.build_dir, "weir_bench_telemetry_bare", hint))
        base = Program("bare", (bare, "off"))
        programs = [Program(mode, (binary, mode)) for mode in MODES]
        # Many short rounds: what disturbs the machine for a while then disturbs few of the pairs.
        runs = options.runs or (4 if options.quick else 50)
        load = Load(scale=0.05 if options.quick else 0.15)
        rows, bars, exporting = [], [], []
        for workload, _ in self.workloads():
            if not options.wants(workload):
                continue
            results = run_beside(base, programs, workload, load, runs)
            rows.append(row(workload, results))
            bars += bars_of(workload, results)
            exporting.append(exporting_line(workload, results))
        print(format_table(["workload", "unit", "bare", *MODES, "spread"], rows))
        print("", *exporting, "", sep="\n")
        report.add(bars)


def figures(results, mode, key=None):
    return [ours.figure(key) for _, ours in results[mode]]


def row(workload, results):
    pairs = [pair for mode in MODES for pair in results[mode]]
    bare = [theirs.value for theirs, _ in pairs]
    medians = [figure(median(figures(results, mode))) for mode in MODES]
    return [workload, pairs[0][0].unit, figure(median(bare)), *medians,
            f"±{spread_percent(bare):.0f}%"]


def speed(results, mode):
    """The median of the pairs that ran beside each other: above one is faster than the base."""
    return paired_ratio([theirs.value for theirs, _ in results[mode]], figures(results, mode))


def exporting_line(workload, results):
    """Where the time goes when no core is free for the thread that exports."""
    def typical(key):
        return median(figures(results, "one_percent", key))
    return (f"{workload} at one percent: {typical('spans_per_s'):,.0f} spans/s, "
            f"{typical('exported_meanwhile'):.0%} of them exported meanwhile, "
            f"by {typical('exporting_cpu'):.1%} of a core")


def allocations(results, mode):
    return median(figures(results, mode, "allocations"))


def bars_of(workload, results):
    return [
        Bar(f"telemetry_off_{workload}", speed(results, "off"), OFF),
        Bar(f"telemetry_metrics_{workload}", speed(results, "metrics"), METRICS),
        Bar(f"telemetry_one_percent_{workload}", speed(results, "one_percent"), ONE_PERCENT),
        Bar(f"telemetry_all_{workload}_ns", median(figures(results, "all")), ALL_NS),
        Bar(f"telemetry_off_{workload}_allocations", allocations(results, "off"), ALLOCATIONS),
        Bar(f"telemetry_unsampled_{workload}_allocations", allocations(results, "none"),
            ALLOCATIONS),
    ]


SUITE = Telemetry()
