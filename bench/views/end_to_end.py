"""Views end to end: from a commit to the view that shows it."""

from harness.bars import Bar, at_least, at_most, figure
from harness.runner import Load, Program, run_alternating
from harness.stats import median
from harness.table import format_table

#: Name, description, and how many times as fast as RocksDB writing the same bytes it must be.
QUERIES = [
    (f"{query}_{durability}", f"{description}, `{durability}`", target)
    for query, description, target in [
        ("filter_map", "a filter and four expressions", 0.5),
        ("group_by", "count and sum of 10 k groups", 0.5),
        ("join", "an inner join with 10 k rows", 0.5),
        ("chain", "three views, each of the one before", 0.4),
        ("transactional_filter_map", "that filter as a transactional view", 0.4),
        ("transactional_group_by", "that count and sum as a transactional view", 0.4),
        ("transactional_join", "that join as a transactional view", 0.4),
    ]
    for durability in ("memory", "buffered")
]
OTHERS = [
    ("other_flows", "1,000 flows on other tables beside one"),
    ("workers", "200 flows, by one worker and by two"),
    ("freshness", "small commits, 2,000 a second: until the view shows them"),
    ("backfill", "a view over a table of 5 M rows; others meanwhile"),
    ("state_groups", "resident memory of 1 M groups"),
    ("state_spill", "a join whose state is four times its memory"),
]
WORKLOADS = [(name, description) for name, description, _ in QUERIES] + OTHERS
RUNS = {"backfill": 3, "state_groups": 3, "state_spill": 3}
#: Key, count and sum: eight bytes each.
GROUP_BYTES = 24


def run(binary, options, report):
    session = Session(binary, options)
    session.run_queries(report)
    session.run_others(report)


class Session:
    def __init__(self, binary, options):
        self.options = options
        self.programs = {name: Program(name, (binary, name)) for name in ("views", "raw")}
        self.runs = options.runs or (1 if options.quick else 5)
        self.load = Load(scale=0.05 if options.quick else 1.0)

    def measure(self, workload, subjects):
        runs = self.options.runs or min(self.runs, RUNS.get(workload, self.runs))
        return run_alternating([self.programs[name] for name in subjects], workload, self.load,
                               runs)

    def run_queries(self, report):
        rows, bars = [], []
        for workload, _, target in QUERIES:
            if not self.options.wants(workload):
                continue
            results = self.measure(workload, ("views", "raw"))
            rows.append([workload, *(figure(middle(results[name])) for name in ("views", "raw")),
                         figure(middle(results["raw"], "batches")),
                         figure(middle(results["views"], "peak_rss_mb"))])
            pairs = zip(results["views"], results["raw"])
            ratio = median([ours.figure() / theirs.figure() for ours, theirs in pairs])
            bars.append(Bar(f"views_{workload}_vs_raw", ratio, at_least(target)))
        if rows:
            print("end to end, transactions of 1,000 rows a second")
            print(format_table(["workload", "weir", "raw RocksDB", "batches", "peak MiB"], rows))
            print()
            report.add(bars)

    def run_others(self, report):
        rows, bars = [], []
        for workload, _ in OTHERS:
            if not self.options.wants(workload):
                continue
            results = self.measure(workload, ("views",))["views"]
            extras = " ".join(f"{key}={figure(middle(results, key))}"
                              for key in results[0].extras)
            rows.append([workload, results[0].unit, figure(middle(results)), extras])
            bars += BARS[workload](results)
        if rows:
            print(format_table(["workload", "unit", "weir", "more"], rows))
            print()
            report.add(bars)


def middle(results, key=None):
    return median([result.figure(key) for result in results])


def ratio(results, key, to=None):
    return median([result.figure(to) / result.figure(key) for result in results])


def freshness(results):
    return [Bar("views_fresh_p50_us", middle(results), at_most(1000)),
            Bar("views_fresh_p99_us", middle(results, "p99"), at_most(5000))]


def backfill(results):
    return [Bar("views_backfill_vs_scan", ratio(results, "scan"), at_least(0.4)),
            Bar("views_backfill_live_p99_vs_idle", ratio(results, "idle_p99", "busy_p99"),
                at_most(3))]


BARS = {
    "other_flows": lambda results: [
        Bar("views_other_flows_vs_alone", ratio(results, "alone"), at_least(0.95))],
    "workers": lambda results: [
        Bar("views_two_workers_vs_one", ratio(results, "one"), at_least(1.5))],
    "freshness": freshness,
    "backfill": backfill,
    "state_groups": lambda results: [
        Bar("views_state_by_content", middle(results) / GROUP_BYTES, at_most(2.5))],
    "state_spill": lambda results: [
        Bar("views_spilled_join_vs_memory", ratio(results, "memory"), at_least(0.2))],
}
