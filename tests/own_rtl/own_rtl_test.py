#!/usr/bin/env python3
"""Do the benches of examples/own_rtl pass on the array as it should be, and does each find each
planted fault where it first shows? Usage: own_rtl_test.py ACCSIM.

Where that is follows here from the golden's operands by numpy, and for the dropped result from the
timing that the example's README.md gives."""

import concurrent.futures
import importlib.machinery
import importlib.util
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import numpy

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "own_rtl"
ACCSIM = pathlib.Path(sys.argv.pop(1)).resolve() if len(sys.argv) > 1 else None
BENCHES = ("cocotb", "dpi", "cpp", "icarus")
FAULTS = ("none", "corner", "swap", "drop")
MACHINE = ROOT / "configs" / "8x8.yaml"
LANES = KERNELS = 8
PRODUCT = "100x72x30"
SEED = 3


class Traffic:
    """Which cycles take results and offer beats; README.md, "Traffic"."""

    def __init__(self, seed):
        self.state, self.cycle = seed, 0

    def draw(self):
        x = self.state
        x = (x ^ (x << 13)) % 2**32
        x = x ^ (x >> 17)
        x = (x ^ (x << 5)) % 2**32
        few = self.cycle % 128 < 64
        self.state, self.cycle = x, self.cycle + 1
        return (x % 4 == 0) if few else (x % 4 != 0), (x >> 2) % 4 != 0


class DroppingArray:
    """Rows on their way through an array that never stops: README.md, "Timing"."""

    def __init__(self, lanes):
        stages = next(s for s in itertools.count(1) if 4**s >= lanes)
        self.way = [None] * (stages + 2)
        self.queue, self.loading = [], False

    def rise(self, beat, row, taken):
        """A rising edge: a beat of weights (last or not, or None), a row, and whether a result
        leaves."""
        full = len(self.queue) == 4
        if taken:
            self.queue.pop(0)
        if self.way[-1] is not None and not full:
            self.queue.append(self.way[-1])
        self.way = [row, *self.way[:-1]]
        if beat is not None:
            self.loading = not beat


def arrivals(tile, array, traffic):
    """The rows of a tile in the order in which they leave; fewer than m where some are dropped."""
    kernel = row = result = idle = 0
    offers_kernel = offers_row = False
    while result < tile["m"] and idle < 1000:
        takes, offers = traffic.draw()
        offers_row = offers_row or (offers and kernel == tile["n"] and row < tile["m"])
        offers_kernel = offers_kernel or (offers and kernel < tile["n"])
        beat = offers_kernel and array.way[0] is None
        enters = offers_row and not array.loading
        taken = takes and bool(array.queue)
        if taken:
            yield array.queue[0]
            result += 1
        array.rise(kernel == tile["n"] - 1 if beat else None, row if enters else None, taken)
        if beat:
            offers_kernel, kernel = False, kernel + 1
        if enters:
            offers_row, row = False, row + 1
        idle = 0 if beat or enters or taken else idle + 1


def described(folder, dataflow):
    """The machine with one dataflow alone."""
    text = MACHINE.read_text("utf-8")
    file = folder / "machine.yaml"
    file.write_text(re.sub(r"dataflows: \[.*\]", f"dataflows: [{dataflow}]", text))
    return file


def vectors(folder):
    """Tiles with their operands, and sums that are computed here."""
    machine = described(folder, "weight_stationary")
    command = [ACCSIM, "vectors", "--hw", machine, "--level", "tile", "--gemm", PRODUCT]
    command += ["--seed", str(SEED), "--format", "npy", "-o", folder / "vectors"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    a, b = (numpy.load(folder / "vectors" / f"{name}.npy").astype(numpy.int32) for name in "ab")
    accumulators, out = {}, []
    for line in (folder / "vectors" / "tiles.jsonl").read_text("utf-8").splitlines():
        tile = json.loads(line)
        (first_a, m), (first_b, k) = tile["a"], tile["b"]
        tile["a"] = a[first_a : first_a + m, :k]
        tile["b"] = b[first_b : first_b + k, : tile["n"]]
        place = tile["slot"], tile["accumulator_row"]
        before = accumulators[place] if tile["accumulate"] else 0
        tile["sums"] = accumulators[place] = before + tile["a"] @ tile["b"]
        out.append(tile)
    return out


def place(tile, mine):
    """The first difference of what the array has and the sums: row, column and both, or None."""
    for row, column in numpy.argwhere(mine != tile["sums"]):
        return row, column, mine[row, column], tile["sums"][row, column]
    return None


def with_corner(tile):
    corners = (tile["a"] == -128).astype(numpy.int32) @ (tile["b"] == -128).astype(numpy.int32)
    return place(tile, tile["sums"] - corners)


def with_swap(tile):
    mine = tile["sums"].copy()
    if 1 < tile["n"] < KERNELS:
        mine[:, [-2, -1]] = mine[:, [-1, -2]]
    return place(tile, mine)


def with_drop():
    """To be asked tile by tile: rows that leave too early stand where dropped ones should."""
    array, traffic = DroppingArray(LANES), Traffic(SEED)

    def find(tile):
        left = list(arrivals(tile, array, traffic))
        mine = tile["sums"].copy()
        mine[: len(left)] = tile["sums"][left]
        return place(tile, mine)

    return find


def run(bench, fault, *options):
    """Exit code of the example's runner, and what it prints."""
    command = [sys.executable, EXAMPLE / "run", "--bench", bench, "--fault", fault]
    command += ["--gemm", PRODUCT, "--seed", SEED, "--accsim", ACCSIM, *options]
    done = subprocess.run(
        [str(word) for word in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def verilator_says(*parameters):
    command = ["verilator", "--lint-only", "-Wall", "--top-module", "dot_array", *parameters]
    done = subprocess.run(
        [*command, "-f", "dot_array.f"],
        cwd=EXAMPLE / "rtl",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout.strip() or done.returncode


class Array(unittest.TestCase):
    """The sources of the array."""

    def test_does_verilator_have_nothing_against_it(self):
        for fault, (lanes, kernels, rows) in itertools.product(
            range(4), ((8, 8, 512), (64, 64, 128), (13, 9, 5), (64, 8, 100))
        ):
            sizes = [f"-GLanes={lanes}", f"-GKernels={kernels}", f"-GRows={rows}"]
            said = verilator_says(*sizes, f"-GFault={fault}")
            self.assertEqual(said, 0, f"{sizes}, fault {fault}")

    def test_names_its_list_its_files(self):
        listed = (EXAMPLE / "rtl" / "dot_array.f").read_text("utf-8").split()
        self.assertEqual(sorted(listed), sorted(f.name for f in EXAMPLE.glob("rtl/*.sv")))

    def test_are_its_modules_short(self):
        for file in EXAMPLE.glob("rtl/*.sv"):
            self.assertLessEqual(len(file.read_text("utf-8").splitlines()), 200, file)


class Benches(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.tiles = vectors(pathlib.Path(folder.name))
        # The longest first; two at a time, as compilers take most of it.
        cases = [(bench, fault) for bench in BENCHES for fault in FAULTS]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            cls.said = dict(zip(cases, pool.map(lambda case: run(*case), cases)))

    def first(self, find):
        """What a fault's bench should say, by the first tile that shows it."""
        tile, found = next((t, f) for t, f in ((t, find(t)) for t in self.tiles) if f)
        row, column, mine, golden = found
        return (
            f"tile {tile['tile']} ({tile['name']}): "
            f"row {row}, column {column}: {mine}, golden {golden}"
        )

    def check(self, fault, code, line):
        for bench in BENCHES:
            with self.subTest(bench=bench):
                self.assertEqual(self.said[bench, fault], (code, f"{bench}: {line}\n"))

    def test_does_each_pass_on_the_right_array(self):
        sums = sum(tile["sums"].size for tile in self.tiles)
        self.check("none", 0, f"{len(self.tiles)} tiles, {sums} sums: all equal")

    def test_does_each_find_the_corner_of_int8(self):
        self.check("corner", 1, self.first(with_corner))

    def test_does_each_find_the_swapped_columns(self):
        self.check("swap", 1, self.first(with_swap))

    def test_does_each_find_the_dropped_result(self):
        self.check("drop", 1, self.first(with_drop()))


class Runner(unittest.TestCase):
    """Its command lines."""

    def test_does_it_know_the_commands_of_its_readme(self):
        loader = importlib.machinery.SourceFileLoader("run", str(EXAMPLE / "run"))
        runner = importlib.util.module_from_spec(importlib.util.spec_from_loader("run", loader))
        loader.exec_module(runner)
        text = (EXAMPLE / "README.md").read_text("utf-8")
        commands = re.findall(r"^examples/own_rtl/run([^#\n]*)", text, re.M)
        self.assertEqual(len(commands), 3)
        for words in commands:
            runner.parse(words.split())

    def test_must_the_machine_be_weight_stationary(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = described(pathlib.Path(folder), "output_stationary")
            code, said = run("cpp", "none", "--hw", machine)
        self.assertEqual(code, 2)
        self.assertIn(f"run: error: {machine} can't be weight stationary", said)


def main():
    lacking = [tool for tool in ("verilator", "iverilog") if not shutil.which(tool)]
    if importlib.util.find_spec("cocotb") is None:
        lacking.append("cocotb in .venv/")
    if lacking:
        print(f"skipped: there is no {', no '.join(lacking)} (scripts/setup installs them)")
        return 1 if os.environ.get("CI") == "true" else 77
    unittest.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
