"""What is made of the figures of several runs."""

import statistics


def median(values):
    return statistics.median(values)


def spread_percent(values):
    """Half the distance between the extremes, in percent of the median: the `3` of `±3 %`."""
    middle = median(values)
    return 0.0 if middle == 0 else (max(values) - min(values)) / 2 / abs(middle) * 100


def standard_error(values):
    """Of the median of these, as far as they tell: how much it would move if measured again."""
    if len(values) < 2:
        return float("inf")
    lower, _, upper = statistics.quantiles(values, n=4)
    deviation = (upper - lower) / 1.349  # as a normal distribution has it between its quartiles
    return 1.2533 * deviation / len(values) ** 0.5


def paired_ratio(ours, theirs):
    """The median ratio of runs made side by side, which a machine that slows down moves little."""
    return median([our / their for our, their in zip(ours, theirs, strict=True)])
