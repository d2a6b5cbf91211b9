#!/usr/bin/python3
"""A gallery of bad inputs (bad/*.py) with all that each command says of them: the file, line or
node, what is wrong and what to do.

Usage: bad_input_test.py ACCSIM [unittest arguments].
"""

import pathlib
import tempfile
import unittest

from bad import arrays, command_lines, machines, models, sweeps
from program import run

GALLERIES = [machines, models, sweeps, arrays, command_lines]


def try_case(case):
    """Runs a case in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in case.files.items():
            data = content.encode() if isinstance(content, str) else content
            (pathlib.Path(folder) / name).write_bytes(data)
        before = sorted(pathlib.Path(folder).iterdir())
        done = run(*case.command.split(), cwd=folder)
        return done, sorted(pathlib.Path(folder).iterdir()) == before


class BadInputTest(unittest.TestCase):
    maxDiff = None

    def test_what_is_said(self):
        tried = 0
        for gallery in GALLERIES:
            for case in gallery.CASES:
                tried += 1
                with self.subTest(gallery=gallery.__name__, case=case.name):
                    done, untouched = try_case(case)
                    self.assertEqual(
                        (done.returncode, done.stdout, done.stderr.split()),
                        (case.code, "", case.says.split()),
                    )
                    self.assertTrue(untouched, "a file came or went")
        self.assertGreaterEqual(tried, 100)

    def test_names_are_distinct(self):
        for gallery in GALLERIES:
            names = [case.name for case in gallery.CASES]
            self.assertEqual(len(names), len(set(names)), gallery.__name__)


if __name__ == "__main__":
    unittest.main()
