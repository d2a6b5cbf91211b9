#!/usr/bin/python3
"""Does scripts/compare_outputs see a difference in every kind of output? Feeds it scripted
programs."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "compare_outputs"
# Stands in for accsim: prints its arguments (the compared folders aside) and writes what it is
# told.
PROGRAM = """#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in
    --json) echo '{"cycles": JSON}' > "$2"; shift;;
    --csv) echo cycles,CSV > "$2"; shift;;
    --store) echo made at $$ > "$2"; shift;;
    --dump) echo version VERSION; echo point DUMP;;
    *) echo "TEXT $1";;
  esac
  shift
done
exit CODE
"""
SAME = {"JSON": "1", "CSV": "1", "VERSION": "1", "DUMP": "1", "TEXT": "a", "CODE": "0"}


class CompareOutputs(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.dir = pathlib.Path(self.folder.name)
        for name in ("m.onnx", "machine.yaml", "grid.yaml"):
            (self.dir / name).write_text("")

    def program(self, name, **changes):
        text = PROGRAM
        for word, value in {**SAME, **changes}.items():
            text = text.replace(word, value)
        path = self.dir / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def compare(self, *options, **changes):
        return subprocess.run(
            [
                sys.executable,
                SCRIPT,
                self.program("old"),
                self.program("new", **changes),
                "--models",
                self.dir / "m.onnx",
                "--machines",
                self.dir / "machine.yaml",
                "--sweeps",
                self.dir / "grid.yaml",
                *options,
            ],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def test_are_equal_programs_equal(self):
        done = self.compare("--verify")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("5 cases", done.stdout)
        self.assertIn("0 differ", done.stdout)

    def test_is_a_difference_seen_wherever_it_is(self):
        for where, case in [
            ("JSON", "cost/machine/"),
            ("CSV", "inspect/"),
            ("TEXT", "shapes/"),
            ("DUMP", "sweep/grid"),
            ("CODE", "sweep/grid"),
        ]:
            with self.subTest(where=where):
                done = self.compare(**{where: "2"})
                self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
                self.assertIn(f"differs: {case}", done.stdout)

    def test_are_exceptions_taken_from_the_command_line_only(self):
        done = self.compare(VERSION="2")
        self.assertEqual(done.returncode, 1)
        self.assertIn("- version 1", done.stdout)
        self.assertIn("+ version 2", done.stdout)
        self.assertEqual(self.compare("--ignore-lines", "^version", VERSION="2").returncode, 0)
        done = self.compare("--except", "sweep/*", VERSION="2")
        self.assertEqual(done.returncode, 0)
        self.assertIn("excepted: sweep/grid", done.stdout)
        self.assertEqual(self.compare("--except", "sweep/*", TEXT="b").returncode, 1)

    def test_is_comparing_nothing_an_error(self):
        self.assertEqual(self.compare("--only", "nothing").returncode, 2)


if __name__ == "__main__":
    unittest.main()
