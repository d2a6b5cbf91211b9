#!/usr/bin/python3
"""Does the work of every pass grow with nodes and edges, and not with their square?

Each kind of graphs.py is made in three sizes, N, 2 N and 4 N. The main job, inspect and shapes run
over them under callgrind, which counts instructions: these are the same on every machine. What is
more of 4 N than of 2 N is twice what is more of 2 N than of N when work grows with the size, 2.1
times with its logarithm, and four times when it grows with its square.

Usage: growth_test.py GROWTH [unittest arguments]; GROWTH N KIND... prints a table.
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import onnx

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "growth"))
import graphs  # noqa: E402

MACHINE = ROOT / "configs" / "64x64.yaml"
JOBS = ("cost", "inspect", "shapes")
SIZES = (1, 2, 4)
MOST = 2.35
NODES = 24
TOGETHER = 2  # processes: the tests' machine has two cores
GROWTH = None  # set by main


def counts(program, files, folder):
    """Instructions by file and job, of one process over all files."""
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out"]
    done = subprocess.run(
        [*command, program, MACHINE, *files], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr}")
    found = {}
    for dump in pathlib.Path(folder).glob("out.*"):
        text = dump.read_text(errors="replace")
        job = re.search(r"^desc: Trigger: Client Request: (.+) (\w+)$", text, re.M)
        total = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
        if job and total:
            found[job[1], job[2]] = int(total[1])
    return found


def increments(kinds, nodes):
    """By kind and job: instructions for 2 N and 4 N beyond those for N and 2 N."""
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for i, kind in enumerate(kinds):
            files[kind] = [f"{folder}/{i}-{size}.onnx" for size in SIZES]
            for file, size in zip(files[kind], SIZES, strict=True):
                onnx.save(graphs.KINDS[kind](nodes * size), file)
        everything = [file for each in files.values() for file in each]
        # The first one also pays for what is made once in a process.
        found = counts(GROWTH, [everything[0], *everything], folder)
    out = {}
    for kind, each in files.items():
        for job in JOBS:
            one, two, four = (found[file, job] for file in each)
            out[kind, job] = (two - one, four - two)
    return out


def all_increments(kinds, nodes):
    """The same, in several processes."""
    with concurrent.futures.ThreadPoolExecutor(TOGETHER) as pool:
        shares = [kinds[i::TOGETHER] for i in range(TOGETHER) if kinds[i::TOGETHER]]
        return {
            k: v
            for part in pool.map(increments, shares, [nodes] * len(shares))
            for k, v in part.items()
        }


class Growth(unittest.TestCase):
    def test_does_work_grow_with_the_graph(self):
        self.assertGreaterEqual(len(graphs.KINDS), 30)
        for (kind, job), (first, second) in all_increments([*graphs.KINDS], NODES).items():
            with self.subTest(kind, job=job):
                self.assertGreater(first, 0)
                self.assertLess(second, MOST * first)

    def test_does_it_see_what_grows_with_the_square(self):
        """A graph of N * N edges: what it is about to notice."""

        def squares(n):
            return graphs.KINDS["one_sum"](n * n // 16)

        graphs.KINDS["squares"] = squares
        self.addCleanup(graphs.KINDS.pop, "squares")
        for first, second in increments(["squares"], NODES // 2).values():
            self.assertGreater(second, 3 * first)


def table(nodes, kinds):
    found = all_increments(kinds or [*graphs.KINDS], nodes)
    for (kind, job), (first, second) in sorted(found.items()):
        print(f"{kind:42} {job:8} {second / first:5.2f} {second:>14,}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    GROWTH = pathlib.Path(sys.argv.pop(1)).resolve()
    if len(sys.argv) > 1 and sys.argv[1].isdigit():
        table(int(sys.argv[1]), sys.argv[2:])
    else:
        unittest.main()
