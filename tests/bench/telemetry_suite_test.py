#!/usr/bin/env python3
"""Tests that the suite of telemetry refuses to judge runs that did not record what they should."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from harness.errors import CannotMeasure  # noqa: E402
from harness.results import Result  # noqa: E402
from harness.turns import Comparison  # noqa: E402
from telemetry.suite import check_recorded  # noqa: E402

AS_IT_SHOULD_BE = {"none": 0, "one_percent": 0.011, "all": 1}


def results_of(shares):
    def comparison(share):
        result = Result("ask", 50, "ns", {"recorded": share})
        return Comparison([[(result, result)] * 3])
    return {mode: comparison(share) for mode, share in shares.items()}


class Recorded(unittest.TestCase):
    def test_the_expected_shares_are_accepted(self):
        check_recorded("ask", results_of(AS_IT_SHOULD_BE))

    def test_any_other_share_is_named_and_refused(self):
        for mode, share in (("none", 0.01), ("one_percent", 0), ("one_percent", 0.03),
                            ("all", 0.5), ("all", 2)):
            with self.subTest(mode=mode, share=share), self.assertRaises(CannotMeasure) as refusal:
                check_recorded("ask", results_of(AS_IT_SHOULD_BE | {mode: share}))
            self.assertIn(f"ask, {mode}: {share:.2%} of the spans", str(refusal.exception))


if __name__ == "__main__":
    unittest.main()
