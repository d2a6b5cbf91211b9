#!/usr/bin/python3
"""Do the pictures of the documents show what the program says now, and is an old one seen?

Usage: pictures_test.py ACCSIM. No browser is needed: scripts/make_pictures says how."""

import importlib.machinery
import importlib.util
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "make_pictures"
ACCSIM = None  # set by main

sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("make_pictures", str(SCRIPT))
maker = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_pictures", loader))
loader.exec_module(maker)


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.pages = pathlib.Path(folder.name)
        cls.svg = maker.make_pages(ACCSIM, cls.pages)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.docs = pathlib.Path(folder.name)
        for name in (maker.TERMINAL, maker.MANIFEST, *maker.PICTURES):
            shutil.copy(ROOT / "docs" / name, self.docs)

    def stale(self, pages=None, svg=None):
        return maker.stale(pages or self.pages, self.docs, svg or self.svg)

    def other_pages(self, changes):
        """The pages with other texts in them."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for page in set(maker.PICTURES.values()):
            text = (self.pages / page).read_text("utf-8")
            for was, now in changes.items():
                text = text.replace(was, now)
            (pathlib.Path(folder.name) / page).write_text(text, "utf-8")
        return pathlib.Path(folder.name)

    def test_do_the_pictures_show_what_the_program_says(self):
        self.assertEqual(self.stale(), [], maker.MEND)

    def test_are_pictures_of_other_figures_old(self):
        words = ["--hw", ROOT / maker.MACHINE, ROOT / maker.MODEL, "-q", "--json", "-"]
        report = json.loads(subprocess.check_output([ACCSIM, *words]))
        total, layer = report["totals"]["cycles"], report["layers"][0]["cycles"]
        self.assertIn(f"{total:,}", self.svg)
        changes = {
            f"{total:,}": f"{total + 1:,}",
            f'"cycles":{layer},': f'"cycles":{layer + 1},',
        }
        self.assertEqual(
            self.stale(self.other_pages(changes), self.svg.replace(f"{total:,}", f"{total + 1:,}")),
            [
                "report.svg is old: the report says something else now",
                "page-report.png is old: its page shows something else now",
                "page-layer.png is old: its page shows something else now",
                "page-compare.png is old: its page shows something else now",
            ],
        )

    def test_are_pictures_of_another_script_old(self):
        self.assertEqual(len(self.stale(self.other_pages({"<script": "<script "}))), 4)

    def test_is_another_version_no_reason(self):
        self.assertEqual(self.stale(self.other_pages({'"version":"': '"version":"9.9.9-'})), [])

    def test_is_a_picture_that_was_put_there_by_hand_seen(self):
        (self.docs / "page-sweep.png").write_bytes((self.docs / "page-layer.png").read_bytes())
        written = json.loads((self.docs / maker.MANIFEST).read_text())
        del written["page-layer.png"]["camera"]
        written["page-other.png"] = {}
        (self.docs / maker.MANIFEST).write_text(json.dumps(written))
        self.assertEqual(
            self.stale(),
            [
                "page-layer.png is old: tests/web/pictures.js takes it otherwise now",
                "page-sweep.png is old: it isn't the picture that pictures.json is of",
                "pictures.json has page-other.png, which is no picture",
            ],
        )

    def test_does_the_command_name_what_is_old_and_what_mends_it(self):
        (self.docs / "page-compare.png").unlink()
        done = subprocess.run(
            [SCRIPT, ACCSIM, "--check", "--docs", self.docs],
            capture_output=True,
            encoding="utf-8",
            timeout=250,
            check=False,
        )
        self.assertEqual((done.returncode, done.stderr), (1, ""))
        self.assertEqual(
            done.stdout.splitlines(),
            [
                "FAILED: docs/page-compare.png isn't there",
                f"{maker.MEND}, and look at the pictures",
            ],
        )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ACCSIM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
