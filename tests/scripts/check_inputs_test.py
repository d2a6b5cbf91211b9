#!/usr/bin/python3
"""Does scripts/check_inputs see what a test reads that tests/inputs.txt doesn't tell of?"""

import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def traced():
    """Whether strace is there, and may trace."""
    done = subprocess.run(
        ["strace", "-f", "--seccomp-bpf", "true"], capture_output=True, check=False
    )
    return done.returncode == 0


@unittest.skipUnless(shutil.which("strace") and traced(), "there is no strace, or it may not trace")
class CheckInputs(unittest.TestCase):
    def check(self, command, row="a_test kept: known/", kept=True, inputs=()):
        """Exit code and output for a test with a command, in a tree of a few files."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name in ("check_inputs", "test_inputs.py"):
                (root / "scripts").mkdir(exist_ok=True)
                shutil.copy(ROOT / "scripts" / name, root / "scripts" / name)
            words = [word.replace("ROOT", str(root)) for word in command]
            if kept:
                words = ["python3", f"{root}/scripts/kept", "a_test", *inputs, "--", *words]
            listed = json.dumps({"tests": [{"name": "a_test", "command": words}]})
            for name, text in (
                ("known/a", ""),
                ("known/deep/b", ""),
                ("unknown/a", ""),
                ("build/a", ""),
                ("tests/inputs.txt", f"{row}\n"),
                ("bin/ctest", f"#!/bin/sh\ncat << 'END'\n{listed}\nEND\n"),
            ):
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            (root / "bin/ctest").chmod(0o755)
            done = subprocess.run(
                [root / "scripts/check_inputs"],
                capture_output=True,
                text=True,
                check=False,
                env={**os.environ, "PATH": f"{root}/bin:{os.environ['PATH']}"},
            )
            return done.returncode, done.stdout + done.stderr

    def test_is_what_the_line_has_let_be(self):
        code, out = self.check(["cat", "ROOT/known/a", "ROOT/known/deep/b"])
        self.assertEqual((code, out), (0, "check_inputs: a_test: 2 files read, 0 too many\n"))

    def test_is_another_file_named_also_of_a_child_that_has_another_folder(self):
        code, out = self.check(["sh", "-c", "cd ROOT/unknown && (cat ../known/a; cat a)"])
        self.assertEqual(code, 1)
        self.assertIn("a_test reads unknown/a, which isn't among its inputs\n", out)
        self.assertIn("a_test: 2 files read, 1 too many\n", out)

    def test_do_inputs_that_ctest_names_count(self):
        command = ["sh", "-c", "cat ROOT/known/a"]
        named = ("--inputs", "known/")
        self.assertEqual(self.check(command, row="another: known/", inputs=named)[0], 0)
        self.assertEqual(self.check(command, row="another: known/")[0], 1)

    def test_does_what_the_command_names_and_what_is_built_count_not(self):
        code, out = self.check(["cat", "ROOT/unknown/a", "ROOT/build/a", "ROOT/known/a"])
        self.assertEqual(code, 0, out)

    def test_is_a_test_that_fails_told(self):
        code, out = self.check(["sh", "-c", "cat ROOT/known/a; exit 3"])
        self.assertEqual(code, 1)
        self.assertIn("a_test ends with 3", out)

    def test_is_nothing_to_check_an_error(self):
        self.assertEqual(self.check(["true"], kept=False)[0], 2)


if __name__ == "__main__":
    unittest.main()
