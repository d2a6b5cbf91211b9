"""Rows of validation/tables/vta_rtl.csv as machines and programs of docs/engines.md.

The head of the table says how a row's program is made; letters in brackets are those of its
section "Program structure".
"""

import csv
import functools
import pathlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from engines import COMPUTE, READ, WRITE, Command, CommandKind, Machine, TokenQueue

TABLE = pathlib.Path(__file__).resolve().parents[2] / "validation/tables/vta_rtl.csv"
LOAD, CORE, STORE = range(3)  # engines
UOP, INP, WGT, ACC, GEMM, RESET, ALU_IMM, ALU_REG, OUT, NOP_LOAD, NOP_CORE, END = range(12)
LOADED, TAKEN, DONE, STORED = range(4)  # token queues
UOP_BASE, INP_BASE, WGT_BASE, ACC_BASE, OUT_BASE = (n << 24 for n in range(2, 7))
UOP_BYTES, VECTOR, BLOCK, SUMS = 4, 16, 256, 64  # of an element in memory
WIDE = {"beat_to_write": 1, "start_to_pad": 0}


@functools.cache
def rows() -> tuple[dict[str, str], ...]:
    with open(TABLE, encoding="utf-8") as file:
        return tuple(csv.DictReader(line for line in file if not line.startswith("#")))


def machine(row: dict[str, str]) -> Machine:
    """Section "The machine of the table"."""
    wide = row["port_bits"] == "128"
    kinds = (
        CommandKind("uop", CORE, READ, **WIDE),
        CommandKind("inp", LOAD, READ, **(WIDE if wide else {})),
        CommandKind("wgt", LOAD, READ),
        CommandKind("acc", CORE, READ),
        CommandKind("gemm", CORE, COMPUTE, item_cycles=1, pipeline_cycles=6),
        CommandKind("gemm_reset", CORE, COMPUTE, item_cycles=1, pipeline_cycles=6),
        CommandKind("alu_imm", CORE, COMPUTE, item_cycles=1, pipeline_cycles=6),
        CommandKind("alu_reg", CORE, COMPUTE, item_cycles=2, pipeline_cycles=6),
        CommandKind("store", STORE, WRITE, item_gap=0 if wide else 1),
        CommandKind("nop_load", LOAD, COMPUTE),
        CommandKind("nop_core", CORE, COMPUTE),
        CommandKind("finish", CORE, COMPUTE),
    )
    queues = ((LOAD, CORE), (CORE, LOAD), (CORE, STORE), (STORE, CORE))
    made = Machine(
        (512,) * 3,
        kinds,
        tuple(TokenQueue(*ends) for ends in queues),
        port_bytes=int(row["port_bits"]) // 8,
        page_beats=int(row["max_burst"]),
        latency=int(row["mem_latency"]),
        reads_overlap=int(row["mem_mode"] == "pipelined"),
    )
    if wide:
        made = replace(made, fetch_cycles=4, dispatch_register=2, refill_cycles=4)
    return made


Kernel = tuple[tuple[int, int, int], ...]  # micro-ops: accumulator, input, weight


@dataclass(frozen=True)
class Tile:
    """Place of an output tile: context, row and column in the output, block of channels."""

    context: int
    h: int
    w: int
    c: int


class Gemm:
    """Section "Instructions of a tile", gemm."""

    def __init__(self, row: dict[str, str]) -> None:
        n = {k: int(row[k]) for k in ("M", "K", "N", "m_t", "k_t", "n_t")}
        self.KB, self.NB, self.kb, self.nb = (n[k] // 16 for k in ("K", "N", "k_t", "n_t"))
        self.m = n["m_t"]
        self.steps = self.KB // self.kb
        self.I, self.G, self.A, self.b = (
            self.m * self.kb,
            self.nb * self.kb,
            self.m * self.nb,
            self.nb,
        )
        self.mode = row["uop_mode"]
        self.ranges = {"m": range(0, n["M"], self.m), "n": range(0, self.NB, self.nb)}
        self.outputs = self.A

    def tile(self, context: int, at: dict[str, int]) -> Tile:
        return Tile(context, at["m"], 0, at["n"])

    def loads(self, tile: Tile, k: int) -> Iterator[Command]:
        yield transfer(INP, tile.h * self.KB + k * self.kb, self.m, self.kb, self.KB)
        yield transfer(WGT, tile.c * self.KB + k * self.kb, self.nb, self.kb, self.KB)

    def stores(self, tile: Tile) -> Iterator[Command]:
        yield transfer(OUT, tile.h * self.NB + tile.c, self.m, self.nb, self.NB)

    def kernels(self, j: int) -> Iterator[tuple[Kernel, int]]:
        """Micro-ops of each GEMM of a step, and how often they run."""
        a, i, w, kb, nb = j * self.A, j * self.I, j * self.G, self.kb, self.nb
        if self.mode == "k":
            yield tuple((a, i + q, w + q) for q in range(kb)), self.m * nb
        elif self.mode == "1":
            for q in range(kb):
                yield ((a, i + q, w + q),), self.m * nb
        elif self.mode in ("nk", "kn"):
            pairs = product(range(nb), range(kb))
            if self.mode == "kn":
                pairs = ((r, q) for q, r in product(range(kb), range(nb)))
            yield tuple((a + r, i + q, w + r * kb + q) for r, q in pairs), self.m
        elif self.mode == "mk":
            pairs = product(range(self.m), range(kb))
            yield tuple((a + s * nb, i + s * kb + q, w + q) for s, q in pairs), nb


class Conv:
    """Section "Instructions of a tile", conv."""

    def __init__(self, row: dict[str, str]) -> None:
        for name in ("H", "W", "ksize", "stride", "pad", "OH", "OW", "h_t", "w_t"):
            setattr(self, name, int(row[name]))
        self.CIB, self.COB, self.cib, self.cob = (
            int(row[name]) // 16 for name in ("CI", "CO", "ci_t", "co_t")
        )
        self.steps = self.CIB // self.cib
        self.hin = (self.h_t - 1) * self.stride + self.ksize
        self.win = (self.w_t - 1) * self.stride + self.ksize
        self.ks2 = self.ksize**2
        self.I = self.cib * self.hin * self.win
        self.G = self.cob * self.cib * self.ks2
        self.A = self.cob * self.h_t * self.w_t
        self.b = self.cob
        self.mode = row["uop_mode"]
        self.ranges = {
            "h": range(0, self.OH, self.h_t),
            "w": range(0, self.OW, self.w_t),
            "c": range(0, self.COB, self.cob),
        }
        self.outputs = self.A

    def tile(self, context: int, at: dict[str, int]) -> Tile:
        return Tile(context, at["h"], at["w"], at["c"])

    def loads(self, tile: Tile, k: int) -> Iterator[Command]:
        y, x = (at * self.stride - self.pad for at in (tile.h, tile.w))
        inside = [
            (max(at, 0), min(at + size, whole))
            for at, size, whole in ((y, self.hin, self.H), (x, self.win, self.W))
        ]
        (top, bottom), (left, right) = inside
        pads = top - y, y + self.hin - bottom, left - x, x + self.win - right
        for q in range(self.cib):
            block = ((k * self.cib + q) * self.H + top) * self.W + left
            load = transfer(INP, block, bottom - top, right - left, self.W)
            yield padded(load, bottom - top, right - left, pads)
        at = (tile.c * self.CIB + k * self.cib) * self.ks2
        yield transfer(WGT, at, self.cob, self.cib * self.ks2, self.CIB * self.ks2)

    def stores(self, tile: Tile) -> Iterator[Command]:
        for q in range(self.cob):
            at = ((tile.c + q) * self.OH + tile.h) * self.OW + tile.w
            yield transfer(OUT, at, self.h_t, self.w_t, self.OW)

    def part(self, j: int, o: int, i: int) -> Iterator[tuple[int, int, int]]:
        """Micro-ops of one pair of blocks, as ckk has them."""
        for y, x in product(range(self.ksize), repeat=2):
            yield (
                j * self.A + o * self.h_t * self.w_t,
                j * self.I + (i * self.hin + y) * self.win + x,
                j * self.G + ((o * self.cib + i) * self.ksize + y) * self.ksize + x,
            )

    def kernels(self, j: int) -> Iterator[tuple[Kernel, int]]:
        blocks = list(product(range(self.cob), range(self.cib)))
        if self.mode == "ckk":
            yield tuple(u for o, i in blocks for u in self.part(j, o, i)), self.h_t * self.w_t
        elif self.mode == "kk1":
            for o, i in blocks:
                yield tuple(self.part(j, o, i)), self.h_t * self.w_t
        elif self.mode == "tvm":
            for i in range(self.cib):
                yield (
                    tuple(
                        (
                            j * self.A + (o * self.h_t + h) * self.w_t,
                            j * self.I + (i * self.hin + h * self.stride + y) * self.win,
                            j * self.G + ((o * self.cib + i) * self.ksize + y) * self.ksize,
                        )
                        for y, o, h in product(range(self.ksize), range(self.cob), range(self.h_t))
                    ),
                    self.w_t * self.ksize,
                )


def transfer(kind: int, element: int, rows: int, size: int, stride: int) -> Command:
    """Rows of elements as bytes."""
    bases = {
        UOP: (UOP_BASE, UOP_BYTES),
        INP: (INP_BASE, VECTOR),
        WGT: (WGT_BASE, BLOCK),
        ACC: (ACC_BASE, SUMS),
        OUT: (OUT_BASE, VECTOR),
    }
    base, width = bases[kind]
    return Command(kind, 0, base + element * width, size * width, rows, stride * width)


def padded(load: Command, rows: int, columns: int, pads: Sequence[int]) -> Command:
    """Section "Padding": with pads at the top, bottom, left and right."""
    top, bottom, left, right = pads
    width = columns + left + right
    passed = rows if bottom and not left and not right else 0
    above = top * width + rows * (left + right)
    return replace(
        load, pad_rows=top, pads_above=above, pads_passed=passed, pads_below=bottom * width
    )


class Stream:
    """Section "Stream": the commands of a row."""

    def __init__(self, row: dict[str, str]) -> None:
        self.layer = Gemm(row) if row["kind"] == "gemm" else Conv(row)
        self.each, self.bias = row["uop_load"] == "each", row["bias"] == "1"
        self.tvm = row["sync"] == "tvm"
        self.contexts = int(row["contexts"])
        self.groups = self.divide(row["order"])
        self.table: dict[Kernel, int] = {}
        self.uops = 0
        self.commands: list[Command] = []

    def divide(self, order: str) -> list[list[Tile]]:
        tiles = []
        for at in product(*(self.layer.ranges[axis] for axis in order)):
            context = len(tiles) % self.contexts
            tiles.append(self.layer.tile(context, dict(zip(order, at))))
        return [tiles[i : i + self.contexts] for i in range(0, len(tiles), self.contexts)]

    def load_uops(self, kernel: Kernel) -> None:
        """The table has each distinct kernel once, in the order of first use."""
        if kernel not in self.table:
            self.table[kernel] = self.uops
            self.uops += len(kernel)
        if self.each:
            self.commands.append(transfer(UOP, self.table[kernel], 1, len(kernel), len(kernel)))

    def tokens(self, at: int, takes: Sequence[int] = (), posts: Sequence[int] = ()) -> None:
        old = self.commands[at]
        self.commands[at] = replace(old, takes=(*old.takes, *takes), posts=(*old.posts, *posts))

    def add(self, command: Command) -> int:
        self.commands.append(command)
        return len(self.commands) - 1

    def make(self) -> list[Command]:
        if not self.each:
            self.add(Command(UOP))
        for number, group in enumerate(self.groups):
            later = [
                number + 1 < len(self.groups) and t.context < len(self.groups[number + 1])
                for t in group
            ]
            self.begin(number, group)
            for k in range(self.layer.steps):
                self.step(number, k, group, later)
            if self.tvm:
                for _ in group:
                    self.tokens(self.add(Command(NOP_LOAD)), takes=[TAKEN])
            for tile in group:
                self.finish_tile(tile.context)
            for tile, more in zip(group, later):
                self.store(tile, more or (number + 1 == len(self.groups) and tile == group[-1]))
        if self.tvm:
            for _ in self.groups[0][1:]:
                self.tokens(self.add(Command(NOP_CORE)), takes=[STORED])
        self.tokens(self.add(Command(END)), takes=[STORED])
        if not self.each:
            self.commands[0] = transfer(UOP, 0, 1, self.uops, self.uops)
        return self.commands

    def begin(self, number: int, group: Sequence[Tile]) -> None:
        """[a]."""
        for tile in group:
            j = tile.context
            self.load_uops(((j * self.layer.A, 0, 0),))
            reset = self.add(Command(RESET, self.layer.outputs))
            if number > 0:
                self.tokens(reset, takes=[STORED])
            if self.bias:
                self.add(transfer(ACC, tile.c, 1, self.layer.b, self.layer.b))
            if self.tvm:
                self.tokens(-1, posts=[TAKEN])

    def step(self, number: int, k: int, group: Sequence[Tile], later: Sequence[bool]) -> None:
        """[b]."""
        for tile in group:
            loads = [self.add(load) for load in self.layer.loads(tile, k)]
            if self.tvm or number > 0 or k > 0:
                self.tokens(loads[0], takes=[TAKEN])
            self.tokens(loads[-1], posts=[LOADED])
        for tile, more in zip(group, later):
            gemms = []
            for kernel, times in self.layer.kernels(tile.context):
                self.load_uops(kernel)
                gemms.append(self.add(Command(GEMM, len(kernel) * times)))
            self.tokens(gemms[0], takes=[LOADED])
            if self.tvm or more or k + 1 < self.layer.steps:
                self.tokens(gemms[-1], posts=[TAKEN])

    def finish_tile(self, j: int) -> None:
        """[d]."""
        a = j * self.layer.A
        if self.bias:
            self.load_uops(((a, self.contexts * self.layer.A + j * self.layer.b, 0),))
            self.add(Command(ALU_REG, self.layer.outputs))
        self.load_uops(((a, a, 0),))
        for _ in ("shr", "max", "min"):
            self.add(Command(ALU_IMM, self.layer.outputs))
        self.tokens(-1, posts=[DONE])

    def store(self, tile: Tile, more: bool) -> None:
        """[e]."""
        stores = [self.add(store) for store in self.layer.stores(tile)]
        self.tokens(stores[0], takes=[DONE])
        if self.tvm or more:
            self.tokens(stores[-1], posts=[STORED])


def program(row: dict[str, str]) -> list[Command]:
    return Stream(row).make()
