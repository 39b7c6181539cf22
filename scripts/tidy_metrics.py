"""Metrics: what the code makes is documented, and what documents name is there.

Instruments are known by their unit, `"weir.actor.count", {.unit = ...`; others stand in tables of
their module. Documents name them as `weir.actor.count`, the page of all metrics in the first column
of its tables.
"""

import re

PAGE = "docs/operations/metrics.md"
NAME = r"(?:weir|http)(?:\.[a-z_]+){2,}"
MADE = re.compile(rf'"({NAME})",\s*\{{\s*\.unit')
WRITTEN = re.compile(rf'"({NAME})"')
NAMED = re.compile(rf"`({NAME})`")


def metric_problems(documents, sources):
    """Yields path, line and what is wrong there; both are pairs of a path and its text."""
    written = {name for _, text in sources for name in WRITTEN.findall(text)}
    listed = set()
    for path, text in documents:
        for number, line in enumerate(text.splitlines(), 1):
            if path == PAGE and line.startswith("| `"):
                listed.update(NAMED.findall(line.split("|")[1]))
            for name in NAMED.findall(line):
                if name not in written:
                    yield path, number, f"nothing measures {name}"
    for path, text in sources:
        for made in MADE.finditer(text):
            if made[1] not in listed:
                line = text.count("\n", 0, made.start()) + 1
                yield path, line, f"{made[1]} is not listed in {PAGE}"
