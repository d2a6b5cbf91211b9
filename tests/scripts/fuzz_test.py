#!/usr/bin/python3
"""Does scripts/fuzz tell a finding from none, and leave nothing behind? Over scripted targets."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOOD = """echo '#2\tDONE   cov: 1234 ft: 5678'
echo 'stat::number_of_executed_units: 4321'
echo 'stat::new_units_added:          7'
"""
BAD = """for word; do case $word in -artifact_prefix=*) to=${word#*=} ;; esac; done
echo "accsim: internal error: bad input (x.cpp:1)"; echo bad > "${to}crash-1"
touch "$TMPDIR/left"; exit 77
"""

KEEPS = """if [[ $* == *-merge=1* ]]; then
  echo "merges ${@: -2:1}: $(ls "${@: -1}")"; exit
fi
to=build/fuzz/corpus/one; echo small > $to/small; head -c 5000 /dev/zero > $to/large
"""


class Fuzz(unittest.TestCase):
    def fuzz(self, *words, setup="true", cmake="true", **targets):
        """scripts/fuzz in a tree whose targets, `one` and `two`, are scripted."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "tree")
            parts = {"scripts/setup": setup, "bin/cmake": cmake}
            for name, text in {"one": GOOD, "two": GOOD, "broken": BAD, **targets}.items():
                parts[f"build/fuzz/tests/fuzz_{name}"] = text
                (root / "tests/fuzz/corpus" / name).mkdir(parents=True)
            for name, text in parts.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(f"#!/bin/bash\n{text}\n")
                (root / name).chmod(0o755)
            shutil.copy(ROOT / "scripts/fuzz", root / "scripts/fuzz")
            (root / "tmp").mkdir()
            path = f"{root}/bin:{os.environ['PATH']}"
            done = subprocess.run(
                [root / "scripts/fuzz", *words],
                check=False,
                capture_output=True,
                text=True,
                timeout=60,
                env={**os.environ, "PATH": path, "TMPDIR": str(root / "tmp")},
            )
            self.assertEqual(list((root / "tmp").iterdir()), [], "its own folder is left")
            return done

    def test_does_a_clean_run_say_what_it_did(self):
        done = self.fuzz("one", "0.1", "--seed", "5")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("4,321 executions, coverage 1,234, 7 new inputs, nothing found", done.stdout)
        self.assertIn("seed 5:", done.stdout)

    def test_is_a_finding_told_with_what_repeats_it(self):
        for words in (("one", "0.1"), ("all", "1")):
            done = self.fuzz(*words, one=BAD)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(
                "again: build/fuzz/tests/fuzz_one build/fuzz/found/one/crash", done.stdout
            )

    def test_is_a_target_that_ends_without_an_input_a_finding(self):
        self.assertEqual(self.fuzz("all", "1", two="exit 1").returncode, 1)

    def test_do_all_targets_run_but_the_broken_one(self):
        done = self.fuzz("all", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual([line.split()[0] for line in done.stdout.splitlines()], ["one", "two"])

    def test_does_it_fail_where_no_finding_would_be_seen(self):
        done = self.fuzz("all", "1", broken=GOOD)
        self.assertEqual(done.returncode, 1)
        self.assertIn("a finding isn't seen", done.stderr)

    def test_does_keep_merge_small_inputs_into_the_tree(self):
        done = self.fuzz("one", "0.1", "--keep", one=KEEPS + GOOD)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"merges \S*/tests/fuzz/corpus/one: small\n")

    def test_do_several_processes_have_seeds_of_their_own(self):
        done = self.fuzz("one", "0.1", "--jobs", "2", "--seed", "8")
        self.assertIn("seed 8:", done.stdout)
        self.assertIn("seed 9:", done.stdout)

    def test_does_it_refuse_what_it_can_not_do(self):
        self.assertEqual(self.fuzz("three", "1").returncode, 2)
        self.assertEqual(self.fuzz("one", "0").returncode, 2)
        self.assertEqual(self.fuzz("one", "1", setup="exit 1").returncode, 2)
        self.assertEqual(self.fuzz("all", "1", cmake="exit 1").returncode, 2)


if __name__ == "__main__":
    unittest.main()
