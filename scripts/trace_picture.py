#!/usr/bin/env python3
"""Draws a trace as an SVG: one bar per span, below the span that caused it.

    OTEL_TRACES_EXPORTER=otlp_file program | python3 scripts/trace_picture.py > trace.svg

Reads what the OTLP file exporter writes, JSON lines, and leaves other lines out. Draws the trace with
the most spans, or the one whose id begins with what is given.
"""

import argparse
import json
import sys
from html import escape
from math import log1p

WIDTH = 960
NAMES = 390  # where the bars begin
ROW = 24
TOP = 58
SMALLEST_BAR = 3
FIRST_STEP = 100_000  # nanoseconds: of a logarithmic axis

STYLE = """
  svg { background: #ffffff; }
  text { font: 13px system-ui, sans-serif; fill: #1f2328; }
  .quiet { fill: #59636e; font-size: 11px; }
  .bar { fill: #2f6fd0; }
  .inner { fill: #5a9e6f; }
  .error { fill: #c9362c; }
  .event { fill: #ffffff; stroke: #1f2328; stroke-width: 1.2; }
  .link { stroke: #8a63d2; stroke-width: 1.4; fill: none; stroke-dasharray: 4 3; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; }
    text { fill: #e6edf3; }
    .quiet { fill: #9198a1; }
    .bar { fill: #4c8dff; }
    .inner { fill: #6fc287; }
    .error { fill: #ff6b61; }
    .event { fill: #0d1117; stroke: #e6edf3; }
    .link { stroke: #b392f0; }
    .grid { stroke: #30363d; }
  }
"""


class Span:
    def __init__(self, data):
        self.trace = data["traceId"]
        self.id = data["spanId"]
        self.parent = data.get("parentSpanId", "")
        self.name = data["name"].rsplit("::", 1)[-1]
        self.begin = int(data["startTimeUnixNano"])
        self.end = int(data["endTimeUnixNano"])
        self.attributes = {one["key"]: one["value"] for one in data.get("attributes", [])}
        self.events = [(int(one["timeUnixNano"]), one["name"]) for one in data.get("events", [])]
        self.links = [one["spanId"] for one in data.get("links", [])]
        self.is_error = data.get("status", {}).get("code") in (2, "STATUS_CODE_ERROR")

    @property
    def actor(self):
        return self.attributes.get("weir.actor.type", {}).get("stringValue", "").rsplit("::", 1)[-1]

    @property
    def css_class(self):
        if self.is_error:
            return "error"
        return "bar" if "weir.message.type" in self.attributes else "inner"


def read_spans(lines):
    spans = []
    for line in lines:
        if not line.startswith("{"):
            continue
        for resource in json.loads(line).get("resourceSpans", []):
            for scope in resource.get("scopeSpans", []):
                spans += [Span(one) for one in scope.get("spans", [])]
    return spans


def choose_trace(spans, prefix):
    traces = {}
    for span in spans:
        traces.setdefault(span.trace, []).append(span)
    matching = [spans for trace, spans in traces.items() if trace.startswith(prefix)]
    if not matching:
        raise SystemExit(f"trace_picture: no spans{' of trace ' + prefix if prefix else ''} "
                         "in the input; is OTEL_TRACES_EXPORTER=otlp_file set?")
    return max(matching, key=len)


def in_order(spans):
    """Pairs of depth and span: each below its parent, in the order in which they began."""
    known = {span.id for span in spans}
    below = {}
    for span in sorted(spans, key=lambda one: (one.begin, one.id)):
        below.setdefault(span.parent if span.parent in known else "", []).append(span)
    ordered = []
    pending = [(0, span) for span in reversed(below.get("", []))]
    while pending:
        depth, span = pending.pop()
        ordered.append((depth, span))
        pending += [(depth + 1, child) for child in reversed(below.get(span.id, []))]
    return ordered


def duration_text(nanoseconds):
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds} ns"


class Scale:
    """From a time to where it is in the picture."""

    def __init__(self, spans, is_logarithmic=False):
        self.begin = min(span.begin for span in spans)
        self.length = max(max(span.end for span in spans) - self.begin, 1)
        self.is_logarithmic = is_logarithmic

    def x(self, time):
        part = (time - self.begin) / self.length
        if self.is_logarithmic:
            part = log1p((time - self.begin) / FIRST_STEP) / log1p(self.length / FIRST_STEP)
        return NAMES + part * (WIDTH - NAMES - 70)

    def ticks(self):
        if not self.is_logarithmic:
            return [self.begin + self.length * part // 4 for part in range(5)]
        steps = [FIRST_STEP * 10**power for power in range(10)]
        return [self.begin] + [self.begin + step for step in steps if step <= self.length]


def grid(scale, height):
    parts = []
    for time in scale.ticks():
        x = scale.x(time)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{height - 8}"/>')
        parts.append(f'<text class="quiet" x="{x:.1f}" y="{TOP - 14}" text-anchor="middle">'
                     f'{duration_text(time - scale.begin) if time > scale.begin else "0"}</text>')
    return parts


def row(depth, span, scale, y):
    x = scale.x(span.begin)
    width = max(scale.x(span.end) - x, SMALLEST_BAR)
    actor = f' <tspan class="quiet">{escape(span.actor)}</tspan>' if span.actor else ""
    yield f'<text x="{16 + depth * 16}" y="{y + 14}">{escape(span.name)}{actor}</text>'
    yield (f'<rect class="{span.css_class}" x="{x:.1f}" y="{y + 3}" width="{width:.1f}" height="13" '
           f'rx="2"><title>{escape(span.name)}: {duration_text(span.end - span.begin)}</title></rect>')
    yield (f'<text class="quiet" x="{x + width + 6:.1f}" y="{y + 14}">'
           f'{duration_text(span.end - span.begin)}</text>')
    for time, name in span.events:
        yield (f'<circle class="event" cx="{scale.x(time):.1f}" cy="{y + 9.5}" r="4">'
               f'<title>{escape(name)}</title></circle>')


def link(cause, span, scale):
    """A curve from the row of what did not wait to the beginning of what it caused."""
    x, y = scale.x(span.begin), span.y + 9.5
    from_x = min(scale.x(cause.end), x)
    return (f'<path class="link" d="M {from_x:.1f} {cause.y + 16} '
            f'C {from_x:.1f} {y} {from_x:.1f} {y} {x:.1f} {y}"/>')


def picture(spans, is_logarithmic=False):
    ordered = in_order(spans)
    scale = Scale(spans, is_logarithmic)
    height = TOP + ROW * len(ordered) + 34
    by_id = {}
    for position, (_, span) in enumerate(ordered):
        span.y = TOP + ROW * position
        by_id[span.id] = span
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
             f'width="{WIDTH}" height="{height}" role="img">',
             f"<title>Trace {spans[0].trace}</title>", f"<style>{STYLE}</style>",
             f'<text x="16" y="24">trace {spans[0].trace}</text>',
             f'<text class="quiet" x="16" y="{TOP - 14}">message or part, actor</text>']
    parts += grid(scale, height - 22)
    parts += [link(by_id[cause], span, scale) for _, span in ordered
              for cause in span.links if cause in by_id]
    for depth, span in ordered:
        parts += row(depth, span, scale, span.y)
    parts.append(f'<text class="quiet" x="16" y="{height - 12}">blue: a message · green: a part, a '
                 "blocking call, a restart · red: failed · ring: an event · dashed: caused by a span "
                 "that did not wait</text>")
    return "\n".join(parts) + "\n</svg>\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trace", default="", help="the beginning of its id")
    parser.add_argument("--logarithmic", action="store_true",
                        help="short and long spans in one picture")
    parser.add_argument("file", nargs="?", help="an export; standard input if none is named")
    arguments = parser.parse_args()
    if arguments.file:
        with open(arguments.file, encoding="utf-8") as lines:
            spans = read_spans(lines)
    else:
        spans = read_spans(sys.stdin)
    sys.stdout.write(picture(choose_trace(spans, arguments.trace), arguments.logarithmic))


if __name__ == "__main__":
    main()
