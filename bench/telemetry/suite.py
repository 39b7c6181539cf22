"""Telemetry: what it costs in the message path: off, measuring, and recording none, some or all."""

from harness.bars import Bar, at_least, at_most, figure
from harness.build import build_target
from harness.errors import CannotMeasure
from harness.runner import Load, Program
from harness.stats import median, spread_percent
from harness.suites import Suite
from harness.table import format_table
from harness.turns import Turns, take_turns

#: Each runs beside `bare`, which is built without telemetry, again and again.
MODES = ("off", "metrics", "none", "one_percent", "all")

# Speeds relative to `bare`.
OFF = at_least(0.99)
METRICS = at_least(0.95)
ONE_PERCENT = at_least(0.97)
ALL_NS = at_most(1500)
ALLOCATIONS = at_most(0.001)

#: The share of the spans that is exported, from and to. Of one percent of the traces chance gives a
#: few more or less; of all, the last ones may fall into the next turn.
RECORDED = {"none": (0, 0), "one_percent": (0.005, 0.02), "all": (0.99, 1.01)}


class Telemetry(Suite):
    name = "telemetry"
    summary = "cost of telemetry in `count` and `ask`, as ratios to a build without it"

    def workloads(self):
        return [("count", "100,000 traces of 100 messages to one receiver"),
                ("ask", "100,000 traces of 10 sequential requests")]

    def run(self, options, report):
        layouts = build_layouts(options.build_dir)
        load = Load(scale=0.01 if options.quick else 0.03)
        rows, bars, exporting = [], [], []
        for workload, _ in self.workloads():
            if not options.wants(workload):
                continue
            results = {mode: take_turns(pairs_of(layouts, mode), workload, load,
                                        limits_of(mode, options))
                       for mode in MODES}
            check_recorded(workload, results)
            rows.append(row(workload, results))
            bars += bars_of(workload, results)
            exporting.append(exporting_line(workload, results))
        print(format_table(["workload", "unit", "bare", *MODES, "spread"], rows))
        print("", *exporting, "", sep="\n")
        report.add(bars)


def build_layouts(build_dir):
    """Pairs of executables, with telemetry and without, whose functions lie in other places each."""
    hint = "does bench/telemetry have a CMakeLists.txt?"
    folder = build_target(build_dir, "weir_bench_telemetry_layouts", hint).parent / "layouts"
    bare = sorted(folder.glob("weir_bench_telemetry_bare_*"))
    return [(path, path.with_name(path.name.replace("_bare", ""))) for path in bare]


def pairs_of(layouts, mode):
    return [(Program("bare", (str(bare), "off")), Program(mode, (str(binary), mode)))
            for bare, binary in layouts]


def limits_of(mode, options):
    """`--runs` gives the number of pairs of processes, however precise they are."""
    if options.runs:
        return Turns(processes_min=options.runs, processes_max=options.runs)
    if options.quick:
        return Turns(turns=4, processes_min=2, processes_max=2)
    # One percent is to be seen when it is off, and three or more otherwise.
    return Turns(precision=0.003) if mode == "off" else Turns()


def figures(results, mode, key=None):
    return [ours.figure(key) for _, ours in results[mode].pairs()]


def row(workload, results):
    pairs = [pair for mode in MODES for pair in results[mode].pairs()]
    bare = [theirs.value for theirs, _ in pairs]
    medians = [figure(median(figures(results, mode))) for mode in MODES]
    return [workload, pairs[0][0].unit, figure(median(bare)), *medians,
            f"±{spread_percent(bare):.0f}%"]


def check_recorded(workload, results):
    """What is recorded too seldom would be too cheap."""
    for mode, (least, most) in RECORDED.items():
        share = median(figures(results, mode, "recorded"))
        if not least <= share <= most:
            raise CannotMeasure(f"{workload}, {mode}: {share:.2%} of the spans were exported, "
                                f"expected {least:.1%} to {most:.1%}")


def speed(results, mode):
    return results[mode].ratio()


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
