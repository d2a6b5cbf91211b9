"""What the tests of the Python package share. Each runs as TEST ACCSIM [unittest arguments]."""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"
ACCSIM = sys.argv[1]


def program(*words):
    """The command line's answer: code, output, errors without their beginning."""
    done = subprocess.run(
        [ACCSIM, *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=600,
    )
    begin = "accsim: error: "
    errors = [
        line.removeprefix(begin) for line in done.stderr.splitlines() if line.startswith(begin)
    ]
    return done.returncode, done.stdout, errors


def main():
    del sys.argv[1]
    unittest.main()
