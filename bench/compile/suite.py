"""Compile: what an actor with many handlers costs the compiler."""

import re
import sys

from harness.bars import Bar, at_most
from harness.build import require_configured
from harness.errors import CannotMeasure
from harness.runner import execute, say
from harness.suites import BENCH_DIR, ROOT, Suite
from harness.table import format_table

FILE = BENCH_DIR / "compile/forty_handlers.cpp"
SECONDS_TARGET = at_most(2)
MEGABYTES_TARGET = at_most(400)


class Compile(Suite):
    name = "compile"
    summary = "seconds and memory to compile an actor with 40 handlers"

    def workloads(self):
        return [("forty_handlers", "an actor with 40 handlers and its uses")]

    def run(self, options, report):
        require_configured(options.build_dir)
        runs = options.runs or (1 if options.quick else 5)
        say(f"compiling {FILE.name} {runs} times")
        done = execute([sys.executable, str(ROOT / "scripts/compile_budget.py"), "--build-dir",
                        str(options.build_dir), "--runs", str(runs), str(FILE)])
        seconds, cpu_seconds, megabytes = parse_budget(done.stdout)
        print(format_table(["file", "s", "CPU s", "MB"],
                           [[FILE.name, f"{seconds:g}", f"{cpu_seconds:g}", f"{megabytes:g}"]]))
        print(f"""
From source to object file with the flags of the release build, headers included: no ccache, no
precompiled header. `s` by the clock, which the bar judges, and `CPU s`: medians of {runs}; `MB`: the
highest. A clock far ahead of the CPU means that something else kept the machine busy.
""")
        report.add([Bar("compile_seconds", seconds, SECONDS_TARGET),
                    Bar("compile_mb", megabytes, MEGABYTES_TARGET)])


def parse_budget(output):
    """The three numbers of `<seconds> s <seconds> CPU s <megabytes> MB <file>`."""
    match = re.search(r"^([\d.]+) s ([\d.]+) CPU s ([\d.]+) MB ", output, re.MULTILINE)
    if match is None:
        raise CannotMeasure(f"scripts/compile_budget.py printed '{output.strip()}'")
    return float(match[1]), float(match[2]), float(match[3])


SUITE = Compile()
