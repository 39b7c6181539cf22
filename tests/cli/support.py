"""What the checks of the program `weir` share: running it, and servers for it to ask."""

import http.server
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import fcntl
import threading
import urllib.request


def expect(condition, what, text=""):
    if not condition:
        sys.exit(f"{what}\n{text}")


class Weir:
    """The program, with the environment that it runs in."""

    def __init__(self, program, url=None):
        self.program = program
        self.environment = {name: value for name, value in os.environ.items()
                            if not name.startswith(("WEIR_", "NO_COLOR"))}
        if url:
            self.environment["WEIR_URL"] = url

    def run(self, *words, **variables):
        """Exit code, standard output, standard error."""
        done = subprocess.run([self.program, *map(str, words)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                              env={**self.environment, **variables}, check=False, timeout=100)
        return done.returncode, done.stdout, done.stderr

    def text(self, *words, **variables):
        code, text, errors = self.run(*words, **variables)
        expect(code == 0 and not errors, f"{words}: exit code {code}", text + errors)
        return text

    def json(self, *words):
        return json.loads(self.text(*words, "--json"))

    def refused(self, expected, pattern, *words, **variables):
        """Ends with that code and says why, for people and, as JSON, for programs."""
        code, text, errors = self.run(*words, **variables)
        expect(code == expected and re.search(pattern, errors) and errors.startswith("weir: "),
               f"{words}: exit code {code}, not {expected} with '{pattern}'", text + errors)
        code, text, errors = self.run(*words, "--json", **variables)
        told = json.loads(errors)["error"]
        expect(code == expected == told["exit_code"] and re.search(pattern, told["detail"]),
               f"{words} --json: exit code {code}", text + errors)

    def run_into(self, stream, *words, keeps_sigpipe=True):
        """Exit code, standard error; standard output goes there."""
        done = subprocess.run([self.program, *map(str, words)], stdout=stream, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, text=True, env=self.environment, check=False,
                              timeout=100, restore_signals=keeps_sigpipe)
        return done.returncode, done.stderr

    def begin(self, *words, **variables):
        return subprocess.Popen([self.program, *map(str, words)], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
                                env={**self.environment, **variables})


class Served:
    """`weir serve` on a directory: `with Served(program, directory) as weir:`"""

    def __init__(self, program, directory, *options):
        self.weir = Weir(program)
        self.child = self.weir.begin("serve", "--directory", directory, "--port", 0, *options)
        self.url = self.child.stdout.readline().strip()
        expect(self.url.startswith("http"), "no address", self.url)
        self.weir.environment["WEIR_URL"] = self.url

    def __enter__(self):
        return self.weir

    def __exit__(self, failed, *_):
        code = self.end(signal.SIGINT)
        if failed is None:
            expect(code == 0 and not self.errors, f"exit code {code}", self.rest + self.errors)

    def end(self, number):
        if self.child.returncode is None:
            self.child.send_signal(number)
            self.rest, self.errors = self.child.communicate()
        return self.child.returncode


class Terminal:
    """The program in a terminal of its own."""

    def __init__(self, weir, *words, columns=100, lines=30, **variables):
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.modes = termios.tcgetattr(theirs)
        self.child = subprocess.Popen([weir.program, *map(str, words)], stdin=theirs, stdout=theirs,
                                      stderr=theirs, env={**weir.environment, "TERM": "xterm", **variables},
                                      start_new_session=True)
        self.theirs = theirs  # open, so that its modes can be read in the end
        self.text = ""

    def wait_for(self, pattern):
        """Reads until it is there, from what has not been waited for yet."""
        seen = ""
        while not re.search(pattern, seen):
            ready, _, _ = select.select([self.ours], [], [], 60)
            expect(ready, f"no '{pattern}'", self.text)
            piece = os.read(self.ours, 65536).decode(errors="replace")
            seen += piece
            self.text += piece
        return seen

    def press(self, keys):
        os.write(self.ours, keys.encode())

    def end(self):
        """Exit code; then `text` is all that was written."""
        while self.child.poll() is None:
            self.read_some(0.05)
        while self.read_some(0):
            pass
        self.is_restored = termios.tcgetattr(self.theirs) == self.modes
        os.close(self.ours)
        os.close(self.theirs)
        return self.child.returncode

    def read_some(self, time):
        ready, _, _ = select.select([self.ours], [], [], time)
        if ready:
            self.text += os.read(self.ours, 65536).decode(errors="replace")
        return bool(ready)


class Fake:
    """A server that gives one answer to everything: `with Fake(404, body) as url:`"""

    def __init__(self, status, body, kind="application/json"):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *_):
                pass

        self.server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        return f"http://127.0.0.1:{self.server.server_port}"

    def __exit__(self, *_):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


class Late:
    """A server of three views that does not answer what `holds` names, a method and the beginning of
    a path, before it was asked for `releases` or `release` was called: `with Late(...) as late:`"""

    def __init__(self, holds, releases=None, delete_status=200):
        self.asked = []
        self.is_released = threading.Event()
        late = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                late.asked.append((self.command, self.path))
                if self.command == releases:
                    late.is_released.set()
                if self.command == holds[0] and self.path.startswith(holds[1]):
                    late.is_released.wait()
                views = [{"name": name, "status": {"phase": "live"}} for name in ("a", "b", "c")]
                status, told = 200, {"views": views}
                if self.command == "DELETE" and delete_status != 200:
                    status, told = delete_status, {"status": delete_status, "code": "not_found", "detail": "none"}
                body = json.dumps(told).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_PUT = do_DELETE = answer  # noqa: N815

            def handle(self):
                try:
                    super().handle()
                except ConnectionError:
                    pass  # whoever asked has left

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever)

    def __enter__(self):
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        return self

    def __exit__(self, *_):
        self.is_released.set()
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def post(url, path, body):
    request = urllib.request.Request(f"{url}/api/v1/{path}", json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def write(url, *operations):
    """Commits them, and gives the version."""
    return post(url, "transactions", {"operations": operations})["version"]


def order(number, product="cup", state="new"):
    """An order of the shop, to be written."""
    return {"op": "insert", "table": "orders",
            "row": {"id": number, "at": "2026-11-17T12:00:00Z", "product": product, "units": 1,
                    "cents": 480, "state": state}}
