#!/usr/bin/python3
"""Do the commands of the tutorial and of the pages for users work, and print what the pages say?

Usage: docs_commands_test.py ACCSIM. A page's ```sh blocks run one after the other in a scratch
folder that sees configs/, models/, validation/ and docs/examples/; a ```yaml block is the file that
the text before it names; the lines of a ```text block must be in the output of the commands before
it."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = (
    "tutorial.md",
    "reading-a-report.md",
    "describing-a-chip.md",
    "trace.md",
    "annotate.md",
)
ACCSIM = None  # set by main


def blocks(text):
    """(language, what stands in it, the text before it) of the fenced blocks."""
    end = 0
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.M | re.S):
        yield found[1], found[2], text[end : found.start()]
        end = found.end()


def words(text):
    return " ".join(text.split())


class Commands(unittest.TestCase):
    def follow(self, page, folder):
        """Does what the page says; how many blocks were run."""
        (folder / "bin").mkdir()
        (folder / "bin" / "accsim").symlink_to(ACCSIM)
        work = folder / "work"
        (work / "docs").mkdir(parents=True)
        for name in ("configs", "models", "validation", "docs/examples"):
            (work / name).symlink_to(ROOT / name)
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        ran, printed = 0, ""
        for language, block, before in blocks((ROOT / "docs" / page).read_text("utf-8")):
            if language == "yaml":
                (work / re.findall(r"`([\w.-]+\.yaml)`", before)[-1]).write_text(block)
            elif language == "sh":
                done = subprocess.run(
                    ["bash", "-euc", block],
                    cwd=work,
                    capture_output=True,
                    encoding="utf-8",
                    env={**os.environ, "PATH": path, "COLUMNS": "120", "LC_ALL": "C.UTF-8"},
                    timeout=200,
                    check=False,
                )
                self.assertEqual((done.returncode, done.stderr), (0, ""), f"{page}:\n{block}")
                ran, printed = ran + 1, words(done.stdout)
            elif language == "text":
                for line in block.splitlines():
                    self.assertIn(words(line), printed, page)
        return ran

    def test_do_the_pages_commands_work(self):
        for page in PAGES:
            with self.subTest(page), tempfile.TemporaryDirectory() as folder:
                self.assertGreater(self.follow(page, pathlib.Path(folder)), 0)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ACCSIM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
