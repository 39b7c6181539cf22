#!/usr/bin/env python3
"""Checks the rules of this code base that no compiler checks.

Usage: tidy.py [--fix-quotes] [ROOT]

Each finding is one line, `file:line: rule: what is wrong`. A line that has a good reason to break a
rule says so: `tidy: allow <rule>: <reason>` in a comment on it.
"""

import argparse
import functools
import os
import re
import subprocess
import sys
from collections import namedtuple
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from tidy_cpp import functions  # noqa: E402
from tidy_metrics import metric_problems  # noqa: E402
from tidy_quotes import fix_quotes, quote_problems  # noqa: E402

FILE_LINES_MAX = 600
LINE_COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70
README_LINES_MAX = 40
SAMPLE_LINES_MAX = 149
# Each file of these is so short, but not all of them: the shop shows how parts go together, and the
# operator of the other is a unit of its own, which a test includes.
SAMPLES_OF_PARTS = ("samples/shop", "samples/custom_operator")

# Each layer includes only those before it; layers in one tuple do not include each other.
LAYERS = [
    ("telemetry",),
    ("runtime",),
    ("storage",),
    ("flow/data",),
    ("flow/operator",),
    ("flow/view", "flow/pipeline", "flow/workflow"),
    ("flow/compose",),
    ("flow/sql",),
    ("server",),
    ("cli",),
]
RANKS = {module: rank for rank, modules in enumerate(LAYERS) for module in modules}

# The one folder that may include each third-party library; of one, two.
CORNERS = {
    "rocksdb/": ("storage/rocksdb/",),
    "libpq-fe.h": ("storage/postgres/",),
    "libpq/": ("storage/postgres/",),
    "opentelemetry/": ("telemetry/otel/",),
    "curl/": ("telemetry/otel/", "cli/"),
    "pg_query.h": ("flow/sql/",),
    "librdkafka/": ("flow/pipeline/",),
    "nats/": ("flow/pipeline/",),
    "boost/beast": ("server/",),
    "CLI/": ("cli/",),
}

# The public header through which the runtime offers Asio; no other may reach it.
ASIO_HEADER = "runtime/asio.hpp"

# Folders under tests/ whose sources are not tests themselves.
TEST_SUPPORT = {"package", "compile_fail", "fuzz", "support"}

# Spelled in pieces, so that this file does not break its own rules.
LEFTOVERS = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE_PATHS = re.compile(r"(?<![\w.])/(?:ho" r"me|ro" r"ot|Us" r"ers)/")
# A coroutine's `co_await weir::sleep_for` waits on the system's clock, which tests can turn; so does
# the `co_await ctx.sleep` of a durable one.
SLEEPS = re.compile(
    r"\bthis_thread::sleep_(?:for|until)\b|\b(?:usleep|nanosleep)\b|(?<!co_await ctx\.)\bsleep\(")
WALL_CLOCKS = re.compile(r"\b(system_clock|steady_clock|high_resolution_clock)::now\b")
INCLUDE = re.compile(r'^\s*#\s*include\s+(<([^>]*)>|"[^"]*")')
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
TEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
NAMED_TEST = re.compile(r"`([A-Z]\w*)\.(\w+|…)`")
ALLOW = re.compile(r"tidy: allow (\w+): \S")

Finding = namedtuple("Finding", "path line rule message")


class Tree:
    """The files of a repository by relative path, with what rules ask about them."""

    def __init__(self, files, pictures=()):
        self.files = files
        self.pictures = set(pictures)  # and whatever else is no text: only links know of them

    def matching(self, *suffixes):
        for path in sorted(self.files):
            if path.endswith(suffixes):
                yield path, self.files[path]

    def cpp(self):
        return self.matching(".hpp", ".cpp")

    def includes(self, path):
        """Yields line number and target of each include: `weir/runtime/task.hpp`, or `"x.hpp"`."""
        for number, line in enumerate(self.files[path].splitlines(), 1):
            if match := INCLUDE.match(line):
                yield number, match[2] or match[1]

    @functools.cached_property
    def modules(self):
        return [os.path.dirname(path) for path, text in self.matching("CMakeLists.txt")
                if re.search(r"^weir_(module|program)\(", text, re.MULTILINE)]


def mirrored(path):
    """Tests and benchmarks of a folder are of that folder."""
    return path.removeprefix("tests/").removeprefix("bench/")


def module_of(path):
    """The layer that a file belongs to, or None: samples, benchmarks and tests may use any."""
    for module in RANKS:
        if path.startswith(module + "/"):
            return module
    return None


def check_file_length(tree):
    for path, text in tree.matching(".hpp", ".cpp", ".py", ".sh", ".cmake", "CMakeLists.txt"):
        lines = text.count("\n")
        if lines > FILE_LINES_MAX:
            yield Finding(path, lines, "file_length", f"{lines} lines, {FILE_LINES_MAX} at most")


def check_line_length(tree):
    for path, text in tree.cpp():
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > LINE_COLUMNS_MAX and "://" not in line:
                yield Finding(path, number, "line_length",
                              f"{len(line)} columns, {LINE_COLUMNS_MAX} at most")


def check_function_length(tree):
    for path, text in tree.cpp():
        for name, first, last in functions(text):
            lines = last - first + 1
            if lines > FUNCTION_LINES_MAX:
                yield Finding(path, first, "function_length",
                              f"'{name}' has {lines} lines, {FUNCTION_LINES_MAX} at most")


def check_layers(tree):
    for path, _ in tree.cpp():
        module = module_of(path)
        for number, target in tree.includes(path):
            if not module or not target.startswith("weir/"):
                continue
            other = module_of(target.removeprefix("weir/"))
            if other is None:
                yield Finding(path, number, "layers", f"{module} includes {target}, not a layer")
            elif other != module and RANKS[other] >= RANKS[module]:
                yield Finding(path, number, "layers",
                              f"{module} includes {target}, but {other} is not below it")


def check_internal(tree):
    for path, _ in tree.cpp():
        home = mirrored(os.path.dirname(path))
        for number, target in tree.includes(path):
            if match := re.match(r"weir/(.+)/internal/", target):
                if not (home + "/").startswith(match[1] + "/"):
                    yield Finding(path, number, "internal", f"{target} is private to {match[1]}")


def check_corners(tree):
    for path, _ in tree.cpp():
        folder = mirrored(path)
        for number, target in tree.includes(path):
            for library, corners in CORNERS.items():
                if target.startswith(library) and not folder.startswith(corners):
                    yield Finding(path, number, "corners",
                                  f"only {' and '.join(corners)} includes {target}")


def check_asio(tree):
    """A public runtime header that reaches Asio makes every user of actors compile it."""
    for path, _ in tree.matching(".hpp"):
        if os.path.dirname(path) != "runtime" or path == ASIO_HEADER:
            continue
        for number, target in tree.includes(path):
            if chain := chain_to_asio(tree, target, seen=set()):
                yield Finding(path, number, "asio", "reaches " + " via ".join(reversed(chain)))


def chain_to_asio(tree, target, seen):
    if target.startswith("boost/asio"):
        return [target]
    path = target.removeprefix("weir/")
    if path == ASIO_HEADER:
        return [target]
    if path in seen or path not in tree.files:
        return None
    seen.add(path)
    for _, following in tree.includes(path):
        if chain := chain_to_asio(tree, following, seen):
            return [target, *chain]
    return None


def check_include_style(tree):
    for path, _ in tree.cpp():
        if "/peers/" in path:
            continue  # programs of their own, outside of Weir
        for number, target in tree.includes(path):
            if target.startswith('"'):
                yield Finding(path, number, "include_style",
                              f"{target}: write <weir/ and the path from the root>")


def check_pragma_once(tree):
    for path, text in tree.matching(".hpp"):
        code = [line for line in text.splitlines() if line.strip() and not line.startswith("//")]
        if not code or code[0] != "#pragma once":
            yield Finding(path, 1, "pragma_once", "a header starts with `#pragma once`")


def check_listed(tree):
    """A file that its CMakeLists.txt does not name is not compiled, tested or installed."""
    for module in tree.modules:
        listing = tree.files[f"{module}/CMakeLists.txt"]
        inner = tuple(f"{other}/" for other in tree.modules if other.startswith(module + "/"))
        for path, _ in tree.cpp():
            name = path.removeprefix(module + "/")
            if name != path and not path.startswith(inner) and not names(listing, name):
                yield Finding(path, 1, "listed", f"{module}/CMakeLists.txt does not name it")
    for path, _ in tree.matching("_test.cpp"):
        listing = tree.files.get(os.path.dirname(path) + "/CMakeLists.txt", "")
        if not names(listing, os.path.basename(path).removesuffix("_test.cpp")):
            yield Finding(path, 1, "listed", "the CMakeLists.txt beside it does not name it")


def names(listing, word):
    return re.search(rf"(?<![\w/.]){re.escape(word)}(?![\w/.])", listing)


def check_readmes(tree):
    for module in tree.modules:
        text = tree.files.get(f"{module}/README.md")
        if text is None:
            yield Finding(f"{module}/CMakeLists.txt", 1, "readme", "the module has no README.md")
        elif (lines := text.count("\n")) > README_LINES_MAX:
            yield Finding(f"{module}/README.md", lines, "readme",
                          f"{lines} lines, {README_LINES_MAX} at most")


def check_samples(tree):
    """Who opens the folder of a sample finds out what it is, and what to try."""
    for folder in sorted({os.path.dirname(path) for path, _ in tree.cpp()}):
        if folder.startswith("samples/") and f"{folder}/README.md" not in tree.files:
            yield Finding(f"{folder}/main.cpp", 1, "samples", "the sample has no README.md")
    for path, lines in sample_lines(tree):
        if lines > SAMPLE_LINES_MAX:
            yield Finding(path, lines, "samples",
                          f"{lines} lines, {SAMPLE_LINES_MAX} at most: people read it at once")


def sample_lines(tree):
    """Each program, a file with a `main`, with the lines of all that belongs to it."""
    folders = {}
    for path, text in tree.cpp():
        if path.startswith("samples/"):
            folders.setdefault(os.path.dirname(path), {})[path] = text
    for folder, files in folders.items():
        lines = {path: text.count("\n") for path, text in files.items()}
        programs = {path for path, text in files.items() if re.search(r"^int main\(", text, re.M)}
        if folder in SAMPLES_OF_PARTS or not programs:
            yield from lines.items()
            continue
        shared = sum(count for path, count in lines.items() if path not in programs)
        yield from ((path, lines[path] + shared) for path in sorted(programs))


def check_leftovers(tree):
    for path, text in tree.files.items():
        for number, line in enumerate(text.splitlines(), 1):
            if match := LEFTOVERS.search(line):
                yield Finding(path, number, "leftovers", f"{match[0]}: do it, or open an issue")


def check_machine_paths(tree):
    for path, text in tree.files.items():
        for number, line in enumerate(text.splitlines(), 1):
            if match := MACHINE_PATHS.search(line):
                yield Finding(path, number, "machine_paths", f"'{match[0]}' is one machine's path")


def check_time_in_tests(tree):
    for path, text in tree.cpp():
        if not path.startswith("tests/"):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if match := SLEEPS.search(line) or WALL_CLOCKS.search(line):
                yield Finding(path, number, "time_in_tests",
                              f"{match[0]}: use the manual clock or the simulation")


def check_test_names(tree):
    for path, _ in tree.matching(".cpp"):
        if path.startswith("tests/") and not TEST_SUPPORT & set(path.split("/")):
            if not path.endswith("_test.cpp"):
                yield Finding(path, 1, "test_names", "a test is named <unit>_test.cpp")


def check_detached(tree):
    for path, text in tree.cpp():
        for number, line in enumerate(text.splitlines(), 1):
            if re.search(r"\basio::detached\b", line) and not path.startswith("bench/"):
                yield Finding(path, number, "detached", "asio::detached swallows exceptions; "
                              "every task has an owner that joins it")


def check_quotes(tree):
    for path, text in tree.matching(".md"):
        for number, message in quote_problems(text, tree.files.get,
                                              strict=not path.startswith("docs/decisions/")):
            yield Finding(path, number, "quotes", message)


def check_links(tree):
    there = tree.pictures | set(tree.files)
    folders = {os.path.dirname(path) for path in there}
    folders |= {parent for folder in folders for parent in map(str, Path(folder).parents)}
    for path, text in tree.matching(".md"):
        for number, line in enumerate(text.splitlines(), 1):
            for target in LINK.findall(line):
                file = os.path.normpath(os.path.join(os.path.dirname(path), target))
                if "://" not in target and file not in there and file not in folders:
                    yield Finding(path, number, "links", f"{target} does not exist")


def check_named_tests(tree):
    there = set()
    for path, text in tree.matching(".cpp", ".hpp"):
        if path.startswith("tests/"):
            there.update(TEST.findall(text))
    suites = {suite for suite, _ in there}
    for path, text in tree.matching(".md"):
        if not path.startswith("docs/parity/"):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for suite, test in NAMED_TEST.findall(line):
                if (suite, test) not in there and not (test == "…" and suite in suites):
                    yield Finding(path, number, "named_tests", f"there is no test {suite}.{test}")


def check_metrics(tree):
    sources = [(path, text) for path, text in tree.cpp()
               if not path.startswith(("tests/", "bench/", "samples/"))]
    documents = [(path, text) for path, text in tree.matching(".md")
                 if path.startswith("docs/operations/")]
    for path, line, problem in metric_problems(documents, sources):
        yield Finding(path, line, "metrics", problem)


CHECKS = [
    check_file_length, check_line_length, check_function_length, check_layers, check_internal,
    check_corners, check_asio, check_include_style, check_pragma_once, check_listed, check_readmes,
    check_samples, check_leftovers, check_machine_paths, check_time_in_tests, check_test_names,
    check_detached,
    check_quotes, check_links, check_named_tests, check_metrics,
]


def allowed(tree, finding):
    lines = tree.files.get(finding.path, "").splitlines()
    line = lines[finding.line - 1] if finding.line <= len(lines) else ""
    return finding.rule in ALLOW.findall(line)


def findings(tree):
    for check in CHECKS:
        for finding in check(tree):
            if not allowed(tree, finding):
                yield finding


def list_files(root):
    """What git would commit, or, outside of a clone, every file that was not built."""
    listing = subprocess.run(
        ["git", "-c", "safe.directory=*", "-C", root, "ls-files", "-z", "--cached", "--others",
         "--exclude-standard"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    if listing.returncode == 0:
        return listing.stdout.decode().rstrip("\0").split("\0")
    paths = [os.path.relpath(path, root) for path in Path(root).rglob("*") if path.is_file()]
    return [path for path in paths if not {"build", ".git", "__pycache__"} & set(path.split("/"))]


def read_tree(root):
    files, pictures = {}, []
    for path in list_files(root):
        try:
            files[path] = Path(root, path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            pictures.append(path)
        except (FileNotFoundError, IsADirectoryError):
            continue  # listed by git and deleted since
    return Tree(files, pictures)


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fix-quotes", action="store_true",
                        help="rewrite quoted code in documents from its source")
    parser.add_argument("root", nargs="?", default=str(Path(__file__).resolve().parent.parent))
    options = parser.parse_args(arguments)
    tree = read_tree(options.root)
    if options.fix_quotes:
        for path, text in list(tree.matching(".md")):
            tree.files[path] = fix_quotes(text, tree.files.get)
            if tree.files[path] != text:
                Path(options.root, path).write_text(tree.files[path], encoding="utf-8")
                print(f"{path}: quotes rewritten")
    found = sorted(findings(tree))
    for finding in found:
        print(f"{finding.path}:{finding.line}: {finding.rule}: {finding.message}")
    print(f"tidy: {len(tree.files)} files, {len(found)} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
