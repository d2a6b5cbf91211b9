"""What the dot-product template is described by, and what a layer is cut into: the sections
"Fields" to "What a layer must satisfy" of docs/dot-product.md. Both simulators begin with it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


def up(a: int, b: int) -> int:
    return -(-a // b)


@dataclass(frozen=True)
class Engine:
    """Section "Fields". The values are those of NVDLA's nv_small on the bench of the tables."""

    atom_channels: int = 8
    atom_kernels: int = 8
    element_bytes: int = 1
    stripe: int = 16
    short_stripe: int = 8
    block_cycles: int = 8
    kernel_cycles: int = 1
    load_cycles: int = 2
    entry_bytes: int = 8
    bank_entries: int = 512
    spare_entries: int = 8
    burst_entries: int = 8
    weight_align: int = 128
    request_interval: int = 2
    read_latency: int = 32
    places: int = 16
    atom_cycles: int = 9
    weight_start: int = 28
    feature_start: int = 36
    feature_latency: int = 7
    issue_to_atom: int = 36
    atom_to_place: int = 11
    atom_to_write: int = 39
    load_to_entries: int = 49
    layer_to_reads: int = 45


@dataclass(frozen=True)
class Layer:
    """Section "Layer". Sizes in elements, banks as the layer divides them."""

    width: int
    height: int
    channels: int
    kernels: int
    kernel_width: int
    kernel_height: int
    out_width: int
    out_height: int
    feature_banks: int
    weight_banks: int
    keeps_weights: bool = False
    has_weights: bool = False


@dataclass
class Times:
    """Cycles from time zero, of the first layer where several run in sequence."""

    first_read: int | None = None
    last_read: int = 0
    last_weight_read: int = 0
    last_feature_read: int = 0
    first_write: int | None = None
    last_write: int = 0


@dataclass(frozen=True)
class Work:
    """Section "What a layer is cut into"."""

    blocks: int  # of a stripe: channel blocks x rows x columns
    stripes: tuple[int, ...]  # outputs of each
    group_kernels: tuple[int, ...]
    feature_entries: int
    weight_entries: tuple[int, ...]  # that must have come for group g, from the layer's first


def stripes(outputs: int, engine: Engine) -> tuple[int, ...]:
    """Section "What a layer is cut into", the rule of stripes."""
    cut, left = [], outputs
    while left > 0:
        if left >= 2 * engine.stripe:
            length = engine.stripe
        else:
            length = left if left <= engine.stripe else engine.short_stripe
        cut.append(length)
        left -= length
    return tuple(cut)


def work(layer: Layer, engine: Engine) -> Work:
    """Section "What a layer is cut into", with the checks of "What a layer must satisfy"."""
    deep = up(layer.channels, engine.atom_channels)
    taps = layer.kernel_width * layer.kernel_height
    groups = up(layer.kernels, engine.atom_kernels)
    kernels = [engine.atom_kernels] * (groups - 1)
    kernels.append(layer.kernels - sum(kernels))
    kernel_bytes = layer.channels * taps * engine.element_bytes
    needed = [
        up((g + 1) * engine.atom_kernels * kernel_bytes, engine.entry_bytes) for g in range(groups)
    ]
    padded = up(layer.kernels * kernel_bytes, engine.weight_align) * engine.weight_align
    needed[-1] = up(padded, engine.entry_bytes)
    atom = up(engine.atom_channels * engine.element_bytes, engine.entry_bytes)
    features = deep * layer.width * layer.height * atom
    if features > layer.feature_banks * engine.bank_entries:
        raise ValueError(f"{features} entries of features don't fit: {layer}")
    before = [0] * groups if layer.keeps_weights else [0, *needed]
    for freed, entries in zip(before, needed):
        if entries > allowed(layer, engine, freed, needed[-1]):
            raise ValueError(f"the weights of a kernel group don't fit: {layer}")
    cut = stripes(layer.out_width * layer.out_height, engine)
    if max(cut) > engine.places:
        raise ValueError(f"a stripe has more outputs than the accumulator places: {engine}")
    return Work(deep * taps, cut, tuple(kernels), features, tuple(needed))


@dataclass(frozen=True)
class Block:
    """A block in its place: the first of its group, the last of its stripe or group."""

    group: int
    kernels: int
    outputs: int
    begins_group: bool
    ends_stripe: bool
    ends_group: bool


def blocks(job: Work) -> Iterator[Block]:
    """Section "What a layer is cut into", the order."""
    for group, kernels in enumerate(job.group_kernels):
        for s, outputs in enumerate(job.stripes):
            last = s == len(job.stripes) - 1
            for b in range(job.blocks):
                ends = b == job.blocks - 1
                yield Block(group, kernels, outputs, s == b == 0, ends, ends and last)


def allowed(layer: Layer, engine: Engine, freed: int, total: int) -> int:
    """Section "Reads": entries of weights that may have been asked for, in whole bursts."""
    room = freed + layer.weight_banks * engine.bank_entries + engine.spare_entries
    burst = engine.burst_entries
    return total if room >= total else room // burst * burst


def same_division(before: Layer, after: Layer) -> bool:
    banks = before.feature_banks, before.weight_banks
    return banks == (after.feature_banks, after.weight_banks)


def check_sequence(layers: Sequence[Layer]) -> None:
    """Section "Layers in sequence": kept weights are there for the next layer, and for no other."""
    for before, after in zip(layers, layers[1:]):
        kept, there = before.keeps_weights, after.has_weights
        if kept != there or (kept and not same_division(before, after)):
            raise ValueError(f"weights are kept, or there, for no layer: {after}")
