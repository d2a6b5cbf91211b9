#!/usr/bin/python3
"""The row operations of the golden against row_math.py, after docs/vector-arithmetic.md.

Usage: row_math_oracle_test.py PRINT_ROWS [unittest arguments]. `PRINT_ROWS COUNT SEED` prints
random rows with what the golden makes of them, one JSON object a line. The other implementation
must say the same bytes, and no value of it may need more bits than the contract states; and it must
not say the same when one of its rules is changed, or random rows wouldn't show that rule.
"""

import functools
import json
import pathlib
import sys
import unittest
from collections import Counter
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
from program import run
from row_math import OPERATIONS, Json, Logarithm, Norm, Reduction, Softmax

COUNT, SEED = 1500, 1


@functools.cache
def cases() -> list[Json]:
    done = run(COUNT, SEED)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"code {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def first_difference(operation: type) -> int | None:
    """The number of the first case of an operation whose row comes out otherwise."""
    for n, case in enumerate(cases()):
        if issubclass(operation, OPERATIONS[case["op"]]) and operation().run(case) != case["out"]:
            return n
    return None


class Golden(unittest.TestCase):
    def test_do_both_say_the_same(self):
        for operation in set(OPERATIONS.values()):
            self.assertIsNone(first_difference(operation), operation)

    def test_is_every_operation_there(self):
        found = Counter(case["op"] for case in cases())
        self.assertEqual(found.keys(), OPERATIONS.keys())
        self.assertGreater(min(found.values()), COUNT // 15)
        masks = sum(bool(case.get("masks")) for case in cases())
        self.assertGreater(masks, COUNT // 10)

    def test_does_a_changed_rule_show(self):
        """Each of these is another arithmetic by a hair: a rounding, a bit, a unit."""

        def floor(self, value, shift):
            return value >> shift

        def to_even(self, value, shift):
            return round(Fraction(value, 1 << shift))

        def nearest(self, n):
            shift = 30 + n.bit_length() - 1
            return round(Fraction(1 << shift, n)), shift

        changes = {
            (Softmax, "rs"): floor,
            (Softmax, "parts"): 4096,
            (Softmax, "reach"): 22.0,
            (Softmax, "gone"): 1 << 20,
            (Logarithm, "pieces"): 128,
            (Logarithm, "rs"): floor,
            (Norm, "rs"): floor,
            (Norm, "beta_bits"): 10,
            (Norm, "variance_bits"): 13,
            (Reduction, "rs"): to_even,
            (Reduction, "mean_scale"): nearest,
        }
        for (operation, rule), value in changes.items():
            changed = type("Changed", (operation,), {rule: value})
            try:
                self.assertIsNotNone(first_difference(changed), (operation, rule))
            except IndexError:  # beyond a table's end: it shows, too
                self.assertEqual(rule, "gone")


if __name__ == "__main__":
    unittest.main()
