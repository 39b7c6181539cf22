"""Operators alone: Weir's, with their state, beside loops written by hand."""

from actors import instructions
from harness.bars import Bar, at_least, figure
from harness.runner import Load, Program, run_alternating, run_once, say
from harness.stats import median
from harness.table import format_table

#: Name, description, and how many times as fast as the loop it must be.
WORKLOADS = [
    ("filter_map", "a filter and four expressions", 0.5),
    ("group_by_10k", "count, sum and max of 10 k groups, inserts and deletes", 0.3),
    ("group_by_1m", "count and sum of 1 M groups, inserts and deletes", 0.4),
    ("join", "inner join of 1 M with 100 k rows, both changing", 0.35),
    ("top_n", "the ten first of each of 100 k groups", 0.35),
    ("window", "count and sum of hopping windows, each row in five of them", 0.3),
]
#: Of a run whose instructions are counted.
INSTRUCTION_SCALE = 0.05


def run(binary, options, report):
    programs = [Program(name, (binary, name)) for name in ("weir", "hand")]
    runs = options.runs or (1 if options.quick else 5)
    load = Load(scale=0.05 if options.quick else 1.0)
    rows, bars = [], []
    for workload, _, target in WORKLOADS:
        if not options.wants(workload):
            continue
        results = run_alternating(programs, workload, load, runs)
        pairs = zip(results["weir"], results["hand"])
        ratio = median([theirs.figure() / ours.figure() for ours, theirs in pairs])
        rows.append([workload, *(middle(results[name]) for name in ("weir", "hand")),
                     *(middle(results["weir"], key)
                       for key in ("state_mb", "key_bytes", "peak_rss_mb"))])
        bars.append(Bar(f"views_{workload}_vs_hand", ratio, at_least(target)))
    if rows:
        print("operators alone, ns for each change")
        print(format_table(["workload", "weir", "by hand", "state MiB", "B for each key", "peak MiB"],
                           rows))
        print()
        report.add(bars)
    if options.wants("instructions"):
        run_instructions(programs)


def middle(results, key=None):
    return figure(median([result.figure(key) for result in results]))


def run_instructions(programs):
    instructions.require_tools()
    rows = []
    for workload, _, _ in WORKLOADS:
        say(f"instructions: {workload}")
        rows.append([workload, *(figure(per_change(program, workload)) for program in programs)])
    print("instructions for each change, at 0.05 of the size")
    print(format_table(["workload", "weir", "by hand"], rows))
    print()


def per_change(program, workload):
    """Those inside the function `measured`, divided by the changes that the program counted."""
    changes = run_once(program, workload, Load(INSTRUCTION_SCALE, 1)).figure("changes")
    only_measured = ("--collect-atstart=no", "--toggle-collect=*measured*")
    return instructions.count(program, workload, INSTRUCTION_SCALE, only_measured) / changes
