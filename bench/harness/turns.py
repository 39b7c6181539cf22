"""Two programs that stay and take turns of milliseconds, so that whatever disturbs the machine disturbs both."""

import itertools
import os
import subprocess
import threading
from dataclasses import dataclass

from harness.errors import CannotMeasure
from harness.results import parse_result
from harness.runner import SECONDS_MAX, say
from harness.stats import median, standard_error


class Resident:
    """A started program that measures once for each line it is sent, and ends with its input."""

    def __init__(self, program, workload, load, seconds_max=SECONDS_MAX):
        self.workload = workload
        self.command = [*program.command, workload]
        variables = {**os.environ, "SCALE": f"{program.scale_for(workload, load.scale):g}",
                     "THREADS": str(load.threads)}
        try:
            self.process = subprocess.Popen(self.command, env=variables, text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        except FileNotFoundError as error:
            raise CannotMeasure(f"{self.command[0]} does not exist") from error
        self.watchdog = threading.Timer(seconds_max, self.process.kill)
        self.watchdog.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.watchdog.cancel()

    def measure(self):
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # its last words say more
        line = self.process.stdout.readline()
        if not line:
            raise CannotMeasure(f"{' '.join(self.command)}: ended with exit code "
                                f"{self.process.wait()}")
        return parse_result(line, self.workload)


@dataclass(frozen=True)
class Turns:
    """How long it is measured: `turns` in each pair of processes, and pairs until the standard error
    of the ratio is down to `precision`."""

    turns: int = 16
    processes_min: int = 10
    processes_max: int = 128
    precision: float = 0.006


@dataclass
class Comparison:
    """What was measured of a program and of the base, a list of turns for each pair of processes."""

    turns: list

    def pairs(self):
        return [pair for process in self.turns for pair in process]

    def ratios(self):
        """How much faster than the base the program was, in each pair of processes."""
        return [median([theirs.value / ours.value for theirs, ours in process])
                for process in self.turns]

    def ratio(self):
        return median(self.ratios())

    def error(self):
        return standard_error(self.ratios())


def take_turns(pairs, workload, load, limits):
    """A comparison of a program with its base: both stay, and measure in turns.

    Where a process lies in memory moves it by more than what is looked for, and so do the threads it
    was given: each pair of processes gives one ratio, the median of its turns, and there are as many
    pairs as it takes until the standard error of the ratio is small enough, or `processes_max`.
    `pairs` are a base and a program each, which are the same but for where their code lies: each is
    used as often as the others, so that none decides.
    """
    comparison = Comparison([])
    for base, program in itertools.cycle(pairs):
        with Resident(base, workload, load) as theirs, Resident(program, workload, load) as ours:
            theirs.measure(), ours.measure()  # until both have settled
            comparison.turns.append(turns_of(theirs, ours, limits.turns))
        processes = len(comparison.turns)
        is_precise = (processes >= limits.processes_min and processes % len(pairs) == 0 and
                      comparison.error() <= limits.precision)
        if is_precise or processes >= limits.processes_max:
            break
    say(f"  {workload} {program.name}: {comparison.ratio():.4f} of {base.name}, "
        f"±{comparison.error():.4f} in {len(comparison.turns)} pairs of processes")
    return comparison


def turns_of(theirs, ours, number):
    """Results of both, beside each other: who is first changes from turn to turn."""
    turns = []
    for turn in range(number):
        if turn % 2 == 0:
            base, program = theirs.measure(), ours.measure()
        else:
            program, base = ours.measure(), theirs.measure()
        turns.append((base, program))
    return turns
