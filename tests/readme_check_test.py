#!/usr/bin/python3
"""Does readme_test.py see what it must? Usage: readme_check_test.py."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import readme_test

PAGE = "The first of these prints:\n\n```\nold\n```\n"
PRINTED = "".join(f"line {i}\n" for i in range(9)) + "total of 1\n\noperators\n1\n2\n3\nbandwidth\n"


class ReadmeTest(unittest.TestCase):
    def ran(self, script, line):
        """What a command gives with another program, and what is told of it."""
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "program"
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
            with contextlib.redirect_stdout(io.StringIO()) as told:
                return readme_test.Scratch(program, folder).run(line), told.getvalue()[:6]

    def test_are_commands_read(self):
        text = "```sh\n# a comment\nbuild/accsim a \\\n  b\nls\n```\n\n```\nbuild/accsim c\n```\n"
        self.assertEqual(readme_test.commands(text), ["build/accsim a    b"])

    def test_is_a_command_that_fails_or_complains_seen(self):
        self.assertEqual(self.ran("echo good", "build/accsim x"), ("good\n", "ok    "))
        for script in ("echo bad; exit 1", "exit 3", "echo complaint >&2"):
            self.assertEqual(self.ran(script, "build/accsim x"), (None, "FAILED"), script)

    def test_is_verify_left_out_without_its_tools_only(self):
        line = "build/accsim verify --hw x"
        self.assertEqual(self.ran("exit 3", line), ("", "skippe"))
        self.assertEqual(self.ran("exit 1", line), (None, "FAILED"))
        self.assertEqual(self.ran("echo made >&2; echo equal", line), ("equal\n", "ok    "))

    def test_is_an_old_excerpt_another_one(self):
        new = readme_test.with_excerpt(PAGE, PRINTED)
        self.assertNotEqual(new, PAGE)
        self.assertIn("```\nline 0\n", new)
        self.assertEqual(readme_test.with_excerpt(new, PRINTED), new)


if __name__ == "__main__":
    unittest.main()
