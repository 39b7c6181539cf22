#!/usr/bin/env python3
"""The traced sample: usage: traced_test.py PROGRAM SOURCE_DIRECTORY CHECK."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

TIME = re.compile(r"^([\d.]+ ?(ns|µs|ms|s)|0)$")


def run(program, **variables):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    return subprocess.run([program], env={**environment, **variables}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)


def expect(holds, message, text=""):
    if not holds:
        sys.exit(f"traced_test: {message}\n{text}")


def labels(picture):
    """What a picture says, but for its times and its trace."""
    texts = []
    for element in ElementTree.fromstring(picture).iter():
        if element.tag.endswith("}text") or element.tag == "text":
            texts.append("".join(element.itertext()).strip())
    return sorted(text for text in texts if not TIME.match(text) and not text.startswith("trace "))


def picture(program, source):
    """Its own export draws what the documentation shows."""
    done = run(program, OTEL_TRACES_EXPORTER="otlp_file")
    expect(done.returncode == 0, "it failed", done.stderr)
    drawn = subprocess.run([sys.executable, os.path.join(source, "scripts/trace_picture.py"),
                            "--logarithmic"], input=done.stdout, stdout=subprocess.PIPE, text=True,
                           check=True).stdout
    with open(os.path.join(source, "docs/operations/trace.svg"), encoding="utf-8") as file:
        shown = labels(file.read())
    expect(len(shown) > 8 and labels(drawn) == shown, "the picture in docs/operations is of another run",
           "\n".join(labels(drawn)) + "\n--\n" + "\n".join(shown))


def lines(program, _):
    """Where no terminal is, each line of the log is an object, and the failure has its span."""
    done = run(program, OTEL_TRACES_EXPORTER="otlp_file")
    told = {line["message"]: line for line in map(json.loads, done.stderr.splitlines())}
    expect(set(told) == {"ordered", "actor failed"}, "other lines", done.stderr)
    expect(told["actor failed"]["trace_id"] in done.stdout, "no such trace", done.stderr)


def refusals(program, _):
    """What is malformed stops the start, and says which variable it is."""
    for name, value in (("OTEL_TRACES_EXPORTER", "zipkin"), ("OTEL_BSP_SCHEDULE_DELAY", "5s"),
                        ("OTEL_TRACES_SAMPLER_ARG", "all")):
        done = run(program, **{name: value})
        expect(done.returncode == 1 and done.stderr.startswith(f"{name} is '{value}'; expected "),
               f"{name}: exit code {done.returncode}", done.stderr)


if __name__ == "__main__":
    {"picture": picture, "lines": lines, "refusals": refusals}[sys.argv[3]](*sys.argv[1:3])
