"""NVDLA's performance spreadsheet in fractions, after the section "The spreadsheet" of
docs/dot-product.md. It shares nothing with hw/dot_product."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil


def multiple(count: int, of: int) -> int:
    return -(-count // of) * of


def up(count: int, by: int) -> int:
    return -(-count // by)


@dataclass(frozen=True)
class Sheet:
    """`repeats`: "none", "weights" or "kernels", what the input is compared with."""

    kernel_align: int
    more_lines: int
    repeats: str


SHEETS = {
    "ResNet50": Sheet(128, 0, "weights"),
    "AlexNet": Sheet(16, 1, "none"),
    "GoogLeNet": Sheet(16, 1, "kernels"),
}


@dataclass(frozen=True)
class Machine:
    macs: int
    buffer_kib: int
    gb_per_second: Fraction
    clock_mhz: Fraction


@dataclass(frozen=True)
class Layer:
    width: int
    height: int
    channels: int
    kernels: int
    kernel_width: int
    kernel_height: int
    stride_x: int
    stride_y: int
    padded: bool
    out_width: int
    out_height: int
    addition: bool
    winograd_weights: bool


@dataclass(frozen=True)
class Cost:
    input_bytes: Fraction
    weight_bytes: Fraction
    output_bytes: Fraction
    traffic_bytes: Fraction
    dram_cycles: Fraction
    mac_cycles: Fraction

    @property
    def cycles(self) -> Fraction:
        return max(self.dram_cycles, self.mac_cycles)


def repeats(layer: Layer, sheet: Sheet, buffer: int, read: Fraction, weights: Fraction):
    """How often the input, and how often the weights, are read."""
    kernels = 32 * weights / layer.kernels
    against = {"none": None, "weights": weights, "kernels": kernels}[sheet.repeats]
    if against is None:
        return 1, 1
    if read >= against:
        line = read / up(layer.height, layer.stride_y)
        room = buffer - line * (layer.kernel_height + sheet.more_lines)
        if room <= 0:
            raise ValueError("lines fill the buffer")
        return (ceil(weights / room) if weights > room else 1), 1
    room = buffer - (kernels if kernels < buffer else Fraction(buffer, 2))
    return 1, (ceil(read / room) if read > room else 1)


def cost(layer: Layer, machine: Machine, sheet: Sheet, winograd: bool = True) -> Cost:
    """`winograd`: 3x3 kernels take 4/9 of their MACs, as in the file."""
    folded = multiple(layer.channels * layer.stride_x * layer.stride_y, 16)
    columns, lines = up(layer.width, layer.stride_x), up(layer.height, layer.stride_y)
    read = Fraction(folded * columns * lines)
    taps = up(layer.kernel_width, layer.stride_x) * up(layer.kernel_height, layer.stride_y)
    weights = Fraction(folded * taps * layer.kernels)
    if layer.winograd_weights:
        weights *= Fraction(16, 9)
    written = Fraction(layer.out_width * layer.out_height * multiple(layer.kernels, 16))
    inputs, reads = repeats(layer, sheet, 1024 * machine.buffer_kib, read, weights)
    traffic = inputs * read + reads * weights + (2 if layer.addition else 1) * written
    kib_per_cycle = machine.gb_per_second / machine.clock_mhz
    if not layer.padded:
        columns = up(layer.width - layer.kernel_width + 1, layer.stride_x)
        lines = up(layer.height - layer.kernel_height + 1, layer.stride_y)
    macs = Fraction(
        folded * columns * lines * multiple(layer.kernels, sheet.kernel_align),
        layer.stride_x * layer.stride_y,
    )
    macs *= layer.kernel_width * layer.kernel_height
    if winograd and layer.kernel_width == layer.kernel_height == 3:
        macs *= Fraction(4, 9)
    return Cost(
        read,
        weights,
        written,
        traffic,
        Fraction(ceil(traffic / 1024 / kib_per_cycle)),
        macs / machine.macs,
    )
