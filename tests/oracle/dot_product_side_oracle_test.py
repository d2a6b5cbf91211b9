#!/usr/bin/python3
"""hw/dot_product's pooling, LRN and point-wise layers against tests/oracle/dot_product_side.py.

Usage: dot_product_side_oracle_test.py PRINT_DOT_PRODUCT [unittest arguments]. The program reads
cases, units and a layer per line, and prints their events. Do both say the same of random machines
and layers, and of the measured ones?
"""

import json
import pathlib
import random
import sys
import unittest
from collections.abc import Sequence
from dataclasses import asdict, fields, replace

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
from dot_product_side import Lrn, Point, Pool, Stage, Times, Units, simulate
from dot_product_side_test import SMALL, rows
from program import run

CASES, SEED = 6000, 3
KEYS = {Pool: "pool", Lrn: "lrn", Point: "point"}
Case = tuple[Units, Pool | Lrn | Point]


def events(cases: Sequence[Case]) -> list[Times | str]:
    """What the program says: the events of each layer, or an error."""
    lines = [
        json.dumps({"units": asdict(units), KEYS[type(layer)]: asdict(layer)})
        for units, layer in cases
    ]
    done = run(input="\n".join(lines) + "\n")
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"code {done.returncode}: {done.stderr}")
    said = [json.loads(line) for line in done.stdout.splitlines()]
    return [one["error"] if "error" in one else Times(**one) for one in said]


def some_units(rng: random.Random) -> Units:
    return Units(
        atom_elements=rng.choice([4, 8, 16]),
        request_interval=rng.randint(1, 5),
        read_latency=rng.randint(0, 60),
        unit_start=rng.randint(0, 30),
        pool_rate=rng.choice([1, 2, 4]),
        pool_bank_atoms=64,
        pool_turn=rng.randint(0, 20),
        pool_latency=rng.randint(0, 60),
        lrn_rate=rng.choice([1, 2, 4]),
        lrn_width=rng.choice([2, 4, 8]),
        lrn_ahead=rng.randint(0, 5),
        lrn_set_up=rng.randint(0, 5),
        lrn_latency=rng.randint(0, 60),
        lrn_bypass_latency=rng.randint(0, 60),
        point_rate=rng.choice([1, 2, 4]),
        point_block=rng.randint(1, 6),
        point_latency=rng.randint(0, 60),
        stage_latency=rng.randint(0, 9),
        alu_latency=rng.randint(0, 9),
        mul_latency=rng.randint(0, 9),
    )


def windows(rng: random.Random) -> tuple[int, int, int, int, int]:
    """Inputs, taps, stride, pad before, outputs: the last window begins among the inputs, and ends
    at most as far behind them as a pad is wide."""
    while True:
        inputs, taps, stride = rng.randint(1, 20), rng.randint(1, 8), rng.randint(1, 9)
        pad, after = rng.randrange(taps), rng.randrange(taps)
        outputs = (inputs + pad + after - taps) // stride + 1
        if inputs + pad + after >= taps and (outputs - 1) * stride - pad < inputs:
            return inputs, taps, stride, pad, outputs


def some_strips(
    rng: random.Random, taps: int, stride: int, pad: int
) -> tuple[int, list[tuple[int, int]]]:
    """A line's columns, and strips of it. A strip begins with its first window, and ends with its
    last one or somewhat behind. The last ends with the line, which may be so far from its last
    window's end as a pad is wide."""
    while True:
        out, begin, most = [], 0, 0
        for number in range(rng.randint(2, 4)):
            outputs = rng.randint(1, 4) + (pad // stride if number == 0 else 0)
            need = (outputs - 1) * stride + taps - (pad if number == 0 else 0)
            out.append((begin, need, outputs))
            most = max(most, begin + need)
            begin += outputs * stride - (pad if number == 0 else 0)
        first, need, outputs = out[-1]
        width = first + need + rng.randrange(3) - rng.randrange(taps)
        if out[1][0] < 0 or out[0][1] < 1 or width <= first + (outputs - 1) * stride:
            continue
        if any(begin + need > width for begin, need, _ in out[:-1]):
            continue
        cut = [
            (min(need + rng.randrange(3), width - begin), outputs)
            for begin, need, outputs in out[:-1]
        ]
        if cut[0][0] > 0:
            return width, [*cut, (width - first, outputs)]


def some_pool(rng: random.Random) -> Pool:
    width, taps, stride, pad, outputs = windows(rng)
    height, taps_y, stride_y, pad_y, outputs_y = windows(rng)
    cut: list[tuple[int, int]] = []
    if rng.random() < 0.3:
        width, cut = some_strips(rng, taps, stride, pad)
        outputs = sum(one for _, one in cut)
    whole = width, height, rng.randint(1, 40)
    sizes = taps, taps_y, stride, stride_y, pad, pad_y, outputs, outputs_y
    return Pool(*whole, *sizes, tuple(cut))


def some_layer(rng: random.Random) -> Pool | Lrn | Point:
    kind = rng.random()
    if kind < 0.6:
        return some_pool(rng)
    whole = rng.randint(1, 30), rng.randint(1, 9), rng.randint(1, 70)
    if kind < 0.8:
        return Lrn(*whole, rng.random() < 0.3)
    if rng.random() < 0.3:
        whole = 1, 1, whole[2]
    drawn = [
        Stage(rng.random() < 0.5, rng.random() < 0.5, rng.randint(0, 2))
        for _ in range(rng.randint(0, 2))
    ]
    return Point(*whole, tuple(drawn))


def cases(number: int, seed: int) -> list[Case]:
    rng = random.Random(seed)
    return [(some_units(rng), some_layer(rng)) for _ in range(number)]


class Oracle(unittest.TestCase):
    def test_are_random_layers_as_they_are_when_stepped(self):
        drawn = cases(CASES, SEED)
        refused = 0
        for (units, layer), said in zip(drawn, events(drawn), strict=True):
            if isinstance(said, str):
                self.assertIsInstance(layer, Pool, (said, layer))
                refused += 1
                continue
            self.assertEqual(said, simulate(layer, units), (units, layer))
        self.assertLess(refused, CASES // 10)

    def test_are_measured_layers_so(self):
        drawn = [(SMALL, row.layer) for row in rows()]
        self.assertEqual(events(drawn), [simulate(layer, units) for units, layer in drawn])

    def test_does_every_field_show(self):
        drawn = cases(400, SEED + 1)
        before = events(drawn)
        for field in fields(Units):
            factor = 1 if field.name in ("pool_banks", "pool_bank_atoms") else 3
            changed = [
                (replace(units, **{field.name: factor * getattr(units, field.name) + 1}), layer)
                for units, layer in drawn
            ]
            if factor == 1:  # which layers fit
                changed = [(replace(units, **{field.name: 1}), layer) for units, layer in drawn]
            with self.subTest(field=field.name):
                self.assertNotEqual(events(changed), before)


if __name__ == "__main__":
    unittest.main()
