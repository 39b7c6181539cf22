"""Instructions per message, counted by callgrind: the figure that a busy machine does not move."""

import re
import shutil
import tempfile
from pathlib import Path

from harness.errors import CannotMeasure
from harness.runner import execute

#: Messages of a run at full scale, by workload. A request and its reply are two.
MESSAGES = {
    "ping_pong": 2_000_000,
    "count": 10_000_000,
    "count_bounded": 10_000_000,
    "many_to_one": 10_000_000,
    "ring": 2_000_000,
    "ask": 2_000_000,
    "ask_deadline": 2_000_000,
}
SCALES = (0.01, 0.02)

# One thread, so that no instruction is spent on searching for work. Signals for preemption confuse
# valgrind, and a collection in only one of the two runs would not cancel out.
ENVIRONMENT = {"THREADS": "1", "GODEBUG": "asyncpreemptoff=1", "GOGC": "off"}


def per_message(program, workload):
    """The difference of two runs over the difference of their messages: start-up cancels out."""
    small, large = SCALES
    extra = count(program, workload, large) - count(program, workload, small)
    return extra / (MESSAGES[workload] * (large - small))


def require_tools():
    for tool, package in (("valgrind", "valgrind"), ("strip", "binutils")):
        if shutil.which(tool) is None:
            raise CannotMeasure(f"{tool} is missing: install {package}, or choose workloads with "
                                "--only")


def count(program, workload, scale, options=()):
    """Counts a copy without debug information, of which valgrind 3.19 cannot read version 5."""
    with tempfile.TemporaryDirectory() as folder:
        stripped = Path(folder, "program")
        execute(["strip", "--strip-debug", "-o", str(stripped), program.command[0]])
        done = execute(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *options,
                        str(stripped), *program.command[1:], workload],
                       {**ENVIRONMENT, "SCALE": f"{scale:g}"})
    return collected(done.stderr)


def collected(output):
    match = re.search(r"Collected : (\d+)", output)
    if match is None:
        raise CannotMeasure("callgrind did not say how many instructions it collected")
    return int(match[1])
