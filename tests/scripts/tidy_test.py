#!/usr/bin/env python3
"""Every rule of scripts/tidy.py is seen to fire, and to stay silent on code that follows it."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import tidy  # noqa: E402
from tidy_cpp import functions  # noqa: E402
from tidy_quotes import fix_quotes, quote_problems  # noqa: E402

HEADER = "#pragma once\n"
MODULE = {
    "runtime/CMakeLists.txt": "weir_module(\n  runtime\n  HEADERS\n    task.hpp)\n",
    "runtime/README.md": "# runtime\n",
    "runtime/task.hpp": HEADER,
}


def rules_broken_by(files):
    return {finding.rule for finding in tidy.findings(tidy.Tree(files))}


def function_of(lines):
    return "void f() {\n" + "  g();\n" * (lines - 2) + "}\n"


# Rule: (files that break it, and only it; files that come close and do not).
EXAMPLES = {
    "file_length": (
        {"scripts/a.py": "x\n" * 601},
        {"scripts/a.py": "x\n" * 600}),
    "line_length": (
        {"samples/a.cpp": "x" * 101},
        {"samples/a.cpp": "x" * 100 + "\n// https://example.org/" + "x" * 100}),
    "function_length": (
        {"samples/a.cpp": function_of(71)},
        {"samples/a.cpp": function_of(70) * 2}),
    "samples": (
        {"samples/a/main.cpp": ""},
        {"samples/a/main.cpp": "x\n" * 149, "samples/a/README.md": "# a\n"}),
    "layers": (
        {"runtime/a.cpp": "#include <weir/storage/store.hpp>\n"},
        {"storage/a.cpp": "#include <weir/runtime/task.hpp>\n#include <weir/storage/b.hpp>\n"}),
    "internal": (
        {"storage/a.cpp": "#include <weir/runtime/internal/cell.hpp>\n"},
        {"runtime/a.cpp": "#include <weir/runtime/internal/cell.hpp>\n",
         "runtime/internal/b.cpp": "#include <weir/runtime/internal/cell.hpp>\n",
         "tests/runtime/c_test.cpp": "#include <weir/runtime/internal/cell.hpp>\n",
         "tests/runtime/CMakeLists.txt": "weir_test(runtime UNITS c)\n"}),
    "corners": (
        {"storage/a.cpp": "#include <rocksdb/db.h>\n"},
        {"storage/rocksdb/a.cpp": "#include <rocksdb/db.h>\n",
         "cli/a.cpp": "#include <curl/curl.h>\n",
         "telemetry/otel/a.cpp": "#include <curl/curl.h>\n"}),
    "asio": (
        {"runtime/task.hpp": HEADER + "#include <weir/runtime/internal/io.hpp>\n",
         "runtime/internal/io.hpp": HEADER + "#include <boost/asio/post.hpp>\n"},
        {"runtime/asio.hpp": HEADER + "#include <boost/asio/post.hpp>\n",
         "runtime/a.cpp": "#include <weir/runtime/asio.hpp>\n"}),
    "include_style": (
        {"runtime/a.cpp": '#include "task.hpp"\n'},
        {"runtime/a.cpp": "#include <weir/runtime/task.hpp>\n#include <vector>\n"}),
    "pragma_once": (
        {"runtime/task.hpp": "#ifndef TASK\n"},
        {"runtime/task.hpp": "// What it is for.\n\n" + HEADER}),
    "listed": (
        {**MODULE, "runtime/gate.hpp": HEADER},
        MODULE),
    "readme": (
        {**MODULE, "runtime/README.md": "x\n" * 41},
        {**MODULE, "runtime/README.md": "x\n" * 40}),
    "leftovers": (
        {"dev": "# TO" "DO: later\n"},
        {"dev": "# TODOS is a word of its own\n"}),
    "machine_paths": (
        {"docs/a.md": "cd /ho" "me/ada/weir\n"},
        {"docs/a.md": "cd weir/home/\n"}),
    "time_in_tests": (
        {"tests/package/a.cpp": "std::this_thread::sleep_for(1s);\n"},
        {"bench/a.cpp": "std::this_thread::sleep_for(1s);\n",
         "tests/package/a.cpp": "clock.advance(1s);\n"}),
    "test_names": (
        {"tests/runtime/mailbox.cpp": ""},
        {"tests/package/main.cpp": ""}),
    "detached": (
        {"runtime/a.cpp": "co_spawn(io, f(), asio::detached);\n"},
        {"bench/a.cpp": "co_spawn(io, f(), asio::detached);\n"}),
    "quotes": (
        {"docs/a.md": "<!-- quote: s.cpp#m -->\n```cpp\nold();\n```\n",
         "s.cpp": "// [m]\nnew();\n// [/m]\n"},
        {"docs/a.md": "<!-- quote: s.cpp#m -->\n```cpp\nnew();\n```\n\n```sh\n./dev test\n```\n",
         "s.cpp": "  // [m]\n  new();\n  // [/m]\n"}),
    "links": (
        {"docs/a.md": "[b](b.md)\n"},
        {"docs/a.md": "[b](../README.md#start) [c](https://example.org) [d](../docs)\n",
         "README.md": ""}),
    "named_tests": (
        {"docs/parity/a.md": "`Lease.Ends`, `Lease.EndsTwice`\n",
         "tests/package/lease.cpp": "TEST(Lease, Ends) {}\n"},
        {"docs/parity/a.md": "`Lease.Ends`, `LeaseTest.…`, `Lease::end`\n",
         "tests/package/lease.cpp": "TEST(Lease, Ends) {}\nTEST_F(LeaseTest, Lasts) {}\n"}),
    "metrics": (
        {"runtime/a.cpp": 'counter("weir.a.b", {.unit = "s"});\n'},
        {"runtime/a.cpp": 'counter("weir.a.b",\n {.unit = "s"});\n',
         "docs/operations/metrics.md": "| `weir.a.b`, `weir.a.b` | `s` |\n"}),
}


class Rules(unittest.TestCase):
    def test_a_sample_is_short(self):
        tree = {"samples/a/main.cpp": "x\n" * 150, "samples/a/README.md": "# a\n"}
        self.assertEqual(rules_broken_by(tree), {"samples"})

    def test_a_sample_is_as_long_as_each_of_its_programs_with_what_they_share(self):
        def found(folder, files):
            tree = {f"samples/{folder}/{name}": text for name, text in files.items()}
            return rules_broken_by({**tree, f"samples/{folder}/README.md": "# a\n"})

        part = "x\n" * 99
        program = part + "int main() {}\n"
        self.assertEqual(found("a", {"one.cpp": program, "two.cpp": program}), set())
        self.assertEqual(found("a", {"main.cpp": program, "a.hpp": "#pragma once\n" + part}), {"samples"})
        self.assertEqual(found("shop", {"main.cpp": program, "a.hpp": "#pragma once\n" + part}), set())
        self.assertEqual(found("shop", {"main.cpp": program, "a.hpp": "#pragma once\n" + 2 * part}),
                         {"samples"})

    def test_a_link_to_a_picture_leads_somewhere(self):
        files = {"docs/a.md": "![what it shows](a.png)\n"}
        self.assertEqual(rules_broken_by(files), {"links"})
        self.assertEqual(list(tidy.findings(tidy.Tree(files, ["docs/a.png"]))), [])

    def test_a_metric_that_nothing_measures_is_not_named(self):
        made = {"runtime/a.cpp": 'name("weir.a.b")\n', "docs/operations/a.md": "`weir.a.b`\n"}
        self.assertEqual(rules_broken_by(made), set())
        made["docs/operations/a.md"] = "alert on `weir.a.c`\n"
        self.assertEqual(rules_broken_by(made), {"metrics"})

    def test_each_fires_alone_on_its_example(self):
        for rule, (broken, _) in EXAMPLES.items():
            with self.subTest(rule):
                self.assertEqual(rules_broken_by(broken), {rule})

    def test_each_is_silent_on_code_that_follows_it(self):
        for rule, (_, followed) in EXAMPLES.items():
            with self.subTest(rule):
                self.assertEqual(rules_broken_by(followed), set())

    def test_each_has_an_example(self):
        self.assertEqual(len(EXAMPLES), len(tidy.CHECKS))

    def test_an_allowed_line_is_no_finding(self):
        line = "usleep(1);  // tidy: allow time_in_tests: tests the real clock\n"
        self.assertEqual(rules_broken_by({"tests/package/a.cpp": line}), set())

    def test_allowing_needs_a_reason_and_the_rule(self):
        for comment in ("tidy: allow time_in_tests:", "tidy: allow layers: because"):
            line = f"usleep(1);  // {comment}\n"
            self.assertEqual(rules_broken_by({"tests/package/a.cpp": line}), {"time_in_tests"})

    def test_engines_of_one_layer_do_not_include_each_other(self):
        source = {"flow/view/a.cpp": "#include <weir/flow/workflow/lease.hpp>\n"}
        self.assertEqual(rules_broken_by(source), {"layers"})

    def test_a_test_that_is_not_listed_is_found(self):
        files = {"tests/runtime/gate_test.cpp": "",
                 "tests/runtime/CMakeLists.txt": "weir_test(runtime UNITS investigate)"}
        self.assertEqual(rules_broken_by(files), {"listed"})

    def test_a_module_without_a_readme_is_found(self):
        files = {path: text for path, text in MODULE.items() if not path.endswith(".md")}
        self.assertEqual(rules_broken_by(files), {"readme"})


class Quotes(unittest.TestCase):
    SOURCE = {"s.cpp": "int main() {\n  // [m]\n  a();\n    b();\n  // [/m]\n}\n"}.get

    def test_fixing_writes_what_the_source_says_without_its_indentation(self):
        before = "Text.\n\n<!-- quote: s.cpp#m -->\n```cpp\nold();\n```\n\n```cpp\nkept();\n```\n"
        self.assertEqual(fix_quotes(before, self.SOURCE), before.replace("old();", "a();\n  b();"))

    def test_fixing_fills_an_empty_block(self):
        before = "<!-- quote: s.cpp#m -->\n```cpp\n```\n"
        self.assertEqual(fix_quotes(before, self.SOURCE),
                         "<!-- quote: s.cpp#m -->\n```cpp\na();\n  b();\n```\n")

    def test_a_block_inside_of_a_longer_fence_is_text(self):
        document = "````md\n<!-- quote: absent.cpp#m -->\n```cpp\n```\n````\n"
        self.assertEqual(rules_broken_by({"docs/a.md": document}), set())

    def test_a_missing_file_or_marker_is_found(self):
        for reference in ("absent.cpp#m", "s.cpp#absent", "s.cpp"):
            files = {"docs/a.md": f"<!-- quote: {reference} -->\n```cpp\n```\n",
                     "s.cpp": self.SOURCE("s.cpp")}
            self.assertEqual(rules_broken_by(files), {"quotes"})

    def test_cpp_needs_a_quote_or_a_reason(self):
        block = "```cpp\nf();\n```\n"
        self.assertEqual(rules_broken_by({"docs/a.md": block}), {"quotes"})
        excused = "<!-- no quote: does not compile -->\n" + block
        self.assertEqual(rules_broken_by({"docs/a.md": excused}), set())

    def test_cpp_that_is_only_indented_is_found(self):
        for code in ("    auto a =\n        f();\n", "    if (a) {\n", "\tf();  // why\n"):
            self.assertEqual(list(quote_problems(f"Text:\n\n{code}\nMore.\n", self.SOURCE)),
                             [(3, "C++ that is only indented: put it in a fence, and quote it")])
        for text in ("    weir top   # draws\n", "- a list,\n    which goes on;\n",
                     "<!-- quote: s.cpp#m -->\n```cpp\na();\n  b();\n```\n\n```js\n\n    g();\n```\n"):
            self.assertEqual(list(quote_problems(text, self.SOURCE)), [])


class Functions(unittest.TestCase):
    def lengths(self, text):
        return {name: last - first + 1 for name, first, last in functions(text)}

    def test_are_found_in_namespaces_and_classes(self):
        text = ("namespace a {\nclass B final : public C<D> {\n public:\n  int e() const {\n"
                "    return 1;\n  }\n};\n\nint f() {\n  return 2;\n}\n}\n")
        self.assertEqual(self.lengths(text), {"e": 3, "f": 3})

    def test_include_what_is_nested(self):
        text = "void f() {\n  if (x) {\n    g([] {\n      h();\n    });\n  }\n}\n"
        self.assertEqual(self.lengths(text), {"f": 7})

    def test_of_constructors_are_bodies_not_initialisers(self):
        text = "A::A(int b)\n    : b_{b}, c_(0), d_{} {\n  e();\n}\n"
        self.assertEqual(list(self.lengths(text).values()), [3])

    def test_ignore_comments_and_literals(self):
        text = "void f() {  // {\n  g(\"{\", '{', R\"({)\", 1'000);  /* { */\n}\nvoid h() {\n}\n"
        self.assertEqual(self.lengths(text), {"f": 3, "h": 2})

    def test_of_templates_and_tests_are_found(self):
        text = "template <class T>\nT f(T t) {\n  return t;\n}\nTEST(A, B) {\n}\n"
        self.assertEqual(self.lengths(text), {"f": 3, "TEST": 2})


class Program(unittest.TestCase):
    def run_in(self, root):
        return subprocess.run([sys.executable, ROOT / "scripts/tidy.py", root],
                              stdout=subprocess.PIPE, text=True, check=False)

    def test_fails_and_names_the_place_in_a_clone_and_outside_of_one(self):
        for prepare in (["git", "init", "--quiet"], ["test", "-d"]):
            with tempfile.TemporaryDirectory() as root:
                subprocess.run([*prepare, root], check=True)
                Path(root, "a.hpp").write_text("int a;\n", encoding="utf-8")
                run = self.run_in(root)
                self.assertEqual(run.returncode, 1)
                self.assertIn("a.hpp:1: pragma_once:", run.stdout)
                Path(root, "a.hpp").write_text("#pragma once\n", encoding="utf-8")
                self.assertEqual(self.run_in(root).returncode, 0)


if __name__ == "__main__":
    unittest.main()
