"""A sample prints what its README shows.

Usage: output_test.py PROGRAM README

What differs from run to run is made equal on both sides; `...` in a README stands for any lines.
"""

import os
import re
import subprocess
import sys


def supervised_bank(lines):
    """How often the bank tells how far it is, and how far it is then, is a matter of time."""
    masked = [re.sub(r"\d+ paid, \d+ wait", "N paid, N wait", line) for line in lines]
    masked = [re.sub(r"^(bank|alice|bob|carol)( +)\d+", r"\1 N", line) for line in masked]
    far = [line for line in masked if "N paid, N wait" in line]
    return far[:1] + [line for line in masked if line not in far]


def checkout(lines):
    """Couriers are asked at once, in any order, and not all of them if one is quick; any may win."""
    named = [re.sub("anna|bert|carl", "NAME", line) for line in lines]
    asked = "  NAME is asked"
    others = [line for line in named if line != asked]
    # A step whose lease has expired meanwhile is tried again.
    again = {line for line in others if line.startswith("  trying to")}
    return ([asked] * (asked in named) +
            [line for index, line in enumerate(others)
             if line not in again or line not in others[:index]])


def courier_race(lines):
    """Anybody may win, or have no time before that; executions are listed in the order of their ids."""
    told = [line for line in lines if "has no time" not in line]
    table = told.index("the workflow is completed:") + 1
    named = [re.sub("anna|bert|carl", "NAME", line) for line in told]
    return named[:table] + sorted(named[table:])


def phases(lines):
    """A slow machine takes too long more often."""
    late = "[connecting takes too long]"
    return [line for line in lines if line != late] + [late] * (late in lines)


def thermometer(lines):
    """How often somebody asks between two failures is a matter of time."""
    return [line for line in lines if line == "..." or line.startswith("thermometer")]


def ledger(lines):
    """Who pays whom is left to chance."""
    return [re.sub(r"(teller: |version |has )[\d.]+", r"\1N", line) for line in lines]


NORMAL = {check.__name__: check
          for check in (supervised_bank, checkout, courier_race, phases, thermometer, ledger)}


def shown_by(readme):
    """Its first block that is in no language."""
    with open(readme, encoding="utf-8") as file:
        blocks = re.findall(r"^```(\w*)\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    return next(text for language, text in blocks if not language).splitlines()


def main(program, readme):
    name = os.path.basename(os.path.dirname(os.path.abspath(readme)))
    normal = NORMAL.get(name, list)
    done = subprocess.run([program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          check=True, timeout=60)
    printed = normal([line.rstrip() for line in done.stdout.splitlines()])
    pattern = "".join("(?:.*\n)*" if line == "..." else re.escape(line) + "\n"
                      for line in normal(shown_by(readme)))
    if not re.fullmatch(pattern, "".join(line + "\n" for line in printed)):
        sys.exit(f"{readme} shows something else than is printed:\n{done.stdout}")


if __name__ == "__main__":
    main(*sys.argv[1:])
