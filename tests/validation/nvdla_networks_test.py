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

import onnx
from onnx import TensorProto, helper

ROOT = pathlib.Path(__file__).resolve().parents[2]
TABLE = ROOT / "validation/tables/nvdla_nv_small_layers.csv"
WHOLE = ROOT / "validation/tables/network_layers.csv"
VENDOR = ROOT / "validation/tables/nvdla_nv_small_rtl.csv"
NETWORKS = tuple(
    ROOT / f"models/{name}.onnx" for name in ("mobilenet_v2_op13", "resnet50_op17", "alexnet_op13")
)
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


class Network:
    """A network of convolutions of zeros, as an ONNX file."""

    def __init__(self, name, channels, size):
        self.name, self.channels, self.nodes = name, {"x": channels}, []
        self.input = helper.make_tensor_value_info(
            "x", TensorProto.FLOAT, (1, channels, size, size)
        )

    def add(self, op, *inputs, channels, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        self.channels[name] = channels
        return name

    def conv(self, x, kernels, kernel, stride=1, pad=0, relu=True):
        dims = helper.make_tensor(
            "dims", TensorProto.INT64, (4,), (kernels, self.channels[x], kernel, kernel)
        )
        shape = self.add("Constant", channels=None, value=dims)
        weights = self.add("ConstantOfShape", shape, channels=None)
        out = self.add("Conv", x, weights, channels=kernels, strides=[stride] * 2, pads=[pad] * 4)
        return self.add("Relu", out, channels=kernels) if relu else out

    def pool(self, x):
        channels = self.channels[x]
        return self.add("MaxPool", x, channels=channels, kernel_shape=[2, 2], strides=[2, 2])

    def save(self, folder):
        out = helper.make_tensor_value_info(self.nodes[-1].output[0], TensorProto.FLOAT, None)
        graph = helper.make_graph(self.nodes, self.name, [self.input], [out])
        path = pathlib.Path(folder) / f"{self.name}.onnx"
        onnx.save(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8),
            path,
        )
        return path


def resnet18(folder):
    """At 32 x 32: K. He et al., 2015, table 1, without the pooling in front, and a 3x3 first."""
    net = Network("resnet18_32", 3, 32)
    x = net.conv("x", 64, 3, 1, 1)
    for stage, kernels in enumerate((64, 128, 256, 512)):
        for block in range(2):
            stride = 2 if stage > 0 and block == 0 else 1
            y = net.conv(x, kernels, 3, stride, 1)
            if stride == 2:
                x = net.conv(x, kernels, 1, stride, relu=False)
            y = net.conv(y, kernels, 3, 1, 1, relu=False)
            x = net.add("Add", y, x, channels=kernels)
            x = net.add("Relu", x, channels=kernels)
    x = net.add("GlobalAveragePool", x, channels=512)
    net.conv(x, 10, 1, relu=False)
    return net.save(folder)


def lenet5(folder):
    """Y. LeCun et al., 1998, section II.B: C1, S2, C3, S4, C5, F6 and the output."""
    net = Network("lenet5", 1, 32)
    x = net.pool(net.conv("x", 6, 5))
    x = net.pool(net.conv(x, 16, 5))
    net.conv(net.conv(net.conv(x, 120, 5), 84, 1), 10, 1, relu=False)
    return net.save(folder)


def with_residual(network):
    """Convolutions that an addition is part of: the last one in front of it. They read a second
    operand, which no row of the table does."""
    graph = onnx.load(network, load_external_data=False).graph
    place = {node.output[0]: (i, node) for i, node in enumerate(graph.node)}
    out = set()
    for node in graph.node:
        before = [place[name] for name in node.input if name in place]
        if node.op_type == "Add" and before:
            out.add(max(before, key=lambda found: found[0])[1].name)
    return out


def convolutions(network, alone=True):
    """(sizes, cycles) of the convolutions of one group and of the products of one row; `alone`:
    without those that an addition is part of."""
    other = with_residual(network) if alone else set()
    report = json_of("--hw", "nvdla-nv-small", network, "-q", "--effort", "rule", "--json", "-")
    for layer in report["layers"]:
        shapes = layer["input_shapes"]
        taken = layer["name"] not in other
        if layer["op_type"] == "Conv" and shapes[0][1] == shapes[1][1] and taken:
            kernels, channels, *kernel = shapes[1]
            sizes = (channels, *shapes[0][2:], kernels, *kernel, *layer["output_shape"][2:])
            yield sizes, layer["alone_cycles"], layer["name"]
        if layer["op_type"] == "Gemm":
            kernels, channels = shapes[1]
            yield (channels, 1, 1, kernels, 1, 1, 1, 1), layer["alone_cycles"], layer["name"]


def pooling(network):
    """Rows of the vendor's table for the pooling layers of a network, with the cycles that they
    have there; those whose window the unit has."""
    report = json_of("--hw", "nvdla-nv-small", network, "-q", "--json", "-")
    for layer in report["layers"]:
        if layer["op_type"] != "MaxPool":
            continue
        (_, c, h, w), (_, _, out_h, out_w) = layer["input_shapes"][0], layer["output_shape"]
        kernel, stride, pad = POOLS[network.stem, out_w]
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
        with tempfile.TemporaryDirectory() as folder:
            made = (resnet18(folder), lenet5(folder))
            for network in (*NETWORKS, *made):
                for sizes, cycles, layer in convolutions(network):
                    if sizes in rows:
                        found.add(rows[sizes])
                        self.assertEqual(cycles, predicted[rows[sizes]], f"{network}: {layer}")
        self.assertGreaterEqual(len(found), 5, found)
        # Every row of the two networks that were made is found in them, whole layers all.
        wanted = {name for name in rows.values() if name.startswith(("own_resnet18", "own_lenet5"))}
        self.assertGreaterEqual(len(wanted), 10)
        self.assertLessEqual(wanted, found)

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
        for name in ("mobilenet_v2_op13", "resnet50_op17", "vgg16_op13"):
            network = ROOT / f"models/{name}.onnx"
            for conv, _, layer in convolutions(network, alone=False):
                last = conv[:3] == (320, 7, 7) or layer.endswith("Gemm")  # no row has this name
                if not last:
                    self.assertIn(conv[:6], sizes, f"{network}: {layer}")


if __name__ == "__main__":
    ACCSIM = sys.argv.pop(1)
    unittest.main()
