#!/usr/bin/python3
"""accsim inspect end to end, and its sums against a second implementation.

Usage: inspect_test.py ACCSIM [unittest arguments]. Exit code 77 (skipped) without python3-onnx.
The second implementation walks the ONNX file with the shapes that were measured by running the
networks (tests/data/shapes) and shares nothing with accsim.
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

from program import ACCSIM, ROOT

try:
    import onnx
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

ALEXNET = ROOT / "models" / "alexnet_op13.onnx"
SIZES = {"float32": 4, "int64": 8, "int32": 4, "bool": 1, "float64": 8}

# Nodes that show the bytes of their first input under another shape.
VIEWS = {"Flatten", "Reshape", "Squeeze", "Unsqueeze", "Identity", "Dropout"}
CNNS = [
    "alexnet_op13",
    "googlenet_bn_op13",
    "googlenet_op17",
    "resnet18_bn_op13",
    "resnet18_op13",
    "squeezenet1_1_op13",
]
TRANSFORMERS = [
    "bert_base_op17",
    "gpt2_small_op17",
    "llama_tiny2_prefill64_op17",
    "llama3_8b_layer_decode1024_op17",
]


def run(*args):
    command = [str(ACCSIM), "inspect", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def inspect(model, *args):
    done = run(ROOT / "models" / f"{model}.onnx", "--json", "-", *args)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


class Network:
    """A static ONNX graph whose node outputs have measured shapes."""

    def __init__(self, name):
        graph = onnx.load(ROOT / "models" / f"{name}.onnx", load_external_data=False).graph
        measured = json.loads((ROOT / "tests/data/shapes" / f"{name}.json").read_text())
        self.bytes = {
            tensor: SIZES[dtype] * math.prod(dims) for tensor, (dtype, dims) in measured.items()
        }
        constant = {i.name for i in graph.initializer} | {""}
        self.inputs = [i.name for i in graph.input if i.name not in constant]
        for value in graph.input:
            tensor = value.type.tensor_type
            dtype = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[tensor.elem_type].name
            self.bytes[value.name] = SIZES[dtype] * math.prod(d.dim_value for d in tensor.shape.dim)
        self.nodes = []  # those that run
        for node in graph.node:
            if node.op_type in ("Shape", "Constant") or all(i in constant for i in node.input):
                constant.update(node.output)
            else:
                self.nodes.append(node)
        self.constant = constant
        self.outputs = [o.name for o in graph.output]

    def activations(self, names):
        return {n for n in names if n not in self.constant}

    def moved(self, node):
        """Bytes of activations that the node reads and writes."""
        if node.op_type in VIEWS:
            return 0, 0
        return (
            sum(self.bytes[t] for t in self.activations(node.input)),
            sum(self.bytes[t] for t in self.activations(node.output)),
        )

    def peak(self):
        """Largest sum of live bytes over the nodes, one by one."""
        root = {t: t for t in self.bytes}
        for node in self.nodes:
            if node.op_type in VIEWS and node.input[0] not in self.constant:
                root[node.output[0]] = root[node.input[0]]
        last = {}
        for at, node in enumerate(self.nodes):
            for tensor in self.activations([*node.input, *node.output]):
                last[root[tensor]] = at
        for tensor in self.outputs:
            last[root[tensor]] = len(self.nodes)
        live, peak = {root[t] for t in self.inputs}, 0
        for at, node in enumerate(self.nodes):
            live |= {root[t] for t in self.activations(node.output)}
            peak = max(peak, sum(self.bytes[t] for t in live))
            live = {t for t in live if last.get(t, -1) > at}
        return peak


class SecondImplementation(unittest.TestCase):
    def test_sum_of_outputs_and_live_set(self):
        for name in CNNS + TRANSFORMERS:
            with self.subTest(name):
                network, ours = Network(name), inspect(name)["activation"]
                self.assertEqual(
                    ours["sum_bytes"],
                    sum(
                        network.bytes[t]
                        for n in network.nodes
                        for t in network.activations(n.output)
                    ),
                )
                self.assertEqual(ours["peak_live_bytes"], network.peak())

    def test_bandwidth_of_every_node(self):
        for name in CNNS:  # no node of these moves only a part of its inputs
            with self.subTest(name):
                network, ours = Network(name), inspect(name)
                layers = [layer for layer in ours["layers"] if not layer["constant"]]
                self.assertEqual(
                    [(layer["read_bytes"], layer["write_bytes"]) for layer in layers],
                    [network.moved(n) for n in network.nodes],
                )
                self.assertEqual(
                    ours["bandwidth"]["total_bytes"],
                    sum(sum(network.moved(n)) for n in network.nodes),
                )
                most = max(network.nodes, key=lambda n: sum(network.moved(n)))
                self.assertEqual(ours["bandwidth"]["peak_node"], most.name)

    def test_arena_holds_what_is_live_together(self):
        for name in CNNS + TRANSFORMERS:
            for option in ([], ["--in-place"], ["--reorder"]):
                with self.subTest(f"{name} {option}"):
                    plan = inspect(name, *option)["activation"]
                    plan = plan.get("reordered", plan)
                    self.assertGreaterEqual(plan["arena_bytes"], plan["peak_live_bytes"])
                    placed = [t for t in plan["arena"] if t["bytes"]]
                    self.assertEqual(
                        max(t["offset"] + t["bytes"] for t in placed), plan["arena_bytes"]
                    )
                    for i, a in enumerate(placed):
                        for b in placed[:i]:
                            together = a["first"] <= b["last"] and b["first"] <= a["last"]
                            apart = (
                                a["offset"] + a["bytes"] <= b["offset"]
                                or b["offset"] + b["bytes"] <= a["offset"]
                            )
                            self.assertTrue(apart or not together, (a, b))

    def test_reordered_nodes_are_still_in_topological_order(self):
        name = "llama3_8b_layer_decode1024_op17"
        network, plan = Network(name), inspect(name, "--reorder")["activation"]
        order = plan["reordered"]["order"]
        self.assertLess(plan["reordered"]["peak_live_bytes"], plan["peak_live_bytes"])
        self.assertEqual(sorted(order), sorted(n.name for n in network.nodes))
        place = {node: at for at, node in enumerate(order)}
        writer = {t: n.name for n in network.nodes for t in n.output}
        for node in network.nodes:
            for tensor in node.input:
                if tensor in writer:
                    self.assertLess(place[writer[tensor]], place[node.name])
        network.nodes.sort(key=lambda n: place[n.name])
        self.assertEqual(plan["reordered"]["peak_live_bytes"], network.peak())


class CommandLine(unittest.TestCase):
    def refused(self, done, *words):
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        for word in words:
            self.assertIn(word, done.stderr)

    def test_are_shapes_written_with_crosses_in_table_and_values(self):
        measured = json.loads((ROOT / "tests/data/shapes/alexnet_op13.json").read_text())
        rows = [row.split() for row in run(ALEXNET).stdout.splitlines()]
        convs = [row for row in rows if len(row) > 3 and row[1] == "Conv"]
        self.assertEqual(len(convs), 5)
        for row in convs:
            dims = measured[f"{row[0]}_output_0"][1]
            self.assertIn("x".join(map(str, dims)), row)
        fills = inspect("onnx-light/light_bvlc_alexnet")["ops"]["ConstantOfShape"]
        self.assertEqual(fills["attributes"]["value"]["values"], ["tensor float32 1"])

    def test_files_are_written_and_agree(self):
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder) / "a.json", pathlib.Path(folder) / "a.csv"]
            done = run(ALEXNET, "--json", paths[0], "--csv", paths[1], "-q", "--sort", "macs")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
            report = json.loads(paths[0].read_text())
            rows = list(csv.DictReader(paths[1].read_text().splitlines()))
            macs = [int(r["macs"]) for r in rows]
            self.assertEqual(
                macs, sorted((layer["macs"] for layer in report["layers"]), reverse=True)
            )
            self.assertEqual(set(rows[0]), set(report["layers"][0]))

    def test_symbols_are_bound(self):
        one = inspect("resnet50_dynbatch_op17")
        eight = inspect("resnet50_dynbatch_op17", "--bind", "batch=8")
        self.assertEqual(eight["macs"], 8 * one["macs"])
        self.assertEqual(eight["params"], one["params"])
        self.assertEqual(
            eight["activation"]["peak_live_bytes"], 8 * one["activation"]["peak_live_bytes"]
        )

    def test_bad_input_is_refused(self):
        self.refused(run("absent.onnx"), "absent.onnx")
        self.refused(run(ALEXNET, "--macs", "some"), "--macs")
        self.refused(run(ALEXNET, "--sort", "name"), "--sort")
        self.refused(run(ALEXNET, "--bind", "batch=2"), "batch")
        self.refused(run(ALEXNET, "--json", "x", "--csv", "x"), "--csv")
        self.refused(run(ALEXNET, "--json", "/absent/folder/x.json"), "/absent/folder")

    def test_huge_shapes_are_refused(self):
        x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2**30, 2**25])
        y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
        graph = onnx.helper.make_graph(
            [onnx.helper.make_node("Flatten", ["x"], ["y"])], "g", [x], [y]
        )
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "huge.onnx"
            path.write_bytes(model.SerializeToString())
            self.refused(run(path), "2^50", "x")


if __name__ == "__main__":
    unittest.main()
