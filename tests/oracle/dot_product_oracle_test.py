#!/usr/bin/python3
"""hw/dot_product against the two simulators of docs/dot-product.md.

Usage: dot_product_oracle_test.py PRINT_DOT_PRODUCT [unittest arguments]. The program reads cases, a
machine and layers per line, and prints their events. dot_product.py steps events one by one,
dot_product_periods.py has a closed form of its own. Do all three say the same of random machines
and of measured layers, and do random cases show every field?
"""

import json
import pathlib
import random
import sys
import unittest
from collections.abc import Sequence
from dataclasses import asdict, fields, replace

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
from dot_product import simulate
from dot_product_periods import cost
from dot_product_test import SMALL, draw, rows, sequences
from dot_product_work import Engine, Layer, Times
from program import run

STEPPED, SEED = 400, 2  # machines whose events are stepped one by one
CLOSED = 4000  # machines that are compared with the closed form
Case = tuple[Engine, Sequence[Layer]]


def events(cases: Sequence[Case]) -> list[list[Times] | str]:
    """What the program says: the events of each layer, or an error."""
    lines = [
        json.dumps({"engine": asdict(engine), "layers": [asdict(layer) for layer in layers]})
        for engine, layers in cases
    ]
    done = run(input="\n".join(lines) + "\n")
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"code {done.returncode}: {done.stderr}")
    said = [json.loads(line) for line in done.stdout.splitlines()]
    return [
        one["error"] if isinstance(one, dict) else [Times(**layer) for layer in one] for one in said
    ]


def drawn(number: int, seed: int) -> list[Case]:
    rng = random.Random(seed)
    return [draw(rng) for _ in range(number)]


def with_late_entries(number: int, seed: int) -> list[Case]:
    """Cases that the other closed form leaves out: features of the next layer may be read before
    entries of weights are free."""
    rng = random.Random(seed)
    return [
        (
            replace(
                engine,
                load_to_entries=rng.randint(0, 600),
                layer_to_reads=rng.randint(40, 600),
                feature_latency=rng.randint(0, 99),
                atom_to_place=rng.randint(0, 60),
            ),
            layers,
        )
        for engine, layers in (draw(rng) for _ in range(number))
    ]


class Oracles(unittest.TestCase):
    def agree(self, cases: Sequence[Case], oracle) -> tuple[int, int]:
        """Cases with events, and cases that both refuse."""
        answered = refused = 0
        for (engine, layers), ours in zip(cases, events(cases), strict=True):
            try:
                theirs = oracle(layers, engine)
            except ValueError as error:
                self.assertIsInstance(ours, str, (error, engine, layers))
                refused += 1
                continue
            self.assertEqual(ours, theirs, (engine, layers))
            answered += 1
        return answered, refused

    def test_are_random_machines_as_they_are_when_stepped(self):
        answered, refused = self.agree(drawn(STEPPED, SEED), simulate)
        self.assertGreater(min(answered, refused), STEPPED // 20)

    def test_are_sequences_whose_entries_are_free_late(self):
        answered, refused = self.agree(with_late_entries(STEPPED, SEED + 2), simulate)
        self.assertGreater(min(answered, refused), STEPPED // 20)

    def test_are_random_machines_as_in_the_other_closed_form(self):
        answered, refused = self.agree(drawn(CLOSED, SEED + 1), cost)
        self.assertGreater(min(answered, refused), CLOSED // 20)

    def test_are_measured_layers_and_sequences_so(self):
        cases = [(SMALL, [row.layer]) for row in rows().values()]
        cases += [(SMALL, layers) for _, layers, _ in sequences()]
        self.assertEqual(self.agree(cases, cost), (len(cases), 0))

    def test_does_every_field_show(self):
        """A program that left a field out would be seen: another value gives other events."""
        cases = [(engine, layers) for engine, layers in drawn(300, SEED)]
        before = events(cases)
        for field in fields(Engine):
            changed = [
                (replace(engine, **{field.name: 2 * getattr(engine, field.name) + 1}), layers)
                for engine, layers in cases
            ]
            with self.subTest(field=field.name):
                self.assertNotEqual(events(changed), before)


if __name__ == "__main__":
    unittest.main()
