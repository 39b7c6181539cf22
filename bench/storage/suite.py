"""Storage: Weir's store beside RocksDB alone doing the same, in alternating runs."""

from harness.bars import Bar, at_least, at_most
from harness.beside_raw import BesideRaw, middle, ratio
from harness.stats import median

WORKLOADS = [
    ("commit_buffered", "one writer, commits of 10 rows of 100 bytes, `buffered`"),
    ("commit_random", "the same with keys in no order, so that each row has to be looked for"),
    ("commit_durable", "64 committers of such commits, `durable`; one of them and a bare sync beside it"),
    ("point_read", "rows read at a version, at random among 1 M"),
    ("hot_read", "the same among 1,000 rows"),
    ("scan", "1 M rows in order"),
    ("replay", "1 M changes read from the change log"),
    ("wake", "from a commit in memory to a reader that is awake"),
    ("open", "10 M rows: opening after a kill and after a clean stop, memory while loading"),
]


def commit_buffered(results):
    return [Bar("storage_commit_vs_raw", ratio(results), at_least(0.5)),
            Bar("storage_log_bytes_per_row", middle(results, key="log_per_row"), at_most(2.3))]


def commit_random(results):
    return [Bar("storage_commit_random_vs_raw", ratio(results), at_least(0.5))]


def commit_durable(results):
    gain = median([result.figure() / result.figure("one") for result in results["weir"]])
    return [Bar("storage_group_commit_gain", gain, at_least(20)),
            Bar("storage_group_commit_vs_raw", ratio(results), at_least(0.8))]


def faster(name, target):
    """For times: how many times as fast as raw."""
    return lambda results: [Bar(name, 1 / ratio(results), at_least(target))]


def replay(results):
    return [Bar("storage_replay_per_second", middle(results), at_least(1_000_000)),
            Bar("storage_replay_vs_raw", ratio(results), at_least(0.5))]


def wake(results):
    p50 = middle(results)
    tail = median([result.figure("p99") / result.figure() for result in results["weir"]])
    return [Bar("storage_wake_p50_us", p50, at_most(20)),
            Bar("storage_wake_p99_by_p50", tail, at_most(10))]


def opening(results):
    return [Bar("storage_open_clean_ms", middle(results, key="clean"), at_most(1000)),
            Bar("storage_open_killed_vs_raw", ratio(results), at_most(1.5)),
            Bar("storage_resident_mb", middle(results, key="resident_mb"), at_most(400))]


BARS = {
    "commit_buffered": commit_buffered,
    "commit_random": commit_random,
    "commit_durable": commit_durable,
    "point_read": faster("storage_point_read_vs_raw", 0.6),
    "hot_read": faster("storage_hot_read_vs_raw", 0.8),
    "scan": faster("storage_scan_vs_raw", 0.5),
    "replay": replay,
    "wake": wake,
    "open": opening,
}


class Storage(BesideRaw):
    name = "storage"
    summary = "commits, reads, scans, the change log and opening, as ratios to raw RocksDB"
    descriptions = WORKLOADS
    bars = BARS
    only_weir = {"wake"}
    once = {"open"}


SUITE = Storage()
