#!/usr/bin/env python3
"""Does scripts/rtl_filelist list the core's files for every tool, as the tools that are here read
them?"""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "rtl_filelist"
FORMATS = ("f", "vcs", "xrun", "questa", "vivado-tcl", "yosys")
SYNTHESIS = ("vivado-tcl", "yosys")
# slang writes past Python's streams, so it runs in a process of its own.
SLANG = """
import sys
from pyslang import driver
run = driver.Driver()
run.addStandardArgs()
good = run.parseCommandLine(sys.argv[1], driver.CommandLineOptions())
sys.exit(0 if good and run.processOptions() and run.parseAllSources() and
         run.runFullCompilation(True) else 1)
"""


def listed(*lists):
    """Paths that rtl/'s own lists name, less Verilator's waivers."""
    names = [name for file in lists for name in (ROOT / "rtl" / file).read_text().split()]
    return [str(ROOT / "rtl" / name) for name in names if not name.endswith(".vlt")]


def write(*args, cwd=None):
    done = subprocess.run(
        [SCRIPT, *map(str, args)], capture_output=True, text=True, check=False, cwd=cwd
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(text):
    return re.findall(r"[^\s\"{}]+\.sv(?![\w.])", text)


class Filelist(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def test_every_format_has_the_same_files_in_their_order(self):
        chip, all_files = listed("accsim.f"), listed("accsim.f", "accsim_sva.f")
        self.assertGreater(len(all_files), len(chip))
        for name in FORMATS:
            with self.subTest(format=name):
                self.assertEqual(files(write("--format", name)), chip)
                if name not in SYNTHESIS:
                    self.assertEqual(files(write("--format", name, "--assertions")), all_files)

    def test_paths_can_be_relative(self):
        there = self.dir / "a" / "b"
        there.mkdir(parents=True)
        names = files(write("--relative-to", there))
        self.assertFalse(any(name.startswith("/") for name in names))
        self.assertEqual([os.path.realpath(there / name) for name in names], listed("accsim.f"))

    def test_synthesis_reads_no_assertions(self):
        for name in SYNTHESIS:
            done = subprocess.run(
                [SCRIPT, "--assertions", "--format", name],
                capture_output=True,
                text=True,
                check=False,
            )
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"--assertions: {name} reads files of synthesis only", done.stderr)

    def test_a_folder_without_a_core_is_named(self):
        done = subprocess.run(
            [SCRIPT, "--rtl", self.dir], capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(self.dir / "accsim.f"), done.stderr)

    def list_in_a_folder_with_blanks(self):
        """A copy of rtl/ under a path with a blank, and its list."""
        rtl = self.dir / "my core" / "rtl"
        shutil.copytree(ROOT / "rtl", rtl)
        path = self.dir / "core.f"
        write("--rtl", rtl, "--assertions", "-o", path)
        return path

    @unittest.skipUnless(shutil.which("verilator"), "there is no verilator")
    def test_verilator_takes_it(self):
        for words in (["--assertions"], ["--relative-to", self.dir]):
            path = self.dir / "core.f"
            write(*words, "-o", path)
            done = subprocess.run(
                [
                    "verilator",
                    "--lint-only",
                    "-Wno-lint",
                    "-Wno-fatal",
                    "--assert",
                    "--top-module",
                    "accsim_core",
                    "-f",
                    path,
                ],
                capture_output=True,
                text=True,
                check=False,
                cwd=self.dir,
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("%Error", done.stderr)

    @unittest.skipUnless(importlib.util.find_spec("pyslang"), "there is no pyslang")
    def test_slang_takes_it(self):
        path = self.list_in_a_folder_with_blanks()
        done = subprocess.run(
            [sys.executable, "-c", SLANG, f"slang --top accsim_core -f {path}"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stdout[-2000:])

    def test_tcl_reads_its_words(self):
        try:
            import tkinter
        except ImportError:
            self.skipTest("there is no tkinter")
        tcl = tkinter.Tcl()
        tcl.eval("proc read_verilog {option files} {global read; set read $files}")
        tcl.eval("proc current_fileset {} {return sources}")
        tcl.eval("proc set_property {name value of} {global have; set have($name) $value}")
        rtl = self.dir / "my core" / "rtl"
        shutil.copytree(ROOT / "rtl", rtl)
        tcl.eval(write("--format", "vivado-tcl", "--rtl", rtl))
        read = list(tcl.splitlist(tcl.eval("set read")))
        self.assertEqual(read, [str(rtl / pathlib.Path(f).name) for f in listed("accsim.f")])
        self.assertEqual(tcl.splitlist(tcl.eval("set have(include_dirs)")), (str(rtl),))
        self.assertEqual(tcl.eval("set have(top)"), "accsim_core")


if __name__ == "__main__":
    unittest.main()
