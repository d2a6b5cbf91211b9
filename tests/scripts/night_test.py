#!/usr/bin/python3
"""Do scripts/test --asan and --tsan build and run what they say, does scripts/coverage count what
gcovr says, and does scripts/night run all and say how it went? Over scripted tools."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOG = 'echo "${0##*/} $* $TSAN_OPTIONS" >> "$LOG"\n'
COUNTS = {
    "files": [
        {"filename": "sim/a.cpp", "line_covered": 30, "line_total": 40},
        {"filename": "hw/b.cpp", "line_covered": 60, "line_total": 60},
    ]
}
GCOVR = f"""while [ $# -gt 1 ]; do
  [ "$1" = --json-summary ] && printf '%s' '{json.dumps(COUNTS)}' > "$2"
  shift
done
"""


class Night(unittest.TestCase):
    def run_script(self, name, *words, without=(), **tools):
        """A script in a tree whose tools are scripted; what they were called with."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "scripts").mkdir()
            shutil.copy(ROOT / "scripts" / name, root / "scripts" / name)
            parts = {"scripts/setup": "", "bin/cmake": "", "bin/ctest": "", "bin/gcovr": GCOVR}
            for part, text in {**parts, **{f"bin/{k}": v for k, v in tools.items()}}.items():
                if part in without:
                    continue
                (root / part).parent.mkdir(exist_ok=True)
                (root / part).write_text(f"#!/bin/bash\n{LOG}{text}\n")
                (root / part).chmod(0o755)
            python = shutil.which("python3", path="/usr/bin")
            done = subprocess.run(
                [*([python] if name == "coverage" else []), root / "scripts" / name, *words],
                check=False,
                capture_output=True,
                text=True,
                timeout=60,
                env={
                    # scripts/coverage needs nothing else, and an installed gcovr isn't seen.
                    "PATH": f"{root}/bin" + (":/usr/bin:/bin" if name == "test" else ""),
                    "LOG": str(root / "log"),
                    "HOME": os.environ.get("HOME", "/"),
                },
            )
            log = root / "log"
            return done, log.read_text().splitlines() if log.exists() else []

    def test_is_asan_every_test_of_its_preset(self):
        done, log = self.run_script("test", "--asan", "-R", "sim_map")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            [line.strip() for line in log[1:]],
            [
                "cmake --preset asan -Wno-dev --log-level=WARNING",
                "cmake --build --preset asan",
                "ctest --preset asan -j2 -R sim_map",
            ],
        )

    def test_is_tsan_what_has_threads_and_does_a_race_fail_it(self):
        done, log = self.run_script("test", "--tsan")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("cmake --build --preset tsan halt_on_error=1 exitcode=66", log[2])
        self.assertTrue(log[3].startswith("ctest --preset tsan -j2 -L tsan halt_on_error=1"), log)

    def test_do_other_arguments_still_go_to_ctest(self):
        _, log = self.run_script("test", "-R", "sim_map")
        self.assertEqual(log[-1].strip(), "ctest --preset dev -j2 -R sim_map")
        done, _ = self.run_script("test", "--asan", ctest="exit 8")
        self.assertEqual(done.returncode, 8)

    def test_is_the_lowest_first_and_all_of_them_last(self):
        done, log = self.run_script("coverage", "--report")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(
            lines[0].split(), ["75.0", "%", "10", "of", "40", "not", "run", "sim/a.cpp"]
        )
        self.assertEqual(
            lines[1].split(), ["100.0", "%", "0", "of", "60", "not", "run", "hw/b.cpp"]
        )
        self.assertEqual(lines[2].split()[:6], ["90.0", "%", "10", "of", "100", "not"])
        self.assertEqual(len(log), 1, "a report builds nothing")

    def test_is_too_little_an_error(self):
        self.assertEqual(self.run_script("coverage", "--report", "--least", "90")[0].returncode, 0)
        self.assertEqual(self.run_script("coverage", "--report", "--least", "91")[0].returncode, 1)
        self.assertEqual(self.run_script("coverage", cmake="exit 1")[0].returncode, 2)
        self.assertEqual(self.run_script("coverage", without=("bin/gcovr",))[0].returncode, 77)

    def test_does_it_run_what_it_is_told(self):
        _, log = self.run_script("coverage", "-R", "sim_map")
        self.assertTrue(any("-R sim_map" in line for line in log if line.startswith("ctest")))
        _, log = self.run_script("coverage")
        self.assertTrue(any("-L fast" in line for line in log if line.startswith("ctest")))


class Steps(unittest.TestCase):
    """Of scripts/night, whose commands are scripted: `true` unless a test has another."""

    def night(self, *words, ci="", **commands):
        """What it says and does; the commands of some steps."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "scripts").mkdir()
            text = (ROOT / "scripts/night").read_text()
            start = text.index("def run(name, command, seed):")
            scripted = f"COMMANDS = {commands!r}\n"
            scripted += "STEPS = [(s[0], COMMANDS.get(s[0], 'true'), *s[2:]) for s in STEPS]\n\n\n"
            (root / "scripts/night").write_text(text[:start] + scripted + text[start:])
            done = subprocess.run(
                [shutil.which("python3", path="/usr/bin"), root / "scripts/night", *words],
                check=False,
                capture_output=True,
                text=True,
                timeout=60,
                env={**os.environ, "CI": ci, "ACCSIM_KEPT": "/somewhere"},
            )
            logs = {path.stem: path.read_text() for path in root.glob("build/night/*.log")}
            return done, logs

    def test_do_all_steps_run_though_one_fails(self):
        done, logs = self.night(asan="echo found a leak; exit 8", tsan="echo skipped; exit 77")
        self.assertEqual(done.returncode, 1, done.stderr)
        names = [line.split()[0] for line in self.night("--list")[0].stdout.splitlines()]
        self.assertGreater(len(names), 8)
        self.assertEqual(set(logs), set(names))
        self.assertEqual(logs["asan"], "found a leak\n")
        self.assertIn("night: asan: FAILED with 8 (", done.stdout)
        self.assertIn("night: failed: asan; couldn't run: tsan", done.stdout.splitlines()[-1])

    def test_do_named_ones_run_alone_with_the_seed(self):
        done, logs = self.night("fuzz", "--seed", "12", fuzz='echo "{seed} ${ACCSIM_KEPT-none}"')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(logs, {"fuzz": "12 none\n"})
        self.assertEqual(done.stdout.splitlines()[-1], "night: all passed (seed 12)")
        self.assertEqual(self.night("fuzzing")[0].returncode, 2)

    def test_is_what_cannot_run_told_and_wrong_in_continuous_integration(self):
        done, _ = self.night("tsan", tsan="exit 77")
        self.assertEqual(done.returncode, 0)
        self.assertIn("couldn't run: tsan", done.stdout)
        self.assertEqual(self.night("tsan", ci="true", tsan="exit 77")[0].returncode, 1)

    def test_does_the_page_have_the_table(self):
        table = subprocess.run(
            [ROOT / "scripts/night", "--table"], check=True, capture_output=True, text=True
        ).stdout
        page = (ROOT / "tests/README.md").read_text()
        self.assertIn(f"\n\n{table}\n", page, "scripts/night --table has what is to stand there")

    def test_are_the_commands_there(self):
        table = self.night("--table")[0].stdout
        self.assertIn("| `true` |", table)
        text = (ROOT / "scripts/night").read_text()
        found = set(re.findall(r"(?:scripts|tests/mutation)/[a-z_]+(?:\.py)?", text))
        self.assertGreater(len(found), 6)
        for name in found - {"tests/mutation/mutants"}:
            self.assertTrue((ROOT / name).is_file(), name)


if __name__ == "__main__":
    unittest.main()
