"""How long the sample that `./dev run` runs takes until it says something, and until it answers."""

import re
import signal
import subprocess
import tempfile
import time
import urllib.request

from harness.build import cmake, require_configured
from harness.errors import CannotMeasure
from harness.runner import say

SECONDS_MAX = 60


def build_shop(build_dir):
    require_configured(build_dir)
    say("building weir_sample_shop")
    cmake(build_dir, "--build", str(build_dir), "--target", "weir_sample_shop")
    return build_dir / "samples" / "weir_sample_shop"


def seconds_to_first_answer(binary):
    """(until the first byte of output, until the first answer over HTTP), from its start."""
    with tempfile.TemporaryDirectory() as directory:
        begun = time.monotonic()
        process = subprocess.Popen([binary, "--directory", directory], stdout=subprocess.PIPE)
        try:
            output = process.stdout.read(1)
            first_byte = time.monotonic() - begun
            url = find_url(process, output)
            with urllib.request.urlopen(url + "/healthz", timeout=SECONDS_MAX) as answer:
                answer.read()
            return first_byte, time.monotonic() - begun
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=SECONDS_MAX)


def find_url(process, output):
    while True:
        found = re.search(rb"(http://[^\s]+)\s", output)
        if found:
            return found.group(1).decode()
        more = process.stdout.readline()
        if not more:
            raise CannotMeasure(f"samples/shop ended without an address: {output.decode()}")
        output += more
