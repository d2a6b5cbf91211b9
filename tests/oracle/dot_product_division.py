"""How NVIDIA's compiler divides nv_small's buffer, after the section "Division of the buffer" of
docs/dot-product.md. A layer's features and weights get banks; what doesn't fit is cut by lines."""

from collections.abc import Iterator
from dataclasses import dataclass

from dot_product_work import Engine, Layer, up

BANKS = 32
SPLIT_WEIGHT_BANKS = 8  # of a layer that is cut by lines, at most


@dataclass(frozen=True)
class Convolution:
    """A convolution. Dilated kernels are `kernel_height` taps in `reach` lines."""

    width: int
    height: int
    channels: int
    kernels: int
    kernel_width: int
    kernel_height: int
    out_width: int
    out_height: int
    stride: int  # of lines
    reach: int
    pad: int  # lines above


def entries_per_line(layer: Convolution, engine: Engine) -> int:
    atom = up(engine.atom_channels * engine.element_bytes, engine.entry_bytes)
    return up(layer.channels, engine.atom_channels) * layer.width * atom


def weight_banks(layer: Convolution, engine: Engine) -> list[tuple[str, int]]:
    """What is kept of the weights, dearest first, and its banks."""
    taps = layer.kernel_width * layer.kernel_height
    kernel = layer.channels * taps * engine.element_bytes
    bank = engine.bank_entries * engine.entry_bytes
    whole = up(layer.kernels * kernel, engine.weight_align) * engine.weight_align
    group = up(min(layer.kernels, engine.atom_kernels) * kernel, bank)
    return [
        ("whole weights", up(whole, bank)),
        ("two kernel groups", 2 * group),
        ("one kernel group", group),
    ]


def divide(layer: Convolution, engine: Engine) -> tuple[str, int, int]:
    """What is kept of the weights, banks of features, banks of weights. `rows split` where the
    features don't fit beside a group."""
    features = up(layer.height * entries_per_line(layer, engine), engine.bank_entries)
    choices = weight_banks(layer, engine)
    for kept, banks in choices:
        if features + banks <= BANKS:
            return kept, features, banks
    for kept, banks in choices:
        if banks <= SPLIT_WEIGHT_BANKS:
            return f"rows split, {kept}", BANKS - banks, banks
    raise ValueError(f"a kernel group needs more than {SPLIT_WEIGHT_BANKS} banks: {layer}")


def parts(layer: Convolution, engine: Engine) -> Iterator[tuple[int, int]]:
    """Lines read and lines written of each part of a layer that is cut."""
    _, banks, _ = divide(layer, engine)
    most = banks * engine.bank_entries // entries_per_line(layer, engine)
    line = 0
    while line < layer.out_height:
        top = line * layer.stride - layer.pad  # above the first line where the pad is read
        first = max(0, top)
        read = min(most, layer.height - first)
        outputs = (first + read - top - layer.reach) // layer.stride + 1
        if first + read == layer.height:
            outputs = layer.out_height - line
        if outputs <= 0:
            raise ValueError(f"the lines of an output don't fit: {layer}")
        yield read, outputs
        line += outputs


def layers(layer: Convolution, engine: Engine) -> list[Layer]:
    """A convolution as layers of the machine."""
    kept, features, weights = divide(layer, engine)
    lines = [(layer.height, layer.out_height)]
    if kept.startswith("rows split"):
        lines = list(parts(layer, engine))
    return [
        Layer(
            layer.width,
            read,
            layer.channels,
            layer.kernels,
            layer.kernel_width,
            layer.kernel_height,
            layer.out_width,
            written,
            features,
            weights,
        )
        for read, written in lines
    ]
