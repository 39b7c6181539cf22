#!/usr/bin/env python3
"""scripts/trace_picture.py draws what an export holds, and nothing that could break the picture."""

import json
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import trace_picture  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def span(number, name="Order", parent=0, begin=0, end=1000, **more):
    data = {"traceId": "ab" * 16, "spanId": f"{number:016x}", "name": name,
            "startTimeUnixNano": str(10**18 + begin), "endTimeUnixNano": str(10**18 + end), **more}
    if parent:
        data["parentSpanId"] = f"{parent:016x}"
    return data


def export(*spans):
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}) + "\n"


def attributes(**values):
    return [{"key": key.replace("_", "."), "value": {"stringValue": value}}
            for key, value in values.items()]


def drawn(*spans, logarithmic=False):
    chosen = trace_picture.choose_trace(trace_picture.read_spans([export(*spans)]), "")
    return ElementTree.fromstring(trace_picture.picture(chosen, logarithmic))


def bars(picture):
    return list(picture.iter(SVG + "rect"))


def texts(picture):
    return ["".join(text.itertext()) for text in picture.iter(SVG + "text")]


class Picture(unittest.TestCase):
    def test_bars_are_as_long_as_their_spans(self):
        first, second = bars(drawn(span(1, end=1000), span(2, parent=1, begin=500, end=1000)))
        self.assertAlmostEqual(float(second.get("width")) * 2, float(first.get("width")), delta=0.2)
        self.assertGreater(float(second.get("x")), float(first.get("x")))

    def test_spans_stand_below_what_caused_them(self):
        picture = drawn(span(3, "third", parent=2, begin=2), span(1, "first"),
                        span(4, "fourth", parent=1, begin=3), span(2, "second", parent=1, begin=1))
        names = [text for text in texts(picture) if text in ("first", "second", "third", "fourth")]
        self.assertEqual(names, ["first", "second", "third", "fourth"])

    def test_names_actors_and_durations_are_shown(self):
        shown = texts(drawn(span(1, "shop::Order", end=2_500_000,
                                 attributes=attributes(weir_actor_type="shop::Desk"))))
        self.assertIn("Order Desk", shown)
        self.assertIn("2.5 ms", shown)

    def test_links_events_and_failures_are_shown(self):
        failed = span(2, parent=1, status={"code": 2}, links=[{"spanId": f"{1:016x}"}],
                      events=[{"timeUnixNano": str(10**18 + 5), "name": "exception"}])
        picture = drawn(span(1), failed)
        self.assertEqual(len(list(picture.iter(SVG + "path"))), 1)
        self.assertEqual(len(list(picture.iter(SVG + "circle"))), 1)
        self.assertEqual([bar.get("class") for bar in bars(picture)], ["inner", "error"])

    def test_a_short_span_is_seen_beside_a_long_one(self):
        spans = span(1, end=10**9), span(2, parent=1, end=100_000)
        widths = [float(bars(drawn(*spans, logarithmic=way))[1].get("width")) for way in (False, True)]
        self.assertEqual(widths[0], trace_picture.SMALLEST_BAR)
        self.assertGreater(widths[1], 20)

    def test_names_cannot_break_the_picture(self):
        self.assertIn("<b>&\"'", texts(drawn(span(1, "<b>&\"'"))))

    def test_a_span_whose_parent_is_elsewhere_is_drawn(self):
        self.assertEqual(len(bars(drawn(span(2, parent=99)))), 1)

    def test_the_largest_trace_is_chosen_unless_one_is_named(self):
        other = dict(span(9), traceId="cd" * 16)
        spans = trace_picture.read_spans(["8 spans exported\n", export(span(1), span(2)), export(other)])
        self.assertEqual(len(trace_picture.choose_trace(spans, "")), 2)
        self.assertEqual(trace_picture.choose_trace(spans, "cd")[0].id, other["spanId"])

    def test_an_export_without_spans_is_an_error_that_says_so(self):
        done = subprocess.run([sys.executable, ROOT / "scripts/trace_picture.py"], input="",
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("OTEL_TRACES_EXPORTER=otlp_file", done.stderr)


if __name__ == "__main__":
    unittest.main()
