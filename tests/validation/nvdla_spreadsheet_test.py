#!/usr/bin/python3
"""What NVDLA's performance spreadsheet leaves out: ResNet-50 on 64 MACs, layer by layer, by the
spreadsheet and by the template of docs/dot-product.md, which is right to 0.003 % of RTL. Is the
page what accsim says now?

Usage: nvdla_spreadsheet_test.py ACCSIM [--update] [PAGE]. --update writes the page.
"""

import pathlib
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction

from nvdla_spreadsheet_parts import (
    BENCH,
    CLOCK,
    PARTS,
    PRIMER,
    ROOT,
    Cost,
    costs,
    extras,
    name,
    rows,
)

DOCUMENT = ROOT / "docs" / "dot-product.md"
BEGIN = "<!-- spreadsheet:begin (tests/validation/nvdla_spreadsheet_test.py writes it) -->\n"
END = "<!-- spreadsheet:end -->\n"
DIGITS = 3  # of frames per second
EXTRAS = {
    "pooling": "pooling: two layers from memory to memory",
    "additions": "additions: 16 layers that read both operands",
}


class Comparison:
    """The spreadsheet and the template on one memory. Everything is in cycles per frame."""

    def __init__(self, accsim: pathlib.Path, rate: int) -> None:
        self.layers = costs(accsim, rate)
        self.extras = extras(rate)
        self.sheet = sum((c.sheet for c in self.layers.values()), Fraction())
        self.template = sum(c.template for c in self.layers.values()) + sum(self.extras.values())
        added = sum(self.parts(), Fraction())
        if self.sheet + added != self.template or sum(map(self.frames, self.parts())) != (
            CLOCK / Fraction(self.template) - CLOCK / self.sheet
        ):
            sys.exit("FAILED: the parts don't add up")

    def parts(self) -> list[Fraction]:
        """Of all layers together, by PARTS and EXTRAS."""
        of_layers = zip(*(c.parts for c in self.layers.values()), strict=True)
        pools = sum(n for what, n in self.extras.items() if what.startswith("pooling"))
        sums = [sum(part, Fraction()) for part in of_layers]
        return [*sums, Fraction(pools), Fraction(self.extras["additions"])]

    def frames(self, added: Fraction) -> Fraction:
        """Frames per second that cycles take or give: the same for each cycle, so that they add up
        to the difference of both rates."""
        return -added * CLOCK / (self.sheet * self.template)

    def shown_frames(self, added: Iterable[Fraction]) -> list[str]:
        """The same of each, rounded so that they lead from one rate as printed to the other."""
        total = CLOCK / self.sheet
        shown = []
        for cycles_of in added:
            before = round(total, DIGITS)
            total += self.frames(cycles_of)
            shown.append(f"{float(round(total, DIGITS) - before):+.{DIGITS}f}")
        return shown


def cycles(value: Fraction | int) -> str:
    """Whole ones. The sheet's are, on 64 MACs."""
    if value != int(value):
        sys.exit(f"FAILED: {value} isn't a number of whole cycles")
    return f"{int(value):,}"


def signed(value: Fraction) -> str:
    return f"{int(value):+,}" if value else "0"


def ladder(memories: list[Comparison]) -> Iterator[str]:
    yield "| part | cycles, 1 GB/s | frames per second | cycles, 4 GB/s | frames per second |"
    yield "|---|---:|---:|---:|---:|"

    def line(what: str, cells: Iterable[str]) -> str:
        return f"| {what} | " + " | ".join(cells) + " |"

    def rate(total: Fraction | int) -> str:
        return f"{float(round(CLOCK / Fraction(total), DIGITS)):.{DIGITS}f}"

    def both(totals: list[Fraction] | list[int]) -> list[str]:
        return [cell for total in totals for cell in (cycles(total), rate(total))]

    yield line("**the spreadsheet**", both([m.sheet for m in memories]))
    columns = []
    for m in memories:
        columns += [[signed(part) for part in m.parts()], m.shown_frames(m.parts())]
    for what, *cells in zip((PARTS | EXTRAS).values(), *columns, strict=True):
        yield line(what, cells)
    yield line("**the template**", both([m.template for m in memories]))


def by_layer(m: Comparison) -> Iterator[str]:
    heads = ("spreadsheet", "bound", *PARTS, "template", "frames per second")
    yield "| layers | kernel, input, kernels | " + " | ".join(heads) + " |"
    yield "|---:|---|---:|---|" + "---:|" * (len(PARTS) + 2)
    groups: Counter[tuple[str, Cost]] = Counter()
    for layer, cost in m.layers.items():
        groups[name(rows()[layer]), cost] += 1
    lines = []
    for (what, cost), number in groups.items():
        parts = [signed(number * part) for part in cost.parts]
        cells = [cycles(number * cost.sheet), cost.bound, *parts, cycles(number * cost.template)]
        lines.append((number, what, cells, number * (cost.template - cost.sheet)))
    number = {"additions": sum("elwise" in row["kind"] for row in rows().values())}
    for what, added in m.extras.items():
        blank = [""] * (len(PARTS) + 1)
        lines.append((number.get(what, 1), what, ["0", *blank, cycles(added)], Fraction(added)))
    frames = m.shown_frames(added for *_, added in lines)
    for (number_of, what, cells, _), shown in zip(lines, frames, strict=True):
        yield f"| {number_of} | {what} | " + " | ".join([*cells, shown]) + " |"
    totals = [signed(part) for part in m.parts()[: len(PARTS)]]
    (last,) = m.shown_frames([m.template - m.sheet])
    cells = [cycles(m.sheet), "", *totals, cycles(m.template), last]
    yield "| | **all** | " + " | ".join(cells) + " |"


def written(accsim: pathlib.Path) -> str:
    """The part of the page."""
    memories = [Comparison(accsim, rate) for rate in (PRIMER, BENCH)]
    return "\n".join((*ladder(memories), "", *by_layer(memories[0]))) + "\n"


def main() -> None:
    arguments = [argument for argument in sys.argv[1:] if argument != "--update"]
    if not arguments:
        sys.exit(__doc__)
    page = pathlib.Path(arguments[1]) if arguments[1:] else DOCUMENT
    text = page.read_text(encoding="utf-8")
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"FAILED: {page} needs the lines {BEGIN!r} and {END!r}")
    before, rest = text.split(BEGIN)
    old, after = rest.split(END)
    new = written(pathlib.Path(arguments[0]).resolve())
    if "--update" in sys.argv[1:]:
        page.write_text(before + BEGIN + new + END + after, encoding="utf-8")
    elif old != new:
        sys.exit(
            "FAILED: docs/dot-product.md isn't what accsim says. After a change of the rules run:\n"
            "tests/validation/nvdla_spreadsheet_test.py build/accsim --update"
        )
    else:
        print(new, end="")


if __name__ == "__main__":
    main()
