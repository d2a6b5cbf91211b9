#!/usr/bin/python3
"""Does scripts/check_leftovers name what tests leave behind, and let caches be?"""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_leftovers"


class CheckLeftovers(unittest.TestCase):
    def check(self, *files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in ("home", "tmp"):
                (root / name).mkdir()
            for name in files:
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text("")
            command = [SCRIPT, root / "home", root / "tmp"]
            return subprocess.run(command, check=False, capture_output=True, text=True, timeout=20)

    def test_are_empty_folders_and_caches_good(self):
        self.assertEqual(self.check().returncode, 0)
        self.assertEqual(self.check("home/.cache/accsim/verilated/core.so").returncode, 0)

    def test_is_everything_else_named(self):
        for left in (
            "tmp/accsim_outside.bin",
            "tmp/deep/er/file",
            "home/.npmrc",
            "home/notes",
            "tmp/.cache/file",
            "home/x/.cache/file",
        ):
            with self.subTest(left=left):
                done = self.check(left, "home/.cache/kept")
                self.assertEqual(done.returncode, 1)
                self.assertIn(left, done.stderr)
                self.assertNotIn("kept", done.stderr)


if __name__ == "__main__":
    unittest.main()
