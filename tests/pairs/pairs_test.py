#!/usr/bin/python3
"""Drawn networks on drawn machines, through every command that takes them: none ends by a fault or
a bug, none takes long or much memory, what RTL runs is what was costed, and so is what a sweep has.

Usage: pairs_test.py ACCSIM [--pairs N] [--first I] [--seed S] [--verify N]

Pair i of a seed is always the same. Exit code 2 with a reason is right for a machine that breaks a
rule; most pairs must be costed all the same. Every Nth network is verified, too, on 8x8 (--verify);
0: none. Every third is a point of a sweep, which must cost what the report says.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))

import machines
import networks
import yaml
from program import ACCSIM, ROOT, slowdown

SECONDS, KB = 5, 512 * 1024  # as SECURITY.md promises for files of this size
# run draws the weights that a file lacks and multiplies with them; more of them than these take
# minutes by right, and networks with more aren't run. Seconds for each, and bytes: a weight is a
# float, and what becomes of it.
MOST_DRAWN, MOST_MACS = 50_000_000, 500_000_000
DRAWN_SECONDS, MAC_SECONDS, DRAWN_BYTES = 0.25e-6, 25e-9, 12
MOST_CYCLES = 60_000  # of a network that is verified: some seconds
SMALL = ROOT / "configs" / "8x8.yaml"


def command(words, folder):
    """Runs it; (exit code, standard error, seconds of processor time, kilobytes)."""
    log = folder / "stderr"
    with log.open("wb") as stderr, (folder / "stdout").open("wb") as stdout:
        child = subprocess.Popen([str(ACCSIM), *words], stdout=stdout, stderr=stderr, cwd=folder)
        _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    text = log.read_text("utf-8", "replace")
    return child.returncode, text, used.ru_utime + used.ru_stime, used.ru_maxrss


def others(index):
    """What a pair goes through beside the main job, by turns."""
    turns = (
        ["inspect", "net.onnx", "--by", "module:2"],
        ["tile", "net.onnx", "--output", "tiled.onnx"],
        ["advise", "--hw", "machine.yaml", "net.onnx"],
        ["compare", "report.json", "report.json"],
        ["run", "net.onnx", "--int8", "--network", "--hw", "machine.yaml", "--weights", "random:1"],
        ["shapes", "net.onnx", "--json", "-"],
        ["run", "net.onnx", "--weights", "random:1"],
    )
    return turns[index % len(turns)]


def overclaimed(report, network):
    """What a report calls verifiable and a run of verify left out, or the other way; "" if none.
    `network`: what verify says of it, None where no layer has commands."""
    totals = report["totals"]
    without = totals["cycles"] - totals["verifiable_cycles"]
    left = network["left_cycles"] if network else totals["cycles"]
    names = [f"{at['name']} ({at['op_type']})" for at in report["layers"] if at["unverifiable"]]
    if without != left:
        return f"{without} cycles of the report aren't verifiable, {left} were left out"
    if network and names != network["left_out"]:
        return f"not verifiable: {names}; left out: {network['left_out']}"
    return ""


# Columns of a sweep's points, and what they are of a report's totals.
POINT = ("cycles", "macs", "dram_read_bytes", "dram_write_bytes", "energy_pj", "area_mm2")


def sweep_spec(machine):
    """Two machines: the one at hand, and before it one with twice the lanes of a class."""
    lanes = yaml.safe_load(machine)["vector"]["lanes"]["elementwise"]
    axis = {"field": "vector.lanes.elementwise", "values": [2 * lanes, lanes]}
    return yaml.safe_dump(
        {"base": "machine.yaml", "axes": {"lanes": axis}, "models": [{"file": "net.onnx"}]}
    )


def unlike(report, store):
    """What the second point of a sweep has that the report hasn't; "" if nothing."""
    with sqlite3.connect(store) as points:
        query = f"select {', '.join(POINT)} from points where point = 1"
        (row,) = points.execute(query).fetchall()
    totals = report["totals"]
    for name, value in zip(POINT, row, strict=True):
        if value is None or abs(value - totals[name]) > 1e-12 * abs(totals[name]):
            return f"{name} is {value} in a sweep, {totals[name]} in the report"
    return ""


class Pairs:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.codes, self.reasons = collections.Counter(), collections.Counter()
        self.slowest, self.largest = (0, ""), (0, "")
        self.wrong = []
        self.parameters, self.macs = 0, 0  # of the pair's network

    def go(self, words, what):
        """Runs a command of a pair; its exit code."""
        code, stderr, seconds, kilobytes = command(words, self.folder)
        self.codes[words[0] if not words[0].startswith("-") else "cost", code] += 1
        said = f"{what}: {' '.join(words)}"
        self.slowest = max(self.slowest, (seconds, said))
        self.largest = max(self.largest, (kilobytes, said))
        if code not in (0, 2) or (code == 2 and not stderr.startswith("accsim: error: ")):
            self.wrong.append(f"{said}: exit code {code}: {stderr[:500]}")
        if code == 2:
            self.reasons[re.sub(r"[\d.]+|'[^']*'|\S+\.(yaml|onnx)\S*", "*", stderr[:160])] += 1
        drawn, macs = (self.parameters, self.macs) if words[0] == "run" else (0, 0)
        # advise costs the network on a hundred machines.
        most = SECONDS * (20 if words[0] == "advise" else 1)
        most += DRAWN_SECONDS * drawn + MAC_SECONDS * macs
        if seconds > most * slowdown():
            self.wrong.append(f"{said}: {seconds:.1f} s of processor time")
        # run keeps the weights it draws as floats, too.
        room = KB * (2 if words[0] == "run" else 1) + DRAWN_BYTES * drawn / 1024
        if kilobytes > room and slowdown() == 1:
            self.wrong.append(f"{said}: {kilobytes} kB")
        return code

    def pair(self, index):
        seed = self.arguments.seed * 1_000_000 + index
        name, machine = machines.draw(seed)
        (self.folder / "net.onnx").write_bytes(networks.draw(seed))
        (self.folder / "machine.yaml").write_text(machine)
        what = f"pair {index} of seed {self.arguments.seed}, {name} changed"
        words = ["--hw", "machine.yaml", "net.onnx", "--json", "report.json"]
        costed = self.go([*words, "--html", "page.html", "--trace", "trace.json"], what) == 0
        self.size(what)
        other = others(index)
        large = self.parameters > MOST_DRAWN or self.macs > MOST_MACS
        if (costed or index % 7 != 3) and not (other[0] == "run" and large):
            self.go(other, what)
        if costed and index % 3 == 0:
            self.sweep(what, machine)
        if self.arguments.verify and index % self.arguments.verify == 0:
            self.verify(what)

    def size(self, what):
        """What running the network takes, as inspect tells."""
        self.parameters = self.macs = 0
        if self.go(["inspect", "net.onnx", "--json", "sizes.json"], what) == 0:
            sizes = json.loads((self.folder / "sizes.json").read_text())
            self.parameters, self.macs = sizes["params"], sizes["macs"]

    def sweep(self, what, machine):
        (self.folder / "sweep.yaml").write_text(sweep_spec(machine))
        store = self.folder / "sweep.sqlite"
        store.unlink(missing_ok=True)
        if self.go(["sweep", "sweep.yaml", "--threads", "1"], what) != 0:
            self.wrong.append(f"{what}: costed, and no point of a sweep")
            return
        report = json.loads((self.folder / "report.json").read_text())
        if told := unlike(report, store):
            self.wrong.append(f"{what}: {told}")

    def verify(self, what):
        """On a small machine, what takes seconds."""
        report = self.folder / "small.json"
        if self.go(["--hw", str(SMALL), "net.onnx", "--json", report.name], what) != 0:
            return
        costed = json.loads(report.read_text())
        if costed["totals"]["cycles"] > MOST_CYCLES:
            return
        ran = self.folder / "ran.json"
        ran.unlink(missing_ok=True)
        code = self.go(["verify", "--hw", str(SMALL), "net.onnx", "--json", ran.name], what)
        network = json.loads(ran.read_text())["network"] if code == 0 else None
        if told := overclaimed(costed, network):
            self.wrong.append(f"{what}: verify: {told}")

    def report(self):
        for (name, code), count in sorted(self.codes.items()):
            print(f"{name:8} exit code {code}: {count}")
        for reason, count in self.reasons.most_common(8):
            print(f"    {count} times {reason.splitlines()[0]}")
        print(f"longest: {self.slowest[0]:.2f} s, {self.slowest[1]}")
        print(f"largest: {self.largest[0] // 1024} MB, {self.largest[1]}")
        costed = self.codes["cost", 0] / max(1, self.codes["cost", 0] + self.codes["cost", 2])
        if costed < 0.8:
            self.wrong.append(f"{costed:.0%} of the pairs are costed, at least 80 % should be")
            print(self.wrong[-1])
        return bool(self.wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verify", type=int, default=8)
    parser.add_argument("--first", type=int, default=0, help="go on with this pair of the seed")
    arguments = parser.parse_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        pairs = Pairs(arguments, pathlib.Path(folder))
        for index in range(arguments.first, arguments.pairs):
            before = len(pairs.wrong)
            pairs.pair(index)
            for line in pairs.wrong[before:]:  # a run may be cut off
                print(line, file=sys.stderr, flush=True)
            if (index + 1) % 500 == 0 and index + 1 < arguments.pairs:
                print(f"{index + 1} pairs, {len(pairs.wrong)} wrong", file=sys.stderr, flush=True)
            if sys.stderr.isatty() and index % 10 == 9:
                print(f"\r{index + 1} pairs", end="", file=sys.stderr, flush=True)
        wrong = pairs.report()
    print(f"{arguments.pairs} pairs in {time.monotonic() - begin:.0f} s")
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
