#!/usr/bin/python3
"""Does tests/inputs.txt tell of every test, and of nothing that isn't there?

Usage: inputs_test.py CTEST BUILD_FOLDER [unittest arguments]."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import test_inputs  # noqa: E402

CTEST = BUILD = None  # set by main


def names():
    """Of every test of the build folder that isn't one of a GoogleTest program; and of those."""
    listed = subprocess.run(
        [CTEST, "--test-dir", BUILD, "--show-only=json-v1"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    tests = {test["name"] for test in json.loads(listed)["tests"]}
    return {name for name in tests if "." not in name and not name.endswith("_NOT_BUILT")}


def problems(rows, tests, folders, there):
    """What the table lacks or has too much; `there` says whether a pattern names a file."""
    out = [f"{name}: no line" for name in sorted(tests - set(rows) - folders)]
    for name, row in sorted(rows.items()):
        if name not in tests | folders:
            out.append(f"{name}: no such test")
        out += [
            f"{name}: {pattern} names nothing" for pattern in row.patterns if not there(pattern)
        ]
        if "kept" in row.marks and not row.patterns:
            out.append(f"{name}: kept by nothing")
        if row.questions and "kept" not in row.marks:
            out.append(f"{name}: questions are for what is kept")
    return out


def folders():
    """Programs of tests/hw and tests/sim, by the rule of tests/CMakeLists.txt."""
    tops = (ROOT / "tests" / top for top in ("hw", "sim"))
    return {f"{top.name}_{f.name}_test" for top in tops for f in top.iterdir() if f.is_dir()}


def there(pattern):
    return bool(test_inputs.files_of(ROOT, pattern))


def may_be_absent(rows):
    """Lines of tests that tests/CMakeLists.txt has where no tool is missing, without sanitizers."""
    lists = (ROOT / "tests" / name / "CMakeLists.txt" for name in (".", "fuzz", "oracle"))
    words = set(re.findall(r"\w+", "".join(path.read_text() for path in lists)))
    return {name for name in rows if {name, name.removeprefix("rtl_")} & words}


class Inputs(unittest.TestCase):
    def test_has_every_test_a_line_and_is_every_path_there(self):
        rows = test_inputs.read_table()
        found = problems(rows, names() | may_be_absent(rows), folders(), there)
        self.assertEqual(found, [])

    def test_are_the_costs_of_tests(self):
        known = set(test_inputs.read_table()) | folders()
        lines = (ROOT / "tests/costs.txt").read_text().splitlines()
        for line in lines:
            if line.startswith("#"):
                continue
            name, seconds = line.split()
            self.assertGreater(float(seconds), 0)
            if "." not in name:
                self.assertIn(name, known)

    def table(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / test_inputs.TABLE
            path.parent.mkdir()
            path.write_text(text)
            return test_inputs.read_table(pathlib.Path(folder))

    def test_is_a_wrong_line_named(self):
        good = "a_test: README.md\nb_test kept: scripts/kept\n"
        tests = {"a_test", "b_test"}
        self.assertEqual(problems(self.table(good), tests, set(), there), [])
        for text, said in (
            ("a_test: README.md\n", "b_test: no line"),
            (good + "c_test: README.md\n", "c_test: no such test"),
            (good.replace("README", "NOWHERE"), "a_test: NOWHERE.md names nothing"),
            (good.replace("scripts/kept", ""), "b_test: kept by nothing"),
            (good.replace("README.md", 'README.md "says:hw"'), "a_test: questions are for"),
        ):
            with self.subTest(text):
                found = problems(self.table(text), tests, set(), there)
                self.assertEqual(len(found), 1, found)
                self.assertIn(said, found[0])

    def test_do_patterns_match_what_they_name(self):
        for pattern, path, matched in (
            ("sim/", "sim/cost/cost.cpp", True),
            ("sim/", "simple/a.cpp", False),
            ("rtl/*.sv", "rtl/core.sv", True),
            ("rtl/*.sv", "rtl/sva/core.sv", False),
            ("tests/**/*.h", "tests/support/index.h", True),
            ("**/*.md", "README.md", True),
            ("**/*.md", "docs/decisions/a.md", True),
            ("README.md", "READMEXmd", False),
            ("scripts/lint_*", "scripts/lint_tidy", True),
        ):
            with self.subTest(f"{pattern} {path}"):
                self.assertEqual(test_inputs.matches(pattern, path), matched)
        for pattern in ("rtl/*.sv", "scripts/lint_*", "**/*.md", "configs/"):
            for path in test_inputs.files_of(ROOT, pattern):
                self.assertTrue(test_inputs.matches(pattern, str(path.relative_to(ROOT))), path)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    CTEST, BUILD = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
