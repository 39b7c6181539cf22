"""The gateway beside a minimal server of Beast that answers a constant, in alternating runs."""

from harness.bars import Bar, at_least, at_most
from harness.beside_raw import BesideRaw, middle, ratio

WORKLOADS = [
    ("get_row", "64 connections, each asks for one row of a view and waits for it"),
    ("pipelined", "the same with 16 requests under way on each"),
    ("slow", "the same as `get_row` beside 500 clients that send a header byte by byte"),
    ("idle", "2,000 connections that have asked once and are silent"),
]


def get_row(results):
    return [Bar("gateway_get_row_vs_beast", ratio(results), at_least(0.6))]


def slow(results):
    return [Bar("gateway_p99_beside_slow_clients", middle(results, key="p99_ratio"), at_most(2))]


def idle(results):
    return [Bar("gateway_idle_connection_bytes", middle(results), at_most(16384))]


class Gateway(BesideRaw):
    name = "gateway"
    peer = "Beast"
    summary = "a row of a view over HTTP beside a constant from Beast; memory of idle connections"
    descriptions = WORKLOADS
    bars = {"get_row": get_row, "pipelined": lambda results: [], "slow": slow, "idle": idle}
    only_weir = {"slow", "idle"}


SUITE = Gateway()
