"""The line with which a benchmark program reports: `RESULT <workload> <value> <unit> [key=value...]`."""

from dataclasses import dataclass, field

from harness.errors import CannotMeasure


@dataclass(frozen=True)
class Result:
    workload: str
    value: float
    unit: str
    extras: dict = field(default_factory=dict)

    def figure(self, key=None):
        """The value itself, or the extra with the given key."""
        if key is None:
            return self.value
        if key not in self.extras:
            raise CannotMeasure(f"the result of {self.workload} does not give {key}")
        return self.extras[key]


def parse_result(output, workload):
    """The one result line of a program's output. Other lines are for people."""
    lines = [line.split() for line in output.splitlines() if line.startswith("RESULT ")]
    if len(lines) != 1:
        raise CannotMeasure(f"{workload}: {len(lines)} RESULT lines, expected one")
    words = lines[0]
    if len(words) < 4 or words[1] != workload:
        raise CannotMeasure(f"{workload}: unexpected line '{' '.join(words)}'")
    try:
        extras = {key: float(value) for key, value in (word.split("=", 1) for word in words[4:])}
        return Result(workload, float(words[2]), words[3], extras)
    except ValueError as error:
        raise CannotMeasure(f"{workload}: '{' '.join(words)}': {error}") from error
