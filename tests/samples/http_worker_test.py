"""Runs the worker over HTTP as its users do.

Usage: http_worker_test.py PROGRAM CHECK

Each CHECK is a function below. `child` is what they start besides.
"""

import os
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../samples/http_worker"))
import worker  # noqa: E402


def expect(condition, what):
    if not condition:
        sys.exit(what)


class Served:
    """The sample's gateway, on a port that is free, until the end of the block."""

    def __init__(self, program):
        self.child = subprocess.Popen([program, "0"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True)
        self.url = self.child.stdout.readline().strip()
        self.workflow = self.child.stdout.readline().split()[1]
        self.gateway = worker.Gateway(self.url)

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.child.stdin.close()
        self.child.wait(60)
        self.child.stdout.close()
        if failure[0] is None:
            expect(self.child.returncode == 0, f"the gateway ended with {self.child.returncode}")

    def create(self, **body):
        return self.gateway.post("/api/v1/executions", body)["id"]

    def execution(self, id):
        return self.gateway.get("/api/v1/executions/" + id.replace("{fp:", "").replace("}", ""))


def finishes_the_workflow(program):
    with Served(program) as served:
        script = os.path.join(os.path.dirname(worker.__file__), "worker.py")
        child = subprocess.Popen([sys.executable, script, served.url], stdout=subprocess.PIPE,
                                 text=True)
        lines = sorted(child.stdout.readline().strip() for _ in range(3))
        expect(lines == ["10 words", "counting 'that is the question'",
                         "counting 'to be or not to be'"], f"it printed {lines}")
        next = 1
        while served.gateway.get("/api/v1/workflows/" + served.workflow)["outcome"] is None:
            next = served.gateway.get(f"/api/v1/notices?wait=10000&from={next}")["next"]
        child.kill()
        child.communicate()
        seen = served.gateway.get("/api/v1/workflows/" + served.workflow)
        expect(seen["outcome"] == "completed", f"it came to {seen}")


def another_finishes_what_a_killed_worker_began(program):
    with Served(program) as served:
        id = served.create(kind="once", lane="risky", payload="a")
        child = subprocess.Popen([sys.executable, __file__, served.url, "child"],
                                 stdout=subprocess.PIPE, text=True)
        expect(child.stdout.readline() == "began a\n", "the first worker did not begin")
        child.kill()
        child.communicate()
        handlers = {"once": lambda claim: f"attempt {claim['attempt']}"}
        worker.Worker(served.gateway, "second", handlers, lane="risky").run(1)
        seen = served.execution(id)
        expect(seen["state"] == "completed" and seen["attempts"] == 2, f"it is {seen}")


def child(url):
    """Begins, and is killed before it can end."""

    def hang(claim):
        print("began", claim["payload"], flush=True)
        threading.Event().wait()

    worker.Worker(worker.Gateway(url), "first", {"once": hang}, lane="risky", lease=0.5).run()


def failures_are_tried_again_or_not(program):
    with Served(program) as served:
        failures = iter([ValueError("no luck"), None, worker.Final("never")])

        def try_it(claim):
            failure = next(failures)
            if failure:
                raise failure
            return "done"

        retry = {"retries_max": 1, "backoff_seconds": 0, "backoff_max_seconds": 0}
        first = served.create(kind="try", lane="x", retry=retry)
        one = worker.Worker(served.gateway, "w", {"try": try_it}, lane="x")
        one.run(2)
        expect(served.execution(first)["attempts"] == 2, "it was not tried again")
        last = served.create(kind="try", lane="x", retry=retry)
        one.run(1)
        seen = served.execution(last)
        expect(seen["state"] == "failed" and seen["reason"] == "never", f"it is {seen}")


if __name__ == "__main__":
    globals()[sys.argv[2]](sys.argv[1])
