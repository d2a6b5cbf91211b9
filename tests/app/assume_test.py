#!/usr/bin/python3
"""What only a run decides: a detector with its NonMaxSuppression inside; an If, a Loop, sequences.

Usage: assume_test.py ACCSIM [unittest arguments]. Exit code 77 (skipped) without python3-onnx.
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

BOXES, CLASSES, MOST = 400, 3, 20


def detector():
    """Convolution, boxes and scores of 20 x 20 places, suppression, the boxes that are left."""
    node, weight = helper.make_node, lambda name, a: numpy_helper.from_array(np.array(a), name)
    nodes = [
        node("Conv", ["x", "w"], ["f"], "features", kernel_shape=[3, 3], pads=[1] * 4),
        node("Reshape", ["f", "flat"], ["r"], "flatten"),
        node("Split", ["r", "parts"], ["b", "scores"], "split", axis=1),
        node("Transpose", ["b"], ["boxes"], "turn", perm=[0, 2, 1]),
        node("NonMaxSuppression", ["boxes", "scores", "most", "iou"], ["chosen"], "nms"),
        node("Gather", ["chosen", "two"], ["index"], "pick", axis=1),
        node("Gather", ["boxes", "index"], ["left"], "left", axis=1),
        node("Relu", ["left"], ["y"], "last"),
    ]
    weights = [
        weight("w", np.zeros((4 + CLASSES, 8, 3, 3), np.float32)),
        weight("flat", np.array([1, 4 + CLASSES, BOXES])),
        weight("parts", np.array([4, CLASSES])),
        weight("most", np.array([MOST])),
        weight("iou", np.array([0.5], np.float32)),
        weight("two", np.array(2)),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8, 20, 20])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "detector", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


class Assume(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.model = Path(folder.name) / "detector.onnx"
        onnx.save(detector(), self.model)

    def report(self, *arguments):
        result = run("--hw", "64x64", self.model, "--json", "-", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_are_sizes_the_most_there_can_be_and_said(self):
        found = self.report()
        most = CLASSES * MOST
        nms = {"node": "nms", "op_type": "NonMaxSuppression", "of": "boxes that are selected"}
        self.assertEqual(
            found["model"]["assumed"],
            [{**nms, "bound": most, "size": most, "branch": None, "given": False}],
        )
        layers = {layer["name"]: layer for layer in found["layers"]}
        self.assertEqual(layers["left"]["output_shape"], [1, most, 4])
        self.assertGreater(layers["nms"]["cycles"], 0)
        self.assertEqual(layers["features"]["macs"], 9 * 8 * (4 + CLASSES) * BOXES)
        text = run("--hw", "64x64", self.model).stdout
        self.assertIn("boxes that are selected of NonMaxSuppression: nms = 60 (the most", text)

    def test_is_what_is_given_taken_and_all_before_it_the_same(self):
        bound, given = self.report(), self.report("--assume", "nms=7")
        self.assertEqual(given["model"]["assumed"][0]["size"], 7)
        self.assertTrue(given["model"]["assumed"][0]["given"])
        before, after = ({layer["name"]: layer for layer in r["layers"]} for r in (bound, given))
        self.assertEqual(after["last"]["output_shape"], [1, 7, 4])
        for name in ("features", "turn"):
            self.assertEqual(before[name]["alone_cycles"], after[name]["alone_cycles"])
        self.assertLess(after["nms"]["alone_cycles"], before["nms"]["alone_cycles"])

    def test_do_inspect_and_shapes_know_them(self):
        result = run("inspect", self.model, "--assume", "nms=7", "--json", "-")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(json.loads(result.stdout)["model"]["assumed"][0]["size"], 7)
        self.assertIn("nms = 7;", run("inspect", self.model, "--assume", "nms=7").stdout)
        self.assertIn("1x7x4", run("shapes", self.model, "--assume", "nms=7").stdout)

    def test_are_wrong_ones_refused(self):
        for given, words in (
            ("nms=61", "gives 61 boxes that are selected, of which there are at most 60"),
            ("nsm=6", "--assume names 'nsm', but only a run decides sizes of nms"),
            ("nms", "'nms' is not NODE=N"),
            ("nms=-1", "'nms=-1' is not NODE=N"),
        ):
            result = run("--hw", "64x64", self.model, "--assume", given)
            self.assertEqual(result.returncode, 2)
            self.assertIn(words, result.stderr)

    def test_does_run_say_that_it_computes_only_what_is_known_before(self):
        result = run("run", self.model)
        self.assertEqual(result.returncode, 2)
        self.assertIn("node 'nms' (op NonMaxSuppression)", result.stderr)
        self.assertIn("depends on its numbers", result.stderr)


SIDE = 64


def branching():
    """If(sum of x) -> a product or a Relu; a Loop of products; columns split, one added to all."""
    node = helper.make_node

    def value(name, dims=None, kind=TensorProto.FLOAT):
        return helper.make_tensor_value_info(name, kind, dims)

    def branch(nodes, output):
        return helper.make_graph(nodes, output, [], [value(output)])

    square = [SIDE, SIDE]
    body = helper.make_graph(
        [
            node("MatMul", ["v", "w"], ["next"]),
            node("ReduceSum", ["next"], ["all"], keepdims=0),
            node("Cast", ["all"], ["go_on"], to=TensorProto.BOOL),
        ],
        "body",
        [
            value("i", [], TensorProto.INT64),
            value("go", [], TensorProto.BOOL),
            value("v", square),
        ],
        [value("go_on", [], TensorProto.BOOL), value("next", square)],
    )
    nodes = [
        node("ReduceSum", ["x"], ["sum"], "sum", keepdims=0),
        node("Greater", ["sum", "zero"], ["positive"], "greater"),
        node(
            "If",
            ["positive"],
            ["a"],
            "choice",
            then_branch=branch([node("Relu", ["x"], ["t"])], "t"),
            else_branch=branch([node("MatMul", ["x", "w"], ["e"])], "e"),
        ),
        node("Loop", ["most", "true", "a"], ["b"], "loop", body=body),
        node("SplitToSequence", ["b"], ["columns"], "split", axis=1),
        node("SequenceAt", ["columns", "three"], ["one"], "at"),
        node("ConcatFromSequence", ["columns"], ["whole"], "join", axis=1),
        node("Add", ["whole", "one"], ["y"], "last"),
    ]
    weights = [
        numpy_helper.from_array(np.ones(square, np.float32), "w"),
        numpy_helper.from_array(np.array(0, np.float32), "zero"),
        numpy_helper.from_array(np.array(2**63 - 1), "most"),
        numpy_helper.from_array(np.array(True), "true"),
        numpy_helper.from_array(np.array(3), "three"),
    ]
    graph = helper.make_graph(nodes, "branching", [value("x", square)], [value("y")], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])


class Branch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.model = Path(folder.name) / "branching.onnx"
        onnx.save(branching(), self.model)

    def report(self, *arguments):
        result = run("--hw", "64x64", self.model, "--json", "-", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def macs(self, *arguments):
        return sum(layer["macs"] for layer in self.report(*arguments)["layers"])

    def test_is_the_dearer_branch_taken_and_one_iteration(self):
        self.assertEqual(self.macs(), 2 * SIDE**3)
        assumed = {a["node"]: a for a in self.report()["model"]["assumed"]}
        self.assertEqual(assumed["choice"]["branch"], "else")
        self.assertEqual(assumed["loop"]["size"], 1)
        text = run("--hw", "64x64", self.model).stdout
        self.assertIn("branch of If: choice = else (not the cheaper one)", text)
        self.assertIn("iterations of Loop: loop = 1 (by default); others by --assume", text)

    def test_are_other_ones_taken_as_given(self):
        self.assertEqual(self.macs("--branch", "choice=then"), SIDE**3)
        self.assertEqual(self.macs("--branch", "choice=then", "--assume", "loop=5"), 5 * SIDE**3)

    def test_are_sequences_the_tensors_in_them(self):
        layers = {layer["name"]: layer for layer in self.report()["layers"]}
        self.assertEqual(layers["join/concat"]["output_shape"], [SIDE, SIDE])
        self.assertEqual(layers["last"]["output_shape"], [SIDE, SIDE])

    def test_are_wrong_ones_refused(self):
        for option, given, words in (
            ("branch", "choice=both", "'choice=both' is not NODE=then or NODE=else"),
            ("branch", "choose=then", "'choose', but only a run decides branches of choice"),
            ("assume", "loop=0", "gives 0 iterations, but there are at least 1"),
        ):
            result = run("--hw", "64x64", self.model, f"--{option}", given)
            self.assertEqual(result.returncode, 2)
            self.assertIn(words, result.stderr)

    def test_do_cuts_leave_parts_that_add_up(self):
        def names(*cut):
            return {layer["name"] for layer in self.report(*cut)["layers"] if layer["cycles"]}

        whole, before, behind = (
            names(*cut) for cut in ((), ("--until", "loop/0/MatMul_0"), ("--from", "join/concat"))
        )
        self.assertEqual(behind, {"join/concat", "last"})
        self.assertEqual(before, {"choice/MatMul_0", "loop/0/MatMul_0"})
        self.assertLess(before | behind, whole)
        wrong = run("inspect", self.model, "--until", "nowhere")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("'nowhere' is no node of the model", wrong.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
