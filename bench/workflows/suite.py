"""Workflows: the engine beside RocksDB alone writing as often, and beside pgbench."""

from harness.bars import Bar, at_least, at_most
from harness.beside_raw import BesideRaw, middle, ratio

WORKLOADS = [
    ("cycle_durable", "executions made, claimed and completed, 256 in flight, `durable`"),
    ("cycle_buffered", "the same, `buffered`"),
    ("chain", "workflows of ten executions in a row, `buffered`"),
    ("race", "of 1,000 executions 500 decide: from the deciding one until the others are cancelled"),
    ("finished", "`cycle_buffered` with 1 M finished executions present, by the same without"),
    ("coroutines", "steps of durable coroutines with five of them, 256 in flight, `durable`"),
    ("signals", "from a signal until its execution was claimed again, beyond one sync, `durable`"),
    ("postgres_cycle", "executions made, claimed and completed on PostgreSQL, 64 in flight, by the"
     " tps of `pgbench -N -c 16 -j 2` on the same server"),
    ("postgres_dispatch", "from making an execution until a waiting worker of another engine on the"
     " same PostgreSQL has it, idle"),
]


def cycle_durable(results):
    return [Bar("workflows_cycle_durable_per_second", middle(results), at_least(20_000)),
            Bar("workflows_cycle_durable_vs_raw", ratio(results), at_least(0.25))]


BARS = {
    "cycle_durable": cycle_durable,
    "cycle_buffered": lambda results: [
        Bar("workflows_cycle_buffered_per_second", middle(results), at_least(60_000))],
    "chain": lambda results: [Bar("workflows_chain_per_second", middle(results), at_least(3_000))],
    "race": lambda results: [Bar("workflows_race_p99_ms", middle(results), at_most(20))],
    "finished": lambda results: [Bar("workflows_finished_ratio", middle(results), at_least(0.9))],
    "coroutines": lambda results: [
        Bar("workflows_coroutine_steps_per_second", middle(results), at_least(8_000))],
    "signals": lambda results: [
        Bar("workflows_signal_resume_p99_ms_beyond_sync", middle(results), at_most(1))],
    "postgres_cycle": lambda results: [
        Bar("workflows_postgres_cycle_vs_pgbench", middle(results), at_least(1.0))],
    "postgres_dispatch": lambda results: [
        Bar("workflows_postgres_dispatch_p50_ms", middle(results), at_most(10))],
}


class Workflows(BesideRaw):
    name = "workflows"
    summary = "executions, chains and races of them, on the embedded store and on PostgreSQL"
    descriptions = WORKLOADS
    bars = BARS
    only_weir = {name for name, _ in WORKLOADS} - {"cycle_durable"}
    once = {"finished"}


SUITE = Workflows()
