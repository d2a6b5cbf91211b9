#!/usr/bin/python3
"""What NVDLA's performance spreadsheet leaves out: ResNet-50 on 64 MACs, layer by layer, by the
spreadsheet's cells and by the rules of docs/dot-product.md, which are right to 0.003 % of RTL. Is
the page what these say now?

Usage: nvdla_spreadsheet_test.py [--update] [PAGE]. --update writes the page.
"""

import functools
import pathlib
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import dot_product_side as side
import spreadsheet
from dot_product_division import Convolution, layers
from dot_product_periods import cost
from dot_product_test import table
from dot_product_work import Engine, Layer, up

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "dot-product.md"
BEGIN = "<!-- spreadsheet:begin (tests/validation/nvdla_spreadsheet_test.py writes it) -->\n"
END = "<!-- spreadsheet:end -->\n"
CLOCK = 10**9  # cycles a second, as the primer's rates have them
PADS = {1: 0, 3: 1, 7: 3}  # of ResNet's kernels

# The machine with all that the spreadsheet leaves out, and with less and less of it.
WHOLE = Engine()
NO_START = replace(
    WHOLE,
    read_latency=0,
    weight_start=0,
    feature_start=0,
    feature_latency=0,
    atom_to_write=0,
    load_to_entries=0,
    layer_to_reads=0,
)
NO_BLOCKS = replace(NO_START, block_cycles=1, kernel_cycles=0, load_cycles=0)
NO_OUTPUTS = replace(NO_BLOCKS, atom_cycles=1, places=64, issue_to_atom=0, atom_to_place=0)

# Pooling and the 16 additions, which the sheet has in the rows of convolutions.
POOLS = {
    "3x3, 112x112x64": side.Pool(112, 112, 64, 3, 3, 2, 2, 0, 0, 56, 56),
    "7x7, 7x7x2048": side.Pool(7, 7, 2048, 7, 7, 1, 1, 0, 0, 1, 1),
}
ADDITION = (side.Stage(alu=True, mul=False, operand_reads=1),)


@dataclass(frozen=True)
class Shape:
    """A row of the sheet: its convolution, and its cells' inputs."""

    conv: Convolution
    cells: spreadsheet.Layer

    @property
    def name(self) -> str:
        c = self.conv
        name = f"{c.kernel_width}x{c.kernel_height}, {c.width}x{c.height}x{c.channels}"
        return f"{name} to {c.kernels}" + (f", stride {c.stride}" if c.stride > 1 else "")


@dataclass(frozen=True)
class Cycles:
    """Of a layer: by the sheet as printed, with the bench's memory, and without Winograd; of its
    blocks alone, and with each thing that is added."""

    printed: Fraction
    memory: Fraction
    sheet: Fraction
    bound: str
    atoms: int
    reads: int
    outputs: int
    blocks: int
    start: int


@functools.cache
def shapes() -> Counter[Shape]:
    """The layers of the sheet, and how often each is there."""
    found: Counter[Shape] = Counter()
    for line in table("nvdla_sheet.csv"):
        if line["network"] != "ResNet50" or line["macs"] != "64":
            continue
        n = {name: int(line[name]) for name in ("W", "H", "C", "K", "S", "R", "stride_w")}
        conv = Convolution(
            n["W"],
            n["H"],
            n["C"],
            n["K"],
            n["S"],
            n["R"],
            int(line["Q"]),
            int(line["P"]),
            n["stride_w"],
            n["R"],
            PADS[n["R"]],
        )
        cells = spreadsheet.Layer(
            *n.values(),
            int(line["stride_h"]),
            line["pad"] == "1",
            int(line["out_w"]),
            int(line["out_h"]),
            "elwise" in line["kind"],
            line["winograd"] == "1",
        )
        found[Shape(conv, cells)] += 1
    return found


def divided(conv: Convolution) -> list[Layer]:
    """The parts that NVIDIA's compiler makes of it; weights that fit stay from part to part."""
    made = layers(conv, WHOLE)
    taps = conv.kernel_width * conv.kernel_height
    weights = up(conv.kernels * conv.channels * taps, WHOLE.weight_align) * WHOLE.weight_align
    room = made[0].weight_banks * WHOLE.bank_entries + WHOLE.spare_entries
    if len(made) == 1 or up(weights, WHOLE.entry_bytes) > room:
        return made
    last = len(made) - 1
    return [
        replace(part, keeps_weights=number < last, has_weights=number > 0)
        for number, part in enumerate(made)
    ]


@functools.cache
def by_rules(conv: Convolution) -> tuple[int, int, int, int, int]:
    """Cycles of the blocks alone, then with reads, outputs, shortest blocks, and start-up."""
    made = divided(conv)
    deep, groups = up(conv.channels, 8), up(conv.kernels, 8)
    taps = conv.kernel_width * conv.kernel_height
    blocks = deep * groups * taps * conv.out_width * conv.out_height
    machines = (NO_OUTPUTS, NO_BLOCKS, NO_START, WHOLE)
    return blocks, *(cost(made, machine)[-1].last_write for machine in machines)


@functools.cache
def cycles(shape: Shape) -> Cycles:
    sheet = spreadsheet.SHEETS["ResNet50"]
    slow = spreadsheet.Machine(64, 128, Fraction(1), Fraction(1000))
    bench = replace(slow, gb_per_second=Fraction(4))  # 8 bytes every second cycle
    plain = replace(shape.cells, winograd_weights=False)
    direct = spreadsheet.cost(plain, bench, sheet, winograd=False)
    return Cycles(
        spreadsheet.cost(shape.cells, slow, sheet).cycles,
        spreadsheet.cost(shape.cells, bench, sheet).cycles,
        direct.cycles,
        "MACs" if direct.mac_cycles >= direct.dram_cycles else "DRAM",
        *by_rules(shape.conv),
    )


def additions() -> int:
    """Of a network: as point-wise layers that read both operands."""
    total = 0
    for shape, number in shapes().items():
        if shape.cells.addition:
            c = shape.conv
            layer = side.Point(c.out_width, c.out_height, c.kernels, ADDITION)
            total += number * side.simulate(layer, side.Units()).last_write
    return total


def steps() -> Iterator[tuple[str, Fraction]]:
    """What is changed or added, and cycles of a frame with it."""

    def total(what: str) -> Fraction:
        return sum((n * getattr(cycles(s), what) for s, n in shapes().items()), Fraction())

    yield "the spreadsheet as printed: 64 MACs, 1 GB/s", total("printed")
    yield "the bench's memory: 4 GB/s", total("memory")
    yield "no Winograd, which nv_small doesn't have", total("sheet")
    yield (
        "MACs alone, in atoms of 8 channels and 8 kernels, one output after the other",
        total("atoms"),
    )
    yield (
        "reads: all features before the first block, each group's weights before it",
        total("reads"),
    )
    yield "outputs: 9 cycles per atom, 16 places and the way back to them", total("outputs")
    yield "blocks of 8 cycles at least", total("blocks")
    yield "start-up: latencies of memory and pipeline", total("start")
    pooled = sum(side.simulate(pool, side.Units()).last_write for pool in POOLS.values())
    yield "pooling, two layers from memory to memory", total("start") + pooled
    yield "additions, 16 point-wise layers", total("start") + pooled + additions()


def thousands(value: Fraction | int) -> str:
    return f"{round(value / 1000):,}"


def ladder() -> Iterator[str]:
    yield "| step | thousand cycles | frames per second | change |\n|---|---:|---:|---:|"
    before = None
    for what, total in steps():
        rate = float(CLOCK / total)
        change = "" if before is None else f"{100 * (rate / before - 1):+.1f} %"
        yield f"| {what} | {thousands(total)} | {rate:.2f} | {change} |"
        before = rate


def by_layer() -> Iterator[str]:
    """Shapes that differ in their addition alone are one row: no column sees it but the sheet's."""
    yield (
        "| layers | kernel, input, kernels | sheet | bound | atoms | reads | outputs | blocks | "
        "start-up | by the rules | sheet is off by |"
    )
    yield "|---:|---|---:|---|---:|---:|---:|---:|---:|---:|---:|"
    rows: Counter[tuple[str, Cycles]] = Counter()
    for shape, number in shapes().items():
        rows[shape.name, replace(cycles(shape), printed=Fraction(), memory=Fraction())] += number
    for (name, c), number in rows.items():
        added = (c.reads - c.atoms, c.outputs - c.reads, c.blocks - c.outputs, c.start - c.blocks)
        cells = " | ".join(thousands(value) for value in added)
        off = 100 * (float(c.sheet / c.start) - 1)
        yield (
            f"| {number} | {name} | {thousands(c.sheet)} | {c.bound} | {thousands(c.atoms)} | "
            f"{cells} | {thousands(c.start)} | {off:+.0f} % |"
        )
    for name, pool in POOLS.items():
        last = side.simulate(pool, side.Units()).last_write
        yield f"| 1 | pooling {name} | 0 | | | | | | | {thousands(last)} | -100 % |"


def written() -> str:
    """The part of the page."""
    return "\n".join((*ladder(), "", *by_layer())) + "\n"


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    page = pathlib.Path(arguments[0]) if arguments else DOCUMENT
    text = page.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"FAILED: {page} needs the lines {BEGIN!r} and {END!r}")
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    new = written()
    if "--update" in sys.argv[1:]:
        page.write_text(before + BEGIN + new + END + after, encoding="utf-8")
    elif old != new:
        sys.exit(
            "FAILED: docs/dot-product.md isn't what the rules say. After a change of them run:\n"
            "tests/validation/nvdla_spreadsheet_test.py --update"
        )
    else:
        print(new, end="")


if __name__ == "__main__":
    main()
