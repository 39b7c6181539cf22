"""What a suite is, and where suites are found."""

import importlib
from dataclasses import dataclass, field
from pathlib import Path

BENCH_DIR = Path(__file__).resolve().parent.parent
ROOT = BENCH_DIR.parent


@dataclass(frozen=True)
class Options:
    """What the command line asks of a suite."""

    build_dir: Path = ROOT / "build/release"
    quick: bool = False
    #: Runs per program; None leaves it to the suite.
    runs: int | None = None
    #: Workloads to run; empty means all.
    only: tuple = field(default=())
    #: Peers to compare with; None means all.
    peers: tuple | None = None

    def wants(self, workload):
        return not self.only or workload in self.only


class Suite:
    """A set of measurements with targets. Subclasses live in `bench/<name>/suite.py` as `SUITE`."""

    name = ""
    summary = ""

    def workloads(self):
        """Names that `--only` accepts, with a description each."""
        raise NotImplementedError

    def peers(self):
        """Names that `--peers` accepts."""
        return ()

    def run(self, options, report):
        """Measures, prints its tables and adds its bars to the report."""
        raise NotImplementedError


def discover(bench_dir=BENCH_DIR):
    """Suites by name: one per folder that has a `suite.py`."""
    suites = {}
    for file in sorted(bench_dir.glob("*/suite.py")):
        suite = importlib.import_module(f"{file.parent.name}.suite").SUITE
        suites[suite.name] = suite
    return suites
