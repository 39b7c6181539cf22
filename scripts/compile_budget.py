#!/usr/bin/env python3
"""Measures what it costs to compile one file.

Usage: compile_budget.py [--build-dir DIR] [--runs N] FILE

Prints `<seconds> s <seconds> CPU s <megabytes> MB <file>`: the median time of the runs, by the clock
and of the processor, and the highest memory of any. The compiler and its flags are those that
DIR/compile_commands.json gives for the file; without ccache and without a precompiled header.
"""

import argparse
import json
import os
import re
import resource
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Flags with an argument that name what a build writes; a measurement writes nothing.
OUTPUT_FLAGS = {"-o", "-MF", "-MT", "-MQ"}


def compile_command(build_dir, file):
    """The command that compiles the file, without ccache and without the build's outputs."""
    entries = json.loads((build_dir / "compile_commands.json").read_text(encoding="utf-8"))
    for entry in entries:
        if Path(entry["file"]).resolve() == file:
            words = shlex.split(entry["command"])
            return stripped(words), entry["directory"]
    sys.exit(f"compile_budget: {build_dir} does not compile {file}; is it in a CMakeLists.txt?")


def stripped(words):
    """Drops launchers before the compiler, outputs, and the precompiled header."""
    first = next(i for i, word in enumerate(words) if re.search(r"(clang|g)\+\+(-\d+)?$", word))
    kept, position = [], first
    while position < len(words):
        word = words[position]
        if word in OUTPUT_FLAGS:
            position += 2
        elif word == "-Xclang" and words[position + 1] in ("-include-pch", "-include"):
            position += 4
        else:
            if word not in ("-MD", "-Winvalid-pch"):
                kept.append(word)
            position += 1
    return kept


def cpu_seconds(usage):
    return usage.ru_utime + usage.ru_stime


def measure(command, directory):
    """Compiles once; returns seconds, CPU seconds, and the compiler's peak memory in megabytes."""
    with tempfile.TemporaryDirectory() as folder:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.monotonic()
        output = os.path.join(folder, "object.o")
        subprocess.run([*command, "-o", output], cwd=directory, check=True)
        seconds = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, cpu_seconds(after) - cpu_seconds(before), after.ru_maxrss / 1024


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build-dir", type=Path, default=ROOT / "build/release")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("file", type=lambda path: Path(path).resolve())
    options = parser.parse_args(arguments)
    command, directory = compile_command(options.build_dir, options.file)
    runs = [measure(command, directory) for _ in range(options.runs)]
    seconds, cpu, megabytes = zip(*runs)
    print(f"{statistics.median(seconds):.2f} s {statistics.median(cpu):.2f} CPU s "
          f"{max(megabytes):.0f} MB {os.path.relpath(options.file, ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
