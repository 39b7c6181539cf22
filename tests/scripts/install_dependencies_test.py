#!/usr/bin/env python3
"""scripts/install_dependencies.sh derives the backports source from the one that apt uses."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/install_dependencies.sh"

DEB822 = """\
# The comment before a stanza is not a stanza.

Types: deb
URIs: http://security.example.org/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb deb-src
# A comment inside of a stanza.
URIs: http://mirror.example.org/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
"""

ONE_LINE = """\
# deb http://disabled.example.org/debian bookworm main
deb-src http://mirror.example.org/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] \
http://mirror.example.org/debian/ bookworm main contrib # the mirror
deb http://security.example.org/debian-security bookworm-security main
"""

# Named like Debian's own suite and component, as some vendors do.
VENDOR = "deb http://apt.vendor.example.org bookworm main\n"


def backports_source(*files):
    """What the script prints on a machine whose apt has these (name, text) source files."""
    with tempfile.TemporaryDirectory() as root:
        for folder in ("lists/partial", "parts"):
            Path(root, folder).mkdir(parents=True)
        for name, text in files:
            Path(root, "parts" if name != "sources.list" else "", name).write_text(
                text, encoding="utf-8")
        config = Path(root, "apt.conf")
        config.write_text(
            f'Dir::Etc::sourcelist "{root}/sources.list";\n'
            f'Dir::Etc::sourceparts "{root}/parts";\n'
            f'Dir::State::lists "{root}/lists";\n', encoding="utf-8")
        run = subprocess.run(
            [SCRIPT, "--print-backports-source"], env={**os.environ, "APT_CONFIG": str(config)},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            check=False)
        return run.stdout if run.returncode == 0 else "error: " + run.stderr


@unittest.skipUnless(shutil.which("apt-get"), "needs apt")
class BackportsSource(unittest.TestCase):
    EXPECTED_DEB822 = (
        "Types: deb\n"
        "URIs: http://mirror.example.org/debian\n"
        "Suites: bookworm-backports\n"
        "Components: main\n"
        "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n")
    EXPECTED_ONE_LINE = (
        "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
        "http://mirror.example.org/debian/ bookworm-backports main\n")

    def test_follows_a_deb822_source(self):
        self.assertEqual(backports_source(("debian.sources", DEB822)), self.EXPECTED_DEB822)

    def test_follows_a_one_line_source(self):
        self.assertEqual(backports_source(("sources.list", ONE_LINE)), self.EXPECTED_ONE_LINE)
        self.assertEqual(backports_source(("debian.list", ONE_LINE)), self.EXPECTED_ONE_LINE)

    def test_does_not_follow_a_vendor(self):
        self.assertEqual(backports_source(("a.list", VENDOR), ("debian.sources", DEB822)),
                         self.EXPECTED_DEB822)

    def test_refuses_clearly_when_apt_has_no_debian(self):
        self.assertIn("apt has no source for Debian bookworm", backports_source())


if __name__ == "__main__":
    unittest.main()
