#!/usr/bin/python3
"""Does .ci/run fail when a part of it does, and end in ctest's summary? Over scripted parts."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUMMARY = """100% tests passed, 0 tests failed out of 7

Total Test time (real) =   1.00 sec
"""
GOOD = {
    "hw/source.cpp": "",
    "build/dev/module/compile_commands.json": "",
    "scripts/setup": "true",
    "scripts/lint": "true",
    "scripts/lint_tidy": "true",
    "scripts/check_types": "true",
    "scripts/check_sizes": "true",
    "scripts/check_includes": "true",
    "scripts/check_recursion": "true",
    "tests/docs_test.py": "true",
    "tests/web/bundle_test.py": "true",
    "scripts/fuzz": "true",
    "scripts/test": f"echo 1/7 Test; cat << 'END'\n{SUMMARY}END",
    "bin/renice": "true",  # a busy machine would make the test wait
    "bin/cmake": "true",
    "bin/ctest": "echo '100% tests passed, 0 tests failed out of 3'",
    "bin/ccache": "echo /cache",
}
COPIED = (".ci/run", "scripts/check_leftovers", "scripts/kept", "scripts/test_inputs.py")


class CiRun(unittest.TestCase):
    def ci(self, seconds=0, times=1, **parts):
        """.ci/run in a tree whose parts are scripted, as if it had run for some seconds, perhaps
        several times; `scripts_test` stands for scripts/test."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name in COPIED:
                (root / name).parent.mkdir(exist_ok=True)
                shutil.copy(ROOT / name, root / name)
            for name, text in {
                **GOOD,
                **{k.replace("_", "/", 1): v for k, v in parts.items()},
            }.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(f"#!/bin/bash\n{text}\n")
                (root / name).chmod(0o755)
            environment = {**os.environ, "PATH": f"{root}/bin:{os.environ['PATH']}"}
            environment["SECONDS"] = str(seconds)
            environment |= {"TMPDIR": folder, "XDG_CACHE_HOME": f"{folder}/cache"}
            for _ in range(times):
                done = subprocess.run(
                    [root / ".ci/run"],
                    check=False,
                    capture_output=True,
                    text=True,
                    timeout=200,
                    env=environment,
                    stdin=subprocess.PIPE,
                )
            self.assertEqual(list(root.glob("ci.*")), [], "its own folder is left")
            return done

    def test_does_it_end_in_the_summary_of_scripts_test(self):
        done = self.ci()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(done.stdout.endswith(SUMMARY), done.stdout)

    def test_does_each_part_fail_it_and_do_the_others_still_run(self):
        done = self.ci(scripts_lint="exit 1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("== failed: lint\n", done.stdout)
        self.assertTrue(done.stdout.endswith(SUMMARY), done.stdout)
        for part in ("bin_ctest", "bin_cmake"):
            with self.subTest(part=part):
                done = self.ci(**{part: "exit 1"})
                self.assertEqual(done.returncode, 1)
                self.assertIn("== failed: sanitizers\n", done.stdout)
                self.assertTrue(done.stdout.endswith(SUMMARY), done.stdout)
        done = self.ci(scripts_fuzz="exit 1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("== failed: fuzz\n", done.stdout)
        done = self.ci(scripts_test="echo '86% tests passed, 1 tests failed out of 7'; exit 8")
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stdout.endswith("\n86% tests passed, 1 tests failed out of 7\n"))

    def test_is_a_failure_said_when_it_happens(self):
        done = self.ci(scripts_lint="echo too long; exit 1")
        self.assertRegex(done.stdout, r"== lint\ntoo long\n== FAILED: lint\n(.*\n)*== everything")
        for script, name in (
            ("scripts/check_types", "names, documents"),
            ("scripts/check_sizes", "names, documents"),
            ("scripts/check_includes", "names, documents"),
            ("tests/docs_test.py", "names, documents"),
            ("tests/web/bundle_test.py", "names, documents"),
            ("scripts/lint_tidy", "clang-tidy"),
        ):
            with self.subTest(script):
                done = self.ci(**{script.replace("/", "_", 1): "echo not so; exit 1"})
                self.assertIn(f"not so\n== FAILED: {name}\n", done.stdout)
        lines = (
            "1/7 Test  #1: Good.One ...   Passed 0.1 sec",
            "2/7 Test #20: Bad.One ...***Failed 1 sec",
        )
        lines += ("3/7 Test  #3: dear_test ....***Skipped 1 sec",)
        out = self.ci(scripts_test="\n".join(f"echo '{line}'" for line in lines)).stdout
        self.assertIn(f"{lines[1]}\n== FAILED: Bad.One\n{lines[2]}\n", out)
        self.assertEqual(out.count("FAILED:"), 1)

    def test_are_the_last_words_of_what_failed_told_again_in_the_end(self):
        lines = ["      Start  1: Bad.One", " 1/2 Test  #1: Bad.One ...***Failed  1 sec"]
        lines += [f"word {i}" for i in range(30)]
        lines += ["      Start  2: Good.Two", " 2/2 Test  #2: Good.Two ...   Passed  1 sec"]
        lines += ["50% tests passed, 1 tests failed out of 2"]
        text = "\n".join(lines)
        done = self.ci(scripts_test=f"echo '{text}'; exit 8")
        words = "\n".join(["== last words of Bad.One", *lines[12:32], "== failed: everything"])
        self.assertIn(words + "\n", done.stdout)

    def test_does_what_passed_before_not_run_again_and_is_it_said(self):
        parts = {"scripts_test": f'echo a_test >> "$ACCSIM_KEPT_SAID"; {GOOD["scripts/test"]}'}
        for times, fuzzing in (
            (1, "echo fuzzing"),
            (2, "echo fuzzing"),
            (2, "echo fuzzing; exit 1"),
        ):
            with self.subTest(times=times, fuzzing=fuzzing):
                done = self.ci(times=times, scripts_fuzz=fuzzing, **parts)
                again = times == 1 or "exit" in fuzzing
                self.assertEqual("fuzzing\n" in done.stdout, again, done.stdout)
                for name in ("tidy", "sanitizers"):
                    kept = f"kept: {name}: passed before with the same inputs"
                    self.assertEqual(kept in done.stdout, times == 2, done.stdout)
                names = ["a_test", "tidy", "sanitizers", "fuzz"][: 4 if times == 2 else 1]
                if "exit" in fuzzing:
                    names.pop()
                count = f"{len(names)} steps and tests have passed before with the same inputs"
                self.assertIn(f"== {count}: {' '.join(names)}\n", done.stdout)
                self.assertTrue(done.stdout.endswith(SUMMARY), done.stdout)

    def test_does_what_the_night_has_too_end_when_time_is_short(self):
        late = 75 * 60
        waits = 'touch "$TMPDIR/left"; sleep 50'
        for seconds, part in ((late, "exit 1"), (late - 3, waits)):
            with self.subTest(seconds=seconds):
                done = self.ci(seconds=seconds, scripts_fuzz="exit 1", bin_ctest=part)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertEqual(done.stdout.count("== not finished: 75 minutes have gone\n"), 2)
                self.assertTrue(done.stdout.endswith(SUMMARY), done.stdout)
        self.assertEqual(self.ci(seconds=late, scripts_lint="exit 1").returncode, 1)
        left = self.ci(seconds=late, scripts_test=f'touch "$TMPDIR/left"; {GOOD["scripts/test"]}')
        self.assertIn("== failed: nothing left behind\n", left.stdout)
        left = self.ci(scripts_fuzz='touch "$TMPDIR/left"')
        self.assertIn("== failed: nothing left behind\n", left.stdout)
        self.assertNotIn("not finished", self.ci().stdout)

    def test_are_home_and_temporary_folder_empty_and_watched(self):
        done = self.ci(
            scripts_test=f'ls -A "$HOME" "$TMPDIR"; touch "$TMPDIR/left"; {GOOD["scripts/test"]}'
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn("== failed: nothing left behind\n", done.stdout)
        self.assertIn("/home:\n\n", done.stdout)
        self.assertIn("/tmp/left", done.stderr)
        self.assertTrue(done.stdout.endswith(SUMMARY), done.stdout)
        cached = self.ci(
            scripts_test=f"mkdir -p ~/.cache/x; touch ~/.cache/x/y; {GOOD['scripts/test']}"
        )
        self.assertEqual(cached.returncode, 0, cached.stderr)

    def test_is_there_no_input_and_are_caches_kept(self):
        done = self.ci(scripts_test=f'cat; echo "$CI $CCACHE_DIR"; {GOOD["scripts/test"]}')
        self.assertIn("true /cache\n", done.stdout)


if __name__ == "__main__":
    unittest.main()
