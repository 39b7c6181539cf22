"""Our benchmark program and its peers: how each is built and started."""

import os
import re
import shutil
from pathlib import Path

from harness.build import build_target, require_configured
from harness.errors import CannotMeasure
from harness.runner import Program, execute, say

PEERS_DIR = Path(__file__).resolve().parent / "peers"
PEERS = ("go", "erlang", "caf", "asio")
UNBOUNDED_ONLY = frozenset({"count_bounded", "many_to_one_bounded"})


def prepare(name, build_dir):
    """Builds one program, unless it is up to date."""
    require_configured(build_dir)
    return {
        "weir": prepare_weir,
        "go": prepare_go,
        "erlang": prepare_erlang,
        "caf": prepare_caf,
        "asio": prepare_asio,
    }[name](build_dir)


def prepare_weir(build_dir):
    hint = "does bench/actors/weir have a CMakeLists.txt?"
    return Program("weir", (str(build_target(build_dir, "weir_bench_actors", hint)),))


def prepare_go(build_dir):
    compiler = newest_go()
    if compiler is None:
        raise CannotMeasure("the peer go is missing: install golang-go from bookworm-backports, "
                            "or leave it out with --peers")
    say("building the Go peer")
    folder = peer_folder(build_dir, "go")
    binary = folder / "weir_bench_actors_go"
    environment = {
        "CGO_ENABLED": "0",
        "GOCACHE": str(folder / "cache"),
        "GOFLAGS": "-mod=mod -buildvcs=false",
        "GOPATH": str(folder / "path"),
        "GOPROXY": "off",
        "GOROOT": str(compiler.parent.parent),
        "GOTOOLCHAIN": "local",
    }
    execute([str(compiler), "build", "-C", str(PEERS_DIR / "go"), "-o", str(binary), "."],
            environment)
    return Program("go", (str(binary),))


def newest_go(library_dir=Path("/usr/lib")):
    """The newest compiler that Debian packages installed; others on the machine do not count."""
    compilers = [path for path in library_dir.glob("go-*/bin/go") if os.access(path, os.X_OK)]
    return max(compilers, key=go_version, default=None)


def go_version(compiler):
    return [int(number) for number in re.findall(r"\d+", compiler.parent.parent.name)]


def prepare_erlang(build_dir):
    for tool in ("erlc", "erl"):
        if shutil.which(tool) is None:
            raise CannotMeasure("the peer erlang is missing: install erlang-base, or leave it out "
                                "with --peers")
    say("building the Erlang peer")
    folder = peer_folder(build_dir, "erlang")
    sources = sorted(str(path) for path in (PEERS_DIR / "erlang").glob("*.erl"))
    execute(["erlc", "-o", str(folder), *sources])
    return Program("erlang", (str(PEERS_DIR / "erlang/run.sh"), str(folder)), UNBOUNDED_ONLY)


def prepare_caf(build_dir):
    binary = build_target(build_dir, "weir_bench_actors_caf",
                          "the peer caf is missing: install libcaf-dev, or leave it out with --peers")
    # Stealing from a long queue walks it from end to end, so the time grows with the square.
    return Program("caf", (str(binary),), UNBOUNDED_ONLY, {"fork_join": 0.05})


def prepare_asio(build_dir):
    binary = build_target(build_dir, "weir_bench_actors_asio",
                          "the peer asio is missing: install libboost1.83-dev, or leave it out with "
                          "--peers")
    return Program("asio", (str(binary),))


def peer_folder(build_dir, name):
    folder = build_dir / "bench/peers" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
