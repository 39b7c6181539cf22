"""The workloads of the actor benchmark with their targets; bench/README.md defines them."""

from dataclasses import dataclass

from harness.bars import at_least, at_most


@dataclass(frozen=True)
class Figure:
    """A figure of our own that has a target: the value of the result, or one of its extras."""

    bar: str
    target: object
    key: str | None = None


@dataclass(frozen=True)
class Workload:
    name: str
    unit: str
    description: str
    figures: tuple
    #: The target for our value divided by Go's, if there is one.
    vs_go: object = None
    #: What a scaled run measures differently.
    scaled_note: str = ""


WORKLOADS = (
    Workload("ping_pong", "ns", "2 actors, 1 M round trips",
             (Figure("ping_pong_ns", at_most(50)),), at_most(0.23)),
    Workload("count", "M/s", "1 sender, 1 receiver, 10 M messages",
             (Figure("count_m_per_s", at_least(90)),), at_least(2.8)),
    Workload("count_bounded", "M/s", "the same, mailbox of 1,024, the sender waits",
             (Figure("count_bounded_m_per_s", at_least(70)),), at_least(2.2)),
    Workload("many_to_one", "M/s", "100 senders, 100 k messages each",
             (Figure("many_to_one_m_per_s", at_least(35)),), at_least(1.25)),
    Workload("many_to_one_bounded", "M/s", "the same, mailbox of 1,024, the senders wait",
             (Figure("many_to_one_bounded_m_per_s", at_least(25)),)),
    Workload("ring", "ns", "100 actors, 2 M hops",
             (Figure("ring_ns", at_most(25)),), at_most(0.2)),
    Workload("skynet", "ms", "1 M actors, sum over a ten-ary tree",
             (Figure("skynet_ms", at_most(120)),), at_most(0.2),
             "a smaller tree, in ms per million actors"),
    Workload("fork_join", "ms", "spawn 1 M actors, one message each, stop",
             (Figure("fork_join_ms", at_most(220)),), at_most(0.7),
             "fewer actors, in ms per million"),
    Workload("big", "M/s", "120 actors ping others at random, 20 k each",
             (Figure("big_m_per_s", at_least(30)),), at_least(2.4)),
    Workload("ask", "ns", "1 M sequential requests",
             (Figure("ask_ns", at_most(70)),), at_most(0.2)),
    Workload("ask_deadline", "ns", "the same, a deadline of 5 s armed each time",
             (Figure("ask_deadline_ns", at_most(90)),), at_most(0.1)),
    Workload("memory", "B", "1 M idle actors",
             (Figure("memory_bytes", at_most(256)),
              Figure("memory_spawn_ns", at_most(180), key="spawn_ns")),
             scaled_note="fewer actors: fixed costs weigh more"),
    Workload("timers", "cpu_ns", "1 M one-shots due within a second, half cancelled",
             (Figure("timers_cpu_ns", at_most(350)),), at_most(0.3),
             "fewer timers: waiting for them weighs more"),
)

IDLE_TARGET = at_most(0.1)

#: Sections that are not rows of the table.
SECTIONS = (
    ("latency", "p50, p99, p99.9 of ask while the other thread is saturated"),
    ("threads", "throughput with one and with two threads"),
    ("instructions", "instructions per message, counted by callgrind"),
    ("idle", "CPU used by an idle system"),
)
