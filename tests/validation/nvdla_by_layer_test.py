#!/usr/bin/python3
"""ResNet-50 on NVDLA's seven configurations by hand, as its spreadsheet goes about it: a layer at a
time, each the longer of its MACs at full rate and its bytes at the memory's rate. And the
spreadsheet's own layers without what they read again. Are the errors what validation/nvdla.yaml
says they are? Usage: nvdla_by_layer_test.py, which prints them."""

import csv
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# MACs, KiB of convolution buffer, GB/s, frames a second of the primer.
PUBLISHED = [
    (2048, 512, 20, 269),
    (1024, 256, 15, 153),
    (512, 256, 10, 93),
    (256, 256, 5, 46),
    (128, 256, 2, 20),
    (64, 128, 1, 7.3),
    (32, 128, 0.5, 3.6),
]
# Channels within, channels out, blocks, stride of the first.
STAGES = [(64, 256, 3, 1), (128, 512, 4, 2), (256, 1024, 6, 2), (512, 2048, 3, 2)]


def layers():
    """(MACs, bytes in, bytes of weights, bytes out, bytes of a residual addition) of each layer."""
    out = []

    def conv(channels, outputs, kernel, stride, side):
        pixels = (side // stride) ** 2
        weights = channels * outputs * kernel**2
        out.append((pixels * weights, channels * side**2, weights, outputs * pixels, 0))

    conv(3, 64, 7, 2, 224)
    out.append((0, 64 * 112**2, 0, 64 * 56**2, 0))  # pooling
    channels, side = 64, 56
    for within, outputs, blocks, first in STAGES:
        for block in range(blocks):
            stride = first if block == 0 else 1
            conv(channels, within, 1, 1, side)
            conv(within, within, 3, stride, side)
            conv(within, outputs, 1, 1, side // stride)
            if block == 0:
                conv(channels, outputs, 1, stride, side)
            side //= stride
            channels = outputs
            out.append((0, 0, 0, 0, 3 * outputs * side**2))
    out.append((0, 2048 * 49, 0, 2048, 0))  # global pooling
    out.append((2048 * 1000, 2048, 2048 * 1000, 1000, 0))
    return out


def errors(additions, parts):
    """Errors in percent, and megabytes of the last configuration. `additions`: those of residuals
    go through memory; `parts`: inputs are read again for each half buffer of weights."""
    out, megabytes = [], 0
    for macs, kib, rate, published in PUBLISHED:
        cycles = total = 0
        for work, read, weights, written, added in layers():
            again = math.ceil(weights / (kib * 512)) if parts else 1
            moved = read * max(again, 1) + weights + written + (added if additions else 0)
            cycles += max(work / macs, moved / rate)
            total += moved
        out.append(100 * (1e9 / cycles / published - 1))
        megabytes = total / 1e6
    return out, megabytes


def without_repeats():
    """Errors in percent of the spreadsheet's own rows, with everything read once."""
    text = (ROOT / "validation/tables/nvdla_sheet.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    cycles = dict.fromkeys((macs for macs, *_ in PUBLISHED), 0)
    for row in csv.DictReader(lines):
        if row["network"] != "ResNet50":
            continue
        moved = sum(float(row[f"{what}_kib"]) for what in ("input", "weight", "output"))
        moved += float(row["output_kib"]) if "elwise" in row["kind"] else 0
        memory = moved / float(row["dram_gb_per_s"]) * float(row["clock_mhz"])
        cycles[int(row["macs"])] += max(float(row["mac_cycles"]), memory)
    return [100 * (1e9 / cycles[macs] / published - 1) for macs, *_, published in PUBLISHED]


def listed(found):
    return ", ".join(f"{e:+.0f}" for e in found[:-1]) + f" and {found[-1]:+.0f} %"


def main():
    text = " ".join((ROOT / "validation/nvdla.yaml").read_text(encoding="utf-8").split())
    bad = False
    for additions, parts in ((False, False), (True, False), (True, True)):
        found, megabytes = errors(additions, parts)
        print(f"{listed(found)}, {megabytes:.0f} MB at 32 MACs")
        bad |= listed(found) not in text or f"{megabytes:.0f} MB" not in text
    print(f"{listed(without_repeats())} without what the spreadsheet reads again")
    bad |= listed(without_repeats()) not in text
    if bad:
        print("FAILED: validation/nvdla.yaml says otherwise")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
