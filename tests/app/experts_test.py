#!/usr/bin/python3
"""Experts of a mixture cost what is routed to them, and their weights are read where they lie.

Usage: experts_test.py ACCSIM [unittest arguments]. Exit code 77 (skipped) without python3-onnx.
"""

import json
import sys
import tempfile
import unittest
from pathlib import Path

from program import run

try:
    import numpy as np
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

EXPERTS, CHOSEN, INPUTS, OUTPUTS = 8, 2, 256, 512
MICROSOFT = "com.microsoft"


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, outputs[0], **attributes)


def network(nodes, inputs, weights=None, constants=None):
    """A model; weights {name: (shape, type)} without numbers in the file."""
    declared = [
        helper.make_tensor_value_info(n, kind, shape) for n, (shape, kind) in inputs.items()
    ]
    stored = [numpy_helper.from_array(np.array(a), n) for n, a in (constants or {}).items()]
    for name, (shape, kind) in (weights or {}).items():
        tensor = TensorProto(name=name, data_type=kind, dims=shape, data_location=1)
        tensor.external_data.add(key="location", value="absent.bin")
        stored.append(tensor)
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", declared, [y], stored)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


FLOAT, INT, BYTE = TensorProto.FLOAT, TensorProto.INT64, TensorProto.UINT8


def gathered(tokens):
    """Every token's experts picked by a router's TopK, their weights by a Gather."""
    rows = tokens * CHOSEN
    nodes = [
        node("TopK", ["scores", "k"], ["best", "at"]),
        node("Reshape", ["at", "flat"], ["index"]),
        node("Gather", ["w", "index"], ["picked"]),
        node("MatMul", ["x", "picked"], ["y"]),
    ]
    return network(
        nodes,
        {"scores": ([tokens, EXPERTS], FLOAT), "x": ([rows, 1, INPUTS], FLOAT)},
        {"w": ([EXPERTS, INPUTS, OUTPUTS], FLOAT)},
        {"k": [CHOSEN], "flat": [rows]},
    )


def constant(experts, rows):
    """The products alone, of so many experts with as many rows."""
    return network(
        [node("MatMul", ["x", "w"], ["y"])],
        {"x": ([experts, rows, INPUTS], FLOAT)},
        {"w": ([experts, INPUTS, OUTPUTS], FLOAT)},
    )


def grouped(tokens):
    """Rows sorted by expert, counted, and each expert's multiplied apart, as transformers exports
    its grouped experts."""
    rows = tokens * CHOSEN
    nodes = [
        node("TopK", ["scores", "k"], ["best", "at"]),
        node("Reshape", ["at", "flat"], ["index"]),
        node("TopK", ["index", "flat"], ["sorted", "order"], largest=0),
        node("Div", ["order", "k"], ["token"]),
        node("Gather", ["x", "token"], ["sent"], axis=0),
        node("ScatterElements", ["none", "sorted", "ones"], ["counts"], reduction="add"),
        node("CumSum", ["counts", "zero"], ["ends"]),
        node("Split", ["ends"], [f"end{e}" for e in range(EXPERTS)]),
        node("Split", ["w"], [f"w{e}" for e in range(EXPERTS)]),
    ]
    for e in range(EXPERTS):
        nodes += [
            node("Squeeze", [f"end{e}", "first"], [f"stop{e}"]),
            node("Squeeze", [f"w{e}", "first"], [f"matrix{e}"]),
            node("Range", [f"stop{e - 1}" if e else "zero", f"stop{e}", "one"], [f"range{e}"]),
            node("Gather", ["sent", f"range{e}"], [f"rows{e}"], axis=0),
            node("MatMul", [f"rows{e}", f"matrix{e}"], [f"made{e}"]),
        ]
    nodes.append(node("Concat", [f"made{e}" for e in range(EXPERTS)], ["y"], axis=0))
    return network(
        nodes,
        {"scores": ([tokens, EXPERTS], FLOAT), "x": ([tokens, INPUTS], FLOAT)},
        {"w": ([EXPERTS, INPUTS, OUTPUTS], FLOAT)},
        {
            "k": [CHOSEN],
            "flat": [rows],
            "none": np.zeros(EXPERTS, np.int64),
            "ones": np.ones(rows, np.int64),
            "zero": 0,
            "one": 1,
            "first": [0],
        },
    )


def mixture(tokens, bits=None):
    """MoE; QMoE of weights of so many bits."""
    inputs = {"x": ([tokens, INPUTS], FLOAT), "router": ([tokens, EXPERTS], FLOAT)}
    up, down = [EXPERTS, OUTPUTS, INPUTS], [EXPERTS, INPUTS, OUTPUTS]
    if bits is None:
        moe = node("MoE", ["x", "router", "up", "", "down"], ["y"], domain=MICROSOFT, k=CHOSEN)
        return network([moe], inputs, {"up": (up, FLOAT), "down": (down, FLOAT)})
    names = ["x", "router", "up", "up_scales", "", "down", "down_scales"]
    moe = node("QMoE", names, ["y"], domain=MICROSOFT, k=CHOSEN, expert_weight_bits=bits)
    weights = {
        "up": ([*up[:2], INPUTS * bits // 8], BYTE),
        "down": ([*down[:2], OUTPUTS * bits // 8], BYTE),
        "up_scales": (up[:2], FLOAT),
        "down_scales": (down[:2], FLOAT),
    }
    return network([moe], inputs, weights)


class Experts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def report(self, model, *arguments):
        path = self.folder / "net.onnx"
        path.write_bytes(model.SerializeToString())
        result = run("--hw", "64x64", path, "--json", "-", *arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def products(self, found):
        return [row for row in found["layers"] if row["macs"]]

    def test_does_a_gather_of_weights_cost_nothing_beside_the_products(self):
        product = self.products(self.report(gathered(1)))[0]
        alone = self.products(self.report(constant(CHOSEN, 1)))[0]
        self.assertEqual(product["macs"], alone["macs"])
        self.assertLessEqual(product["alone_cycles"], alone["alone_cycles"] * 1.02)
        picked = next(r for r in self.report(gathered(1))["layers"] if r["name"] == "picked")
        self.assertEqual((picked["cycles"], picked["fate"]), (0, "view"))

    def test_are_weights_of_many_tokens_read_once(self):
        tokens = 16  # 8 (1 - (3/4)^16) = 7.92 experts are at work
        product = self.products(self.report(gathered(tokens)))[0]
        self.assertEqual(product["macs"], tokens * CHOSEN * INPUTS * OUTPUTS)
        alone = self.products(self.report(constant(EXPERTS, tokens * CHOSEN // EXPERTS)))[0]
        self.assertLessEqual(product["dram_read_bytes"], alone["dram_read_bytes"] * 1.02)
        fewer = self.products(self.report(gathered(tokens), "--assume", "picked=4"))[0]
        self.assertLess(fewer["dram_read_bytes"], 0.6 * product["dram_read_bytes"])
        self.assertEqual(fewer["macs"], product["macs"])

    def test_do_grouped_experts_cost_what_is_routed(self):
        tokens = 32
        found = self.report(grouped(tokens))
        rows = [r["output_shape"][0] for r in self.products(found)]
        self.assertEqual(rows, [tokens * CHOSEN // EXPERTS] * EXPERTS)
        assumed = found["model"]["assumed"]
        self.assertEqual([(a["node"], a["of"]) for a in assumed], [("counts", "experts at work")])
        some = [6, 0, 10, 0, 20, 0, 28, 0]
        histogram = self.report(grouped(tokens), "--value", "counts=" + json.dumps(some))
        self.assertEqual(histogram["model"]["assumed"], [])
        rows = [r["output_shape"][0] for r in self.products(histogram)]
        self.assertEqual(rows, [n for n in some if n])
        few = self.report(grouped(tokens), "--assume", "counts=2")
        self.assertEqual([r["output_shape"][0] for r in self.products(few)], [32, 32])

    def test_are_as_many_experts_of_a_mixture_at_work_as_are_expected(self):
        for tokens in (1, 3, 16):
            found = self.report(mixture(tokens))
            expected = EXPERTS * (1 - (1 - CHOSEN / EXPERTS) ** tokens)
            size = found["model"]["assumed"][0]["size"]
            self.assertEqual(size, round(expected), tokens)
            macs = sum(r["macs"] for r in found["layers"])
            self.assertEqual(macs, 2 * tokens * CHOSEN * INPUTS * OUTPUTS)

    def test_do_the_routers_numbers_say_who_is_at_work(self):
        def read(scores):
            np.save(self.folder / "router.npy", scores.astype(np.float32))
            found = self.report(mixture(16), "--value", f"router={self.folder / 'router.npy'}")
            self.assertEqual(found["model"]["assumed"], [])
            return sum(row["dram_read_bytes"] for row in found["layers"])

        two, all_of_them = np.zeros((16, EXPERTS)), np.zeros((16, EXPERTS))
        two[:, :CHOSEN] = 1
        for token in range(16):
            all_of_them[token, [token % EXPERTS, (token + 1) % EXPERTS]] = 1
        weights = 2 * INPUTS * OUTPUTS
        for scores, experts in ((two, CHOSEN), (all_of_them, EXPERTS)):
            # Their weights, and of the 32 rows of tokens less than another expert's.
            self.assertGreaterEqual(read(scores), experts * weights)
            self.assertLess(read(scores), (experts + 1) * weights)

    def test_are_packed_weights_as_many_as_they_hold(self):
        for bits in (4, 8):
            found = self.report(mixture(4, bits))
            macs = sum(row["macs"] for row in found["layers"])
            self.assertEqual(macs, 2 * 4 * CHOSEN * INPUTS * OUTPUTS)
            result = run("inspect", self.folder / "net.onnx", "--json", "-")
            params = json.loads(result.stdout)["params"]
            scales = EXPERTS * (INPUTS + OUTPUTS)
            self.assertEqual(params, 2 * EXPERTS * INPUTS * OUTPUTS + scales)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
