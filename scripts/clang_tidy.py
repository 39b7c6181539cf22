#!/usr/bin/env python3
"""Runs clang-tidy on the C++ files of a change.

Usage: clang_tidy.py [--all] BUILD_DIR

A change is what differs from where this branch left main (on main itself: from the commit before),
committed or not. BUILD_DIR must be configured; a header is checked through the source file that
verifies that it compiles alone.
"""

import argparse
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
UNITY_MEMBER = re.compile(r'^#include "(.+\.cpp)"$', re.MULTILINE)
VERIFIED_HEADER = re.compile(r"_verify_interface_header_sets/weir/(.+\.hpp)\.cxx$")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def git(*arguments):
    """The lines git prints, or None if it fails."""
    run = subprocess.run(["git", "-C", str(ROOT), *arguments], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, text=True, check=False)
    return run.stdout.splitlines() if run.returncode == 0 else None


def base_of_change():
    head = git("rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        base = git("merge-base", "HEAD", main)
        if base and base != head:
            return base[0]
    return (git("rev-parse", "--verify", "HEAD~1") or [EMPTY_TREE])[0]


def changed_files():
    changed = git("diff", "--name-only", "--diff-filter=d", base_of_change()) or []
    return {*changed, *(git("ls-files", "--others", "--exclude-standard") or [])}


def checkable_files(build_dir):
    """Maps each file of the repository that clang-tidy can check to the file to be compiled."""
    entries = json.loads((build_dir / "compile_commands.json").read_text(encoding="utf-8"))
    files = {}
    for entry in entries:
        if header := VERIFIED_HEADER.search(entry["file"]):
            files[header[1]] = entry["file"]
        elif "/Unity/" in entry["file"]:
            # Compiled together, checked one by one: clang-tidy takes the flags of a neighbour.
            for member in UNITY_MEMBER.findall(Path(entry["file"]).read_text(encoding="utf-8")):
                files[os.path.relpath(member, ROOT)] = member
        elif build_dir not in Path(entry["file"]).parents:
            files[os.path.relpath(entry["file"], ROOT)] = entry["file"]
    return files


def problems_in(source, build_dir):
    run = subprocess.run(["clang-tidy-19", "-p", str(build_dir), "--quiet", source],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return "" if run.returncode == 0 else run.stdout or run.stderr


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="every file, not only changed ones")
    parser.add_argument("build_dir", type=lambda path: Path(path).resolve())
    options = parser.parse_args(arguments)

    files = checkable_files(options.build_dir)
    chosen = sorted(files if options.all else changed_files() & files.keys())
    failed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda path: problems_in(files[path], options.build_dir), chosen)
        for number, (path, problems) in enumerate(zip(chosen, results), 1):
            print(f"[{number}/{len(chosen)}] {path}", flush=True)
            if problems:
                failed += 1
                print(problems, flush=True)
    print(f"clang-tidy: {len(chosen)} files, {failed} with problems")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
