#!/usr/bin/python3
"""Do parameters count once, whatever is computed from them, in `inspect` and in the main job?

Usage: parameters_test.py ACCSIM [unittest arguments]. Exit code 77 (skipped) without python3-onnx.
Weights of drawn graphs are computed off line by chains of nodes, which numpy computes, too, for
their shapes. The parameters are the sizes of the arrays that were drawn.
"""

import json
import pathlib
import random
import sys
import tempfile
import unittest

from program import ROOT, run

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

DRAWN = 40
MOST_ELEMENTS = 5000


class Drawn:
    """A graph whose products' weights are made of arrays."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.values = {}  # by name, of all constants
        self.weights = {}  # those that are stored, and parameters
        self.initializers, self.nodes = [], []
        self.layers = 0
        for _ in range(self.random.randint(1, 4)):
            self.stored([self.random.randint(2, 12) for _ in range(2)])

    def name(self):
        return f"t{len(self.values)}"

    def stored(self, dims):
        name = self.name()
        self.values[name] = self.weights[name] = np.ones(dims, np.float32)
        self.initializers.append(numpy_helper.from_array(self.weights[name], name))
        return name

    def setting(self, numbers):
        name = f"s{len(self.initializers)}"
        array = np.array(numbers, np.int64)
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op, inputs, value, **attributes):
        name = self.name()
        self.values[name] = value
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def pick(self):
        return self.random.choice(list(self.values))

    def step(self):
        """A constant of others, and who makes it."""
        a = self.pick()
        x = self.values[a]
        kind = self.random.choice(["concat", "tile", "expand", "turn", "product", "sum", "rows"])
        if kind == "concat":
            axis = self.random.randint(0, 1)
            dims = list(x.shape)
            dims[axis] = self.random.randint(1, 8)
            parts = [a, self.stored(dims)]
            self.add(
                "Concat", parts, np.concatenate([self.values[p] for p in parts], axis), axis=axis
            )
        elif kind == "tile":
            by = [self.random.randint(1, 3), self.random.randint(1, 3)]
            self.add("Tile", [a, self.setting(by)], np.tile(x, by))
        elif kind == "expand":
            column = self.stored([x.shape[0], 1])
            value = np.broadcast_to(self.values[column], x.shape)
            self.add("Expand", [column, self.setting(x.shape)], value)
        elif kind == "turn":
            self.add("Transpose", [a], x.T)
        elif kind == "product":
            b = self.stored([x.shape[1], self.random.randint(1, 12)])
            self.add("Einsum", [a, b], x @ self.values[b], equation="ij,jk->ik")
        elif kind == "sum":
            self.add("Add", [a, self.stored(x.shape)], x)
        else:
            rows = [self.random.randrange(x.shape[0]) for _ in range(self.random.randint(1, 12))]
            self.add("Gather", [a, self.setting(rows)], x[rows], axis=0)

    def model(self):
        """Products with some of the constants; each weight is read by one at least, as it is."""
        while len(self.nodes) < 6:
            self.step()
        inputs, outputs = [], []
        read = {name for node in self.nodes for name in node.input}
        some = [n for n in self.values if n not in read or self.random.random() < 0.3]
        for weight in some:
            if self.values[weight].size > MOST_ELEMENTS:
                continue
            x, y = f"x{len(inputs)}", f"y{len(inputs)}"
            dims = self.values[weight].shape
            inputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, [4, dims[0]]))
            outputs.append(helper.make_tensor_value_info(y, TensorProto.FLOAT, [4, dims[1]]))
            self.nodes.append(helper.make_node("MatMul", [x, weight], [y]))
        graph = helper.make_graph(self.nodes, "drawn", inputs, outputs, self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)

    def parameters(self):
        read = {name for node in self.nodes for name in node.input}
        return sum(a.size for name, a in self.weights.items() if name in read)


SIZES = ("--bind", "*=8")  # that a file leaves open


def inspected(path):
    done = run("inspect", path, *SIZES, "-q", "--json", "-")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def costed(path):
    done = run("--hw", "64x64", path, *SIZES, "-q", "--json", "-", "--effort", "rule")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class ParametersTest(unittest.TestCase):
    def test_do_drawn_weights_count_what_is_stored(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "m.onnx"
            for seed in range(DRAWN):
                drawn = Drawn(seed)
                onnx.save(drawn.model(), path)
                expected = drawn.parameters()
                found, layers = inspected(path), costed(path)
                self.assertEqual(found["params"], expected, seed)
                self.assertEqual(found["weight_bytes"], 4 * expected, seed)
                self.assertEqual(layers["totals"]["params"], expected, seed)

    def test_do_inspect_and_the_main_job_count_alike(self):
        """Also what quantisers and PyTorch's exporters write."""
        folders = [ROOT / "tests" / "data" / name for name in ("quantised", "torch")]
        files = [file for folder in folders for file in sorted(folder.glob("*.onnx"))]
        self.assertGreater(len(files), 20)
        for file in files:
            with self.subTest(file.name):
                written, costs = inspected(file), costed(file)
                for key in ("params", "buffers", "weight_bytes", "params_by_type"):
                    self.assertEqual(written[key], costs["model"][key], key)


if __name__ == "__main__":
    unittest.main()
