#!/usr/bin/python3
"""Does scripts/setup install the groups that it is asked for, and scripts/demo no more than the
build needs? Over scripted tools."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LOG = 'echo "${0##*/} $*" >> "$LOG"\n'
PACKAGES = """# what compiles
[build]
g++     # a comment

libfmt-dev
[verify]
verilator
[tests]
nodejs
npm
chromium
"""
DPKG_QUERY = 'for name in $INSTALLED; do echo "$name installed"; done; exit 1'
TOOLS = ("bash", "sed", "awk", "grep", "cat", "dirname", "cmp", "cp", "env", "mkdir")


class Setup(unittest.TestCase):
    def run_script(self, *words, name="setup", installed="", packages=PACKAGES, **tools):
        """A script in a tree whose tools are scripted; what they were called with, in order."""
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            parts = {
                "bin/dpkg-query": DPKG_QUERY,
                "bin/apt-get": "",
                "bin/sudo": '[ "$1" = env ] && shift 2; exec "$@"',
                "bin/npm": "mkdir -p node_modules",
                "bin/node": "",
                "bin/python3": "",
                **{f"bin/{tool}": text for tool, text in tools.items()},
            }
            (root / "scripts").mkdir()
            (root / "bin").mkdir()
            for script in ("setup", "demo"):
                shutil.copy(ROOT / "scripts" / script, root / "scripts" / script)
            (root / "scripts/packages.txt").write_text(packages)
            for tool in ("tests/onnxruntime", "web", "tests/web"):
                (root / tool).mkdir(parents=True)
                (root / tool / "package-lock.json").write_text("{}")
            for part, text in parts.items():
                if text is not None:
                    (root / part).write_text(f"#!/bin/bash\n{LOG}{text}\n")
                    (root / part).chmod(0o755)
            for tool in TOOLS:
                if not (root / "bin" / tool).exists():
                    (root / "bin" / tool).symlink_to(shutil.which(tool, path="/usr/bin:/bin"))
            done = subprocess.run(
                [root / "scripts" / name, *words],
                check=False,
                capture_output=True,
                text=True,
                timeout=60,
                cwd=root,
                env={
                    "PATH": f"{root}/bin",
                    "LOG": str(root / "log"),
                    "HOME": folder,
                    "INSTALLED": installed,
                },
            )
            log = root / "log"
            return done, log.read_text().splitlines() if log.exists() else []

    def asked_for(self, log):
        """The packages that apt-get was told to install."""
        words = [line for line in log if line.startswith("apt-get install")]
        return [word for word in " ".join(words).split()[2:] if not word.startswith("-")]

    def test_is_a_group_installed_and_no_other(self):
        done, log = self.run_script("build")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.asked_for(log), ["g++", "libfmt-dev"])
        done, log = self.run_script("build", "verify")
        self.assertEqual(self.asked_for(log), ["g++", "libfmt-dev", "verilator"])

    def test_does_a_group_leave_npm_and_python_alone(self):
        for words in (["build"], ["tests"]):
            _, log = self.run_script(*words)
            self.assertEqual([line for line in log if line.startswith(("npm", "python3"))], [])

    def test_is_nothing_missing_nothing_to_do(self):
        done, log = self.run_script("build", installed="g++ libfmt-dev")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual([line for line in log if not line.startswith("dpkg-query")], [])

    def test_is_everything_all_groups_and_npm(self):
        for words in ([], ["all"]):
            done, log = self.run_script(*words)
            self.assertIn("installing ONNX Runtime", done.stdout, done.stderr)
            # Its node and npm are there, and not Debian's.
            self.assertEqual(self.asked_for(log), ["g++", "libfmt-dev", "verilator", "chromium"])
            self.assertEqual(len([line for line in log if line.startswith("npm ci")]), 3)

    def test_is_a_group_that_is_not_there_an_error(self):
        for words in (["biuld"], [""], ["build", "all"], ["build verify"]):
            done, log = self.run_script(*words)
            self.assertEqual((done.returncode, log), (1, []), words)
            self.assertIn(f"there is no group '{words[-1]}'", done.stderr)
            self.assertIn("all build verify tests", done.stderr)

    def test_is_a_failed_installation_an_error(self):
        done, _ = self.run_script("build", **{"apt-get": '[ "$1" != install ]'})
        self.assertEqual(done.returncode, 1)
        self.assertIn("still missing some of: g++ libfmt-dev", done.stderr)

    def test_does_the_demo_take_the_build_group_alone(self):
        # It ends where the program would be run, which isn't built here.
        done, log = self.run_script(name="demo", cmake="")
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(self.asked_for(log), ["g++", "libfmt-dev"])
        self.assertEqual([line for line in log if line.startswith(("npm", "python3"))], [])
        self.assertEqual(log[-1], "cmake --build --preset release --target accsim")

    def test_has_the_real_list_what_scripts_ask_for(self):
        text = (ROOT / "scripts/packages.txt").read_text()
        for group in ("build", "verify"):
            with self.subTest(group=group):
                done, log = self.run_script(group, packages=text)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(self.asked_for(log))
        _, log = self.run_script("build", packages=text)
        for no in ("npm", "chromium", "slurm-wlm", "mkdocs", "clang-14", "verilator", "python3"):
            self.assertNotIn(no, self.asked_for(log))


if __name__ == "__main__":
    unittest.main()
