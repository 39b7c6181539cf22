#!/usr/bin/env python3
"""Runs one suite of benchmarks and compares it with its targets; `--help` says how."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from harness.main import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
