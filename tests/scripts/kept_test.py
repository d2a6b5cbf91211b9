#!/usr/bin/python3
"""Does scripts/kept run a command again exactly when its outcome could be another?"""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = """# what tests read
@core: rtl/*.sv
dear kept: @core sim/
  docs/**/*.md  # goes on
asks kept: rtl/ "says:hw rtl configs/*.yaml"
"""
FILES = {
    "tests/inputs.txt": TABLE,
    "rtl/a.sv": "module a;",
    "rtl/README.md": "the core",
    "sim/base/a.cpp": "int a;",
    "docs/page.md": "a page",
    "configs/8x8.yaml": "rows: 8",
    "build/accsim": '#!/bin/sh\necho "$0 says $*"\ncat answer\n',
    "answer": "8 rows",
    # Counts its runs outside of the tree.
    "check": '#!/bin/sh\necho ran >> "$RUNS"\n',
}


class Kept(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.root = self.tree("tree")
        self.runs = self.folder / "runs"

    def tree(self, name):
        root = self.folder / name
        for script in ("kept", "test_inputs.py"):
            (root / "scripts").mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "scripts" / script, root / "scripts" / script)
        for path, text in FILES.items():
            self.write(path, text, root)
        return root

    def write(self, name, text, root=None):
        path = (root or self.root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        if text.startswith("#!"):
            path.chmod(0o755)

    def kept(self, *words, root=None, **variables):
        environment = {
            k: v for k, v in os.environ.items() if k != "CI" and not k.startswith("ACCSIM_KEPT")
        }
        environment |= {"RUNS": str(self.runs), "ACCSIM_KEPT": str(self.folder / "passed")}
        return subprocess.run(
            [(root or self.root) / "scripts/kept", *map(str, words)],
            env={**environment, **variables},
            cwd=root or self.root,
            capture_output=True,
            text=True,
            check=False,
        )

    def did_run(self, *words, code=0, **options):
        """Whether the command ran; it must end with a code."""
        self.runs.unlink(missing_ok=True)
        done = self.kept(*words, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        ran = self.runs.exists()
        self.assertEqual("passed before with the same inputs" in done.stdout, not ran, done.stdout)
        return ran

    def test_is_what_passed_not_run_again(self):
        words = ("dear", "--", "./check")
        self.assertTrue(self.did_run(*words))
        self.assertFalse(self.did_run(*words))
        self.assertTrue(self.did_run(*words, ACCSIM_KEPT=""), "it is off")

    def test_is_it_known_without_a_run(self):
        words = ("dear", "--", "./check")
        self.assertEqual(self.kept("--ask", *words).returncode, 1)
        self.assertFalse(self.runs.exists())
        self.did_run(*words)
        self.assertEqual(self.kept("--ask", *words).returncode, 0)
        self.assertEqual(self.kept("--ask", *words, ACCSIM_KEPT="").returncode, 1)

    def test_does_a_copy_of_the_tree_know_it(self):
        copy = self.tree("copy")
        self.assertTrue(self.did_run("dear", "--", self.root / "check"))
        self.assertFalse(self.did_run("dear", "--", copy / "check", root=copy))

    def test_does_each_input_count(self):
        words = ("dear", "--inputs", "more/", "--", "./check", "answer")
        self.did_run(*words)
        for name, text in (
            ("rtl/a.sv", "module b;"),
            ("rtl/new.sv", ""),  # a pattern names it from now on
            ("sim/base/deep/b.cpp", ""),
            ("docs/far/below/b.md", ""),
            ("more/a.txt", ""),
            ("answer", "named by the command"),
            ("scripts/kept", (ROOT / "scripts/kept").read_text() + "# another\n"),
            (".venv/made_of", "another Python"),
        ):
            self.write(name, text)
            with self.subTest(name):
                self.assertTrue(self.did_run(*words))
                self.assertFalse(self.did_run(*words))
        (self.root / "rtl/new.sv").unlink()
        self.assertTrue(self.did_run("dear", "--inputs", "more/", "--", "./check", "other"))
        self.assertTrue(self.did_run(*words, CI="true"), "a variable that tests look at")

    def test_does_what_is_no_input_count_not(self):
        words = ("dear", "--", "./check")
        self.did_run(*words)
        for name in ("rtl/README.md", "sim/__pycache__/a.pyc", "sim/build/a.o", "configs/x.yaml"):
            self.write(name, "new")
            with self.subTest(name):
                self.assertFalse(self.did_run(*words))

    def test_do_names_and_places_of_files_count(self):
        words = ("dear", "--", "./check")
        self.did_run(*words)
        (self.root / "sim/base/a.cpp").rename(self.root / "sim/base/b.cpp")
        self.assertTrue(self.did_run(*words))

    def test_does_the_programs_answer_count_and_not_its_bytes(self):
        words = ("asks", "--accsim", self.root / "build/accsim", "--", "./check")
        self.did_run(*words)
        self.write("build/accsim", FILES["build/accsim"] + "# compiled anew\n")
        self.assertFalse(self.did_run(*words))
        self.write("answer", '8 rows\n"cycles_per_second": 1,\n')
        self.did_run(*words)
        self.write("answer", '8 rows\n"cycles_per_second": 2,\n')
        self.assertFalse(self.did_run(*words), "how fast it was is another thing each time")
        self.write("answer", "9 rows")
        self.assertTrue(self.did_run(*words))
        self.write("configs/9x9.yaml", "")
        self.assertTrue(self.did_run(*words), "one question more")
        self.assertNotEqual(self.kept("asks", "--", "./check").returncode, 0, "nobody to ask")

    def test_does_a_tools_version_count(self):
        words = ("dear", "--tool", "./tool", "--", "./check")
        self.assertTrue(self.did_run(*words), "it isn't there")
        for version in (1, 2):
            self.write("tool", f"#!/bin/sh\necho version {version}\n")
            self.assertTrue(self.did_run(*words))
            self.assertFalse(self.did_run(*words))

    def test_is_neither_failure_nor_skip_kept(self):
        for code in (1, 77):
            self.write("check", f'#!/bin/sh\necho ran >> "$RUNS"\nexit {code}\n')
            for _ in range(2):
                self.assertTrue(self.did_run("dear", "--", "./check", code=code))
        self.write("check", '#!/bin/sh\necho ran >> "$RUNS"\nkill -9 $$\n')
        self.assertTrue(self.did_run("dear", "--", "./check", code=137))
        self.assertEqual(list((self.folder).glob("passed/*")), [])

    def test_is_what_edits_its_inputs_not_kept(self):
        self.write("check", '#!/bin/sh\necho ran >> "$RUNS"\necho "// $$" >> sim/base/a.cpp\n')
        for _ in range(2):
            self.assertTrue(self.did_run("dear", "--", "./check"))
        self.assertEqual(list((self.folder).glob("passed/*")), [])

    def test_is_nothing_kept_of_what_has_no_input(self):
        for _ in range(2):
            self.assertTrue(self.did_run("unknown", "--", "sh", "-c", './check; : "a long word" 8'))

    def test_is_a_wrong_call_refused(self):
        for words in (["dear", "./check"], ["dear", "--"], ["--", "./check"]):
            self.assertEqual(self.kept(*words).returncode, 2, words)
        for line in ("dear: @unknown", "dear kept rtl/", "a: b\na: b", "a wrong: b"):
            self.write("tests/inputs.txt", line + "\n")
            done = self.kept("dear", "--", "./check")
            self.assertNotEqual(done.returncode, 0, line)
            self.assertIn("tests/inputs.txt:", done.stderr)


if __name__ == "__main__":
    unittest.main()
