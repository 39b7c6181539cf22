"""Actors: ours beside Go, Erlang/OTP, CAF and raw Boost.Asio, doing the same work."""

from actors import instructions
from actors.programs import PEERS, prepare
from actors.workloads import IDLE_TARGET, SECTIONS, WORKLOADS
from harness.bars import Bar, figure
from harness.errors import CannotMeasure
from harness.runner import Load, run_alternating, run_once, say
from harness.stats import median, paired_ratio, spread_percent
from harness.suites import Suite
from harness.table import format_table

RUNS, QUICK_RUNS, TABLE_PEER_RUNS = 7, 3, 3
QUICK_SCALE = 0.1
THREAD_WORKLOADS = ("ping_pong", "count", "many_to_one", "big")
QUANTILES = ("p50_ns", "p99_ns", "p999_ns")


class Actors(Suite):
    name = "actors"
    summary = "messages, requests, spawning, memory and timers beside other actor runtimes"

    def workloads(self):
        return [(workload.name, workload.description) for workload in WORKLOADS] + list(SECTIONS)

    def peers(self):
        return PEERS

    def run(self, options, report):
        session = Session(options)
        bars = session.run_table()
        print()
        report.add(bars)
        report.add(session.run_idle())
        session.run_latency()
        session.run_threads()
        session.run_instructions()


class Session:
    """One run of the suite: the programs, and how often and how long they run."""

    def __init__(self, options):
        self.options = options
        self.runs = options.runs or (QUICK_RUNS if options.quick else RUNS)
        self.load = Load(scale=QUICK_SCALE if options.quick else 1.0)
        peers = PEERS if options.peers is None else options.peers
        # Whatever is missing is found before the first measurement.
        if options.wants("instructions"):
            instructions.require_tools()
        self.programs = {name: prepare(name, options.build_dir) for name in ("weir", *peers)}
        self.weir = self.programs["weir"]
        self.go = self.programs.get("go")

    def run_table(self):
        chosen = [workload for workload in WORKLOADS if self.options.wants(workload.name)]
        rows, bars = [], []
        for number, workload in enumerate(chosen, 1):
            say(f"[{number}/{len(chosen)}] {workload.name}: {workload.description}")
            results = self.measure(workload)
            rows.append(self.table_row(workload, results))
            bars += workload_bars(workload, results, self.note_for(workload))
        if rows:
            if self.options.quick:
                print(f"quick: {QUICK_SCALE:g} of the work, {self.runs} runs; only good to see that "
                      "it works")
            print(format_table(["workload", "unit", *self.programs, "vs go", "spread weir",
                                "spread go"], rows))
            self.print_footnotes(chosen)
        return bars

    def measure(self, workload):
        programs = [program for program in self.programs.values()
                    if workload.name not in program.lacks]
        fewer = {name: TABLE_PEER_RUNS for name in self.programs if name not in ("weir", "go")}
        return run_alternating(programs, workload.name, self.load, self.runs, fewer)

    def table_row(self, workload, results):
        cells = [workload.name, workload.unit]
        for name, program in self.programs.items():
            if name not in results:
                cells.append("-")
                continue
            mark = "*" if self.is_cut(program, workload) else ""
            cells.append(figure(median(values(results[name]))) + mark)
        spreads = [f"±{spread_percent(values(results[name])):.0f}%" if name in results else "-"
                   for name in ("weir", "go")]
        return [*cells, figure(ratio_to_go(results)) if "go" in results else "-", *spreads]

    def is_cut(self, program, workload):
        return program.scale_for(workload.name, self.load.scale) < self.load.scale

    def print_footnotes(self, chosen):
        for workload in chosen:
            for program in self.programs.values():
                if self.is_cut(program, workload):
                    print(f"* {program.name} {workload.name}: "
                          f"{program.scale_max[workload.name]:g} of the work")

    def note_for(self, workload):
        if not self.options.quick:
            return ""
        return "quick" + (f": {workload.scaled_note}" if workload.scaled_note else "")

    def ours_and_go(self):
        return [program for program in (self.weir, self.go) if program is not None]

    def run_latency(self):
        if not self.options.wants("latency"):
            return
        say("latency: of ask, the other thread saturated")
        results = run_alternating(self.ours_and_go(), "latency", self.load, self.runs)
        rows = [[name, *(figure(median([result.figure(key) for result in runs]))
                         for key in QUANTILES)] for name, runs in results.items()]
        print("\nlatency of ask while the other thread is saturated, ns")
        print(format_table(["", "p50", "p99", "p99.9"], rows))

    def run_threads(self):
        if not self.options.wants("threads"):
            return
        units = {workload.name: workload.unit for workload in WORKLOADS}
        programs = self.ours_and_go()
        rows = []
        for workload in THREAD_WORKLOADS:
            say(f"threads: {workload}")
            by_threads = [run_alternating(programs, workload, Load(self.load.scale, threads),
                                          min(self.runs, TABLE_PEER_RUNS)) for threads in (1, 2)]
            rows.append([workload, units[workload],
                         *(figure(median(values(results[program.name])))
                           for program in programs for results in by_threads)])
        print("\nthroughput by threads")
        columns = [f"{program.name} {threads}" for program in programs for threads in (1, 2)]
        print(format_table(["workload", "unit", *columns], rows))

    def run_instructions(self):
        if not self.options.wants("instructions"):
            return
        rows = []
        for workload in instructions.MESSAGES:
            say(f"instructions: {workload}")
            row = [workload, figure(instructions.per_message(self.weir, workload))]
            if self.go is not None:
                row.append(self.go_instructions(workload))
            rows.append(row)
        print("\ninstructions per message, one thread")
        print(format_table(["workload", *(program.name for program in self.ours_and_go())], rows))

    def go_instructions(self, workload):
        """For reading only: valgrind does not know Go's stacks and may refuse to run it."""
        try:
            return figure(instructions.per_message(self.go, workload))
        except CannotMeasure as problem:
            say(str(problem))
            return "?"

    def run_idle(self):
        if not self.options.wants("idle"):
            return []
        say("idle: CPU of an idle system over one second")
        result = run_once(self.weir, "idle", self.load)
        percent = result.value / result.extras.get("wall_s", 1.0) * 100
        return [Bar("idle_cpu_percent", percent, IDLE_TARGET)]


def values(results):
    return [result.value for result in results]


def ratio_to_go(results):
    return paired_ratio(values(results["weir"]), values(results["go"]))


def workload_bars(workload, results, note=""):
    """The bars of one workload; those against Go only if Go was measured."""
    bars = [Bar(spec.bar, median([result.figure(spec.key) for result in results["weir"]]),
                spec.target, note) for spec in workload.figures]
    if workload.vs_go is not None and "go" in results:
        bars.append(Bar(f"{workload.name}_vs_go", ratio_to_go(results), workload.vs_go, note))
    return bars


SUITE = Actors()
