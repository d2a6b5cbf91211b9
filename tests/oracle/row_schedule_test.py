#!/usr/bin/python3
"""The schedule of the vector unit's row commands, by rtl/README.md and docs/vector-arithmetic.md.

Usage: row_schedule_test.py [unittest arguments]. Are all of a row's inputs there when a pass reads
it, are divider and root free, and does a command take what the table says?
"""

import unittest
from collections.abc import Iterator
from dataclasses import dataclass

STEP = 16  # cycles of a step at least


@dataclass(frozen=True)
class Pass:
    """One pass over a row: in which step after the row's first, and when it may begin."""

    name: str
    step: int
    after: int = 0  # first read, at the earliest so long after the last read of the pass before
    unit: int = -1  # the divider, or root, is taken so long after the last read
    more: int = 0  # beats that read nothing, behind the others


# By the order of passes within a step.
SOFTMAX = (
    Pass("sum", 2, after=5, unit=10),
    Pass("maximum", 0),
    Pass("write", 5, after=23),
)
LOGARITHM = (*SOFTMAX[:2], Pass("write", 5, after=23, more=1))
NORM = (Pass("sums", 0, unit=9), Pass("write", 4, after=42))


def up(a: int, b: int) -> int:
    return -(-a // b)


def grouped(rows: int, group: int) -> list[range]:
    """The rows of each group."""
    return [range(i, min(i + group, rows)) for i in range(0, rows, group)]


def schedule(passes: tuple[Pass, ...], rows: int, n: int, lanes: int) -> Iterator[tuple]:
    """(pass, row, cycle of its first beat, cycles) in time order, then the end of the command."""
    cycle, beats = 0, up(n, lanes)
    groups = grouped(rows, up(STEP, sum(beats + p.more for p in passes)))
    for t in range(len(groups) + max(p.step for p in passes)):
        at = cycle
        for p in passes:
            for row in groups[t - p.step] if 0 <= t - p.step < len(groups) else ():
                yield p, row, at, beats
                at += beats + p.more
        cycle = max(at, cycle + STEP)
    yield None, rows, cycle, 0


def late(passes: tuple[Pass, ...], rows: int, n: int, lanes: int) -> str:
    """What isn't there in time; empty when all is."""
    last, taken = {}, set()
    for p, row, first, cycles in schedule(passes, rows, n, lanes):
        if p is None:
            break
        if p.after and first < last[row] + p.after:
            return f"{p.name} of row {row} in {first}, last read before in {last[row]}"
        last[row] = first + cycles - 1
        if p.unit >= 0:
            if last[row] + p.unit in taken:
                return f"divider taken twice in {last[row] + p.unit}"
            taken.add(last[row] + p.unit)
    return ""


def flying(passes: tuple[Pass, ...], rows: int, n: int, lanes: int) -> int:
    """The most rows that have begun and aren't written at once."""
    now = most = 0
    seen = set()
    for p, row, _, _ in schedule(passes, rows, n, lanes):
        if p is None:
            break
        now += row not in seen
        seen.add(row)
        most = max(most, now)
        now -= p.name == "write"
    return most


def softmax_cycles(rows: int, n: int, lanes: int) -> int:
    """The formula of rtl/README.md."""
    b = up(n, lanes)
    g = [len(rows) for rows in grouped(rows, up(16, 3 * b))]
    first, total, last = [*g, *[0] * 5], [0, 0, *g, *[0] * 3], [*[0] * 5, *g]
    return sum(max(16, b * sum(passes)) for passes in zip(first, total, last, strict=True))


def logarithm_cycles(rows: int, n: int, lanes: int) -> int:
    """The formula of rtl/README.md, of a softmax with logarithms."""
    b = up(n, lanes)
    g = [len(rows) for rows in grouped(rows, up(16, 3 * b + 1))]
    first, total, last = [*g, *[0] * 5], [0, 0, *g, *[0] * 3], [*[0] * 5, *g]
    passes = zip(first, total, last, strict=True)
    return sum(max(16, b * (a + t) + (b + 1) * w) for a, t, w in passes)


def norm_cycles(rows: int, n: int, lanes: int) -> int:
    """The formula of rtl/README.md."""
    b = up(n, lanes)
    g = [len(rows) for rows in grouped(rows, up(16, 2 * b))]
    both = zip([*g, *[0] * 4], [*[0] * 4, *g], strict=True)
    return sum(max(16, b * sum(passes)) for passes in both)


MACHINES = [
    (rows, n, lanes)
    for rows in (*range(1, 10), 40, 101)
    for lanes in (1, 4, 8, 16, 48, 64, 128)
    for n in (1, lanes, 3 * lanes, 5 * lanes, 8 * lanes, 15 * lanes, 16 * lanes, 33 * lanes + 1)
]


class Schedule(unittest.TestCase):
    def test_is_everything_there_in_time(self):
        for machine in MACHINES:
            self.assertEqual(late(SOFTMAX, *machine), "", machine)
            self.assertEqual(late(LOGARITHM, *machine), "", machine)
            self.assertEqual(late(NORM, *machine), "", machine)

    def test_do_commands_take_what_the_formulas_say(self):
        for machine in MACHINES:
            self.assertEqual([*schedule(SOFTMAX, *machine)][-1][2], softmax_cycles(*machine))
            self.assertEqual([*schedule(LOGARITHM, *machine)][-1][2], logarithm_cycles(*machine))
            self.assertEqual([*schedule(NORM, *machine)][-1][2], norm_cycles(*machine))

    def test_are_the_examples_of_the_document_right(self):
        cases = ((norm_cycles, 24, 2, 80), (softmax_cycles, 36, 3, 96))
        for cycles, long, short, single in cases:
            self.assertEqual(cycles(101, 768, 64) - cycles(100, 768, 64), long)
            self.assertEqual(cycles(148, 16, 64) - cycles(100, 16, 64), 48 * short)
            self.assertEqual(cycles(1, 128, 64), single)

    def test_do_rows_in_flight_have_slots(self):
        """As many as docs/vector-arithmetic.md says, of the 64 that accsim_pkg.sv has."""
        most = max(flying(p, *m) for m in MACHINES for p in (SOFTMAX, LOGARITHM, NORM))
        self.assertEqual(most, 5 * 8)

    def test_are_more_lanes_never_slower(self):
        for cycles in (softmax_cycles, logarithm_cycles, norm_cycles):
            for rows in (*range(1, 50), 1000, 1001):
                taken = [cycles(rows, beats, 1) for beats in range(1, 40)]
                self.assertEqual(taken, sorted(taken), rows)

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
