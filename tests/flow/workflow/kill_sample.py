"""Kills a sample at every line that it prints, and after everything that it commits, and starts it
again.

Usage: kill_sample.py PROGRAM SAMPLE

Whenever it is killed, in the end all is done, and nothing twice: each SAMPLE is a function below,
which looks at what is printed when it is started once more after its end.
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile


def checkout(lines):
    """The ledger has each effect once."""
    expected = ["charge a teapot", "ship a teapot by"]
    ledger = [line.split(": ", 1)[1] for line in lines if line.startswith("line ")]
    return len(ledger) == len(expected) and all(map(str.startswith, ledger, expected))


def courier_race(lines):
    """There is one workflow, it has ended, and there is nothing to do any more."""
    if lines[:1] != ["the workflow is completed:"]:
        return False
    table = lines[1:]
    ended = [line for line in table if re.search(r"(completed|failed|cancelled)$", line)]
    delivered = [line for line in table if re.fullmatch(r"deliver +parcel +completed", line)]
    return len(table) == len(ended) == 4 and len(delivered) == 1


SAMPLES = {sample.__name__: sample for sample in (checkout, courier_race)}


def run(program, directory, lines_max):
    """Lets it print `lines_max` lines, then kills it. Returns what it printed, and whether it ended."""
    child = subprocess.Popen([program, directory], stdout=subprocess.PIPE, text=True)
    lines = []
    while len(lines) < lines_max:
        line = child.stdout.readline()
        if not line:
            break
        lines.append(line.strip())
    child.kill()
    rest, _ = child.communicate()
    lines += [line.strip() for line in rest.splitlines()]
    return lines, child.returncode == 0


def finish(program, directory):
    """Lets it end, and returns what it prints when it is started once more."""
    run(program, directory, 10_000)
    lines, has_ended = run(program, directory, 10_000)
    if not has_ended:
        sys.exit("started after its end it does not end:\n" + "\n".join(lines))
    return lines


def logged(directory):
    """How much there is in the log of the store, where each commit adds to it."""
    total = 0
    for path in pathlib.Path(directory).rglob("*.log"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            pass
    return total


def run_commits(program, directory, commits_max):
    """Lets it commit so often, then kills it. Returns whether it ended before."""
    child = subprocess.Popen([program, directory], stdout=subprocess.DEVNULL)
    before = logged(directory)
    commits = 0
    while child.poll() is None and commits < commits_max:
        now = logged(directory)
        commits += now != before
        before = now
    child.kill()
    return child.wait() == 0


def kill_after_commit(program, commits):
    with tempfile.TemporaryDirectory() as directory:
        has_ended = run_commits(program, directory, commits)
        lines = finish(program, directory)
        check(lines, f"killed after commit {commits}")
        return has_ended


def check(lines, what):
    if not SAMPLES[sys.argv[2]](lines):
        sys.exit(f"{what}:\n" + "\n".join(lines))


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as directory:
        whole, has_ended = run(program, directory, 10_000)
        if not has_ended:
            sys.exit("it does not end by itself")
        check(finish(program, directory), "without a kill")
    # Killed once, after each line; zero is as soon as it was started.
    for at in range(len(whole)):
        with tempfile.TemporaryDirectory() as directory:
            run(program, directory, at)
            lines = finish(program, directory)
            check(lines, f"killed after line {at}")
    # Killed after each commit: those of each step, each child and each sleep among them.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for first in range(1, 1000, 4):
            kills = [pool.submit(kill_after_commit, program, first + i) for i in range(4)]
            if any(kill.result() for kill in kills):
                print(f"killed after each of {first} commits or more")
                break
        else:
            sys.exit("it never ends by itself")
    # Killed again and again, each time a line later.
    with tempfile.TemporaryDirectory() as directory:
        for at in range(10_000):
            _, has_ended = run(program, directory, at)
            if has_ended:
                break
        check(finish(program, directory), "killed again and again")


if __name__ == "__main__":
    main()
