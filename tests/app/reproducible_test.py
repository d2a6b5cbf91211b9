#!/usr/bin/python3
"""What commands print and write is the same, byte for byte, whatever is around them: threads,
locale, folder, seeds of hashes, what lies in memory: reproducible_test.py ACCSIM [OTHER] [unittest
arguments]. OTHER is a program of another compiler, which must say the same:

    cmake -S . -B build/clang -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 \\
      -DCMAKE_CXX_FLAGS="-isystem $PWD/tests/fuzz/clang14"
    cmake --build build/clang --target accsim
    tests/app/reproducible_test.py build/accsim build/clang/accsim
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

OTHER = pathlib.Path(sys.argv.pop(2)).resolve() if sys.argv[2:3] and "/" in sys.argv[2] else None

from program import ACCSIM, ROOT, patience  # noqa: E402
from wire import small_network  # noqa: E402

MACHINE = ROOT / "configs" / "16x16.yaml"
NETWORK = ROOT / "models" / "squeezenet1_1_op13.onnx"
# Words; {threads} stands for "--threads N" where a command has that option. Files that commands
# write lie in the folder that they run in.
COMMANDS = {
    "cost": ["--hw", "hw.yaml", "net.onnx", "--all", "--json", "r.json", "--csv", "r.csv"],
    "page": ["--hw", "hw.yaml", "net.onnx", "-q", "--html", "r.html", "--trace", "t.json"],
    "programs": ["--hw", "hw.yaml", "small.onnx", "--dump-program", "*"],
    "inspect": ["inspect", "net.onnx", "--json", "i.json"],
    "shapes": ["shapes", "net.onnx", "--json", "s.json"],
    "tile": ["tile", "small.onnx", "-o", "tiled.onnx", "--tile", "8x8x8"],
    "cut": ["cut", "small.onnx", "--from", "relu", "--until", "product", "-o", "part.onnx"],
    "run": ["run", "small.onnx", "--weights", "random:1", "--output", "out", "{threads}"],
    "int8": ["run", "small.onnx", "--weights", "random:1", "--int8", "--network", "--hw", "hw.yaml"]
    + ["{threads}"],
    "sweep": ["sweep", "sweep.yaml", "--store", "s.sqlite", "{threads}"],
    "pareto": ["sweep", "pareto.yaml", "--store", "p.sqlite", "{threads}"],
    "compare": ["compare", "--hw", "hw.yaml", "small.onnx", "--b-objective", "energy"],
    "print": ["hw", "print", "hw.yaml"],
}
STORE = ".sqlite"  # a database's pages say in which order rows came: its rows are compared


class Reproducible(unittest.TestCase):
    maxDiff = 1000
    known = {}  # what commands give with nothing odd around them, by name

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(scratch.name)
        self.addCleanup(scratch.cleanup)
        self.count = 0

    def make_folder(self, name=None):
        self.count += 1
        folder = self.folder / (name or f"run{self.count}")
        folder.mkdir(parents=True)
        shutil.copy(MACHINE, folder / "hw.yaml")
        shutil.copy(NETWORK, folder / "net.onnx")
        (folder / "small.onnx").write_bytes(small_network())
        axes = (
            "base: hw.yaml\nmodels: [{file: small.onnx}, {file: net.onnx}]\neffort: rule\naxes:\n"
            "  act: {field: buffers.activation.kib, values: [16, 32, 64]}\n"
            "  lanes: {field: vector.lanes.pool, powers_of_two: [8, 64]}\n"
            "  rate: {field: dram.read_bytes_per_cycle, values: [8, 12.5]}\n"
        )
        (folder / "sweep.yaml").write_text(axes)
        (folder / "pareto.yaml").write_text(axes + "strategy: pareto\n")
        return folder

    def outcome(self, name, threads=1, folder=None, program=ACCSIM, **variables):
        """All that a command gives: exit code, both streams, files with their bytes."""
        folder = folder or self.make_folder()
        before = set(folder.rglob("*"))
        words = []
        for word in COMMANDS[name]:
            words += ["--threads", str(threads)] if word == "{threads}" else [word]
        done = subprocess.run(
            [str(program), *words],
            capture_output=True,
            check=False,
            timeout=patience(),
            cwd=folder,
            env={**os.environ, "COLUMNS": "120", "LC_ALL": "C.UTF-8", **variables},
        )
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        files = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(set(folder.rglob("*")) - before)
            if path.is_file() and path.suffix != STORE
        }
        for store in sorted(folder.glob(f"*{STORE}")):
            show = [str(ACCSIM), "sweep", "show", store.name]
            for form in (["--csv", "-"], ["--json", "-"], ["--dump"]):
                shown = subprocess.run([*show, *form], capture_output=True, check=True, cwd=folder)
                files[f"{store.name} {form[0]}"] = shown.stdout
        self.assertTrue(done.stdout or files)
        return {"stdout": done.stdout, "stderr": done.stderr, **files}

    def usual(self, name):
        """The outcome with nothing odd around it: run once, for all tests that compare with it."""
        if name not in self.known:
            self.known[name] = self.outcome(name)
        return self.known[name]

    def expect_same(self, one, other):
        self.assertEqual(list(one), list(other))
        for what, data in one.items():
            if data != other[what]:
                at = next(
                    (i for i, (a, b) in enumerate(zip(data, other[what])) if a != b), len(data)
                )
                part = slice(max(0, at - 60), at + 60)
                self.fail(f"{what} differs at byte {at}: {data[part]} and {other[what][part]}")

    def every(self, **differently):
        for name in COMMANDS:
            with self.subTest(name):
                self.expect_same(self.usual(name), self.outcome(name, **differently))

    def test_a_second_run_says_the_same(self):
        self.every()

    def test_threads(self):
        for name, words in COMMANDS.items():
            if "{threads}" not in words:
                continue
            alone = self.usual(name)
            for threads in (2, 3, 7):
                with self.subTest(name, threads=threads):
                    self.expect_same(alone, self.outcome(name, threads))

    def test_one_processor(self):
        """The main job takes as many threads as there are processors."""
        if not shutil.which("taskset"):
            self.skipTest("there is no taskset")
        one = self.folder / "one"
        one.write_text(f'#!/bin/sh\nexec taskset -c 0 {ACCSIM} "$@"\n')
        one.chmod(0o755)
        self.every(program=one)

    def test_locale(self):
        """de_DE has a comma in numbers and groups them by points."""
        if not shutil.which("localedef") or not pathlib.Path("/usr/share/i18n/locales").is_dir():
            self.skipTest("there is no localedef")
        locales = self.folder / "locales"
        locales.mkdir()
        command = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(locales / "de_DE.UTF-8")]
        subprocess.run(command, check=True, capture_output=True)
        german = {"LOCPATH": str(locales), "LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}
        # It is one: a program that asks for the locale of its environment sees it.
        said = subprocess.run(
            ["/usr/bin/printf", "%.1f", "1,5"],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, **german},
        )
        self.assertEqual(said.stdout, "1,5", said.stderr)
        self.every(**german)

    def test_folder(self):
        """Relative paths in another folder, whose name is odd, as an unknown user."""
        for name in COMMANDS:
            with self.subTest(name):
                odd = self.make_folder(f"{name}/Ordner mit  Lücken/%s{{}}'\"")
                home = self.folder / f"{name}/home"
                home.mkdir()
                other = self.outcome(name, folder=odd, HOME=str(home), TZ="Asia/Tokyo", USER="nn")
                self.expect_same(self.usual(name), other)
                self.assertEqual(list(home.iterdir()), [])

    def test_what_lies_in_memory(self):
        """Memory that isn't written is other bytes, and lies elsewhere in each run; seeds of hashes
        that libraries and languages know are others."""
        for fill in ("85", "170"):
            self.every(MALLOC_PERTURB_=fill, MALLOC_ARENA_MAX=fill, PYTHONHASHSEED=fill)

    @unittest.skipUnless(OTHER, "no program of another compiler is named")
    def test_compiler(self):
        self.every(program=OTHER)


if __name__ == "__main__":
    unittest.main()
