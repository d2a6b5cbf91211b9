#!/usr/bin/python3
"""The schedule of the vector unit's row commands, by rtl/README.md and docs/vector-arithmetic.md.

Usage: row_schedule_test.py [unittest arguments]. Are all of a row's inputs there when a pass reads
it, are lanes of divisions and roots free, and does a command take what the table says?
"""

import unittest
from collections.abc import Iterator
from dataclasses import dataclass, replace

STEP = 16  # cycles of a step at least, and of a row's division or root
MOST_LANES = 8  # for divisions, and for roots; else as many as there are special lanes


@dataclass(frozen=True)
class Pass:
    """One pass over a row: in which step after the row's first, and when it may begin."""

    name: str
    step: int
    after: int = 0  # first read, at the earliest so long after the last read of the pass before
    unit: int = -1  # a division, or root, begins so long after the last read
    more: int = 0  # beats that read nothing, behind the others
    exp: bool = False  # it needs the lanes that have exponentials


# By the order of passes within a step.
SOFTMAX = (
    Pass("sum", 2, after=5, unit=10, exp=True),
    Pass("maximum", 0),
    Pass("write", 5, after=23, exp=True),
)
LOGARITHM = (*SOFTMAX[:2], Pass("write", 5, after=23, more=1, exp=True))
NORM = (Pass("sums", 0, unit=9), Pass("write", 4, after=42))


def up(a: int, b: int) -> int:
    return -(-a // b)


def grouped(rows: int, group: int) -> list[range]:
    """The rows of each group."""
    return [range(i, min(i + group, rows)) for i in range(0, rows, group)]


def schedule(passes: tuple[Pass, ...], rows: int, n: int, lanes: int, exps: int) -> Iterator[tuple]:
    """(pass, row, cycle of its first beat, cycles) in time order, then the end of the command."""
    cycle, beats = 0, {p: up(n, min(lanes, exps) if p.exp else lanes) for p in passes}
    groups = grouped(rows, min(up(STEP, sum(beats[p] + p.more for p in passes)), exps))
    for t in range(len(groups) + max(p.step for p in passes)):
        at = cycle
        for p in passes:
            for row in groups[t - p.step] if 0 <= t - p.step < len(groups) else ():
                yield p, row, at, beats[p]
                at += beats[p] + p.more
        cycle = max(at, cycle + STEP)
    yield None, rows, cycle, 0


def late(passes: tuple[Pass, ...], rows: int, n: int, lanes: int, exps: int) -> str:
    """What isn't there in time; empty when all is."""
    last, begun = {}, []
    for p, row, first, cycles in schedule(passes, rows, n, lanes, exps):
        if p is None:
            break
        if p.after and first < last[row] + p.after:
            return f"{p.name} of row {row} in {first}, last read before in {last[row]}"
        last[row] = first + cycles - 1
        if p.unit >= 0:
            begun.append(last[row] + p.unit)
            if begun[-2:-1] == begun[-1:]:
                return f"two rows in cycle {begun[-1]}"
            if sum(cycle > begun[-1] - STEP for cycle in begun) > min(exps, MOST_LANES):
                return f"no lane is free in {begun[-1]}"
    return ""


def flying(passes: tuple[Pass, ...], rows: int, n: int, lanes: int, exps: int) -> int:
    """The most rows that have begun and aren't written at once."""
    now = most = 0
    seen = set()
    for p, row, _, _ in schedule(passes, rows, n, lanes, exps):
        if p is None:
            break
        now += row not in seen
        seen.add(row)
        most = max(most, now)
        now -= p.name == "write"
    return most


def softmax_cycles(rows: int, n: int, lanes: int, exps: int, more: int = 0) -> int:
    """The formula of rtl/README.md; with logarithms one beat `more` in the last pass."""
    b, e = up(n, lanes), up(n, min(lanes, exps))
    g = [len(rows) for rows in grouped(rows, min(up(16, b + 2 * e + more), exps))]
    first, total, last = [*g, *[0] * 5], [0, 0, *g, *[0] * 3], [*[0] * 5, *g]
    passes = zip(first, total, last, strict=True)
    return sum(max(16, b * f + e * t + (e + more) * w) for f, t, w in passes)


def logarithm_cycles(rows: int, n: int, lanes: int, exps: int) -> int:
    return softmax_cycles(rows, n, lanes, exps, more=1)


def norm_cycles(rows: int, n: int, lanes: int, exps: int) -> int:
    """The formula of rtl/README.md."""
    b = up(n, lanes)
    g = [len(rows) for rows in grouped(rows, min(up(16, 2 * b), exps))]
    both = zip([*g, *[0] * 4], [*[0] * 4, *g], strict=True)
    return sum(max(16, b * sum(passes)) for passes in both)


MACHINES = [
    (rows, n, lanes, exps)
    for rows in (*range(1, 10), 40, 101)
    for lanes in (1, 4, 8, 16, 48, 64, 128)
    for exps in (1, 2, 3, 4, 5, 7, 16, 128)
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
            self.assertEqual(cycles(101, 768, 64, 64) - cycles(100, 768, 64, 64), long)
            self.assertEqual(cycles(148, 16, 64, 64) - cycles(100, 16, 64, 64), 48 * short)
            self.assertEqual(cycles(1, 128, 64, 64), single)
        few = ((768, 16, 24, 108), (768, 1, 24, 1548), (16, 4, 4, 9), (16, 1, 16, 33))
        for n, exps, norm, softmax in few:
            for cycles, each in ((norm_cycles, norm), (softmax_cycles, softmax)):
                more = cycles(148, n, 64, exps) - cycles(100, n, 64, exps)
                self.assertEqual(more, 48 * each, (n, exps))

    def test_is_a_machine_of_as_many_special_lanes_as_others_bound_by_none_of_them(self):
        for rows, n, lanes, _ in MACHINES:
            if lanes >= MOST_LANES:
                for cycles in (softmax_cycles, logarithm_cycles, norm_cycles):
                    self.assertEqual(cycles(rows, n, lanes, lanes), cycles(rows, n, lanes, 4096))

    def test_do_rows_in_flight_have_slots(self):
        """As many as docs/vector-arithmetic.md says, of the 64 that accsim_pkg.sv has."""
        most = max(flying(p, *m) for m in MACHINES for p in (SOFTMAX, LOGARITHM, NORM))
        self.assertEqual(most, 5 * 8)

    def test_are_more_lanes_never_slower(self):
        for cycles in (softmax_cycles, logarithm_cycles, norm_cycles):
            for rows in (*range(1, 50), 1000, 1001):
                taken = [cycles(rows, beats, 1, 1) for beats in range(1, 40)]
                self.assertEqual(taken, sorted(taken), rows)
                taken = [cycles(rows, 40, 40, exps) for exps in range(40, 0, -1)]
                self.assertEqual(taken, sorted(taken), rows)

    def test_is_a_pass_that_comes_a_step_sooner_late(self):
        """Each of the schedule's distances is needed."""
        for passes, which in ((SOFTMAX, 0), (SOFTMAX, 2), (NORM, 1)):
            p = passes[which]
            sooner = replace(p, step=p.step - 1)
            changed = (*passes[:which], sooner, *passes[which + 1 :])
            if which == 0:  # the writing pass goes with it
                changed = (*changed[:2], replace(changed[2], step=changed[2].step - 1))
            self.assertTrue(any(late(changed, *m) for m in MACHINES), p.name)


if __name__ == "__main__":
    unittest.main()
