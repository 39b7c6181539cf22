"""A worker over HTTP, in Python and with its standard library alone.

Usage: worker.py URL [NAME]

It claims executions, keeps their leases while it works, and says what came of it. Kill it at any
moment: another worker goes on when the lease is over. WEIR_TOKEN is sent if it is set.
"""

import json
import os
import sys
import threading
import urllib.error
import urllib.request


class Refused(Exception):
    """What the gateway answered instead: a problem with a code that never changes its meaning."""

    def __init__(self, status, problem):
        super().__init__(f"{status} {problem.get('code')}: {problem.get('detail')}")
        self.status = status
        self.code = problem.get("code")


class Final(Exception):
    """It would fail again: it is not tried again."""


class Gateway:
    def __init__(self, url, token=None):
        self.url = url.rstrip("/")
        self.headers = {"Content-Type": "application/json"}
        if token:
            self.headers["Authorization"] = "Bearer " + token

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, self.headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            with error:
                raise Refused(error.code, json.loads(error.read() or "{}")) from None
        return json.loads(text) if text else None

    def get(self, path):
        return self.call("GET", path)

    def post(self, path, body=None):
        return self.call("POST", path, body)


class Worker:
    """Runs a function for each kind: it takes a claim and gives a text, or raises."""

    def __init__(self, gateway, name, handlers, lane="default", lease=10.0):
        self.gateway = gateway
        self.name = name
        self.handlers = handlers
        self.lane = lane
        self.lease = lease

    def claim(self, wait=30):
        body = {"worker": self.name, "lane": self.lane, "lease_seconds": self.lease,
                "wait_seconds": wait}
        return self.gateway.post("/api/v1/claims", body)["claims"]

    def run(self, executions_max=None):
        """Until so many have been dealt with; for ever without a number."""
        done = 0
        while executions_max is None or done < executions_max:
            for claim in self.claim():
                self.treat(claim)
                done += 1

    def treat(self, claim):
        stop = threading.Event()
        beat = threading.Thread(target=self.keep_lease, args=(claim["handle"], stop), daemon=True)
        beat.start()
        try:
            result = self.handlers[claim["kind"]](claim)
            say, body = "complete", {"result": result}
        except Exception as failure:
            is_final = isinstance(failure, (Final, KeyError))
            say, body = "fail", {"reason": str(failure) or repr(failure), "final": is_final}
        stop.set()
        beat.join()
        try:
            self.gateway.post("/api/v1/claims/" + say, {"handle": claim["handle"], **body})
        except Refused as refused:
            if refused.status != 409:
                raise
            print(f"{claim['execution']}: others have it: {refused.code}", flush=True)

    def keep_lease(self, handle, stop):
        while not stop.wait(self.lease / 3):
            try:
                self.gateway.post("/api/v1/claims/renew",
                                  {"handle": handle, "lease_seconds": self.lease})
            except (Refused, OSError):
                return


def count(claim):
    print(f"counting '{claim['payload']}'", flush=True)
    return str(len(claim["payload"].split()))


def add(claim):
    total = sum(int(each["payload"]) for each in claim["inputs"])
    print(f"{total} words", flush=True)
    return str(total)


def main():
    gateway = Gateway(sys.argv[1], os.environ.get("WEIR_TOKEN"))
    name = sys.argv[2] if len(sys.argv) > 2 else f"python-{os.getpid()}"
    Worker(gateway, name, {"count": count, "add": add}).run()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        pass
