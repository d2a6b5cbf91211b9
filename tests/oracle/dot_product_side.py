"""Pooling, LRN and point-wise layers, event by event: the section "Pooling, LRN and point-wise
layers" of docs/dot-product.md. It shares nothing with hw/dot_product."""

from collections.abc import Sequence
from dataclasses import dataclass


def up(a: int, b: int) -> int:
    return -(-a // b)


@dataclass(frozen=True)
class Units:
    """The fields. The values are those of NVDLA's nv_small on the bench of the tables."""

    atom_elements: int = 8
    request_interval: int = 2
    read_latency: int = 32
    unit_start: int = 20
    pool_rate: int = 1
    pool_banks: int = 8
    pool_bank_atoms: int = 16
    pool_turn: int = 3
    pool_latency: int = 33
    lrn_rate: int = 1
    lrn_width: int = 8
    lrn_ahead: int = 4
    lrn_set_up: int = 1
    lrn_latency: int = 50
    lrn_bypass_latency: int = 8
    point_rate: int = 1
    point_block: int = 4
    point_latency: int = 25
    stage_latency: int = 4
    alu_latency: int = 2
    mul_latency: int = 1


@dataclass(frozen=True)
class Pool:
    """`strips`: columns read and outputs written by each; none is one."""

    width: int
    height: int
    channels: int
    kernel_width: int
    kernel_height: int
    stride_x: int
    stride_y: int
    pad_left: int
    pad_top: int
    out_width: int
    out_height: int
    strips: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Lrn:
    width: int
    height: int
    channels: int
    bypass: bool = False


@dataclass(frozen=True)
class Stage:
    alu: bool
    mul: bool
    operand_reads: int = 0


@dataclass(frozen=True)
class Point:
    width: int
    height: int
    channels: int
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True)
class Times:
    first_read: int
    first_write: int
    last_write: int


@dataclass(frozen=True)
class Windows:
    """The windows of a line, or of a surface's lines: after which input each one's output leaves,
    in order, and how many leave after the last input."""

    leave: tuple[int, ...]
    pending: int

    @property
    def first(self) -> int:
        return self.leave[0]


def windows(inputs: int, taps: int, stride: int, pad: int, outputs: int) -> Windows:
    ends = [window * stride - pad + taps - 1 for window in range(outputs)]
    leave = [end for end in ends if end < inputs]
    pending = outputs - len(leave)
    if pending and inputs - 1 not in leave:  # the last input ends the next one, too
        leave.append(inputs - 1)
        pending -= 1
    return Windows(tuple(leave), pending)


class Pooling:
    """Columns go in one after the other. Those that an output leaves with wait for the lines'
    unit, which takes an output per column and has pauses of its own."""

    def __init__(self, layer: Pool, units: Units):
        self.layer, self.units = layer, units
        self.column = max(up(units.atom_elements, units.pool_rate), units.request_interval)
        self.now = 0  # the next column goes in
        self.ready = 0  # the lines' unit takes an output
        self.left = 0  # the last output left the columns
        self.written: list[int] = []  # when lines of outputs were done
        self.first: int | None = None
        self.carried = 0  # outputs of a line that leave with the next line's first columns
        self.flush = 0  # outputs of lines that are written when the surface's last one has left

    def go_in(self, leaves: bool, written: bool) -> None:
        if leaves:
            self.now = max(self.now, self.ready)
        self.now += self.column
        if leaves:
            self.left = self.ready = self.now
        if leaves and written:
            self.written.append(self.now)
            if self.first is None:
                self.first = self.now

    def line_left(self, out_width: int) -> None:
        if out_width == 1:
            self.ready = self.left + self.units.pool_turn
        self.ready += self.flush * self.column
        self.flush = 0

    def bubbles(self, rows: Windows, last_surface: bool) -> int:
        """Lines of outputs that are written before the next surface's outputs may come."""
        if last_surface:
            return rows.pending
        layer = self.layer
        held = max(0, rows.pending - rows.first)
        if rows.pending - held < 2:
            return held
        lines = open_lines(layer.kernel_height, layer.stride_y)
        opened = range(1 + (layer.pad_top // layer.stride_y if layer.pad_top <= 5 else 0))
        buffers = [
            window % lines for window in range(layer.out_height - rows.pending, layer.out_height)
        ]
        for line in range(rows.pending, held, -1):
            if buffers[line - 1] in opened:
                return line
        return held

    def run(self) -> Times:
        layer, units = self.layer, self.units
        rows = windows(
            layer.height, layer.kernel_height, layer.stride_y, layer.pad_top, layer.out_height
        )
        strips = layer.strips or ((layer.width, layer.out_width),)
        surfaces = up(layer.channels, units.atom_elements)
        last = len(strips) - 1
        for number, (width, out_width) in enumerate(strips):
            pad = layer.pad_left if number == 0 else 0
            line = windows(width, layer.kernel_width, layer.stride_x, pad, out_width)
            for surface in range(surfaces):
                ends_strip = surface == surfaces - 1
                flush = self.bubbles(rows, ends_strip) * out_width
                self.surface(rows, line, width, out_width, flush, ends_strip and number == last)
                if ends_strip and flush:
                    self.written.append(self.ready)
        begin = units.unit_start + units.read_latency + units.pool_latency
        return Times(units.unit_start, begin + self.first, begin + max(self.written))

    def surface(
        self, rows: Windows, line: Windows, width: int, out_width: int, flush: int, ends: bool
    ) -> None:
        """`flush`: outputs that are written after it. `ends`: the layer ends with it."""
        for number in range(self.layer.height):
            for column in range(width):
                late = column < self.carried
                self.go_in(late or column in line.leave, (number - late) in rows.leave)
                if late and column == self.carried - 1:
                    self.line_left(out_width)
            last = number == self.layer.height - 1
            held = line.pending if ends and last else max(0, line.pending - line.first)
            for _ in range(held):
                self.go_in(True, number in rows.leave)
            self.flush = flush if last else 0
            self.carried = line.pending - held
            if self.carried == 0:
                self.line_left(out_width)


def open_lines(taps: int, stride: int) -> int:
    if stride >= taps:
        return 1
    return {1: taps, 2: up(taps, 2), 3: 2 if taps <= 6 else 3}.get(stride, 2)


def lrn(layer: Lrn, units: Units) -> Times:
    """Blocks of positions, channel by channel. An element leaves when that of `lrn_ahead` channels
    later comes; a block is written when its last element has left, one atom per interval."""
    atom = max(up(units.atom_elements, units.lrn_rate), units.request_interval)
    ahead = up(units.lrn_ahead, units.lrn_rate)
    widths = []
    for _ in range(layer.height):
        left = layer.width
        while left > 0:
            widths.append(min(left, units.lrn_width))
            left -= widths[-1]
    now, written = 0, []
    for number, width in enumerate(widths):
        if number and width < widths[number - 1]:  # the block before is wider
            now += ahead * (widths[number - 1] - width)
        for _ in range(up(layer.channels, units.atom_elements)):
            now += width * atom
            written.append((now + ahead * width, width))  # while the next one's channels come
    latency = units.lrn_bypass_latency if layer.bypass else units.lrn_latency
    # The first position goes on when its block is set up, the others then or when they are read.
    gone = units.lrn_set_up
    for position in range(1, widths[0]):
        gone = max(gone + 1, position * units.request_interval)
    late = gone - units.lrn_set_up - (widths[0] - 1)
    begin = units.unit_start + units.read_latency + late + latency
    end, width = written[-1]
    last = begin + end + (width - 1) * units.request_interval
    return Times(units.unit_start, begin + written[0][0], last)


def point(layer: Point, units: Units) -> Times:
    """Reads of the clients take turns; a block of a line's atoms goes on together."""
    clients = 1 + sum(stage.operand_reads > 0 for stage in layer.stages)
    atoms = up(layer.channels, units.atom_elements)
    line = atoms if layer.width == layer.height == 1 else layer.width
    read = units.unit_start
    for _ in range(1, min(line, units.point_block)):
        read += clients * units.request_interval
    reads = 1 + sum(stage.operand_reads for stage in layer.stages)
    atom = max(up(units.atom_elements, units.point_rate), reads * units.request_interval)
    begin = read + units.read_latency + units.point_latency
    for stage in layer.stages:
        begin += units.stage_latency
        begin += units.alu_latency * stage.alu + units.mul_latency * stage.mul
    last = begin + layer.width * layer.height * atoms * atom
    return Times(units.unit_start, begin + atom, last)


def simulate(layer: Pool | Lrn | Point, units: Units) -> Times:
    if isinstance(layer, Pool):
        return Pooling(layer, units).run()
    return lrn(layer, units) if isinstance(layer, Lrn) else point(layer, units)


def total(times: Sequence[Times]) -> int:
    """Layers one after the other."""
    return sum(one.last_write for one in times)
