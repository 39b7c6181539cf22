"""Telemetry: what it costs in the message path: off, measuring, and recording none, some or all."""

from harness.bars import Bar, at_least, at_most, figure
from harness.build import build_target
from harness.runner import Load, Program, run_alternating
from harness.stats import median, spread_percent
from harness.suites import Suite
from harness.table import format_table

#: A run of each, in this order, again and again. `bare` is built without telemetry.
MODES = ("bare", "off", "metrics", "none", "one_percent", "all")

# Speeds relative to the mode before the colon.
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
        programs = [Program(mode, (bare, "off") if mode == "bare" else (binary, mode))
                    for mode in MODES]
        # Many short rounds: what disturbs the machine for a while then disturbs few of the pairs.
        runs = options.runs or (3 if options.quick else 25)
        load = Load(scale=0.1 if options.quick else 0.3)
        rows, bars, exporting = [], [], []
        for workload, _ in self.workloads():
            if not options.wants(workload):
                continue
            results = run_alternating(programs, workload, load, runs)
            rows.append(row(workload, results))
            bars += bars_of(workload, results)
            exporting.append(exporting_line(workload, results))
        print(format_table(["workload", "unit", *MODES, "spread"], rows))
        print("", *exporting, "", sep="\n")
        report.add(bars)


def values(results, mode):
    return [result.value for result in results[mode]]


def row(workload, results):
    medians = [figure(median(values(results, mode))) for mode in MODES]
    return [workload, results["bare"][0].unit, *medians,
            f"±{spread_percent(values(results, 'bare')):.0f}%"]


def speed(results, mode, base):
    """The median of the pairs that ran beside each other: above one is faster than the base."""
    pairs = zip(values(results, base), values(results, mode))
    return median([before / after for before, after in pairs])


def exporting_line(workload, results):
    """Where the time goes when no core is free for the thread that exports."""
    def typical(key):
        return median([result.figure(key) for result in results["one_percent"]])
    return (f"{workload} at one percent: {typical('spans_per_s'):,.0f} spans/s, "
            f"{typical('exported_meanwhile'):.0%} of them exported meanwhile, "
            f"by {typical('exporting_cpu'):.1%} of a core")


def allocations(results, mode):
    return median([result.figure("allocations") for result in results[mode]])


def bars_of(workload, results):
    return [
        Bar(f"telemetry_off_{workload}", speed(results, "off", "bare"), OFF),
        Bar(f"telemetry_metrics_{workload}", speed(results, "metrics", "bare"), METRICS),
        Bar(f"telemetry_one_percent_{workload}", speed(results, "one_percent", "bare"),
            ONE_PERCENT),
        Bar(f"telemetry_all_{workload}_ns", median(values(results, "all")), ALL_NS),
        Bar(f"telemetry_off_{workload}_allocations", allocations(results, "off"), ALLOCATIONS),
        Bar(f"telemetry_unsampled_{workload}_allocations", allocations(results, "none"),
            ALLOCATIONS),
    ]


SUITE = Telemetry()
