"""The gateway beside a minimal server of Beast that answers a constant, in alternating runs."""

import sys
from pathlib import Path

from harness.bars import Bar, at_least, at_most, figure
from harness.beside_raw import BesideRaw, middle, ratio
from harness.runner import say
from harness.stats import median

sys.path.insert(0, str(Path(__file__).resolve().parent))
from first_answer import build_shop, seconds_to_first_answer  # noqa: E402

WORKLOADS = [
    ("get_row", "64 connections, each asks for one row of a view and waits for it"),
    ("wrk", "the same, asked by wrk in a process of its own"),
    ("pipelined", "the same with 16 requests under way on each"),
    ("slow", "the same as `get_row` beside 500 clients that send a header byte by byte"),
    ("idle", "2,000 connections that have asked once and are silent"),
    ("subscribers", "1,000 WebSockets on one view that gets 1,000 changes a second"),
]
START = ("start", "samples/shop: until its first byte of output, and its first answer")


def get_row(results):
    return [Bar("gateway_get_row_vs_beast", ratio(results), at_least(0.6))]


def wrk(results):
    return [Bar("gateway_get_row_vs_beast_by_wrk", ratio(results), at_least(0.6))]


def slow(results):
    return [Bar("gateway_p99_beside_slow_clients", middle(results, key="p99_ratio"), at_most(2))]


def idle(results):
    return [Bar("gateway_idle_connection_bytes", middle(results), at_most(16384))]


def subscribers(results):
    return [Bar("gateway_subscribers_p99_ms", middle(results), at_most(250)),
            Bar("gateway_subscriber_bytes", middle(results, key="bytes_each"), at_most(65536))]


class Gateway(BesideRaw):
    name = "gateway"
    peer = "Beast"
    summary = "a row of a view over HTTP beside a constant from Beast; subscribers; memory"
    descriptions = WORKLOADS
    bars = {"get_row": get_row, "wrk": wrk, "pipelined": lambda results: [], "slow": slow,
            "idle": idle, "subscribers": subscribers}
    only_weir = {"slow", "idle", "subscribers"}

    def workloads(self):
        return [*self.descriptions, START]

    def run(self, options, report):
        super().run(options, report)
        if options.wants("start"):
            report.add(start_bars(options))


def start_bars(options):
    binary = build_shop(options.build_dir)
    times = [seconds_to_first_answer(binary) for _ in range(options.runs or 3)]
    for first_byte, answer in times:
        say(f"  start: {figure(first_byte)} s, {figure(answer)} s")
    return [Bar("gateway_first_byte_s", median([first for first, _ in times]), at_most(2)),
            Bar("gateway_first_answer_s", median([answer for _, answer in times]), at_most(2))]


SUITE = Gateway()
