#!/usr/bin/python3
"""Is a change of costs without a new version of the cost model seen, and what to do said?

Usage: cost_fingerprint_test.py COST_FINGERPRINT [unittest arguments].
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

KNOWN = pathlib.Path(__file__).resolve().parent / "cost_fingerprints.txt"
PROGRAM = None  # set by main


class CostFingerprintTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "known.txt"
        self.text = KNOWN.read_text()
        self.version = int(re.match(r"cost model (\d+)\n", self.text).group(1))

    def run_on(self, option, text):
        self.file.write_text(text)
        return subprocess.run(
            [str(PROGRAM), option, str(self.file)],
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
        )

    def other_costs(self):
        """The file with a cycle more on its second line."""
        found = re.search(r": (\d+) cycles", self.text)
        return (
            self.text[: found.start(1)] + str(int(found.group(1)) + 1) + self.text[found.end(1) :]
        )

    def other_version(self, text, version):
        return re.sub(r"\Acost model \d+", f"cost model {version}", text)

    def test_what_is_checked_in_is_what_this_version_costs(self):
        done = self.run_on("--check", self.text)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_other_costs_ask_for_a_new_version(self):
        for option in ("--check", "--write"):
            done = self.run_on(option, self.other_costs())
            self.assertEqual(done.returncode, 1)
            self.assertIn("raise kCostModelVersion in sim/cost/cost_model_version.h", done.stderr)
            self.assertEqual(self.file.read_text(), self.other_costs(), "and nothing is written")

    def test_a_new_version_asks_for_its_costs(self):
        # As seen from the file: it is older than the program.
        old = self.other_version(self.other_costs(), self.version - 1)
        done = self.run_on("--check", old)
        self.assertEqual(done.returncode, 1)
        self.assertIn("--write", done.stderr)
        self.assertEqual(self.run_on("--write", old).returncode, 0)
        self.assertEqual(self.file.read_text(), self.text)

    def test_a_file_of_a_later_version_is_refused(self):
        for option in ("--check", "--write"):
            done = self.run_on(option, self.other_version(self.text, self.version + 1))
            self.assertEqual(done.returncode, 1)
            self.assertIn("newer", done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
