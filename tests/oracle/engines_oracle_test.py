#!/usr/bin/python3
"""hw/engines against the simulator of docs/engines.md.

Usage: engines_oracle_test.py PRINT_ENGINES [unittest arguments]. The program reads cases, a machine
and commands per line, and prints their times. Do both say the same of random machines and programs,
of random tiled layers and of measured ones, and do random cases show every field?
"""

import json
import pathlib
import random
import sys
import unittest
from collections.abc import Sequence
from dataclasses import asdict, fields, replace

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "app"))
from engines import (
    COMPUTE,
    READ,
    WRITE,
    Command,
    CommandKind,
    Machine,
    Times,
    TokenQueue,
    simulate,
)
from engines_rows import Stream, machine, program, rows
from program import run

CASES, LAYERS, SEED = 1500, 200, 4
MACHINES = pathlib.Path(__file__).resolve().parents[2] / "configs" / "known"
Case = tuple[Machine, Sequence[Command]]
GEMM = ("M", "K", "N", "m_t", "k_t", "n_t")
CONV = ("H", "W", "CI", "CO", "ksize", "stride", "pad", "OH", "OW", "h_t", "w_t", "ci_t", "co_t")


def answers(cases: Sequence[dict]) -> list:
    """What the program says of each case."""
    done = run(input="\n".join(map(json.dumps, cases)) + "\n")
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"code {done.returncode}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def bits(queues: Sequence[int]) -> int:
    return sum(1 << queue for queue in set(queues))


def numbers(command: Command) -> list[int]:
    *sizes, takes, posts = (getattr(command, field.name) for field in fields(Command))
    return [*sizes, bits(takes), bits(posts)]


def times(cases: Sequence[Case]) -> list[list[Times] | str]:
    """Times of the library, or an error."""
    lines = [
        {"machine": asdict(setting), "commands": [numbers(command) for command in commands]}
        for setting, commands in cases
    ]
    return [
        one["error"] if isinstance(one, dict) else [Times(*command) for command in one]
        for one in answers(lines)
    ]


def draw_kind(
    rng: random.Random, name: str, engine: int, work: str, port_bytes: int
) -> CommandKind:
    return CommandKind(
        name,
        engine,
        work,
        item_cycles=rng.randint(0, 3),
        pipeline_cycles=rng.randint(1, 8),
        start_to_request=rng.randint(0, 4),
        pad_row_cycles=rng.randint(0, 2),
        start_to_pad=rng.randint(0, 4),
        beat_to_write=rng.randint(0, 4),
        write_to_end=rng.randint(0, 3),
        item_bytes=port_bytes * rng.choice([1, 2]),
        start_to_beat=rng.randint(0, 4),
        item_gap=rng.randint(0, 2),
    )


def draw_machine(rng: random.Random) -> Machine:
    """A machine unlike VTA."""
    engines, port_bytes = rng.randint(1, 4), rng.choice([4, 8, 16])
    writer = rng.randrange(engines)
    kinds = []
    for number in range(rng.randint(1, 6)):
        work, engine = rng.choice([COMPUTE, READ, READ, WRITE]), rng.randrange(engines)
        engine = writer if work == WRITE else engine
        kinds.append(draw_kind(rng, f"kind{number}", engine, work, port_bytes))
    queues = [
        TokenQueue(rng.randrange(engines), rng.randrange(engines)) for _ in range(rng.randint(0, 4))
    ]
    return Machine(
        tuple(rng.choice([1, 2, 5, 100]) for _ in range(engines)),
        tuple(kinds),
        tuple(queues),
        port_bytes=port_bytes,
        page_beats=rng.choice([2, 4, 8, 32]),
        latency=rng.choice([1, 2, 5, 20, 60]),
        reads_overlap=int(rng.random() < 0.8),
        outstanding=rng.choice([1, 2, 3, 16]),
        client_cycles=rng.randint(1, 4),
        last_beat_holds=rng.randint(0, 1),
        command_bytes=port_bytes * rng.choice([1, 2]),
        launch_cycles=rng.randint(0, 5),
        whole_bursts=rng.randint(0, 1),
        fetch_cycles=rng.randint(1, 5),
        dispatch_register=rng.choice([0, 0, 1, 2, 3]),
        refill_cycles=rng.randint(1, 5),
        dispatch_to_start=rng.randint(1, 4),
        end_to_start=rng.randint(1, 4),
        end_to_room=rng.randint(1, 4),
        token_to_start=rng.randint(1, 4),
        token_limit=rng.choice([1, 2, 5, 255, 255]),
    )


def draw_sizes(rng: random.Random, kind: CommandKind) -> dict[str, int]:
    if kind.work == COMPUTE:
        return {"items": rng.randint(0, 40)}
    unit = kind.item_bytes if kind.work == WRITE else 1
    sizes = {
        "address": unit * rng.randint(0, 40),
        "row_bytes": unit * rng.randint(1, 20),
        "rows": rng.randint(1, 12),
        "pitch": unit * rng.randint(0, 40),
    }
    if kind.work == READ and rng.random() < 0.4:
        names = ("pad_rows", "pads_above", "pads_passed", "pads_below")
        sizes |= {name: rng.choice([0, 1, 5, rng.randint(0, 90)]) for name in names}
    return sizes


def draw_program(rng: random.Random, setting: Machine) -> list[Command]:
    """Mostly programs that end: what a command takes has been posted before it."""
    waiting = [0] * len(setting.token_queues)
    commands = []
    for _ in range(rng.choice([1, 4, 20, 60])):
        index = rng.randrange(len(setting.kinds))
        kind = setting.kinds[index]
        takes, posts = [], []
        for queue, ends in enumerate(setting.token_queues):
            reckless = rng.random() < 0.005
            if ends.target == kind.engine and (reckless or (waiting[queue] and rng.random() < 0.5)):
                takes.append(queue)
                waiting[queue] -= 1
            if ends.source == kind.engine and rng.random() < 0.3:
                posts.append(queue)
        for queue in posts:
            waiting[queue] += 1
        sizes = draw_sizes(rng, kind)
        commands.append(Command(index, **sizes, takes=tuple(takes), posts=tuple(posts)))
    return commands


def draw(number: int, seed: int) -> list[Case]:
    rng = random.Random(seed)
    settings = [draw_machine(rng) for _ in range(number)]
    return [(setting, draw_program(rng, setting)) for setting in settings]


def draw_row(rng: random.Random) -> dict[str, str]:
    """A layer as the table has it."""
    row = {
        "contexts": rng.randint(1, 4),
        "sync": rng.choice(["credit", "tvm"]),
        "uop_load": rng.choice(["once", "each"]),
        "bias": rng.randint(0, 1),
        "port_bits": rng.choice([64, 128]),
        "max_burst": rng.choice([16, 256]),
        "mem_latency": rng.randint(1, 100),
        "mem_mode": rng.choice(["pipelined", "serial"]),
    }
    if rng.random() < 0.5:
        m, k, n = rng.randint(1, 20), 16 * rng.randint(1, 3), 16 * rng.randint(1, 3)
        tiles = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 3)
        sizes = [m * tiles[0], k * tiles[1], n * tiles[2], m, k, n]
        row |= dict(zip(GEMM, sizes)) | {"kind": "gemm", "order": rng.choice(["mn", "nm"])}
        row["uop_mode"] = rng.choice(["k", "nk", "kn", "1", "mk"])
    else:
        row |= draw_conv(rng)
    return {name: str(value) for name, value in row.items()}


def draw_conv(rng: random.Random) -> dict[str, int | str]:
    h, w, ci, co = rng.randint(1, 6), rng.randint(1, 6), 16 * rng.randint(1, 2), 16
    co *= rng.randint(1, 2)
    tiles = [rng.randint(1, 3) for _ in range(4)]
    ksize, stride = rng.randint(1, 3), rng.randint(1, 2)
    pad = rng.randint(0, (ksize - 1) // 2 + 1) if ksize > 1 else 0
    pad = min(pad, ksize - 1)
    out = h * tiles[0], w * tiles[1]
    whole = [(size - 1) * stride + ksize - 2 * pad + rng.randint(0, stride - 1) for size in out]
    whole = [max(size, 1) for size in whole]
    sizes = [*whole, ci * tiles[2], co * tiles[3], ksize, stride, pad, *out, h, w, ci, co]
    order = "".join(rng.sample("hwc", 3))
    micro = rng.choice(["ckk", "tvm", "kk1"])
    return dict(zip(CONV, sizes)) | {"kind": "conv", "order": order, "uop_mode": micro}


def layer_case(row: dict[str, str]) -> dict:
    """A row as the program takes it."""
    return {
        "layer": {
            "sizes": [int(row[name]) for name in (GEMM if row["kind"] == "gemm" else CONV)],
            "order": row["order"],
            "contexts": int(row["contexts"]),
            "barrier": row["sync"] == "tvm",
            "micro": row["uop_mode"],
            "micro_each": row["uop_load"] == "each",
            "bias": row["bias"] == "1",
        },
        "file": str(MACHINES / f"vta-16x16{'-wide' if row['port_bits'] == '128' else ''}.yaml"),
        "memory": [
            int(row["max_burst"]),
            int(row["mem_latency"]),
            row["mem_mode"] == "pipelined",
        ],
    }


def found_row(row: dict[str, str], found: list) -> dict[str, str]:
    """The row with the program that a search has found."""
    sizes, order, contexts, micro, each = found
    names = GEMM if row["kind"] == "gemm" else CONV
    program = {"order": order, "contexts": contexts, "uop_mode": micro}
    program |= {"uop_load": "each" if each else "once"}
    return row | {k: str(v) for k, v in (dict(zip(names, sizes)) | program).items()}


class Oracle(unittest.TestCase):
    maxDiff = None

    def agree(self, cases: Sequence[Case]) -> tuple[int, int]:
        """Cases with times, and cases that both refuse."""
        answered = refused = 0
        for (setting, commands), ours in zip(cases, times(cases), strict=True):
            try:
                theirs = simulate(setting, commands)
            except ValueError as error:
                self.assertIsInstance(ours, str, (error, setting, commands))
                refused += 1
                continue
            self.assertEqual(ours, theirs, (setting, commands))
            answered += 1
        return answered, refused

    def test_are_random_programs_as_they_are_when_stepped(self):
        answered, refused = self.agree(draw(CASES, SEED))
        self.assertGreater(answered, CASES // 2)
        self.assertGreater(refused, CASES // 50)

    def test_are_measured_programs_so(self):
        cases = [(machine(row), program(row)) for row in rows()]
        self.assertEqual(self.agree(cases), (len(cases), 0))

    def test_are_programs_of_layers_the_same(self):
        """Machines and commands, by two implementations of the table's head."""
        rng = random.Random(SEED)
        layers = [*rows(), *(draw_row(rng) for _ in range(LAYERS))]
        for row, made in zip(layers, answers([layer_case(row) for row in layers]), strict=True):
            self.assertNotIn("error", made, row)
            self.assertEqual(made["commands"], [numbers(c) for c in program(row)], row)
            ours = made["machine"]
            for kind, theirs in zip(ours["kinds"], machine(row).kinds, strict=True):
                self.assertEqual(kind, asdict(theirs))
            theirs = json.loads(json.dumps(asdict(machine(row)))) | {"kinds": ours["kinds"]}
            self.assertEqual(ours, theirs, row)

    def test_are_programs_that_a_search_finds_so(self):
        """They fit into the scratchpads of the table's head, take the cycles that are said when
        they are stepped, and no more than what was measured."""
        small = [row for row in rows() if int(row["macs"]) < 1_000_000]
        self.assertGreater(len(small), 30)
        cases = [layer_case(row) for row in small]
        asked = [{"search" if k == "layer" else k: v for k, v in case.items()} for case in cases]
        for row, made in zip(small, answers(asked), strict=True):
            self.assertNotIn("error", made, row)
            best = found_row(row, made["found"])
            stream = Stream(best)
            stream.make()
            layer, turns = stream.layer, int(best["contexts"])
            biases = turns * layer.b if stream.bias else 0
            self.assertLessEqual(turns * layer.I, 2048)
            self.assertLessEqual(turns * layer.G, 1024)
            self.assertLessEqual(turns * layer.A + biases, 2048)
            self.assertLessEqual(stream.uops, 2048)
            stepped = simulate(machine(best), program(best))
            self.assertEqual(max(one.end for one in stepped), made["cycles"], best)
            self.assertLessEqual(made["cycles"], int(row["total_cycles"]), row)

    def test_do_random_layers_end(self):
        rng = random.Random(SEED + 1)
        layers = [draw_row(rng) for _ in range(LAYERS // 2)]
        cases = [(machine(row), program(row)) for row in layers]
        self.assertEqual(self.agree(cases), (len(cases), 0))

    def test_does_every_field_show(self):
        """A program that left a field out would be seen: another value gives other times."""
        cases = draw(300, SEED + 2)
        before = times(cases)
        for field in fields(Machine):
            if field.type != "int" or field.name in ("port_bytes", "command_bytes"):
                continue
            with self.subTest(field=field.name):
                flags = ("reads_overlap", "last_beat_holds", "whole_bursts")
                step = (lambda n: 1 - n) if field.name in flags else (lambda n: 2 * n or 1)
                other = [
                    (replace(s, **{field.name: step(getattr(s, field.name))}), c) for s, c in cases
                ]
                self.assertNotEqual(times(other), before)
        for field in fields(CommandKind)[3:]:
            if field.name == "item_bytes":
                continue
            with self.subTest(field=field.name):
                other = [(self.with_kinds(s, field.name), c) for s, c in cases]
                self.assertNotEqual(times(other), before)

    def with_kinds(self, setting: Machine, name: str) -> Machine:
        kinds = (replace(kind, **{name: getattr(kind, name) + 1}) for kind in setting.kinds)
        return replace(setting, kinds=tuple(kinds))


if __name__ == "__main__":
    unittest.main()
