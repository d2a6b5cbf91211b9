#!/usr/bin/python3
"""The same network written otherwise costs the same and computes the same; a larger one costs as
much more as it must: metamorphic_test.py ACCSIM [unittest arguments].

No expected value stands here: each test says how two answers are related. Costs are compared on
three machines, whole: totals, and the layers that take time, one by one.
"""

import functools
import json
import pathlib
import random
import re
import sys
import tempfile
import unittest

from program import ROOT, run

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

MACHINES = ("8x8", "64x64", "64x64-starved")
NEW_AXES = 13  # from this opset on axes of Squeeze, Unsqueeze and ReduceSum are inputs
# Of a layer: what it is called, and its node's operands, which opsets change.
SPELLING = ("name", "op_type", "module", "merged_into", "input_shapes")


class Writer:
    """A network, node by node; every tensor it makes has a name of its own."""

    def __init__(self, opset, seed=3):
        self.opset, self.nodes, self.stored = opset, [], []
        self.draw = np.random.default_rng(seed)

    def node(self, op, inputs, outputs=1, **attributes):
        names = [f"t{len(self.nodes)}_{i}" for i in range(outputs)]
        name = f"{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, names, name, **attributes))
        return names[0] if outputs == 1 else names

    def keep(self, array):
        name = f"w{len(self.stored)}"
        self.stored.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weights(self, *dims):
        values = self.draw.standard_normal(dims) / np.sqrt(np.prod(dims[1:]))
        return self.keep(values.astype(np.float32))

    def with_axes(self, op, x, axes, **more):
        """An operator whose axes were an attribute once."""
        if self.opset < NEW_AXES:
            return self.node(op, [x], axes=axes, **more)
        return self.node(op, [x, self.keep(np.array(axes, np.int64))], **more)

    def model(self, dims, result):
        self.nodes[-1].output[0] = result
        graph = helper.make_graph(
            self.nodes,
            "g",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
            [helper.make_empty_tensor_value_info(result)],
            self.stored,
        )
        opsets = [helper.make_opsetid("", self.opset)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def convolutions(opset=13, batch=1):
    """Branches that meet in a Concat, a residual, pooling, a mean and a product."""
    w = Writer(opset)

    def conv(x, inputs, outputs, size):
        pads = [size // 2] * 4
        kernel, bias = w.weights(outputs, inputs, size, size), w.weights(outputs)
        return w.node("Conv", [x, kernel, bias], pads=pads, kernel_shape=[size, size])

    first = w.node("Relu", [conv("x", 3, 16, 3)])
    narrow = w.node("Relu", [conv(first, 16, 8, 1)])
    wide = w.node("Relu", [conv(first, 16, 8, 3)])
    both = w.node("Concat", [narrow, wide], axis=1)
    summed = w.node("Relu", [w.node("Add", [both, first])])
    pooled = w.node("MaxPool", [summed], kernel_shape=[2, 2], strides=[2, 2])
    mean = w.node("GlobalAveragePool", [pooled])
    flat = w.with_axes("Squeeze", mean, [2, 3])
    out = w.node("Gemm", [flat, w.weights(16, 24), w.weights(24)])
    w.node("Softmax", [out], axis=1)
    return w.model([batch, 3, 20, 20], "y"), (batch, 3, 20, 20)


def attention(opset=13, batch=1):
    """Two heads, a residual, a mean over the features, and a sum over the positions."""
    w = Writer(opset)

    def heads(weights):
        split = w.node("MatMul", ["x", weights])
        shape = w.keep(np.array([batch, 12, 2, 16], np.int64))
        return w.node("Transpose", [w.node("Reshape", [split, shape])], perm=[0, 2, 1, 3])

    query, key, value = (heads(w.weights(32, 32)) for _ in range(3))
    turned = w.node("Transpose", [key], perm=[0, 1, 3, 2])
    scores = w.node("MatMul", [query, turned])
    scaled = w.node("Mul", [scores, w.keep(np.float32(0.25))])
    mixed = w.node("MatMul", [w.node("Softmax", [scaled], axis=3), value])
    merged = w.node("Transpose", [mixed], perm=[0, 2, 1, 3])
    flat = w.node("Reshape", [merged, w.keep(np.array([batch, 12, 32], np.int64))])
    summed = w.node("Add", [w.node("MatMul", [flat, w.weights(32, 32)]), "x"])
    hidden = w.node("Relu", [w.node("MatMul", [summed, w.weights(32, 64)])])
    w.with_axes("ReduceSum", hidden, [1], keepdims=0)
    return w.model([batch, 12, 32], "y"), (batch, 12, 32)


def residuals(opset=13, batch=1):
    """What merges into products and into what: a normalisation, padding, a sum, a bias, a Clip."""
    w = Writer(opset)

    def norm(x):
        return w.node(
            "BatchNormalization", [x, *(w.keep(np.ones(8, np.float32)) for _ in range(4))]
        )

    pads = w.keep(np.array([0, 0, 1, 1, 0, 0, 1, 1], np.int64))
    padded = w.node("Pad", ["x", pads])
    first = w.node("Relu", [norm(w.node("Conv", [padded, w.weights(8, 8, 3, 3)]))])
    second = norm(w.node("Conv", [first, w.weights(8, 8, 3, 3)], pads=[1] * 4))
    summed = w.node("Relu", [w.node("Add", [second, "x"])])
    bounds = [w.keep(np.float32(0)), w.keep(np.float32(6))]
    clipped = w.node("Clip", [w.node("Add", [summed, first]), *bounds])
    flat = w.node("Flatten", [clipped])
    hidden = w.node("Add", [w.node("MatMul", [flat, w.weights(800, 16)]), w.weights(16)])
    w.node("Mul", [hidden, w.node("Sigmoid", [hidden])])
    return w.model([batch, 8, 10, 10], "y"), (batch, 8, 10, 10)


NETWORKS = (convolutions, attention, residuals)


def product(m, k, n):
    w = Writer(13)
    w.node("MatMul", ["x", w.weights(k, n)])
    return w.model([m, k], "y")


def copy_of(model):
    out = onnx.ModelProto()
    out.CopyFrom(model)
    return out


def renamed(model):
    """Every node and inner tensor has another name, in another order of the alphabet."""
    out = copy_of(model)
    names = {}
    for kept in ("x", "y"):
        names[kept] = kept

    def other(name):
        return (
            names.setdefault(name, f"{chr(122 - len(names) % 26)}/{len(names)}.é") if name else ""
        )

    for stored in out.graph.initializer:
        stored.name = other(stored.name)
    for i, node in enumerate(out.graph.node):
        node.name = f"{97 * i % 101}:node"
        node.input[:] = [other(n) for n in node.input]
        node.output[:] = [other(n) for n in node.output]
    return out


def reordered(model, draw):
    """The nodes in another order in which each comes behind what it reads."""
    out = copy_of(model)
    nodes = list(out.graph.node)
    del out.graph.node[:]
    known = {"x", *(t.name for t in out.graph.initializer)}
    while nodes:
        ready = [n for n in nodes if all(i in known for i in n.input)]
        chosen = draw.choice(ready)
        nodes.remove(chosen)
        known.update(chosen.output)
        out.graph.node.append(chosen)
    return out


def handed_on(model, op, **attributes):
    """A node that changes nothing behind every node, and an Identity behind every weight."""
    out = copy_of(model)
    nodes = list(out.graph.node)
    del out.graph.node[:]
    for stored in out.graph.initializer:
        out.graph.node.append(helper.make_node("Identity", [stored.name], [f"{stored.name}_i"]))
    constants = {t.name for t in out.graph.initializer}
    for i, node in enumerate(nodes):
        node.input[:] = [f"{n}_i" if n in constants else n for n in node.input]
        wanted = node.output[0]
        node.output[0] = f"{wanted}_before"
        out.graph.node.append(node)
        same = helper.make_node(op, [node.output[0]], [wanted], f"same_{i}", **attributes)
        out.graph.node.append(same)
    return out


def through_half(model, like=False):
    """Behind every node that makes floats a cast to half precision, and one back; `like`: as those
    of two tensors (CastLike), of which one is the network's input."""
    out = copy_of(model)
    lenders = {TensorProto.FLOAT16: "half_lender", TensorProto.FLOAT: model.graph.input[0].name}
    if like:
        half = numpy_helper.from_array(np.zeros(1, np.float16), lenders[TensorProto.FLOAT16])
        out.graph.initializer.append(half)
    nodes = list(out.graph.node)
    del out.graph.node[:]
    types = {
        v.name: v.type.tensor_type.elem_type
        for v in (*onnx.shape_inference.infer_shapes(model).graph.value_info, *model.graph.output)
    }
    for i, node in enumerate(nodes):
        wanted = node.output[0]
        if types.get(wanted) != TensorProto.FLOAT:
            out.graph.node.append(node)
            continue
        node.output[0] = f"{wanted}_whole"
        out.graph.node.append(node)
        for name, to, kind in (
            (f"{wanted}_half", TensorProto.FLOAT16, "down"),
            (wanted, TensorProto.FLOAT, "up"),
        ):
            before = f"{wanted}_whole" if kind == "down" else f"{wanted}_half"
            what = f"{kind}_{i}"
            if like:
                cast = helper.make_node("CastLike", [before, lenders[to]], [name], what)
            else:
                cast = helper.make_node("Cast", [before], [name], what, to=to)
            out.graph.node.append(cast)
    return out


def with_constants_computed(model):
    """Weights are made by nodes: Constant, and of whole numbers a sum of two halves."""
    out = copy_of(model)
    nodes = list(out.graph.node)
    del out.graph.node[:]
    for stored in out.graph.initializer:
        array = numpy_helper.to_array(stored)
        if array.dtype != np.int64:
            constant = helper.make_node("Constant", [], [stored.name], value=stored)
            out.graph.node.append(constant)
            continue
        for part, values in (("a", array // 2), ("b", array - array // 2)):
            value = numpy_helper.from_array(values)
            name = f"{stored.name}_{part}"
            out.graph.node.append(helper.make_node("Constant", [], [name], value=value))
        parts = [f"{stored.name}_a", f"{stored.name}_b"]
        out.graph.node.append(helper.make_node("Add", parts, [stored.name]))
    del out.graph.initializer[:]
    out.graph.node.extend(nodes)
    return out


class Metamorphic(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(scratch.name)
        self.addCleanup(scratch.cleanup)

    def save(self, model, name, **options):
        path = self.folder / f"{name}.onnx"
        onnx.save_model(model, str(path), **options)
        return path

    def report(self, path, hw, *more):
        file = hw if isinstance(hw, pathlib.Path) else ROOT / "configs" / f"{hw}.yaml"
        done = run("--hw", file, path, "--json", "-", *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def costs(self, path, hw, but=()):
        """Totals, and what the layers that take time cost, without what they are called."""
        report = self.report(path, hw)
        kept = {key: value for key, value in report["totals"].items() if key not in but}
        # Parameters are counted at the node that reads them first, whatever it is.
        left_out = (*SPELLING, "params")
        layers = [row for row in report["layers"] if row["cycles"] > 0]
        return [kept, *({key: row[key] for key in row if key not in left_out} for row in layers)]

    def work(self, path, hw):
        """What each layer computes, by its name; and of all of them that take part in a sum."""
        report = self.report(path, hw)
        kept = ("op_type", "output_shape", "input_shapes", "macs", "params")
        layers = {row["name"]: [row[key] for key in kept] for row in report["layers"]}
        totals = ("macs", "array_macs", "params")
        return layers, [report["totals"][key] for key in totals]

    def values(self, path, array):
        np.save(self.folder / "x.npy", array)
        out = self.folder / "out"
        done = run("run", path, "--input", f"x={self.folder / 'x.npy'}", "--output", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.load(out / "y.npy")

    def same_costs(self, one, other, but=()):
        for hw in MACHINES:
            with self.subTest(hw):
                for a, b in zip(self.costs(one, hw, but), self.costs(other, hw, but), strict=True):
                    self.assertEqual(a, b)

    def same(self, one, other, dims, but=()):
        """Two files of one network."""
        self.same_costs(one, other, but)
        array = np.random.default_rng(5).standard_normal(dims).astype(np.float32)
        a, b = self.values(one, array), self.values(other, array)
        self.assertGreater(len(np.unique(a)), 4)  # not a network of zeros
        np.testing.assert_array_equal(a, b)

    def every(self, change, but=()):
        for make in NETWORKS:
            with self.subTest(make.__name__):
                model, dims = make()
                one = self.save(model, "one")
                self.same(one, self.save(change(model), "other"), dims, but)

    def test_names_mean_nothing(self):
        self.every(renamed)

    def test_what_changes_nothing_costs_nothing(self):
        for op, attributes in (
            ("Identity", {}),
            ("Dropout", {}),
            ("Cast", {"to": TensorProto.FLOAT}),
        ):
            with self.subTest(op):
                self.every(functools.partial(handed_on, op=op, **attributes))

    def test_casts_between_floats_cost_nothing(self):
        """A machine keeps floats of 16 bits and more in its own type."""
        for make in NETWORKS:
            model, _ = make()
            one = self.save(model, "one")
            for like in (False, True):
                with self.subTest(make.__name__, like=like):
                    self.same_costs(one, self.save(through_half(model, like), "other"))

    def test_constants_may_be_computed(self):
        """A number that a node makes is a parameter only where an operator expects one."""
        self.every(with_constants_computed, but=("params",))

    def test_the_order_of_independent_nodes_changes_no_work(self):
        """Layers run in the file's order, so that what waits for what, and what stays on chip from
        writer to reader, is another thing in another order: cycles may differ, work may not."""
        draw = random.Random(7)
        for make in NETWORKS:
            model, dims = make()
            one = self.save(model, "one")
            for _ in range(4):
                other = self.save(reordered(model, draw), "other")
                for hw in MACHINES:
                    with self.subTest(make.__name__, hw=hw):
                        self.assertEqual(self.work(one, hw), self.work(other, hw))
                array = np.random.default_rng(5).standard_normal(dims).astype(np.float32)
                np.testing.assert_array_equal(self.values(one, array), self.values(other, array))

    def test_weights_may_lie_beside_the_model(self):
        for make in NETWORKS:
            with self.subTest(make.__name__):
                model, dims = make()
                one = self.save(copy_of(model), "one")
                beside = {"save_as_external_data": True, "size_threshold": 0, "location": "w.bin"}
                other = self.save(copy_of(model), "other", **beside)
                self.assertLess(other.stat().st_size, one.stat().st_size)
                self.same(one, other, dims)

    def test_opsets_of_one_network_are_one_network(self):
        for make in NETWORKS:
            for opset in (11, 12, 17):
                with self.subTest(make.__name__, opset=opset):
                    model, dims = make(13)
                    other, _ = make(opset)
                    self.same(self.save(model, "one"), self.save(other, "other"), dims)

    def test_a_batch_is_its_images(self):
        """Values image by image, MACs and parameters exactly, no more cycles than one by one."""
        for make in NETWORKS:
            with self.subTest(make.__name__):
                (one, dims), (four, all_dims) = make(), make(batch=4)
                single, batch = self.save(one, "one"), self.save(four, "four")
                array = np.random.default_rng(5).standard_normal(all_dims).astype(np.float32)
                got = self.values(batch, array)
                self.assertEqual(len(got), 4)
                # Products of other heights add up in another order: at most 144 terms of float32
                # in each of at most 8 sums behind each other.
                most = 8 * 144 * 2**-23 * np.abs(got).max()
                for i in range(4):
                    wanted = self.values(single, array[i : i + 1].reshape(dims))
                    np.testing.assert_allclose(got[i : i + 1], wanted, rtol=0, atol=most)
                    self.assertGreater(np.abs(got[i] - got[(i + 1) % 4]).max(), 4 * most)
                for hw in MACHINES:
                    a, b = (self.report(p, hw)["totals"] for p in (single, batch))
                    self.assertEqual(b["macs"], 4 * a["macs"])
                    self.assertEqual(b["params"], a["params"])
                    self.assertLessEqual(b["cycles"], 4 * a["cycles"] * 1.01)  # the slack of each
                    self.assertGreaterEqual(b["cycles"], a["cycles"])

    def test_larger_products_take_longer(self):
        """Doubling M, K or N doubles the MACs, and takes neither fewer cycles nor fewer bytes."""
        draw = random.Random(11)
        for hw in MACHINES:
            for _ in range(6):
                sizes = [draw.randint(1, 150) for _ in range(3)]
                small = self.report(self.save(product(*sizes), "small"), hw, "--slack", "0%")
                for d in range(3):
                    more = [n * 2 if i == d else n for i, n in enumerate(sizes)]
                    large = self.report(self.save(product(*more), "large"), hw, "--slack", "0%")
                    with self.subTest(hw, sizes=sizes, doubled="MKN"[d]):
                        a, b = small["totals"], large["totals"]
                        self.assertEqual(b["macs"], 2 * a["macs"])
                        self.assertGreaterEqual(b["cycles"], a["cycles"])
                        self.assertGreaterEqual(b["lower_bound_cycles"], a["lower_bound_cycles"])

    def doubled(self, hw, key):
        """The machine with twice of what every line of that key says."""
        text = (ROOT / "configs" / f"{hw}.yaml").read_text()
        pattern = rf"(?m)^( *{key}: *)([0-9.]+)"
        more, count = re.subn(pattern, lambda m: f"{m[1]}{float(m[2]) * 2:g}", text)
        self.assertGreater(count, 0)
        path = self.folder / f"{hw}-{key}.yaml"
        path.write_text(more)
        return path

    def test_faster_machines_are_not_slower(self):
        """Twice the bandwidth or the lanes: no layer alone takes longer. (In the chain it may:
        scripts/monotone_pairs counts how often.)"""
        path = self.save(attention()[0], "one")
        faster = 0
        for hw in MACHINES:
            before = self.report(path, hw, "--slack", "0%")["layers"]
            for key in ("read_bytes_per_cycle", "write_bytes_per_cycle", "elementwise", "special"):
                after = self.report(path, self.doubled(hw, key), "--slack", "0%")["layers"]
                for a, b in zip(before, after, strict=True):
                    with self.subTest(hw, doubled=key, layer=a["name"]):
                        self.assertLessEqual(b["alone_cycles"], a["alone_cycles"])
                        faster += b["alone_cycles"] < a["alone_cycles"]
        self.assertGreater(faster, 0)


if __name__ == "__main__":
    unittest.main()
