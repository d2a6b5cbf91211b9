#!/usr/bin/python3
"""docs/engines.md against measured programs: engines.py steps the programs of
validation/tables/vta_rtl.csv. `engines_test.py compare` prints a line per row.
"""

import functools
import sys
import unittest
from collections import Counter
from dataclasses import fields, replace

from engines import (
    COMPUTE,
    READ,
    WRITE,
    Command,
    CommandKind,
    Machine,
    Times,
    TokenQueue,
    pieces,
    simulate,
)
from engines_rows import (
    ACC,
    GEMM,
    INP,
    LOAD,
    OUT,
    UOP,
    WGT,
    Stream,
    machine,
    program,
    rows,
)

COUNTS = {"uop": UOP, "acc": ACC, "inp": INP, "wgt": WGT, "out": OUT}


@functools.cache
def stepped(number: int) -> list[Times]:
    """The commands of a row."""
    row = rows()[number]
    return simulate(machine(row), program(row))


def error(number: int) -> float:
    """Predicted over measured cycles, less one, in percent."""
    return 100 * (stepped(number)[-1].end / int(rows()[number]["total_cycles"]) - 1)


def events(number: int) -> dict[str, int]:
    """What the columns of the table say, of the program that was stepped."""
    row, times = rows()[number], stepped(number)
    setting, commands = machine(row), program(row)
    busy: Counter[str] = Counter()
    spans: dict[str, list[tuple[int, int]]] = {"load": [], "gemm": []}
    for command, time in zip(commands, times):
        kind = setting.kinds[command.kind]
        name = "alu" if kind.name.startswith("alu_") else kind.name
        name = f"load_{name}" if kind.work == READ else name
        busy[f"busy_{name}"] += time.end - time.start + 1
        if kind.work == READ and kind.engine == LOAD:
            spans["load"].append((time.start, time.end))
        if command.kind == GEMM:
            spans["gemm"].append((time.start, time.end))
    found = {name: cycles for name, cycles in busy.items() if name in row}
    overlap = sum(
        max(0, min(a[1], b[1]) - max(a[0], b[0]) + 1) for a in spans["load"] for b in spans["gemm"]
    )
    return {
        **found,
        "total_cycles": times[-1].end,
        "last_write_cycle": max(t.end for c, t in zip(commands, times) if c.kind == OUT)
        - setting.latency,
        "first_load_start": spans["load"][0][0],
        "last_load_end": spans["load"][-1][1],
        "first_gemm_start": spans["gemm"][0][0],
        "last_gemm_end": spans["gemm"][-1][1],
        "overlap_load_gemm": overlap,
    }


class Measured(unittest.TestCase):
    """The figures of docs/engines.md, "Against the RTL"."""

    def test_are_all_rows_exact(self):
        self.assertEqual(len(rows()), 133)
        for number, row in enumerate(rows()):
            self.assertEqual(stepped(number)[-1].end, int(row["total_cycles"]), row["id"])

    def test_are_events_where_they_were_seen(self):
        for number, row in enumerate(rows()):
            found = events(number)
            self.assertGreaterEqual(len(found), 12)
            for column, cycle in found.items():
                self.assertEqual(cycle, int(row[column]), (row["id"], column))

    def test_are_programs_those_of_the_table(self):
        """Commands, items, requests and bytes as they were counted at the port."""
        for row in rows():
            setting, stream = machine(row), Stream(row)
            commands = stream.make()
            made = Counter(setting.kinds[c.kind].name for c in commands)
            for kind in ("gemm", "gemm_reset", "alu_imm", "alu_reg", "store", "nop_load", "finish"):
                self.assertEqual(made[kind], int(row[f"n_{kind}"]), (row["id"], kind))
            self.assertEqual(made["nop_core"], int(row["n_nop_compute"]), row["id"])
            self.assertEqual(len(commands), int(row["n_instr"]), row["id"])
            self.assertEqual(stream.uops, int(row["n_uops"]), row["id"])
            for name, kind in COUNTS.items():
                found = [p for c in commands if c.kind == kind for p in pieces(c, setting)]
                beats = sum(beats for beats, _ in found)
                self.assertEqual(len(found), int(row[f"req_{name}"]), (row["id"], name))
                self.assertEqual(beats * setting.port_bytes, int(row[f"bytes_{name}"]), row["id"])
            for kind in ("gemm", "reset", "alu_imm", "alu_reg"):
                name = "gemm_reset" if kind == "reset" else kind
                items = sum(c.items for c in commands if setting.kinds[c.kind].name == name)
                self.assertEqual(items, int(row[f"{kind}_ops"]), (row["id"], kind))

    def test_is_every_field_seen(self):
        """A machine with one field changed isn't the one that was measured: some row says so."""
        for field in fields(Machine):
            if field.type != "int":
                continue
            with self.subTest(field=field.name):
                self.assertTrue(self.shows(lambda m, name=field.name: changed(m, name)))
        for field in fields(CommandKind):
            if field.type == "int" and field.name != "engine":
                with self.subTest(field=field.name):
                    self.assertTrue(self.shows(lambda m, name=field.name: of_kinds(m, name)))
        with self.subTest(field="queue_depths"):
            self.assertTrue(self.shows(lambda m: replace(m, queue_depths=(99,) * 3)))

    def shows(self, change) -> bool:
        small = [row for row in rows() if int(row["n_instr"]) < 1300]
        for row in sorted(small, key=lambda row: int(row["n_instr"])):
            try:
                if simulate(change(machine(row)), program(row))[-1].end != int(row["total_cycles"]):
                    return True
            except ValueError:
                return True
        return False


def changed(setting: Machine, name: str) -> Machine:
    """With another value of a field."""
    flags = ("reads_overlap", "last_beat_holds", "whole_bursts")
    if name in flags:
        return replace(setting, **{name: 1 - getattr(setting, name)})
    if name == "token_limit":
        return replace(setting, token_limit=1)
    return replace(setting, **{name: 2 * getattr(setting, name) or 2})


def of_kinds(setting: Machine, name: str) -> Machine:
    kinds = (replace(kind, **{name: getattr(kind, name) + 8}) for kind in setting.kinds)
    return replace(setting, kinds=tuple(kinds))


def small(**changes) -> Machine:
    """Two engines, a token queue, a kind of each work."""
    kinds = (
        CommandKind("read", 0, READ),
        CommandKind("work", 1, COMPUTE, item_cycles=3, pipeline_cycles=5),
        CommandKind("write", 1, WRITE),
    )
    return replace(Machine((4, 4), kinds, (TokenQueue(0, 1),)), **changes)


class Rules(unittest.TestCase):
    """Small programs by the formulas of the page."""

    def test_does_a_command_wait_for_fetch(self):
        """Request in 2, beats of a command of 16 bytes in 34 and 35, dispatch 37, start 39."""
        (times,) = simulate(small(), [Command(1, items=7)])
        self.assertEqual((times.start, times.end), (39, 39 + 7 * 3 + 5 - 1))

    def test_does_a_read_pay_the_latency_once(self):
        """Rows of 4 beats, in requests that overlap."""
        command = Command(0, address=0, row_bytes=32, rows=5, pitch=64)
        (times,) = simulate(small(), [command])
        self.assertEqual(times.end, times.start + 1 + 32 + 5 * 4 - 1 + 2 + 1)

    def test_are_rows_cut_at_pages(self):
        command = Command(0, address=2048 - 24, row_bytes=40, rows=1, pitch=0)
        self.assertEqual(list(pieces(command, small())), [(3, 24), (2, 16)])
        across = Command(0, address=4, row_bytes=8, rows=1, pitch=0)
        self.assertEqual(list(pieces(across, small())), [(2, 8)])

    def test_is_a_burst_of_a_write_answered(self):
        command = Command(2, address=0, row_bytes=64, rows=16, pitch=512)
        (times,) = simulate(small(), [command])
        self.assertEqual(times.end - times.start + 1, 16 * (3 * 4 + 32 + 1))

    def test_does_padding_wait_for_beats(self):
        """Items of padding fill the latency first, then go on behind the beats."""
        for pads in (10, 32, 33, 100):
            command = Command(0, row_bytes=80, rows=1, pads_below=pads)
            (times,) = simulate(small(), [command])
            first, last = times.start + 1 + 32 + 2, times.start + 1 + 32 + 9 + 2
            after = max(0, pads - (first - times.start - 1))
            self.assertEqual(times.end, last + after + 1, pads)

    def test_does_a_token_hold_an_engine(self):
        commands = [Command(0, row_bytes=8, rows=1, posts=(0,)), Command(1, items=1, takes=(0,))]
        read, work = simulate(small(), commands)
        self.assertEqual(work.start, read.end + 2)

    def test_is_a_program_that_waits_for_ever_refused(self):
        with self.assertRaisesRegex(ValueError, "for ever"):
            simulate(small(), [Command(1, items=1, takes=(0,))])

    def test_is_a_lost_token_refused(self):
        commands = [Command(0, row_bytes=8, rows=1, posts=(0,))] * 4
        simulate(small(token_limit=4), commands)
        with self.assertRaisesRegex(ValueError, "lost"):
            simulate(small(token_limit=3), commands)


def compare() -> None:
    """A line per row, then figures by set and way to synchronise."""
    by_set: dict[tuple[str, str], list[float]] = {}
    for number, row in enumerate(rows()):
        off = error(number)
        by_set.setdefault((row["set"], row["sync"]), []).append(abs(off))
        print(f"{row['id']} {row['set']} {row['sync']} {row['total_cycles']} {off:+.4f} %")
    for (name, sync), errors in by_set.items():
        exact, mean = sum(e == 0 for e in errors), sum(errors) / len(errors)
        print(f"{name} {sync}: {len(errors)} rows, {exact} exact", end=", ")
        print(f"mean {mean:.4f} %, worst {max(errors):.4f} %")


if __name__ == "__main__":
    if sys.argv[1:] == ["compare"]:
        compare()
    else:
        unittest.main()
