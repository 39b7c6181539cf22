"""The command line of `bench/run.py`."""

import argparse
import sys
from pathlib import Path

from harness.bars import Report
from harness.errors import CannotMeasure
from harness.runner import say
from harness.suites import Options, discover

ALL_OK, SHORT, NOT_MEASURED = 0, 1, 2


def main(arguments, suites=None):
    suites = discover() if suites is None else suites
    parser = make_parser(suites)
    parsed = parser.parse_args(arguments)
    suite = suites[parsed.suite]
    if parsed.list:
        print_list(suite)
        return ALL_OK
    options = Options(build_dir=parsed.build_dir.resolve(), quick=parsed.quick, runs=parsed.runs,
                      only=parsed.only, peers=parsed.peers)
    check_names(parser, "--only", options.only, [name for name, _ in suite.workloads()])
    check_names(parser, "--peers", options.peers or (), suite.peers())
    return run(suite, options)


def run(suite, options):
    """Exit code: 0 if every bar is met, 1 if one is short, 2 if something could not be measured."""
    report = Report()
    try:
        suite.run(options, report)
    except CannotMeasure as problem:
        sys.stdout.flush()
        say(f"bench {suite.name}: cannot measure: {problem}")
        return NOT_MEASURED
    say(f"bench {suite.name}: {len(report.bars)} bars, short: {', '.join(report.short()) or 'none'}")
    return SHORT if report.short() else ALL_OK


def make_parser(suites):
    parser = argparse.ArgumentParser(
        prog="bench/run.py", description="Runs one suite of benchmarks and compares it with its "
        "targets. Exits with 0 if all are met, 1 if one is short, 2 if it could not be measured.",
        epilog="Suites: " + "; ".join(f"{name}: {suite.summary}" for name, suite in suites.items()))
    parser.add_argument("suite", choices=sorted(suites))
    parser.add_argument("--quick", action="store_true",
                        help="fewer and shorter runs: to see that it works, not to compare")
    parser.add_argument("--build-dir", type=Path, default=Options.build_dir)
    parser.add_argument("--runs", type=positive, help="runs per program")
    parser.add_argument("--only", type=names, default=(), help="these workloads only: a,b,...")
    parser.add_argument("--peers", type=names, default=None,
                        help="these peers only: a,b,...; bars against others are left out")
    parser.add_argument("--list", action="store_true", help="list workloads and peers, run nothing")
    return parser


def names(text):
    return tuple(name for name in text.split(",") if name)


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return value


def check_names(parser, option, given, known):
    for name in given:
        if name not in known:
            parser.error(f"{option}: unknown '{name}', one of: {', '.join(known)}")


def print_list(suite):
    for name, description in suite.workloads():
        print(f"{name:20} {description}")
    if suite.peers():
        print(f"peers: {', '.join(suite.peers())}")
