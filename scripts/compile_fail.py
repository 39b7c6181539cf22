#!/usr/bin/env python3
"""Passes if a file does not compile, and fails to for the expected reason, briefly.

Usage: compile_fail.py --expect REGEX [--errors-max N] -- COMPILER ARGUMENT... FILE
"""

import argparse
import re
import subprocess
import sys


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--expect", required=True, help="must be found in the compiler's output")
    parser.add_argument("--errors-max", type=int, default=2, help="lines with `error:` allowed")
    parser.add_argument("command", nargs="+", help="the compiler, its arguments and the file")
    return parser.parse_args(arguments)


def problem_with(compiled, output, expect, errors_max):
    """Returns why the compiler's answer is not the expected one, or None."""
    if compiled:
        return "it compiles, and must not"
    if not re.search(expect, output):
        return f"the compiler's output does not match '{expect}'"
    errors = sum("error:" in line for line in output.splitlines())
    if errors > errors_max:
        return f"{errors} errors, at most {errors_max} are readable"
    return None


def main(arguments):
    options = parse_arguments(arguments)
    compiler = subprocess.run(
        [*options.command, "-fsyntax-only", "-fno-color-diagnostics"]
        if "clang" in options.command[0] else [*options.command, "-fsyntax-only"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    problem = problem_with(
        compiler.returncode == 0, compiler.stdout, options.expect, options.errors_max)
    if problem is None:
        return 0
    print(f"{options.command[-1]}: {problem}. The compiler said:\n{compiler.stdout}")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
