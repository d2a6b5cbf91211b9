#!/usr/bin/env python3
"""Layers of networks on nv_small cost what rows of the table do: nvdla_networks_test.py ACCSIM

Rows of the table are single layers, as NVIDIA's compiler divides the banks for them; so do networks
with --effort rule. Layers of the same sizes must have the same cycles.
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "validation/tables/nvdla_nv_small_layers.csv"
WHOLE = ROOT / "validation/tables/network_layers.csv"
VENDOR = ROOT / "validation/tables/nvdla_nv_small_rtl.csv"
NETWORKS = ("mobilenet_v2_op13", "resnet50_op17", "alexnet_op13")
# Windows of pooling layers, which reports don't have: kernel, stride, pad, by the output's width.
POOLS = {
    ("resnet50_op17", 56): (3, 2, 1),
    ("alexnet_op13", 27): (3, 2, 0),
    ("alexnet_op13", 13): (3, 2, 0),
    ("alexnet_op13", 6): (3, 2, 0),
}
ACCSIM = ""


def json_of(*args):
    done = subprocess.run([ACCSIM, *args], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def rows_of(table):
    lines = [line for line in table.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


def measured_rows():
    """Names by channels, height, width, kernels, and height and width of kernels and outputs."""
    sizes = ("C", "H", "W", "K", "R", "S", "OH", "OW")
    return {
        tuple(int(row[s]) for s in sizes): row["trace"]
        for row in rows_of(TABLE)
        if row["result"] == "PASS" and row["stride_x"] == row["stride_y"]
    }


def convolutions(network):
    """(sizes, cycles) of the convolutions of one group and of the products of one row."""
    report = json_of("--hw", "nvdla-nv-small", ROOT / f"models/{network}.onnx", "-q",
                     "--effort", "rule", "--json", "-")  # fmt: skip
    for layer in report["layers"]:
        shapes = layer["input_shapes"]
        if layer["op_type"] == "Conv" and shapes[0][1] == shapes[1][1]:
            kernels, channels, *kernel = shapes[1]
            sizes = (channels, *shapes[0][2:], kernels, *kernel, *layer["output_shape"][2:])
            yield sizes, layer["alone_cycles"], layer["name"]
        if layer["op_type"] == "Gemm":
            kernels, channels = shapes[1]
            yield (channels, 1, 1, kernels, 1, 1, 1, 1), layer["alone_cycles"], layer["name"]


def pooling(network):
    """Rows of the vendor's table for the pooling layers of a network, with the cycles that they
    have there; those whose window the unit has."""
    report = json_of("--hw", "nvdla-nv-small", ROOT / f"models/{network}.onnx", "-q", "--json", "-")
    for layer in report["layers"]:
        if layer["op_type"] != "MaxPool":
            continue
        (_, c, h, w), (_, _, out_h, out_w) = layer["input_shapes"][0], layer["output_shape"]
        kernel, stride, pad = POOLS[network, out_w]
        ends = {"pad_r": (out_w - 1) * stride + kernel - w - pad}
        ends["pad_b"] = (out_h - 1) * stride + kernel - h - pad
        row = {"unit": "pdp", "result": "PASS", "op": "max_pool", "cycles": layer["alone_cycles"]}
        row |= {"trace": layer["name"], "C": c, "H": h, "W": w, "S": kernel, "R": kernel}
        row |= {"stride_x": stride, "stride_y": stride, "pad_l": pad, "pad_t": pad}
        yield row | {pad: max(0, size) for pad, size in ends.items()}


class Networks(unittest.TestCase):
    def test_is_pooling_in_networks_what_the_same_row_is(self):
        lines = [line for line in VENDOR.read_text().splitlines() if not line.startswith("#")]
        header = next(csv.reader(lines))
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "pooling.csv"
            rows = [row for network in NETWORKS for row in pooling(network)]
            self.assertGreaterEqual(len(rows), 4)
            with table.open("w", newline="") as file:
                writer = csv.DictWriter(file, header)
                writer.writeheader()
                writer.writerows(rows)
            source = json_of("validate", ROOT / "validation/nvdla-rtl.yaml", "--table", table,
                             "--json", "-")  # fmt: skip
        points = [p for s in source["sources"] for p in s["points"]]
        self.assertEqual(len(points), len(rows))
        for point in points:
            self.assertEqual(point["predicted"], point["measured"], point["name"])

    def test_are_layers_of_the_table_the_same_in_networks(self):
        source = json_of("validate", ROOT / "validation/nvdla-rtl.yaml", "--json", "-")
        predicted = {p["name"]: p["predicted"] for s in source["sources"] for p in s["points"]}
        rows, found = measured_rows(), set()
        for network in NETWORKS:
            for sizes, cycles, layer in convolutions(network):
                if sizes in rows:
                    found.add(rows[sizes])
                    self.assertEqual(cycles, predicted[rows[sizes]], f"{network}: {layer}")
        self.assertGreaterEqual(len(found), 5, found)

    def test_are_whole_layers_those_that_rows_are_parts_of(self):
        """Parts have fewer lines. Names end in the layer's, or in the part's behind it."""
        whole = {row["layer"]: row for row in rows_of(WHOLE)}
        alike = {"c": "C", "w": "W", "k": "K", "kernel": "S", "stride": "stride_x", "pad": "pad_l"}
        found = set()
        for row in rows_of(TABLE):
            name = row["trace"].removeprefix("own_")
            layers = [layer for layer in whole if name == layer or name.startswith(f"{layer}_")]
            for layer in layers:
                found.add(layer)
                size = whole[layer]
                self.assertEqual({k: size[k] for k in alike}, {k: row[v] for k, v in alike.items()})
                lines = int(size["h"]) - int(row["H"])
                self.assertEqual(lines > 0, "part" in name, name)
        self.assertGreaterEqual(len(found), 15, found)

    def test_are_whole_layers_those_of_the_networks(self):
        """Each convolution of one group has a line of its sizes."""
        sizes = {
            tuple(int(row[c]) for c in ("c", "h", "w", "k", "kernel", "kernel"))
            for row in rows_of(WHOLE)
        }
        for network in ("mobilenet_v2_op13", "resnet50_op17", "vgg16_op13"):
            for conv, _, layer in convolutions(network):
                last = conv[:3] == (320, 7, 7) or layer.endswith("Gemm")  # no row has this name
                if not last:
                    self.assertIn(conv[:6], sizes, f"{network}: {layer}")


if __name__ == "__main__":
    ACCSIM = sys.argv.pop(1)
    unittest.main()
