#!/usr/bin/python3
"""Does nvdla_spreadsheet_test.py see a page that isn't what accsim says, and mend it?
Usage: nvdla_spreadsheet_check_test.py ACCSIM [unittest arguments]."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "dot-product.md"
ACCSIM = sys.argv.pop(1) if len(sys.argv) > 1 else sys.exit(__doc__)


class Check(unittest.TestCase):
    def run_on(self, text: str, *options: str) -> tuple[int, str, str]:
        """Exit code, what it says, and the page afterwards."""
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / "page.md"
            page.write_text(text, encoding="utf-8")
            script = HERE / "nvdla_spreadsheet_test.py"
            command = [sys.executable, script, ACCSIM, *options, page]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            return done.returncode, done.stderr, page.read_text(encoding="utf-8")

    def test_is_another_figure_seen_and_mended(self):
        text = PAGE.read_text(encoding="utf-8")
        changed = text.replace("| pooling: two layers from memory", "| pooling: three layers")
        self.assertNotEqual(changed, text)
        code, said, _ = self.run_on(changed)
        self.assertEqual(code, 1)
        self.assertIn("--update", said)
        self.assertEqual(self.run_on(changed, "--update"), (0, "", text))

    def test_is_a_page_without_the_tables_refused(self):
        code, said, after = self.run_on("nothing\n", "--update")
        self.assertEqual((code, after), (1, "nothing\n"))
        self.assertIn("spreadsheet:begin", said)


if __name__ == "__main__":
    unittest.main()
