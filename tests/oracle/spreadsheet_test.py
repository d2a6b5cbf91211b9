#!/usr/bin/python3
"""NVDLA's performance spreadsheet: tests/oracle/spreadsheet.py and hw/dot_product against the
file's own cells, and against each other.

Usage: spreadsheet_test.py PRINT_DOT_PRODUCT [unittest arguments]. Are all cells of 104 layers on 7
machines what both say, and do they say the same of random layers and machines?
"""

import json
import pathlib
import random
import sys
import unittest
from collections.abc import Sequence
from dataclasses import asdict
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
from dot_product_test import table
from program import run
from spreadsheet import SHEETS, Cost, Layer, Machine, Sheet, cost

CASES, SEED = 3000, 4
TABLE = "nvdla_sheet.csv"
CELLS = {
    "input_kib": "input_bytes",
    "weight_kib": "weight_bytes",
    "output_kib": "output_bytes",
    "dram_traffic_kib": "traffic_bytes",
    "dram_cycles": "dram_cycles",
    "mac_cycles": "mac_cycles",
    "cycles": "cycles",
}
REPEATS = ("none", "weights", "kernels")
Case = tuple[Layer, Machine, Sheet]


def case(line: dict[str, str]) -> Case:
    """Of a row. GoogLeNet's sheet enlarges weights in some of its rows alone."""
    n = {name: int(line[name]) for name in ("W", "H", "C", "K", "S", "R", "stride_w", "stride_h")}
    enlarged = line["network"] != "GoogLeNet" or int(line["sheet_row"]) <= 19
    layer = Layer(
        *n.values(),
        line["pad"] == "1",
        int(line["out_w"]),
        int(line["out_h"]),
        "elwise" in line["kind"],
        line["winograd"] == "1" and enlarged,
    )
    rate, clock = Fraction(line["dram_gb_per_s"]), Fraction(line["clock_mhz"])
    machine = Machine(int(line["macs"]), int(line["cbuf_kib"]), rate, clock)
    return layer, machine, SHEETS[line["network"]]


def program(cases: Sequence[Case]) -> list[dict[str, float] | str]:
    """What the program says: the cells of each layer, or an error."""
    lines = []
    for layer, machine, sheet in cases:
        rates = {"gb_per_second": float(machine.gb_per_second)}
        rates["clock_mhz"] = float(machine.clock_mhz)
        rules = {**asdict(sheet), "repeats": REPEATS.index(sheet.repeats)}
        given = {"sheet": asdict(layer), "machine": {**asdict(machine), **rates}, "rules": rules}
        lines.append(json.dumps(given))
    done = run(input="\n".join(lines) + "\n")
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"code {done.returncode}: {done.stderr}")
    said = [json.loads(line) for line in done.stdout.splitlines()]
    return [one.get("error", one) for one in said]


def some_case(rng: random.Random) -> Case:
    taps = rng.choice([1, 1, 3, 3, 5, 7, 11])
    width, height = rng.randint(taps, 230), rng.randint(taps, 230)
    layer = Layer(
        width,
        height,
        rng.randint(1, 2100),
        rng.randint(1, 4100),
        rng.choice([1, taps]),
        taps,
        rng.randint(1, 4),
        rng.randint(1, 4),
        rng.random() < 0.5,
        rng.randint(1, 230),
        rng.randint(1, 230),
        rng.random() < 0.3,
        rng.random() < 0.3,
    )
    machine = Machine(
        rng.choice([32, 64, 100, 2048]),
        rng.randint(1, 2000),
        Fraction(rng.randint(1, 80), 4),
        Fraction(rng.choice([500, 800, 1000])),
    )
    return layer, machine, Sheet(rng.choice([16, 128]), rng.randint(0, 2), rng.choice(REPEATS))


class Cells(unittest.TestCase):
    def agree(self, said: dict[str, float], own: Cost, what: object) -> None:
        """To what is left of a double; DRAM's cycles, which are rounded up, to one."""
        for cell in CELLS.values():
            exact = float(getattr(own, cell))
            least = 1 if cell in ("dram_cycles", "cycles") else 0
            self.assertLessEqual(abs(said[cell] - exact), max(least, 1e-12 * exact), (cell, what))

    def test_are_all_cells_those_of_the_file(self):
        lines = list(table(TABLE))
        self.assertEqual(len(lines), 104 * 7)
        cases = [case(line) for line in lines]
        for line, one, said in zip(lines, cases, program(cases), strict=True):
            own = cost(*one)
            for column, cell in CELLS.items():
                unit = 1024 if column.endswith("_kib") else 1
                listed = float(line[column])
                for value in (float(getattr(own, cell)), said[cell]):
                    self.assertAlmostEqual(value / unit, listed, delta=1e-9 * (1 + listed))

    def test_do_both_say_the_same_of_random_layers(self):
        rng = random.Random(SEED)
        cases = [some_case(rng) for _ in range(CASES)]
        refused = 0
        for one, said in zip(cases, program(cases), strict=True):
            try:
                own = cost(*one)
            except ValueError:
                self.assertIsInstance(said, str, one)
                refused += 1
                continue
            self.assertIsInstance(said, dict, one)
            self.agree(said, own, one)
        self.assertGreater(refused, 0)
        self.assertLess(refused, CASES // 4)


if __name__ == "__main__":
    unittest.main()
