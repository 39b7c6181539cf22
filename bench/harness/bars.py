"""Targets, and the lines that say whether a measurement meets them."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Target:
    """A limit in one direction; prints as `<=50`."""

    comparison: str
    limit: float

    def is_met_by(self, measured):
        return measured <= self.limit if self.comparison == "<=" else measured >= self.limit

    def __str__(self):
        return f"{self.comparison}{self.limit:.10g}"


def at_most(limit):
    return Target("<=", limit)


def at_least(limit):
    return Target(">=", limit)


@dataclass(frozen=True)
class Bar:
    """One measurement beside its target. `note` says what differs from a full run."""

    name: str
    measured: float
    target: Target
    note: str = ""

    @property
    def is_ok(self):
        return self.target.is_met_by(self.measured)

    def __str__(self):
        verdict = "ok" if self.is_ok else "short"
        note = f" ({self.note})" if self.note else ""
        return f"bar {self.name} {self.shown()} {self.target} {verdict}{note}"

    def shown(self):
        """The rounded figure, unless rounding would contradict the verdict."""
        rounded = figure(self.measured)
        agrees = self.target.is_met_by(float(rounded)) == self.is_ok
        return rounded if agrees else f"{self.measured:.10g}"


class Report:
    """Prints bars as soon as they are known, and keeps them for the verdict on the whole run."""

    def __init__(self):
        self.bars = []

    def add(self, bars):
        for bar in bars:
            print(bar, flush=True)
            self.bars.append(bar)

    def short(self):
        return [bar.name for bar in self.bars if not bar.is_ok]


def figure(value):
    """Three significant digits, never in exponent form."""
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{value:.0f}"
    if abs(value) < 0.001:
        return f"{value:.6f}"
    return f"{value:.3g}"
