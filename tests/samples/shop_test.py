"""Runs the shop as its users do.

Usage: shop_test.py PROGRAM CHECK

Each CHECK is a function below.
"""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request

RIGHT = "everything is as it should be"


def expect(condition, what, text=""):
    if not condition:
        sys.exit(f"{what}\n{text}")


class Shop:
    """A shop on a directory, whose lines can be waited for."""

    def __init__(self, program, directory, *options):
        self.child = subprocess.Popen([program, "--directory", directory, *options],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = []

    def wait_for(self, pattern, count=1):
        """Reads until `count` more lines match."""
        while count > 0:
            line = self.child.stdout.readline()
            expect(line, f"it ended without '{pattern}'", "".join(self.lines))
            self.lines.append(line)
            count -= bool(re.search(pattern, line))

    def end(self, number=None):
        """Its exit code, once it has ended: by itself, or by a signal."""
        if number is not None:
            self.child.send_signal(number)
        rest, self.errors = self.child.communicate()
        self.text = "".join(self.lines) + rest
        return self.child.returncode


def run(program, directory, *options):
    shop = Shop(program, directory, *options)
    return shop.end(), shop.text + shop.errors


def verified(program, directory, *options):
    """What a shop that verifies itself prints, and how many orders it has, and made."""
    code, text = run(program, directory, "--report", *options)
    expect(code == 0 and RIGHT in text and "WRONG" not in text, f"exit code {code}", text)
    made = re.search(r"^processed: ([\d,]+) orders, ([\d,]+) paid", text, re.MULTILINE)
    there = re.search(r"right +orders: (\d+)$", text, re.MULTILINE)
    shipped = re.search(r"right +ship: (\d+)$", text, re.MULTILINE)
    expect(made and there and shipped, "the report lacks a line", text)
    return text, int(there[1]), int(made[1].replace(",", "")), int(shipped[1])


def report(program, directory):
    """It ends by itself and verifies what it did; the next run goes on with that."""
    text, there, made, shipped = verified(program, directory, "--seconds", "2")
    expect(there == made and shipped > 0, "there are other orders than were made", text)
    text, there_then, made_then, shipped_then = verified(program, directory, "--seconds=1")
    expect(there_then == there + made_then and shipped_then > shipped, "it did not go on", text)
    text, there_at_last, made_at_last, _ = verified(program, directory, "--seconds", "0",
                                                    "--orders-per-second", "0")
    expect(there_at_last == there_then and made_at_last == 0, "nobody came, and yet", text)


def wrong(program, directory):
    """A charge for an order that nobody made is found, and ends in another exit code."""
    shop = Shop(program, directory, "--report")
    shop.wait_for(r"gateway at http")
    charge = {"op": "insert", "table": "ledger",
              "row": {"order": 7_000_007, "entry": "charge", "receipt": 1, "cents": 480, "courier": ""}}
    request = urllib.request.Request(
        shop.lines[-1].split()[-1] + "/api/v1/transactions",
        json.dumps({"operations": [charge]}).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        expect(answer.status == 200, "not written")
    shop.wait_for("checkouts: [1-9]")
    code = shop.end(signal.SIGINT)
    expect(code == 1 and re.search(r"WRONG +charge: ", shop.text) and RIGHT not in shop.text,
           f"exit code {code}", shop.text + shop.errors)
    expect(len(re.findall(r"WRONG +\w+: ", shop.text)) == 1, "more is wrong", shop.text)


def kill(program, directory):
    """Whenever it is killed, the next one has lost nothing and does nothing twice."""
    for lines in range(6):
        shop = Shop(program, directory, "--orders-per-second", "400")
        shop.wait_for("", lines)
        shop.end(signal.SIGKILL)
    _, there, made, _ = verified(program, directory, "--seconds", "1")
    expect(there > made, "what was made before the kills is gone")


def interrupt(program, directory):
    """Ctrl-C and SIGTERM end it in order, with a last summary; so does one in the middle of a report."""
    for number in (signal.SIGINT, signal.SIGTERM):
        shop = Shop(program, directory)
        shop.wait_for("checkouts: [1-9]", 2)
        lines = len(shop.lines)
        code = shop.end(number)
        rest = shop.text.splitlines()[lines:]
        expect(code == 0 and not shop.errors, f"exit code {code}", shop.text + shop.errors)
        expect(len(rest) >= 2 and "checkouts:" in rest[-2] and "closed" in rest[-1],
               "no last summary", shop.text)
    shop = Shop(program, directory, "--report")
    shop.wait_for("checkouts: [1-9]", 2)
    code = shop.end(signal.SIGINT)
    expect(code == 0 and RIGHT in shop.text, f"exit code {code}", shop.text + shop.errors)


def gateway(program, directory):
    """What is in the shop can be read over HTTP, also if another shop has the usual port."""
    with tempfile.TemporaryDirectory() as elsewhere:
        shops = [Shop(program, directory), Shop(program, elsewhere)]
        for shop in shops:
            shop.wait_for(r"gateway at http")
            url = shop.lines[-1].split()[-1]
            shop.wait_for("checkouts: [1-9]")
            with urllib.request.urlopen(f"{url}/api/v1/views/totals/rows") as answer:
                rows = json.load(answer)["rows"]
            expect(any("paid" in str(row) for row in rows), "nothing is paid for", str(rows))
            with urllib.request.urlopen(f"{url}/readyz") as answer:
                expect(answer.status == 200, "not ready")
            # What the page on operations says to be woken for.
            with urllib.request.urlopen(f"{url}/metrics") as answer:
                metrics = answer.read().decode()
            for name in ("weir_actor_messages_total", "weir_actor_restarts_total", "weir_phase_age", "weir_flow_lag",
                         "weir_storage_log_records", "weir_workflow_leases_expired_total", "http_server_request_duration"):
                expect(re.search(f"^{name}", metrics, re.M), f"no {name}", metrics)
        # While they come and go: who asks for some gets no others.
        for _ in range(100):
            with urllib.request.urlopen(f"{url}/api/v1/executions?state=waiting,active") as answer:
                states = {execution["state"] for execution in json.load(answer)["executions"]}
            expect(states <= {"waiting", "active"}, "others were listed", str(states))
        for shop in shops:
            code = shop.end(signal.SIGINT)
            expect(code == 0 and not shop.errors, f"exit code {code}", shop.text + shop.errors)


def terminal(program, directory):
    """On a terminal the summary is drawn over the one before."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen([program, "--directory", directory, "--seconds", "2"], stdout=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # how Linux says that the other side is closed
            break
        if not piece:
            break
        text += piece
    code = child.wait()
    text = text.decode()
    expect(code == 0, f"exit code {code}", text)
    drawn = re.split(r"\x1b\[(\d+)F\x1b\[J", text.partition("\n")[2])
    frames, heights = drawn[0::2], [int(height) for height in drawn[1::2]]
    expect(len(frames) > 2, "it is not drawn again", text)
    expect([frame.count("\n") for frame in frames[:-1]] == heights, f"not over it: {heights}", text)
    for line in text.splitlines():
        expect(len(line) < 80 or "shop:" in line, "a line that may wrap", line)
    for name in ("orders", "checkouts", "revenue", "views", "gateway", "teapot", "cup"):
        expect(re.search(rf"^  {name} +\S", frames[-1], re.MULTILINE), f"no {name}", frames[-1])


def refusals(program, directory):
    """What cannot be is refused in words, and harms nothing."""
    for options, what in ((["--sekonds", "1"], "unknown option '--sekonds'"),
                          (["--seconds"], "--seconds needs a value"),
                          (["--seconds", "soon"], "--seconds is 'soon'"),
                          (["--orders-per-second", "-1"], "--orders-per-second is '-1'")):
        code, text = run(program, directory, *options)
        expect(code == 2 and what in text and "--help" in text, f"{options}: {code}", text)
    code, text = run(program, directory, "--help")
    expect(code == 0 and "--orders-per-second" in text, "no help", text)

    file = os.path.join(directory, "file")
    with open(file, "w", encoding="utf-8"):
        code, text = run(program, file, "--seconds", "1")
    expect(code == 1 and file in text, "a file is no directory", text)

    first = Shop(program, directory)
    first.wait_for("checkouts: [1-9]")
    for options in ([], ["--fresh"]):
        code, text = run(program, directory, "--seconds", "1", *options)
        expect(code == 1 and "in use" in text, f"{options}: exit code {code}", text)
    expect(first.end(signal.SIGINT) == 0, "the first was disturbed", first.errors)
    _, there, made, _ = verified(program, directory, "--seconds", "1")
    expect(there > made, "the first was disturbed")

    text, there, made, _ = verified(program, directory, "--seconds", "1", "--fresh")
    expect(there == made and "version 0" in text, "what was there is still there", text)
    expect(os.path.exists(file), "it removed what is not its own")


def spans_of(text):
    """What was exported: the spans of each trace by their ids."""
    traces = {}
    for line in text.splitlines():
        if not line.startswith('{"resourceSpans"'):
            continue
        for resource in json.loads(line)["resourceSpans"]:
            for scope in resource["scopeSpans"]:
                for span in scope["spans"]:
                    traces.setdefault(span["traceId"], {})[span["spanId"]] = span
    return traces


def names_above(trace, span):
    """What a span is below, up to where its trace begins."""
    names = []
    while span.get("parentSpanId"):
        expect(span["parentSpanId"] in trace, f"nothing is above {span['name']}", str(names))
        span = trace[span["parentSpanId"]]
        names.append(span["name"])
    return names


def view_of(span):
    """That was computed in it, if any was."""
    return next((attribute["value"]["stringValue"] for attribute in span.get("attributes", ())
                 if attribute["key"] == "flow.view"), None)


def expect_whole(trace):
    """What a visit that was paid for has led to."""
    spans = [(span, names_above(trace, span)) for span in trace.values()]
    names = [span["name"] for span, _ in spans]
    for step in ("workflow.step.charge", "workflow.step.ship"):
        expect(names.count(step) == 1, f"{step}: not once", str(names))
    expect("workflow.attempt.offer" in names, "no offer", str(names))
    in_commit = [(span["name"], view_of(span)) for span, above in spans
                 if above[:1] == ["flow.transactional.commit"]]
    expect(("weir::storage::internal::Commit", None) in in_commit, "no commit", str(in_commit))
    expect(("flow.worker.process", "paid") in in_commit, "no view in it", str(in_commit))


def traces(program, directory):
    """The trace of a visit has its commit, its views, its checkout and each step, whatever is in between."""
    environment = dict(os.environ, OTEL_TRACES_EXPORTER="otlp_file")
    options = ["--directory", directory, "--report", "--seconds", "2", "--orders-per-second", "5"]
    done = subprocess.run([program, *options], env=environment, capture_output=True, text=True)
    expect(done.returncode == 0 and RIGHT in done.stdout, f"exit code {done.returncode}",
           done.stderr)
    shipped = 0
    views = set()
    for trace in spans_of(done.stdout).values():
        for span in trace.values():
            if not span["name"].startswith(("workflow.step.", "workflow.attempt.")):
                continue
            above = names_above(trace, span)
            expect(above[-1] == "visit" and "flow.on_change" in above, span["name"], str(above))
            shipped += span["name"] == "workflow.step.ship"
            if span["name"] != "workflow.attempt.checkout":
                expect("workflow.attempt.checkout" in above, span["name"], str(above))
        if any(span["name"] == "workflow.step.ship" for span in trace.values()):
            expect_whole(trace)
        # Commits that are dealt with together are in the trace of the first of them, also if nobody paid.
        if any(span["name"] == "visit" for span in trace.values()):
            views |= {view_of(span) for span in trace.values()}
    expect(views >= {"paid", "revenue", "top_products", "stock", "totals"}, "views are missing", str(views))
    ships = re.search(r"right +ship: (\d+)$", done.stdout, re.MULTILINE)
    expect(shipped > 0 and shipped == int(ships[1]), f"{shipped} traced, {ships[1]} done")


CHECKS = {check.__name__: check
          for check in (report, wrong, kill, interrupt, gateway, terminal, refusals, traces)}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        CHECKS[sys.argv[2]](sys.argv[1], folder)
