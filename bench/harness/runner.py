"""Starts benchmark programs, in alternation where they are compared."""

import os
import subprocess
import sys
from dataclasses import dataclass, field

from harness.errors import CannotMeasure
from harness.results import parse_result

SECONDS_MAX = 300


@dataclass(frozen=True)
class Program:
    """A program that takes the name of a workload and prints one result line."""

    name: str
    command: tuple
    #: Workloads that it has no equivalent of.
    lacks: frozenset = frozenset()
    #: The largest scale at which it ends in reasonable time, by workload.
    scale_max: dict = field(default_factory=dict)

    def scale_for(self, workload, scale):
        return min(scale, self.scale_max.get(workload, scale))


@dataclass(frozen=True)
class Load:
    """How much work a program is given."""

    scale: float = 1.0
    threads: int = 2


def say(text):
    print(text, file=sys.stderr, flush=True)


def execute(command, environment=None, seconds_max=SECONDS_MAX):
    """Runs a command to its end and returns its outputs; failure is an error with its last words."""
    variables = {**os.environ, **(environment or {})}
    try:
        done = subprocess.run(command, env=variables, capture_output=True, text=True,
                              timeout=seconds_max, check=False)
    except FileNotFoundError as error:
        raise CannotMeasure(f"{command[0]} does not exist") from error
    except subprocess.TimeoutExpired as error:
        raise CannotMeasure(f"{' '.join(command)}: not done after {seconds_max} s") from error
    if done.returncode != 0:
        last_words = "\n".join((done.stdout + done.stderr).strip().splitlines()[-15:])
        raise CannotMeasure(f"{' '.join(command)}: exit code {done.returncode}\n{last_words}")
    return done


def run_once(program, workload, load):
    variables = {
        "SCALE": f"{program.scale_for(workload, load.scale):g}",
        "THREADS": str(load.threads),
    }
    output = execute([*program.command, workload], variables)
    return parse_result(output.stdout, workload)


def run_alternating(programs, workload, load, runs, runs_by_name=None):
    """Results of each program by name, measured in rounds: first, second, ..., first, second, ...

    Whatever disturbs the machine for a while then disturbs all of them. `runs_by_name` gives
    programs fewer rounds than `runs`.
    """
    results = {program.name: [] for program in programs}
    for round_number in range(1, runs + 1):
        for program in programs:
            if round_number > (runs_by_name or {}).get(program.name, runs):
                continue
            result = run_once(program, workload, load)
            results[program.name].append(result)
            say(f"  {workload} {round_number}/{runs} {program.name}: {result.value:g} {result.unit}")
    return results
