#!/usr/bin/python3
"""Pooling, LRN and point-wise layers of docs/dot-product.md against those of NVDLA's own traces.

Usage: dot_product_side_test.py [unittest arguments], or dot_product_side_test.py compare, which
prints every row. Are cycles and events right, do latencies come from the rows that the page names,
and is every field seen?
"""

import re
import sys
import unittest
from dataclasses import dataclass, fields, replace

from dot_product_side import Lrn, Point, Pool, Stage, Times, Units, simulate
from dot_product_test import table

SMALL = Units()
MEAN, WORST = 0.05, 0.13  # percent: the figures of the page, rounded up
KINDS = {"pdp": "pooling", "cdp": "LRN", "sdp": "point-wise"}


@dataclass(frozen=True)
class Row:
    name: str
    kind: str
    layer: Pool | Lrn | Point
    delay: int  # of its reader, as the page says under "What is left of these units"
    first_read: int
    first_write: int
    last_write: int


def delay(line: dict[str, str]) -> int:
    """By how much the reader begins later than where its enabling is what comes last, and comes
    through at once."""
    before = 0 if "RDMA" in line["last_enable"] else 1
    held = (int(line["csb_writes"]) - before) % 4 == 1
    return 5 * held - before


def strips(line: dict[str, str]) -> tuple[tuple[int, int], ...]:
    """Of a pooling row; strips after the first read what windows have in common again."""
    found = re.search(
        r"split=(\d+) partial_in\(first,last,mid\)=(\d+),(\d+),(\d+)"
        r" partial_out=(\d+),(\d+),(\d+)",
        line["op"],
    )
    if not found:
        return ()
    number, first, last, mid, out_first, out_last, out_mid = map(int, found.groups())
    again = int(line["S"]) - int(line["stride_x"])
    middle = ((mid + again, out_mid),) * (number - 2)
    return ((first, out_first), *middle, (last + again, out_last))


def stages(op: str) -> tuple[Stage, ...]:
    """Of a point-wise row: "bs:alu mul relu bn:off ew:off bs reads alu,per element"."""
    out = []
    for name in ("bs", "bn"):
        what = re.search(rf"\b{name}:(.*?) (?:bn|ew):", op).group(1)
        if what.startswith("off"):
            continue
        reads = re.search(rf"{name} reads ([a-z,]*),per element", op)
        out.append(
            Stage("alu" in what, "mul" in what or "prelu" in what)
            if not reads
            else Stage("alu" in what, "mul" in what or "prelu" in what, len(reads[1].split(",")))
        )
    return tuple(out)


def read(line: dict[str, str]) -> Row:
    size = {name: int(line[name] or 0) for name in ("W", "H", "C", "S", "R", "OW", "OH")}
    whole = size["W"], size["H"], size["C"]
    layer: Pool | Lrn | Point = Lrn(*whole, line["op"].endswith("bypass=3"))
    if line["unit"] == "pdp":
        rest = (int(line[c]) for c in ("S", "R", "stride_x", "stride_y", "pad_l", "pad_t"))
        layer = Pool(*whole, *rest, size["OW"], size["OH"], strips(line))
    if line["unit"] == "sdp":
        layer = Point(*whole, stages(line["op"]))
    events = (int(line[c]) for c in ("first_read_request", "first_write", "last_write"))
    return Row(line["trace"], line["unit"], layer, delay(line), *events)


def rows() -> list[Row]:
    """All rows of units beside the engine that this machine has."""
    lines = table("nvdla_nv_small_rtl.csv")
    return [read(line) for line in lines if line["unit"] in KINDS and line["result"] == "PASS"]


def error(row: Row, units: Units = SMALL) -> float:
    """Predicted over measured cycles to the last write, less one, in percent."""
    return 100 * (simulate(row.layer, units).last_write / row.last_write - 1)


def named(name: str) -> Row:
    return next(row for row in rows() if row.name == name)


class Measured(unittest.TestCase):
    """The figures of docs/dot-product.md, "Against the RTL" of these units."""

    def test_are_cycles_to_the_last_write_right(self):
        for kind in KINDS:
            errors = [abs(error(row)) for row in rows() if row.kind == kind]
            self.assertGreaterEqual(len(errors), 10, kind)
            self.assertLessEqual(sum(errors) / len(errors), MEAN, kind)
            self.assertLessEqual(max(errors), WORST, kind)

    def test_are_events_where_they_were_seen(self):
        for row in rows():
            times = simulate(row.layer, SMALL)
            self.assertEqual(times.first_read + row.delay, row.first_read, row.name)
            self.assertEqual(times.first_write + row.delay, row.first_write, row.name)
            self.assertEqual(times.last_write + row.delay, row.last_write, row.name)

    def test_is_every_field_seen(self):
        """A machine with one field changed isn't the one that was measured: some row says so."""
        unseen = {"pool_banks", "pool_bank_atoms"}  # which layers fit
        for field in fields(Units):
            if field.name in unseen:
                continue
            half = field.name == "lrn_width"  # no row is wider
            value = getattr(SMALL, field.name)
            changed = replace(SMALL, **{field.name: value // 2 if half else 2 * value})
            with self.subTest(field=field.name):
                self.assertTrue(
                    any(simulate(r.layer, changed) != simulate(r.layer, SMALL) for r in rows())
                )


class Latencies(unittest.TestCase):
    """Each from the events of one row, as the page says."""

    def test_are_reads_begun_so_late(self):
        self.assertEqual(named("sdp_1x1x8_pass_through_int8_0").first_read, SMALL.unit_start)

    def test_is_the_way_of_a_point_wise_atom_so_long(self):
        row = named("sdp_1x1x8_pass_through_int8_0")
        answer = row.first_read + SMALL.read_latency
        self.assertEqual(row.first_write - answer - 8, SMALL.point_latency)

    def test_do_stages_add_so_much(self):
        """3 positions per line are collected, so two more reads are waited for."""
        none = SMALL.unit_start + SMALL.read_latency + 2 * 2 + 8 + SMALL.point_latency
        added = {
            "sdp_3x3x33_bn_int8_reg_1": SMALL.stage_latency + SMALL.alu_latency,
            "sdp_3x3x33_bs_int8_reg_0": SMALL.stage_latency + SMALL.alu_latency + SMALL.mul_latency,
        }
        for name, cycles in added.items():
            self.assertEqual(named(name).first_write - none, cycles)

    def test_is_the_way_of_a_pooled_atom_so_long(self):
        """A column of 8 taps of which 1 + 6 are pads: the last of three lines has the output, and
        each line holds the next one up by 3 cycles."""
        row = named("pdp_1x3x8_8x8_ave_int8_0")
        answer = row.first_read + SMALL.read_latency
        self.assertEqual(row.first_write - answer - 3 * 8 - 2 * 3, SMALL.pool_latency)

    def test_is_the_way_of_an_lrn_atom_so_long(self):
        """One position of 32 channels: its first 8 leave with the 4 after them."""
        row = named("cdp_1x1x31_lrn3_int8_0")
        answer = row.first_read + SMALL.read_latency
        self.assertEqual(row.first_write - answer - 8 - 4, SMALL.lrn_latency)
        row = named("cdp_8x8x32_lrn3_int8_0")  # bypassed: 8 positions, read every second cycle
        answer = row.first_read + SMALL.read_latency
        self.assertEqual(row.first_write - answer - 6 - 64 - 32, SMALL.lrn_bypass_latency)


def compare() -> None:
    """A line per row, then mean and worst error by kind."""
    for row in rows():
        times: Times = simulate(row.layer, SMALL)
        print(f"{row.name} measured {row.last_write} predicted {times.last_write}", end=" ")
        print(f"{error(row):+.4f} % (first read {times.first_read - row.first_read:+d},", end=" ")
        print(f"first write {times.first_write - row.first_write:+d})")
    for kind, name in KINDS.items():
        errors = [abs(error(row)) for row in rows() if row.kind == kind]
        exact = sum(one == 0 for one in errors)
        print(f"{name}: {len(errors)} rows, {exact} exact", end=", ")
        print(f"mean {sum(errors) / len(errors):.4f} %, worst {max(errors):.4f} %")


if __name__ == "__main__":
    if sys.argv[1:] == ["compare"]:
        compare()
    else:
        unittest.main()
