"""Runs the program `weir` as its users do.

Usage: cli_test.py PROGRAM CHECK

Each CHECK is a function below; most have a directory with the store of a shop that ran for a second.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from support import Fake, Late, Served, Terminal, Weir, expect, order, post, write

UNKNOWN_PATH = json.dumps({"status": 404, "code": "unknown_path", "detail": "there is no such path"})


def make_shop(program, directory):
    """The store of a shop that has had some customers."""
    Weir(program).text("demo", "--directory", directory, "--port", 0, "--seconds", 1)
    return os.path.join(directory, "store")


def inspection(program, directory):
    """Every list and every detail, as a table and as JSON."""
    with Served(program, make_shop(program, directory)) as weir:
        text = weir.text("tables")
        expect(re.search(r"^TABLE +KIND +PRIMARY KEY", text) and re.search(r"^orders +table +id", text, re.M),
               "no orders", text)
        names = [table["name"] for table in weir.json("tables")["tables"]]
        expect(names == ["customers", "deliveries", "ledger", "orders"], "other tables", str(names))
        expect(re.search(r"^id +int64 +1$", weir.text("tables", "orders"), re.M), "no column id")
        expect(weir.json("tables", "orders")["schema"]["primary_key"] == ["id"], "no primary key")

        views = weir.json("views")["views"]
        expect(len(views) == 5 and all(view["lag"]["versions"] == 0 for view in views), "behind", str(views))
        expect(re.search(r"^totals +live +0 ms", weir.text("views"), re.M), "totals is not live")
        expect("TYPE" in weir.text("views", "totals"), "no columns of totals")
        expect(weir.json("views", "totals")["status"]["phase"] == "live", "totals is not live")
        expect(weir.text("views", "rebuild", "totals") == "rebuild: totals\n", "not rebuilt")
        expect(weir.json("views", "resume", "totals")["done"] == "resume", "not resumed")

        text = weir.text("flows", "--interval", "0.1")
        expect(re.search(r"^orders +table", text, re.M) and re.search(r"^  paid +view", text, re.M)
               and re.search(r"^    revenue +view", text, re.M), "no tree", text)
        expect({node["name"] for node in weir.json("flows")["nodes"]} > {"orders", "paid"}, "no nodes")

        expect("EXECUTION" in weir.text("executions", "--limit", 3), "no executions")
        page = weir.json("executions", "--state", "completed", "--limit", 2)
        expect(len(page["executions"]) == 2 and page["next"], "no page", str(page))
        one = page["executions"][0]["id"]
        expect(re.search(r"^ATTEMPT +KIND", weir.text("executions", one), re.M), "no attempts")
        expect(weir.json("executions", one)["attempts"], "no attempts")
        expect("WORKFLOW" in weir.text("workflows"), "no workflows")
        expect(weir.json("workflows")["workflows"] == [], "the shop has no workflows")

        actors = weir.text("actors", "--sort", "name", "--limit", 5).splitlines()[1:]
        expect(len(actors) == 5 and actors == sorted(actors), "not sorted", str(actors))
        expect(any(actor["name"] == "gateway" for actor in weir.json("actors")["actors"]), "no gateway")

        expect("up" in weir.text("top", "--interval", "0.1").splitlines()[0], "no uptime")
        expect(weir.json("top", "--interval", "0.1").keys() == {"overview", "flows", "actors"}, "not all")


def workflows(program, directory):
    """One of them is shown with its executions, each behind those that it waits for."""
    with Served(program, os.path.join(directory, "store")) as weir:
        made = post(weir.environment["WEIR_URL"], "workflows", {
            "kind": "delivery",
            "executions": [{"kind": "pack"}, {"kind": "weigh"}, {"kind": "send"}],
            "edges": [{"upstream": 0, "downstream": 2, "input": "parcel"},
                      {"upstream": 1, "downstream": 2, "input": "grams"}]})
        told = weir.json("workflows", made["id"])
        expect(told["workflow"]["kind"] == "delivery", "another one", str(told))
        kinds = {node["id"]: node["kind"] for node in told["graph"]["nodes"]}
        edges = {(kinds[edge["upstream"]], kinds[edge["downstream"]]) for edge in told["graph"]["edges"]}
        expect(edges == {("pack", "send"), ("weigh", "send")}, "other edges", str(told))

        text = weir.text("workflows", made["id"])
        expect(re.search(r"^kind +delivery$", text, re.M), "no fields", text)
        upstream = {kinds[id]: re.search(rf"^{re.escape(id)} +{kinds[id]} +\w+ *(.*)$", text, re.M)
                    for id in kinds}
        expect(all(upstream.values()), "not all executions", text)
        expect(set(upstream["send"][1].split(", ")) == {id for id in kinds if kinds[id] != "send"}
               and not upstream["pack"][1] and not upstream["weigh"][1], "not behind them", text)
        weir.refused(5, "workflow", "workflows", made["id"][:-1] + ("1" if made["id"][-1] == "0" else "0"))


def rows(program, directory):
    """Page by page, at any version that is kept, and nothing in them can steer a terminal."""
    store = make_shop(program, directory)
    with Served(program, store, "--history", "3600") as weir:
        url = weir.environment["WEIR_URL"]
        before = write(url, order(1_000_001, "cup"))
        write(url, order(1_000_002, "\x1b[31m cup\n\u009b"))
        page = weir.json("tables", "orders", "--rows", "--limit", 2)
        expect(len(page["rows"]) == 2 and page["next"], "no page", str(page))
        rest = weir.json("tables", "orders", "--rows", "--after", 1_000_000)
        expect([row["id"] for row in rest["rows"]] == [1_000_001, 1_000_002], "other rows", str(rest))
        old = weir.json("tables", "orders", "--rows", "--after", 1_000_000, "--at", before)
        expect([row["id"] for row in old["rows"]] == [1_000_001], "not as of then", str(old))
        text = weir.text("tables", "orders", "--rows", "--after", 1_000_000)
        expect(r"\x1b[31m cup\n\u009b" in text and "\x1b" not in text, "not printable", repr(text))
        expect("more: --after" in weir.text("tables", "orders", "--rows", "--limit", 1), "no more")
        expect("placed" in weir.text("views", "totals", "--rows"), "no rows of a view")
        weir.refused(5, "version", "tables", "orders", "--rows", "--at", 10**9)


def log(program, directory):
    """The newest commits, those after one, and those that come; Ctrl-C ends that in order."""
    store = make_shop(program, directory)
    with Served(program, store) as weir:
        url = weir.environment["WEIR_URL"]
        newest = write(url, order(1_000_001))
        text = weir.text("log", "--after", newest - 1)
        expect(re.search(rf"^ *{newest}  2\S+Z  \S+  .*orders \+1", text, re.M), "no commit", text)
        expect(len(weir.text("log", "--limit", 3).splitlines()) == 3, "not three")
        expect(weir.json("log", "--limit", 3)["newest"] >= newest, "not the newest")
        for number in (signal.SIGINT, signal.SIGTERM):
            following = weir.begin("log", "--follow", "--json", "--after", newest - 1)
            expect(json.loads(following.stdout.readline())["version"] == newest, "not the first")
            later = write(url, order(1_000_002 + number))
            while json.loads(following.stdout.readline())["version"] < later:
                pass
            following.send_signal(number)
            _, errors = following.communicate()
            expect(following.returncode == 0 and not errors, f"code {following.returncode}", errors)


def refusals(program, directory):
    """What cannot be is refused in words and with its code."""
    weir = Weir(program)
    weir.refused(2, "subcommand is required.*--help")
    weir.refused(2, "unknown subcommand 'tabels'; did you mean 'tables'", "tabels")
    weir.refused(2, "unknown subcommand 'xyzzy'; see `weir --help`", "xyzzy")
    weir.refused(2, "unknown subcommand 'mak'; did you mean 'make'.*weir token --help", "token", "mak")
    weir.refused(2, "--colour.*weir tables --help", "tables", "--colour")
    weir.refused(2, "--limit.*-3", "tables", "orders", "--rows", "--limit", "-3")
    weir.refused(2, "--rows requires name", "tables", "--rows")
    weir.refused(2, "--sort", "actors", "--sort", "colour")
    weir.refused(2, "--directory is required", "serve")
    weir.refused(2, "--port", "serve", "--directory", directory, "--port", "70000")
    for url in ("nonsense", "ftp://127.0.0.1", "http://", "http://127.0.0.1:99999", "http://a b"):
        weir.refused(2, "no address of a server.*--url", "tables", "--url", url)
    weir.refused(3, "weir serve.*--url", "tables", "--url", "http://127.0.0.1:1")
    weir.refused(3, "weir serve.*--url", "tables", WEIR_URL="http://127.0.0.1:1")
    weir.refused(5, "--token-file", "tables", "--token-file", os.path.join(directory, "nothing"))
    with Fake(200, "<html>", "text/html") as url:
        weir.refused(1, "no Weir server.*--url", "tables", "--url", url)
    with Fake(404, UNKNOWN_PATH) as url:
        for name in ("flows", "workflows", "executions", "top"):
            weir.refused(7, r"does not know /api/v1/\w+: it needs a server of Weir \d", name, "--url", url)
    with Served(program, os.path.join(directory, "new")) as served:
        served.refused(5, "no table 'nothing'", "tables", "nothing")
        served.refused(5, "no view 'a/b'", "views", "a/b")
        served.refused(5, "no view 'nothing'", "views", "rebuild", "nothing")
        served.refused(5, "nothing", "savepoints", "remove", "nothing")
        served.refused(2, "an execution id", "executions", "nothing")
        served.refused(1, "listen.*--port", "serve", "--directory", os.path.join(directory, "other"),
                       "--port", served.environment["WEIR_URL"].rsplit(":", 1)[1])
        served.refused(6, "open in process", "serve", "--directory", os.path.join(directory, "new"))
        expect(served.json("tables") == {"tables": []}, "a new store has tables")


def tokens(program, directory):
    """Who has no token, a wrong one or too small a one is told so; TLS is served and checked."""
    weir = Weir(program)
    file = os.path.join(directory, "tokens")
    made = weir.json("token", "make", "reader", "--file", file)
    expect(made["token"]["roles"] == ["read"] and made["bearer"].startswith("reader."), "no token")
    text = weir.text("token", "make", "shop", "--role", "operate", "--role", "read", "--namespace", "shop",
                     "--file", file).splitlines()
    expect(oct(os.stat(file).st_mode & 0o777) == "0o600", "others may read it")
    with open(file, encoding="utf-8") as stream:
        content = stream.read()
    stored = json.loads(content)["tokens"]
    expect([token["name"] for token in stored] == ["reader", "shop"], "other tokens", str(stored))
    expect(made["bearer"].split(".")[1] not in content and text[0].split(".")[1] not in content,
           "a secret is stored")
    expect('"salt"' in weir.text("token", "make", "third"), "no line for the file")
    weir.refused(1, "already", "token", "make", "reader", "--file", file)
    weir.refused(2, "name of a token", "token", "make", "no name")
    weir.refused(2, "--role", "token", "make", "other", "--role", "king")

    store = os.path.join(directory, "store")
    weir.refused(2, "--tokens.*weir token make", "serve", "--directory", store, "--address", "0.0.0.0")
    weir.refused(2, "belong together", "serve", "--directory", store, "--tls-key", file)
    weir.refused(2, "--tls-certificate", "serve", "--directory", store, "--tls-key", file,
                 "--tls-certificate", file)
    key, certificate = os.path.join(directory, "key"), os.path.join(directory, "certificate")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out",
                    certificate, "-days", "2", "-subj", "/CN=weir", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, stderr=subprocess.DEVNULL)
    weir.refused(1, "cannot be written.*--audit", "serve", "--directory", store, "--audit", directory)
    audit = os.path.join(directory, "audit")
    with Served(program, store, "--tokens", file, "--tls-certificate", certificate, "--tls-key", key,
                "--audit", audit) as served:
        expect(served.environment["WEIR_URL"].startswith("https://"), "no TLS")
        served.refused(3, "--authority", "tables")
        served.refused(3, "--authority", "backup", os.path.join(directory, "copy"), "--directory", store)
        trusted = ["tables", "--authority", certificate]
        served.refused(4, "--token-file", *trusted)
        served.refused(4, "does not know the token", *trusted, "--token", "reader.wrong")
        served.refused(4, "does not know the token", *trusted, WEIR_TOKEN="nobody.at-all")
        expect(served.json(*trusted, "--token", made["bearer"]) == {"tables": []}, "not let in")
        bearer = os.path.join(directory, "bearer")
        Path(bearer).write_text(made["bearer"] + "\n", encoding="utf-8")
        expect(served.json(*trusted, "--token-file", bearer) == {"tables": []}, "not let in by a file")
        served.refused(4, "weir token make", "savepoints", "make", "a", "--authority", certificate,
                       "--token", made["bearer"])
    content = Path(audit).read_text(encoding="utf-8")
    noted = [json.loads(line) for line in content.splitlines()]
    expect([(line["caller"], line["method"], line["target"], line["status"], line["problem"]) for line in noted]
           == 2 * [("reader", "PUT", "/api/v1/savepoints/a", 403, "wrong_role")], "not noted", content)
    expect(re.match(r"\d{4}-\d\d-\d\dT\d\d:", noted[0]["time"]) and noted[0]["peer"].startswith("127.0.0.1:")
           and made["bearer"].split(".")[1] not in content, "noted otherwise", content)
    expect(oct(os.stat(audit).st_mode & 0o777) == "0o600", "others may read it")


def copies(program, directory):
    """A backup of a store at rest and of one that is served; restored it has the same rows."""
    store = make_shop(program, directory)
    at_rest, online, again = (os.path.join(directory, name) for name in ("rest", "online", "again"))
    weir = Weir(program)
    told = weir.json("backup", at_rest, "--directory", store)
    expect(told["directory"] == at_rest and told["files"] > 3, "nothing is told", str(told))
    with Served(program, store) as served:
        url = served.environment["WEIR_URL"]
        version = write(url, order(1_000_001))
        served.refused(6, "open in process", "verify", "--directory", store)
        weir.refused(6, "not served at.*--url", "backup", online, "--directory", store,
                     "--url", "http://127.0.0.1:1")
        told = served.json("backup", online, "--directory", store)
        expect(told["version"] >= version, "an old version", str(told))
        expect(served.json("savepoints") == {"savepoints": []}, "a savepoint is left")
        served.text("savepoints", "make", "one")
        expect([one["name"] for one in served.json("savepoints")["savepoints"]] == ["one"], "not one")
        expect(served.json("savepoints", "remove", "one") == {"removed": "one"}, "not removed")
        with Served(program, os.path.join(directory, "other")) as other:
            other.refused(1, "serves another store", "backup", again, "--directory", store)
            expect(other.json("savepoints") == {"savepoints": []}, "a savepoint is left")
        orders = served.json("tables", "orders", "--rows", "--limit", 10_000)["rows"]
    shutil.rmtree(store)
    expect("whole backup" in weir.text("verify", "--directory", online), "not whole")
    os.mkdir(again)
    weir.text("restore", online, "--directory", again)
    expect(weir.json("verify", "--directory", again)["whole"] is True, "not whole")
    with Served(program, again) as served:
        restored = served.json("tables", "orders", "--rows", "--limit", 10_000)["rows"]
    expect(restored == orders and len(orders) > 10, "other rows were restored")

    weir.refused(1, "not empty", "restore", online, "--directory", again)
    weir.refused(1, "not empty", "backup", online, "--directory", again)
    weir.refused(5, "no file BACKUP", "restore", again, "--directory", store)
    weir.refused(5, "is not there", "verify", "--directory", store)
    weir.refused(5, "is not there", "backup", store, "--directory", os.path.join(directory, "nothing"))
    for command in (["verify"], ["backup", store]):
        weir.refused(1, "no file FORMAT", *command, "--directory", directory)
    weir.refused(1, "is a backup", "serve", "--directory", online)
    weir.refused(1, "FORMAT", "serve", "--directory", directory)
    expect(not os.path.exists(store), "something was made")

    _, _, drawn = weir.run("restore", online, "--directory", store, "--progress", "always")
    expect(re.search(r"restoring +\[#{20}\] +100 % +\S+ \S+ of \S+ \S+", drawn), "no progress", drawn)
    _, _, drawn = weir.run("verify", "--directory", store)
    expect(drawn == "", "progress where there is no terminal", drawn)


def late(program, directory):
    """A savepoint that takes too long is removed; what takes long is one thing that is shown."""
    store, target = os.path.join(directory, "store"), os.path.join(directory, "target")
    with Served(program, store):
        asks = ["backup", target, "--directory", store, "--timeout", "2", "--url"]
        with Late(("PUT", "/api/v1/savepoints/"), "DELETE") as server:
            code, text, errors = Weir(program).run(*asks, server.url)
            expect(code == 3 and "--timeout" in errors and "remove" not in errors, f"code {code}", text + errors)
            (made, savepoint), (removed, same) = server.asked
            expect((made, removed) == ("PUT", "DELETE") and same == savepoint, "not removed", str(server.asked))
        with Late(("PUT", "/api/v1/savepoints/"), "DELETE", delete_status=404) as server:
            code, text, errors = Weir(program).run(*asks, server.url)
            name = server.asked[0][1].rsplit("/", 1)[1]
            expect(code == 3 and f"weir savepoints remove {name}" in errors, f"code {code}", text + errors)
    with Late(("GET", "/api/v1/views/b/lag")) as server:
        screen = Terminal(Weir(program, server.url), "views")
        screen.wait_for(r"waiting for \S+ +\[#{6} +\] +33 % +1 of 3")
        server.is_released.set()
        code = screen.end()
        expect(code == 0 and re.search(r"^c +live", re.sub(r"\x1b\[\d*m", "", screen.text), re.M), f"code {code}",
               repr(screen.text))


def output(program, directory):
    """What cannot be written is a failure, and the secret of no token; who has left is told nothing."""
    file = os.path.join(directory, "tokens")
    with Served(program, make_shop(program, directory)) as weir, open("/dev/full", "wb") as full:
        for words in (["tables"], ["tables", "orders", "--rows", "--json"], ["log", "--follow"], ["--help"],
                      ["top", "--interval", "0.1"], ["completion", "bash"]):
            code, errors = weir.run_into(full, *words)
            expect(code == 1 and "standard output cannot be written: No space left" in errors,
                   f"{words}: exit code {code}", errors)
        code, errors = weir.run_into(full, "token", "make", "reader", "--file", file)
        expect(code == 1 and "cannot be written" in errors, f"exit code {code}", errors)
        expect(not os.path.exists(file) and not os.path.exists(file + ".new"), "a token without its secret")
        weir.json("token", "make", "reader", "--file", file)
        for words in (["tables"], ["log", "--follow"]):
            for keeps_sigpipe, expected in ((True, -signal.SIGPIPE), (False, 141)):
                reading, writing = os.pipe()
                os.close(reading)
                code, errors = weir.run_into(writing, *words, keeps_sigpipe=keeps_sigpipe)
                os.close(writing)
                expect(code == expected and not errors, f"{words}: exit code {code}", errors)


def corruption(program, directory):
    """A bit that has flipped, in a backup or a store, is found and its place named."""
    store = make_shop(program, directory)
    backup = os.path.join(directory, "backup")
    weir = Weir(program)
    weir.text("backup", backup, "--directory", store)
    for folder in (backup, store):
        expect(weir.json("verify", "--directory", folder)["whole"] is True, "not whole")
        file = max(Path(folder, "data").glob("*.sst"), key=lambda path: path.stat().st_size)
        content = bytearray(file.read_bytes())
        content[len(content) // 2] ^= 1
        file.write_bytes(content)
        weir.refused(1, re.escape(file.name), "verify", "--directory", folder)
        code, text, _ = weir.run("verify", "--directory", folder, "--json")
        told = json.loads(text)
        expect(code == 1 and told["whole"] is False and file.name in told["fault"], "not told", text)
    target = os.path.join(directory, "target")
    weir.refused(1, "corruption", "restore", backup, "--directory", target)
    expect(not os.path.exists(target), "restored what is not whole")


def serving(program, directory):
    """Its first line is its address, or JSON; it ends in order, and is whole also after kill -9."""
    store = make_shop(program, directory)
    weir = Weir(program)
    child = weir.begin("serve", "--directory", store, "--port", 0, "--json", "--durability", "buffered")
    first = json.loads(child.stdout.readline())
    expect(first["directory"] == store and first["version"] > 0, "not told", str(first))
    version = write(first["url"], order(1_000_001))
    child.send_signal(signal.SIGTERM)
    rest, errors = child.communicate()
    expect(child.returncode == 0 and not errors, f"exit code {child.returncode}", errors)
    expect(json.loads(rest)["version"] >= version, "not told", rest)

    served = Served(program, store)
    version = write(served.url, order(1_000_002))
    expect(served.end(signal.SIGKILL) == -signal.SIGKILL, "not killed")
    expect(weir.json("verify", "--directory", store)["version"] >= version, "a commit is lost")
    with Served(program, store) as again:
        page = again.json("tables", "orders", "--rows", "--after", 1_000_000)
        expect([row["id"] for row in page["rows"]] == [1_000_001, 1_000_002], "lost", str(page))


def top(program, directory):
    """Drawn again and again, sorted by keys, and the terminal is as it was in the end."""
    with Served(program, make_shop(program, directory)) as weir:
        screen = Terminal(weir, "top", "--interval", "0.1", columns=70, lines=20)
        drawn = screen.wait_for(r"MAILBOX\*[\s\S]*q ends")
        expect("\x1b[?1049h" in drawn and "weir top" in drawn, "no screen of its own", drawn)
        screen.wait_for("\x1b\\[2J[\\s\\S]*q ends")
        screen.press("s")
        screen.wait_for(r"HANDLED\*")
        screen.press("\x1b[D")
        screen.wait_for(r"MAILBOX\*")
        screen.press("q")
        code = screen.end()
        expect(code == 0 and screen.is_restored and screen.text.rstrip().endswith("\x1b[?1049l"),
               f"exit code {code}", repr(screen.text[-300:]))
        for frame in screen.text.split("\x1b[2J")[1:]:
            lines = re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]", "", frame).splitlines()
            expect(len(lines) <= 20 and all(len(line) <= 70 for line in lines), "does not fit", frame)
        for number in (signal.SIGINT, signal.SIGTERM):
            screen = Terminal(weir, "top")
            screen.wait_for("q ends")
            screen.child.send_signal(number)
            code = screen.end()
            expect(code == 0 and screen.is_restored and "\x1b[?1049l" in screen.text, f"code {code}",
                   repr(screen.text[-300:]))
        screen = Terminal(weir, "actors", columns=20, NO_COLOR="1")
        expect(screen.end() == 0 and all(len(line) <= 20 for line in screen.text.splitlines()),
               "does not fit", screen.text)
        for variables, is_coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            screen = Terminal(weir, "views", columns=40, **variables)
            code = screen.end()
            expect(code == 0 and ("\x1b[32m" in screen.text) == is_coloured, "colours", repr(screen.text))
            plain = re.sub(r"\x1b\[\d*m", "", screen.text)
            expect(all(len(line) <= 40 for line in plain.splitlines()), "does not fit", plain)


def complete_in_zsh(weir, directory, cases):
    """The function that zsh calls, with what it is given there; and that zsh knows it."""

    def run(script):
        done = subprocess.run(["zsh", "-f", "-c", script], stdout=subprocess.PIPE, text=True,
                              env=weir.environment, cwd=directory, check=True)
        return done.stdout.split()

    known = run("autoload -U compinit; compinit -D -u; source <(weir completion zsh); print ${_comps[weir]}")
    expect(known == ["_weir"], f"zsh does not know it: {known}")
    stubs = ('compdef() {}; compadd() { print -l -- "${(@P)2}" }; '
             '_files() { print -- ":files" "$@" }; source <(weir completion zsh); ')
    for words, expected in (*cases,
                            (["weir", "verify", "--directory", "sto"], [":files", "-/"]),
                            (["weir", "tables", "nothing of that kind"], []),
                            (["weir", "completion", ""], ["bash", "zsh"])):
        quoted = " ".join(f"'{word}'" for word in words)
        found = run(f"{stubs} words=({quoted}); CURRENT={len(words)}; _weir")
        expect(found == expected, f"zsh: {words}: {found}, not {expected}")


def completion(program, directory):
    """bash and zsh complete subcommands, options, their values, and names that a server knows."""
    with Served(program, make_shop(program, directory)) as weir:
        weir.environment["PATH"] = os.path.dirname(program) + ":" + weir.environment["PATH"]

        def completed(*words):
            quoted = " ".join(f"'{word}'" for word in words)
            script = (f"source <(weir completion bash); COMP_WORDS=({quoted}); "
                      f"COMP_CWORD={len(words) - 1}; _weir; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
            done = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True,
                                  env=weir.environment, cwd=directory, check=True)
            return done.stdout.split()

        everywhere = ((["weir", "ta"], ["tables"]),
                      (["weir", "views", "re"], ["resume", "rebuild", "revenue"]),
                      (["weir", "tables", "or"], ["orders"]),
                      (["weir", "views", "skip", "to"], ["top_products", "totals"]),
                      (["weir", "tables", "orders", "--li"], ["--limit"]),
                      (["weir", "actors", "--sort", "ma"], ["mailbox"]))
        for words, expected in (*everywhere,
                                (["weir", "actors", "--sort", "=", "ma"], ["mailbox"]),
                                (["weir", "verify", "--directory", "sto"], ["store"]),
                                (["weir", "restore", "sto"], ["store"]),
                                (["weir", "completion", ""], ["bash", "zsh"])):
            found = completed(*words)
            expect(found == expected, f"{words}: {found}, not {expected}")
        listed = completed("weir", "")
        expect({"serve", "demo", "top", "completion"} <= set(listed), "not all", str(listed))
        weir.refused(2, "shell", "completion", "fish")
        expect("compdef" in weir.json("completion", "zsh")["script"], "no script for zsh")
        if shutil.which("zsh"):
            complete_in_zsh(weir, directory, everywhere)
        help_text = weir.text("--help")
        for name in listed:
            expect(re.search(rf"^  {name} ", help_text, re.M) and "--json" in weir.text(name, "--help")
                   or name == "token", f"no help for {name}", help_text)
        expect("Exit codes" in help_text and re.match(r"weir \d+\.\d+", weir.text("--version")), "no codes")


def demo(program, directory):
    """The demo is the shop: it verifies itself."""
    text = Weir(program).text("demo", "--directory", directory, "--port", 0, "--seconds", 1, "--report")
    expect("everything is as it should be" in text, "not right", text)
    code, text, errors = Weir(program).run("demo", "--directory", directory, "--port", 0, "--seconds", 0, "--json")
    expect(code == 0 and json.loads(text)["right"] is True and "shop: open" in errors, "no JSON", text)
    Weir(program).refused(2, "--seconds", "demo", "--seconds", "soon")


CHECKS = {check.__name__: check
          for check in (inspection, rows, log, refusals, tokens, copies, late, output, corruption, serving, top,
                        completion, demo, workflows)}

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        CHECKS[sys.argv[2]](os.path.abspath(sys.argv[1]), folder)
