"""NVDLA's spreadsheet against the template that is right for RTL: ResNet-50 on 64 MACs, layer by
layer, and the difference in parts that add up. `accsim validate` predicts both: the rows of
nvdla_sheet.csv as layers of the spreadsheet, and as convolutions on nv_small, with less and less of
its rules. The simulators of tests/oracle must say the same of the latter."""

import functools
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import dot_product_side as side
from dot_product_division import Convolution, layers
from dot_product_periods import cost
from dot_product_test import table
from dot_product_work import Engine, Layer, up

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "validation" / "tables" / "nvdla_sheet.csv"
MACHINE = ROOT / "configs" / "known" / "nvdla-nv-small.yaml"
CLOCK = 10**9  # cycles per second, as the primer's rates have them
PRIMER, BENCH = 1, 4  # bytes per cycle: the primer's memory, and that of the RTL's bench
WHERE = {"network": "ResNet50", "macs": "64"}
HUGE = 2**20  # MACs, or GB per second, that decide nothing

# Fields of the engine with which less is left of its rules. Without all of them reads alone wait.
START = dict.fromkeys(
    (
        "read_latency",
        "weight_start",
        "feature_start",
        "feature_latency",
        "atom_to_write",
        "load_to_entries",
        "layer_to_reads",
        "kernel_cycles",
        "load_cycles",
    ),
    0,
) | {"block_cycles": 1}
OUTPUTS = {"atom_cycles": 1, "places": 64, "issue_to_atom": 0, "atom_to_place": 0}
RULES = {"reads": START | OUTPUTS, "outputs": START, "start-up": {}}
# What is added to the spreadsheet's cycles, or taken from them, one after the other.
PARTS = {
    "Winograd": "no Winograd: 9/4 of the MACs of 3x3 kernels, 9/16 of their weights' bytes",
    "atoms": "atoms of 8 kernels, not 128, and of 8 channels, not 16 over all strides",
    "again": "nothing is read again as the spreadsheet counts it",
    "writes": "writes and additions leave the reads' path alone",
    "strides": "strides make no weights larger; a KiB has 1024 bytes",
    "cuts": "layers cut by lines read weights that don't stay, and lines, again",
    "reads": "reads not overlapped: all features, and a group's weights, are waited for",
    "outputs": "outputs: 9 cycles per atom, 16 places and the way back to them",
    "start-up": "start-up: latencies of memory and pipeline, blocks of 8 cycles at least",
}

# Pooling and additions, which the sheet has in the rows of convolutions.
POOLS = {
    "pooling 3x3, 112x112x64": side.Pool(112, 112, 64, 3, 3, 2, 2, 0, 0, 56, 56),
    "pooling 7x7, 7x7x2048": side.Pool(7, 7, 2048, 7, 7, 1, 1, 0, 0, 1, 1),
}
ADDITION = (side.Stage(alu=True, mul=False, operand_reads=1),)

SHEET_COLUMNS = {
    "sheet": "network",
    "form": "kind",
    "c": "C",
    "h": "H",
    "w": "W",
    "k": "K",
    "kernel_h": "R",
    "kernel_w": "S",
    "stride_y": "stride_h",
    "stride_x": "stride_w",
    "padded": "pad",
    "conv_h": "P",
    "conv_w": "Q",
    "out_h": "out_h",
    "out_w": "out_w",
    "buffer_kib": "cbuf_kib",
    "clock_mhz": "clock_mhz",
}
CONV_COLUMNS = {
    **{key: SHEET_COLUMNS[key] for key in ("c", "h", "w", "k", "kernel_h", "kernel_w")},
    "stride_y": "stride_h",
    "stride_x": "stride_w",
    "pad": "(R - 1) / 2",
}


@dataclass(frozen=True)
class Cost:
    """Of a layer: the spreadsheet's cycles, what decides them, the parts by PARTS, and the
    template's cycles."""

    sheet: Fraction
    bound: str
    parts: tuple[Fraction, ...]
    template: int


@functools.cache
def rows() -> dict[str, dict[str, str]]:
    """Lines of ResNet-50 on 64 MACs, by the layer's number."""
    lines = table(TABLE.name)
    return {r["layer"]: r for r in lines if all(r[c] == text for c, text in WHERE.items())}


def name(row: dict[str, str]) -> str:
    n = "{S}x{R}, {W}x{H}x{C} to {K}".format(**row)
    stride = f", stride {row['stride_w']}" if row["stride_w"] != "1" else ""
    addition = ", addition" if "elwise" in row["kind"] else ""
    return n + stride + addition + (", pooled" if row["pool_after"] == "1" else "")


def validate(accsim: pathlib.Path, source: dict) -> list[dict]:
    """Points of a source, which is JSON, and so YAML too."""
    head = {"source": "parts", "evidence": "estimate", "fitted": "no"}
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "parts.yaml")
        file.write_text(json.dumps(head | source), encoding="utf-8")
        command = [accsim, "validate", file, "--no-interval", "--effort", "rule", "--json", "-"]
        done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    if done.returncode != 0:
        sys.exit(f"FAILED: {done.stderr}")
    return json.loads(done.stdout)["sources"][0]["points"]


def section(workload: str, family: str, columns: dict[str, str]) -> dict:
    common = {"name": "layer", "cycles": "cycles"}
    return {
        "file": str(TABLE),
        "workload": workload,
        "where": WHERE,
        "family": family,
        "columns": common | columns,
    }


def spreadsheet(accsim: pathlib.Path, rate: int) -> dict[str, dict[str, dict]]:
    """By layer: as printed, and without Winograd its MACs alone, its memory alone, this where
    nothing is read again, as AlexNet's sheet has it, and where one pixel is written."""
    rates = {"winograd": "0", "macs": str(HUGE), "dram_mb_per_s": str(1000 * rate)}
    once = rates | {"sheet": "1"}
    asked = {
        "printed": rates | {"winograd": "winograd", "macs": "64"},
        "macs": rates | {"macs": "64", "dram_mb_per_s": str(1000 * HUGE)},
        "memory": rates,
        "once": once,
        "read": once | {"form": "0", "out_h": "1", "out_w": "1"},
    }
    sections = [section("spreadsheet", what, SHEET_COLUMNS | asked[what]) for what in asked]
    found: dict[str, dict[str, dict]] = {layer: {} for layer in rows()}
    for point in validate(accsim, {"table": sections}):
        layer = point["name"].split(" (")[0]  # names that are there again have their line behind
        found[layer][point["family"]] = point
    return found


def settings(rate: int, changes: dict[str, int]) -> Iterator[dict[str, str | int]]:
    """Fields of the machine, as a source sets them."""
    fields = {"dram.read_bytes_per_cycle": rate}
    # An output atom of 8 bytes must not wait for its write.
    fields["dram.write_bytes_per_cycle"] = max(rate, 8 if changes.get("atom_cycles") == 1 else 0)
    for field, value in changes.items():
        fields["dram.latency" if field == "read_latency" else f"array.{field}"] = value
    for field, value in fields.items():
        yield {"field": field, "value": value, "source": "of this comparison"}


def template(accsim: pathlib.Path, rate: int, rules: str) -> dict[str, int]:
    """Cycles of the layers on nv_small, by layer."""
    source = {
        "machine": str(MACHINE),
        "set": list(settings(rate, RULES[rules])),
        "table": section("conv", rules, CONV_COLUMNS),
    }
    return {p["name"]: int(p["predicted"]) for p in validate(accsim, source)}


def convolution(row: dict[str, str]) -> Convolution:
    n = {key: int(row[key]) for key in ("W", "H", "C", "K", "S", "R", "Q", "P", "stride_w")}
    return Convolution(*n.values(), n["R"], (n["R"] - 1) // 2)


def divided(conv: Convolution) -> list[Layer]:
    """The parts that NVIDIA's compiler makes of it; weights that fit stay from part to part."""
    whole = Engine()
    made = layers(conv, whole)
    taps = conv.kernel_width * conv.kernel_height
    weights = up(conv.kernels * conv.channels * taps, whole.weight_align) * whole.weight_align
    room = made[0].weight_banks * whole.bank_entries + whole.spare_entries
    if len(made) == 1 or up(weights, whole.entry_bytes) > room:
        return made
    last = len(made) - 1
    return [
        replace(part, keeps_weights=number < last, has_weights=number > 0)
        for number, part in enumerate(made)
    ]


@functools.cache
def simulated(conv: Convolution, rate: int, rules: str) -> int:
    """Cycles by the simulator of docs/dot-product.md, which shares nothing with the program."""
    engine = replace(Engine(), request_interval=8 // rate, **RULES[rules])
    # A machine file's read takes its cycles, whatever the latency.
    engine = replace(engine, read_latency=max(engine.read_latency, engine.request_interval))
    return cost(divided(conv), engine)[-1].last_write


def blocks_alone(conv: Convolution) -> int:
    """Cycles in atoms of 8 channels and 8 kernels, one output after the other."""
    taps = conv.kernel_width * conv.kernel_height
    atoms = up(conv.channels, 8) * up(conv.kernels, 8)
    return atoms * taps * conv.out_width * conv.out_height


def reads_alone(layer: Convolution | Layer, rate: int, weights: bool = True) -> int:
    """Cycles of reading features, and maybe weights, once, in entries of 8 bytes."""
    entries = up(layer.channels, 8) * layer.width * layer.height
    if weights:
        taps = layer.kernel_width * layer.kernel_height
        entries += up(layer.kernels * layer.channels * taps, 128) * 128 // 8
    return entries * (8 // rate)


def reads_in_parts(conv: Convolution, rate: int) -> int:
    return sum(reads_alone(part, rate, not part.has_weights) for part in divided(conv))


def costs(accsim: pathlib.Path, rate: int) -> dict[str, Cost]:
    """By layer. Each part is what one more step makes of the cycles, so they add up."""
    sheets = spreadsheet(accsim, rate)
    machines = {rules: template(accsim, rate, rules) for rules in RULES}
    found = {}
    for layer, row in rows().items():
        conv, sheet = convolution(row), sheets[layer]
        for rules, cycles in machines.items():
            if cycles[layer] != simulated(conv, rate, rules):
                sys.exit(f"FAILED: layer {layer}, {rules}: the simulators don't say the same")
        by = {what: Fraction(point["predicted"]) for what, point in sheet.items()}
        if (row["R"], row["S"]) == ("3", "3"):
            by["macs"] *= Fraction(9, 4)
        atoms = blocks_alone(conv)
        steps = [
            by["printed"],
            max(by["macs"], by["memory"]),
            *(max(atoms, by[what]) for what in ("memory", "once", "read")),
            Fraction(max(atoms, reads_alone(conv, rate))),
            Fraction(max(atoms, reads_in_parts(conv, rate))),
            *(Fraction(machines[rules][layer]) for rules in RULES),
        ]
        parts = tuple(after - before for before, after in itertools.pairwise(steps))
        found[layer] = Cost(steps[0], sheet["printed"]["bound"], parts, int(steps[-1]))
    return found


def extras(rate: int) -> dict[str, int]:
    """Cycles of what the spreadsheet has no cycles for, by the rules of the units beside the
    engine: pooling, and additions as layers that read both operands."""
    units = side.Units(request_interval=8 // rate)
    found = {what: side.simulate(pool, units).last_write for what, pool in POOLS.items()}
    sums: Counter[int] = Counter()
    for row in rows().values():
        if "elwise" in row["kind"]:
            layer = side.Point(int(row["Q"]), int(row["P"]), int(row["K"]), ADDITION)
            sums["additions"] += side.simulate(layer, units).last_write
    return found | sums
