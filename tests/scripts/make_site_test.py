#!/usr/bin/python3
"""Do the documents build as a site, and does scripts/make_site refuse what leads nowhere?

Exit code 77 (skipped) without mkdocs."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONFIG = "site_name: x\ntheme: {name: mkdocs, highlightjs: false}\nnav: [README.md]\n"


def make_site(*args):
    return subprocess.run(
        [ROOT / "scripts" / "make_site", *map(str, args)],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


class Site(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def small(self, text):
        """The site of a tree whose only page says this."""
        tree = self.dir / "tree"
        (tree / "docs").mkdir(parents=True)
        (tree / "docs" / "mkdocs.yml").write_text(CONFIG)
        (tree / "LICENSE").write_text("none\n")
        (tree / "README.md").write_text(f"# A page\n\n{text}\n")
        return make_site(self.dir / "site", tree)

    def test_do_the_documents_build(self):
        done = make_site(self.dir)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for page in ("", "docs/tutorial", "docs/options", "configs", "rtl", "CHANGELOG"):
            self.assertTrue((self.dir / page / "index.html").is_file(), page)
        self.assertTrue((self.dir / "docs" / "report.svg").is_file())

    def test_are_files_and_folders_linked(self):
        done = self.small("[licence](LICENSE), [documents](docs), `[no](link)`")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        page = (self.dir / "site" / "index.html").read_text()
        self.assertIn('href="LICENSE.txt"', page)
        self.assertTrue((self.dir / "site" / "LICENSE.txt").is_file())

    def test_is_a_link_to_nowhere_refused(self):
        done = self.small("[gone](docs/gone.md)")
        self.assertEqual(done.returncode, 1)
        self.assertIn("docs/gone.md", done.stderr)

    def test_is_a_picture_from_elsewhere_refused(self):
        done = self.small("![badge](https://example.org/badge.svg)")
        self.assertEqual(done.returncode, 1)
        self.assertIn("https://example.org/badge.svg", done.stderr)


if __name__ == "__main__":
    if not shutil.which("mkdocs"):
        print("skipped: mkdocs isn't installed", file=sys.stderr)
        sys.exit(77)
    sys.exit(unittest.main())
