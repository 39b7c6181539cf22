#!/usr/bin/env python3
"""Runs the fuzzer for a while: run_fuzz.py [--seconds N] PROGRAM DIRECTORY.

`seeds` in the directory is where it begins, `corpus` what it has learned, also from earlier runs, and
`found` has the inputs that it has stumbled over. Fails if there is one.
"""

import argparse
import subprocess
import sys
from pathlib import Path

WORDS = ["GET ", "POST ", "HTTP/1.1", "\\r\\n", "\\r\\n\\r\\n", "Host: localhost", "Content-Length: ",
         "Transfer-Encoding: chunked", "Connection: close", "Expect: 100-continue", "Upgrade: websocket",
         "/api/v1/", "tables", "views", "orders", "large", "rows", "changes", "subscribe", "limit=",
         "after=", "at=", "wait=", "snapshot=false", "resume=w1.", "credit=", "\\\"operations\\\":[",
         "\\\"op\\\":", "\\\"insert\\\"", "\\\"upsert\\\"", "\\\"delete\\\"", "\\\"table\\\":", "\\\"row\\\":{",
         "\\\"key\\\":{", "\\\"id\\\":", "\\\"item\\\":", "\\\"cents\\\":", "\\\"type\\\":\\\"credit\\\"",
         "\\\"messages\\\":", "executions", "workflows", "claims", "complete", "lanes",
         "\\\"kind\\\":", "\\\"payload\\\":", "\\\"handle\\\":", "\\\"worker\\\":", "\\\"edges\\\":[",
         "null", "true", "1e999", "9007199254740993", "\\\\u0000", "%00", "%2C"]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("program")
    parser.add_argument("directory", type=Path)
    arguments = parser.parse_args()
    for name in ("corpus", "found"):
        (arguments.directory / name).mkdir(parents=True, exist_ok=True)
    dictionary = arguments.directory / "words"
    dictionary.write_text("".join(f'"{word}"\n'.replace("\\r", "\\x0d").replace("\\n", "\\x0a")
                                  for word in WORDS))
    # Leaks are told at the end: actors of earlier inputs may still be on their way.
    done = subprocess.run(
        [arguments.program, f"-max_total_time={arguments.seconds}", "-detect_leaks=0", "-timeout=30",
         "-max_len=4096", "-rss_limit_mb=4096", "-print_final_stats=1", "-verbosity=1",
         f"-dict={dictionary}", f"-artifact_prefix={arguments.directory / 'found'}/",
         str(arguments.directory / "corpus"), str(arguments.directory / "seeds")],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    lines = done.stdout.decode(errors="replace").splitlines()
    print("\n".join(lines[-6:] if done.returncode == 0 else lines[-200:]))
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
