#!/usr/bin/python3
"""The schedule of the vector unit's row commands, by rtl/README.md and docs/vector-arithmetic.md.

Usage: row_schedule_test.py [unittest arguments]. Are all of a row's inputs there when a pass reads
it, are divider and root free, and does a command take what the table says?
"""

import itertools
import unittest
from collections.abc import Iterator
from dataclasses import dataclass

STEP = 16  # cycles of a division, and of a root


@dataclass(frozen=True)
class Pass:
    """One pass over a row: in which step after the row's first, and when it may begin."""

    name: str
    step: int
    after: int = 0  # first read, at the earliest so long after the last read of the pass before
    unit: int = -1  # the divider, or root, is taken so long after the last read


# By the order of passes within a step.
SOFTMAX = (
    Pass("sum", 2, after=5, unit=10),
    Pass("maximum", 0),
    Pass("write", 5, after=23),
)
NORM = (Pass("sums", 0, unit=9), Pass("write", 4, after=42))


def up(a: int, b: int) -> int:
    return -(-a // b)


def schedule(passes: tuple[Pass, ...], rows: int, n: int, lanes: int) -> Iterator[tuple]:
    """(pass, row, cycle of its first beat, cycles) in time order, then the end of the command."""
    cycle = 0
    for t in range(rows + max(p.step for p in passes)):
        at = cycle
        for p in passes:
            if 0 <= t - p.step < rows:
                beats = up(n, lanes)
                yield p, t - p.step, at, beats
                at += beats
        cycle = max(at, cycle + STEP)
    yield None, rows, cycle, 0


def late(passes: tuple[Pass, ...], rows: int, n: int, lanes: int) -> str:
    """What isn't there in time; empty when all is."""
    last, taken = {}, []
    for p, row, first, cycles in schedule(passes, rows, n, lanes):
        if p is None:
            break
        if p.after and first < last[row] + p.after:
            return f"{p.name} of row {row} in {first}, last read before in {last[row]}"
        last[row] = first + cycles - 1
        if p.unit >= 0:
            taken.append(last[row] + p.unit)
    close = [(a, b) for a, b in itertools.pairwise(taken) if b < a + STEP]
    return f"divider taken in {close[0]}" if close else ""


def softmax_cycles(rows: int, n: int, lanes: int) -> int:
    """The formula of rtl/README.md."""
    b = up(n, lanes)
    return sum(
        max(16, b * (t < rows) + b * (2 <= t < rows + 2) + b * (t >= 5)) for t in range(rows + 5)
    )


def norm_cycles(rows: int, n: int, lanes: int) -> int:
    """The formula of rtl/README.md."""
    b = up(n, lanes)
    return sum(max(16, b * (t < rows) + b * (t >= 4)) for t in range(rows + 4))


MACHINES = [
    (rows, n, lanes)
    for rows in (*range(1, 10), 40)
    for lanes in (1, 4, 8, 16, 48, 64, 128)
    for n in (1, lanes, 3 * lanes, 5 * lanes, 8 * lanes, 15 * lanes, 16 * lanes, 33 * lanes + 1)
]


class Schedule(unittest.TestCase):
    def test_is_everything_there_in_time(self):
        for machine in MACHINES:
            self.assertEqual(late(SOFTMAX, *machine), "", machine)
            self.assertEqual(late(NORM, *machine), "", machine)

    def test_do_commands_take_what_the_formulas_say(self):
        for machine in MACHINES:
            self.assertEqual([*schedule(SOFTMAX, *machine)][-1][2], softmax_cycles(*machine))
            self.assertEqual([*schedule(NORM, *machine)][-1][2], norm_cycles(*machine))

    def test_are_the_examples_of_the_document_right(self):
        for cycles, long, single in ((norm_cycles, 24, 80), (softmax_cycles, 36, 96)):
            self.assertEqual(cycles(101, 768, 64) - cycles(100, 768, 64), long)
            self.assertEqual(cycles(1, 128, 64), single)

    def test_is_a_pass_that_comes_a_step_sooner_late(self):
        """Each of the schedule's distances is needed."""
        for passes, which in ((SOFTMAX, 0), (SOFTMAX, 2), (NORM, 1)):
            p = passes[which]
            sooner = Pass(p.name, p.step - 1, p.after, p.unit)
            changed = (*passes[:which], sooner, *passes[which + 1 :])
            if which == 0:  # the writing pass goes with it
                w = changed[2]
                changed = (*changed[:2], Pass(w.name, w.step - 1, w.after, w.unit))
            self.assertTrue(any(late(changed, *m) for m in MACHINES), p.name)


if __name__ == "__main__":
    unittest.main()
