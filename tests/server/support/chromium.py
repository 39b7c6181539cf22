"""A browser without a screen, told what to do over its DevTools protocol.

Messages are JSON with a zero byte behind each, on the file descriptors 3 and 4 of Chromium: no
socket, and nothing but the standard library. Nothing here sleeps: a test waits for a condition in
the page, or for an event, and fails when `PATIENCE` is over.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 60

# Evaluated in the page until it is true, at every frame.
WAIT = """new Promise((done, fail) => {
  const end = performance.now() + %d;
  const look = () => {
    let value;
    try { value = (() => (%s))(); } catch (failure) { value = null; }
    if (value) done(value);
    else if (performance.now() > end) fail(new Error('not in time'));
    else requestAnimationFrame(look);
  };
  look();
})"""


class Failure(Exception):
    pass


def program():
    """Where Chromium is, or None."""
    return shutil.which("chromium")


def as_third_and_fourth(read, write):
    """In the child: what it reads commands from becomes 3, what it answers to becomes 4."""
    low = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 10) for descriptor in (read, write)]
    for descriptor, number in zip(low, (3, 4)):
        os.dup2(descriptor, number, inheritable=True)


class Browser:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="weir-browser-")
        read, self.write = os.pipe()
        self.read, write = os.pipe()
        options = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu",
                   "--disable-dev-shm-usage", "--disable-extensions", "--mute-audio",
                   "--disable-background-networking", "--disable-component-update",
                   "--disable-sync", "--hide-scrollbars", "--force-color-profile=srgb",
                   f"--user-data-dir={self.folder.name}"]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        with open(os.path.join(self.folder.name, "log"), "wb") as log:
            self.child = subprocess.Popen(
                [program(), *options], pass_fds=(3, 4), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, start_new_session=True,
                preexec_fn=lambda: as_third_and_fourth(read, write))
        os.close(read)
        os.close(write)
        self.received = b""
        self.last = 0
        self.events = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.command("Browser.close")
        except (Failure, OSError):
            self.child.kill()
        self.child.wait()
        os.close(self.read)
        os.close(self.write)
        # Its helpers write for a moment after it has ended.
        for _ in range(50):
            try:
                self.folder.cleanup()
                return
            except OSError:
                continue

    def receive(self, deadline):
        """The next message."""
        while b"\0" not in self.received:
            ready, _, _ = select.select([self.read], [], [], max(deadline - time.monotonic(), 0))
            piece = os.read(self.read, 1 << 16) if ready else b""
            if not piece:
                raise Failure("the browser does not answer" if not ready else "the browser has ended")
            self.received += piece
        message, _, self.received = self.received.partition(b"\0")
        return json.loads(message)

    def command(self, method, session=None, **parameters):
        self.last += 1
        message = {"id": self.last, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(deadline)
            if answer.get("id") == self.last:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url, **options):
        return Page(self, url, **options)


class Page:
    """One tab."""

    def __init__(self, browser, url, width=1440, height=900, theme="light"):
        self.browser = browser
        target = browser.command("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.command("Target.attachToTarget", targetId=target,
                                       flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.command(f"{domain}.enable")
        self.resize(width, height)
        self.set_theme(theme)
        self.go(url)

    def command(self, method, **parameters):
        return self.browser.command(method, self.session, **parameters)

    def go(self, url):
        self.command("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete'")

    def resize(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=1, mobile=False)

    def set_theme(self, theme):
        self.command("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": theme},
            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def evaluate(self, expression, awaits=False):
        answer = self.command("Runtime.evaluate", expression=expression, returnByValue=True,
                              awaitPromise=awaits)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            text = details.get("exception", {}).get("description", details["text"])
            raise Failure(f"{expression[:200]}\n{text}")
        return answer["result"].get("value")

    def wait_for(self, condition):
        """What a condition in the page gives as soon as that is true."""
        try:
            return self.evaluate(WAIT % (PATIENCE * 900, condition), awaits=True)
        except Failure as failure:
            shown = self.evaluate("document.body ? document.body.innerText : ''")
            raise Failure(f"{condition}\n{failure}\nThe page shows:\n{shown}") from None

    def press(self, key, code=0, text=None, shift=False):
        for kind in ("rawKeyDown", "char", "keyUp"):
            if kind == "char" and text is None:
                continue
            self.command("Input.dispatchKeyEvent", type=kind, key=key, windowsVirtualKeyCode=code,
                         modifiers=8 if shift else 0, **({"text": text} if kind == "char" else {}))

    def type(self, text):
        self.command("Input.insertText", text=text)

    def complaints(self):
        """What the page, or the browser about it, has complained of so far."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            values = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                details = values["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Runtime.consoleAPICalled" and values["type"] in ("error", "warning"):
                found.append(str(values["args"]))
            elif event["method"] == "Log.entryAdded" and values["entry"]["level"] in ("error", "warning"):
                found.append(f"{values['entry']['text']} {values['entry'].get('url', '')}")
        return found

    def requests(self):
        """Where the page has asked for something."""
        return [event["params"]["request"]["url"] for event in self.browser.events
                if event.get("sessionId") == self.session
                and event["method"] == "Network.requestWillBeSent"]

    def screenshot(self, file, whole=False):
        picture = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=whole,
                               **({"clip": self.whole()} if whole else {}))
        with open(file, "wb") as out:
            out.write(base64.b64decode(picture["data"]))

    def whole(self):
        size = self.command("Page.getLayoutMetrics")["cssContentSize"]
        return {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
