#!/usr/bin/python3
"""Values of tensors that only data knows (--value): every operator whose shape depends on one.

Usage: value_test.py ACCSIM [unittest arguments]. Exit code 77 (skipped) without python3-onnx.
"""

import json
import sys
import tempfile
import unittest
from pathlib import Path

from program import run

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

ROWS, COLUMNS = 8, 4


def network(nodes, given, stored=None, kind=TensorProto.INT64):
    """x (8 x 4), inputs `given` {name: shape} -> nodes -> y."""
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [ROWS, COLUMNS])]
    inputs += [helper.make_tensor_value_info(n, kind, s) for n, s in given.items()]
    weights = [numpy_helper.from_array(np.array(a), n) for n, a in (stored or {}).items()]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", inputs, [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def node(op, inputs, outputs=("y",), **attributes):
    return helper.make_node(op, inputs, list(outputs), op.lower(), **attributes)


def taken(tensor, output="y"):
    """Columns of x behind a count of them, so that something is computed."""
    return [node("Gather", ["x", tensor], [output], axis=0)]


# By operator: nodes, shape of the input k that decides, its value, the shape of y.
CASES = {
    "Range": ([node("Range", ["zero", "k", "one"], ["r"]), *taken("r")], [], "3", [3, COLUMNS]),
    "Slice": ([node("Slice", ["x", "zeros", "k"])], [2], "3,2", [3, 2]),
    "Expand": ([node("Expand", ["x", "k"])], [3], "5,8,4", [5, ROWS, COLUMNS]),
    "Reshape": ([node("Reshape", ["x", "k"])], [3], "2,-1,4", [2, 4, 4]),
    "ConstantOfShape": (
        [node("ConstantOfShape", ["k"], ["c"]), node("Add", ["x", "c"])],
        [3],
        "3,1,4",
        [3, ROWS, COLUMNS],
    ),
    "Tile": ([node("Tile", ["x", "k"])], [2], "2,3", [16, 12]),
    "TopK": ([node("TopK", ["x", "k"], ["y", "i"])], [1], "3", [ROWS, 3]),
    "Pad": ([node("Pad", ["x", "k"])], [4], "1,0,2,1", [11, 5]),
    "OneHot": ([node("OneHot", ["at", "k", "both"])], [], "6", [2, 6]),
    "Split": ([node("Split", ["x", "k"], ["y", "z"])], [2], "3,5", [3, COLUMNS]),
    "Resize": ([node("Resize", ["x", "", "", "k"], mode="nearest")], [2], "16,4", [16, 4]),
    "CenterCropPad": ([node("CenterCropPad", ["x", "k"])], [2], "6,4", [6, 4]),
}
STORED = {
    "zero": 0,
    "one": 1,
    "zeros": [0, 0],
    "at": [1, 2],
    "both": np.array([0, 1], np.float32),
}
BOUNDED = ("Slice", "TopK")  # of the size that there is


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def save(self, model, name="net.onnx"):
        opset = 18 if any(n.op_type == "CenterCropPad" for n in model.graph.node) else 17
        model.opset_import[0].version = opset
        used = {name for n in model.graph.node for name in n.input}
        kept = [w for w in model.graph.initializer if w.name in used]
        del model.graph.initializer[:]
        model.graph.initializer.extend(kept)
        onnx.save(model, self.folder / name)
        return self.folder / name

    def report(self, model, *arguments):
        result = run("--hw", "64x64", model, "--json", "-", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def refusal(self, model, *arguments):
        result = run("--hw", "64x64", model, *arguments)
        self.assertEqual(result.returncode, 2, result.stdout)
        return " ".join(result.stderr.split())


class Value(Files):
    def shape_of_y(self, model, *arguments):
        result = run("shapes", model, *arguments, "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)["y"][1]

    def test_opens_every_operator_whose_shape_depends_on_data(self):
        for op, (nodes, shape, value, expected) in CASES.items():
            with self.subTest(op):
                model = self.save(network(nodes, {"k": shape}, STORED))
                if op not in BOUNDED:
                    self.assertIn("give --value k=", self.refusal(model))
                self.assertEqual(self.shape_of_y(model, "--value", f"k={value}"), expected)
                self.report(model, "--value", f"k={value}")

    def test_is_what_a_node_computes_and_what_follows_from_an_input(self):
        nodes = [
            node("Mul", ["k", "one"], ["twice"]),
            node("Range", ["zero", "twice", "one"], ["r"]),
            *taken("r"),
        ]
        model = self.save(network(nodes, {"k": []}, STORED | {"one": 1}))
        said = self.refusal(model)
        self.assertIn("give --value twice=N (int64 scalar), or --value k=N (int64 scalar)", said)
        for name in ("k", "twice"):
            self.assertEqual(self.shape_of_y(model, "--value", f"{name}=5"), [5, COLUMNS])

    def test_computes_what_the_value_is_of_all_the_same(self):
        nodes = [node("Add", ["k", "k"], ["twice"]), node("Reshape", ["x", "twice"])]
        model = self.save(network(nodes, {"k": [2]}))
        layers = {row["name"]: row for row in self.report(model, "--value", "k=4,2")["layers"]}
        self.assertEqual(self.shape_of_y(model, "--value", "twice=16,2"), [16, 2])
        self.assertEqual(layers["add"]["fate"], "vector")
        self.assertGreater(layers["add"]["cycles"], 0)

    def test_is_a_file_or_a_list_too(self):
        model = self.save(network([node("Reshape", ["x", "k"])], {"k": [2]}))
        np.save(self.folder / "k.npy", np.array([2, 16]))
        (self.folder / "k.json").write_text("[2, 16]\n")
        for value in (self.folder / "k.npy", self.folder / "k.json", "[2, 16]", " 2 , 16 "):
            self.assertEqual(self.shape_of_y(model, "--value", f"k={value}"), [2, 16])

    def test_are_bounds_taken_where_there_are_any_and_said(self):
        for op, node_name, size in (("Slice", "slice", [ROWS, COLUMNS]), ("TopK", "topk", 4)):
            nodes, shape, _, _ = CASES[op]
            model = self.save(network(nodes, {"k": shape}, STORED))
            found = self.report(model)
            sizes = [a["size"] for a in found["model"]["assumed"]]
            self.assertEqual(sizes, size if isinstance(size, list) else [size])
            layer = next(row for row in found["layers"] if row["name"] == node_name)
            self.assertGreater(layer["cycles"], 0, "nothing is free")
            given = self.report(model, "--assume", f"{node_name}=2")
            self.assertTrue(all(a["given"] for a in given["model"]["assumed"]))

    def test_are_wrong_ones_refused_and_is_said_what_is_expected(self):
        model = self.save(network([node("Reshape", ["x", "k"])], {"k": [2]}))
        np.save(self.folder / "f.npy", np.array([2.0, 16.0]))
        for value, words in (
            ("k=3", "--value of 'k' must be int64 2, but 3 is 1 number"),
            ("k=[[2,16]]", "must be int64 2, but [[2,16]] is 1x2"),
            ("k=2.5,1", "must be int64 2, but 2.5,1 holds a number that isn't whole"),
            (f"k={self.folder / 'f.npy'}", "is float64"),
            ("k=two", "'two' is no value: give numbers"),
            ("k=[1,[2]]", "'[1,[2]]' is no value"),
            ("k", "'k' is not TENSOR=VALUE"),
            ("k=nowhere.npy", "nowhere.npy"),
            ("q=3", "--value names 'q', which is no tensor of the model; its inputs are x, k"),
        ):
            self.assertIn(words, self.refusal(model, "--value", value))
        self.assertIn("given twice", self.refusal(model, "--value", "k=1,2", "--value", "k=2,1"))

    def test_are_unused_ones_refused(self):
        nodes = [node("Add", ["x", "x"], ["z"]), node("Reshape", ["z", "k"])]
        model = self.save(network(nodes, {"k": [2]}))
        ones = json.dumps([[1.0] * COLUMNS] * ROWS)
        said = self.refusal(model, "--value", f"x={ones}", "--value", "k=4,8")
        self.assertIn("--value gives 'x', but no shape and no cost depends on its value", said)
        fixed = self.save(network([node("Reshape", ["x", "s"])], {}, {"s": [4, 8]}), "fixed.onnx")
        said = self.refusal(fixed, "--value", "s=4,8")
        self.assertIn("--value gives 's', which is constant", said)
        self.assertIn("--assume names 'n'", self.refusal(fixed, "--assume", "n=3"))

    def test_does_run_compute_with_it_and_say_where_it_is_another(self):
        nodes = [node("Add", ["k", "k"], ["twice"]), node("Reshape", ["x", "twice"])]
        model = self.save(network(nodes, {"k": [2]}))
        for value in ("k=4,2", "twice=2,16"):
            dump = self.folder / value[0]
            arguments = ["--value", value]
            if value[0] == "t":
                np.save(self.folder / "k.npy", np.array([1, 8]))
                arguments += ["--input", f"k={self.folder / 'k.npy'}"]
            result = run("run", model, *arguments, "--output", dump)
            self.assertEqual(result.returncode, 0, result.stderr)
        np.save(self.folder / "k.npy", np.array([8, 1]))
        result = run(
            *["run", model, "--value", "twice=2,16", "--input", f"k={self.folder / 'k.npy'}"]
        )
        self.assertEqual(result.returncode, 2)
        self.assertIn("of 'twice' is 16, and 2 by --value", result.stderr)

    def test_decides_on_branches_and_trips(self):
        def value(name, dims=None, kind=TensorProto.FLOAT):
            return helper.make_tensor_value_info(name, kind, dims)

        def branch(op):
            return helper.make_graph([helper.make_node(op, ["x"], ["b"])], op, [], [value("b")])

        body = helper.make_graph(
            [
                helper.make_node("Add", ["v", "v"], ["next"]),
                helper.make_node("Identity", ["go"], ["on"]),
            ],
            "body",
            [
                value("i", [], TensorProto.INT64),
                value("go", [], TensorProto.BOOL),
                value("v", [ROWS, COLUMNS]),
            ],
            [value("on", [], TensorProto.BOOL), value("next", [ROWS, COLUMNS])],
        )
        choice = helper.make_node(
            "If", ["c"], ["a"], "if", then_branch=branch("Relu"), else_branch=branch("Exp")
        )
        loop = helper.make_node("Loop", ["n", "yes", "a"], ["y"], "loop", body=body)
        model = network([choice, loop], {"n": []}, {"yes": True})
        model.graph.input.append(value("c", [], TensorProto.BOOL))
        path = self.save(model)
        found = self.report(path, "--value", "c=true", "--value", "n=3")
        self.assertEqual(found["model"]["assumed"], [])
        kinds = [row["op_type"] for row in found["layers"]]
        self.assertEqual((kinds.count("Relu"), kinds.count("Exp"), kinds.count("Add")), (1, 0, 3))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
