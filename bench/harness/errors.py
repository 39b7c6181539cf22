"""Why a suite could not be measured."""


class CannotMeasure(Exception):
    """A program is missing or failed: there is nothing to compare, which is not the same as short."""
