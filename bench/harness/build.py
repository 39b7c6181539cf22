"""Builds targets of a configured build directory."""

import subprocess

from harness.errors import CannotMeasure
from harness.runner import say


def require_configured(build_dir):
    if not (build_dir / "CMakeCache.txt").exists():
        raise CannotMeasure(f"{build_dir} is not configured: run `./dev build`, or name another "
                            "with --build-dir")


def has_target(build_dir, target):
    listing = cmake(build_dir, "--build", str(build_dir), "--target", "help")
    return any(target in line.replace(":", " ").split() for line in listing.splitlines())


def build_target(build_dir, target, hint):
    """Builds one target and returns its executable. `hint` tells what to do if there is none."""
    require_configured(build_dir)
    if not has_target(build_dir, target):
        cmake(build_dir, str(build_dir))  # a package may have been installed since it was configured
    if not has_target(build_dir, target):
        raise CannotMeasure(f"{target} is not a target of {build_dir}: {hint}")
    say(f"building {target}")
    cmake(build_dir, "--build", str(build_dir), "--target", target)
    return build_dir / "bench" / target


def cmake(build_dir, *arguments):
    done = subprocess.run(["cmake", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
    if done.returncode != 0:
        raise CannotMeasure(f"cmake failed in {build_dir}:\n{done.stdout}")
    return done.stdout
