#!/usr/bin/python3
"""accsim tile, accsim gemm and the report of a cut model. tile_test.py ACCSIM [unittest arguments]

Exit code 77 (skipped) without python3-onnx.
"""

import json
import math
import pathlib
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

CONFIG = ROOT / "configs" / "64x64.yaml"
ALEXNET = ROOT / "models" / "alexnet_op13.onnx"
LINEAR = [(1, 9216, 4096), (1, 4096, 4096), (1, 4096, 1000)]  # of AlexNet
ALEXNET_MACS = 714_188_480


def value(name, dims, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def model(nodes, inputs, outputs, initializers=(), opset=13, **more):
    graph = helper.make_graph(nodes, "net", inputs, outputs, list(initializers))
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8, **more
    )


class TileTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.out = self.dir / "tiled.onnx"

    def good(self, *args):
        done = run(*args)
        self.assertEqual((done.returncode, done.stderr), (0, ""), args)
        return done.stdout

    def refused(self, *args, words=()):
        done = run(*args)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(self.out.exists())
        self.assertEqual([p for p in self.dir.iterdir() if ".tmp" in p.name], [])

    def save(self, proto, name="model.onnx"):
        onnx.checker.check_model(proto)
        path = self.dir / name
        path.write_bytes(proto.SerializeToString())
        return path

    def tiled(self, path, *args):
        self.good("tile", path, "-o", self.out, *args)
        proto = onnx.load(str(self.out), load_external_data=False)
        return proto

    def report(self, path, *args):
        return json.loads(self.good("--hw", CONFIG, path, "-q", "--json", "-", *args))

    def test_alexnet_is_cut_and_costed_with_the_macs_of_the_formula(self):
        tiles = [math.prod(-(-size // 64) for size in layer) for layer in LINEAR]
        native = sum(map(math.prod, LINEAR))
        padded = sum(math.prod(-(-size // 64) * 64 for size in layer) for layer in LINEAR)
        for edge, macs in (("ragged", native), ("pad", padded)):
            proto = self.tiled(ALEXNET, "--edge", edge)
            self.assertEqual(sum(n.op_type == "MatMul" for n in proto.graph.node), sum(tiles))
            report = self.report(self.out)
            self.assertEqual(report["totals"]["macs"], ALEXNET_MACS - native + macs)
            cut = report["tiled"]
            self.assertEqual((cut["macs"], cut["native_macs"]), (macs, native))
            self.assertEqual([layer["products"] for layer in cut["layers"]], tiles)
            self.assertEqual(
                [(layer["m"], layer["k"], layer["n"]) for layer in cut["layers"]], LINEAR
            )
            # Each weight is read once either way, and is a byte.
            self.assertGreaterEqual(cut["native_dram_bytes"], native)
            self.assertGreater(cut["cycles_ratio"], 1)

    def test_native_costs_are_those_of_the_model_before(self):
        before = self.dir / "g.onnx"
        self.good(
            "gemm", "128x256x192", "-o", before, "--weights", "random:1", "--transB", "--bias"
        )
        whole = self.report(before)["totals"]
        self.tiled(before)
        after = self.report(self.out)
        cut = after["tiled"]
        self.assertEqual(cut["native_cycles"], whole["cycles"])
        self.assertEqual(
            cut["native_dram_bytes"], whole["dram_read_bytes"] + whole["dram_write_bytes"]
        )
        self.assertEqual(cut["cycles"], after["totals"]["cycles"])
        self.assertEqual(cut["cycles_ratio"], cut["cycles"] / cut["native_cycles"])
        text = self.good("--hw", CONFIG, self.out)
        self.assertIn("cut into tiles", text)
        self.assertNotIn("tiled", self.report(before))

    def rich_model(self):
        """A model with one of everything that has to survive."""
        sub = helper.make_graph(
            [helper.make_node("Identity", ["h"], ["s"], name="inner")],
            "sub",
            [],
            [value("s", [4, 6])],
        )
        nodes = [
            helper.make_node("Relu", ["x"], ["r"], name="relu", doc_string="kept"),
            helper.make_node("MatMul", ["r", "w"], ["h"], name="product"),
            helper.make_node("If", ["yes"], ["i"], name="if", then_branch=sub, else_branch=sub),
            helper.make_node("Twice", ["i"], ["t"], name="call", domain="mine"),
            helper.make_node("LeakyRelu", ["t"], ["y"], name="leaky", alpha=0.3),
        ]
        w = numpy_helper.from_array(np.arange(30, dtype=np.float32).reshape(5, 6), "w")
        far = TensorProto(
            name="far", data_type=TensorProto.FLOAT, dims=[3], data_location=TensorProto.EXTERNAL
        )
        for key, text in (("location", "far.bin"), ("offset", "8"), ("length", "12")):
            far.external_data.add(key=key, value=text)
        yes = numpy_helper.from_array(np.array(True), "yes")
        proto = model(
            nodes,
            [value("x", [4, 5])],
            [value("y", [4, 6])],
            [w, far, yes],
            producer_name="someone",
            doc_string="a model",
        )
        proto.opset_import.append(helper.make_opsetid("mine", 1))
        proto.functions.append(
            helper.make_function(
                "mine",
                "Twice",
                ["a"],
                ["b"],
                [helper.make_node("Add", ["a", "a"], ["b"])],
                [helper.make_opsetid("", 13)],
            )
        )
        proto.graph.value_info.append(value("r", [4, 5]))
        proto.graph.doc_string = "a graph"
        proto.graph.quantization_annotation.add(tensor_name="r")
        proto.metadata_props.add(key="author", value="me")
        return proto

    def test_everything_else_is_carried_over_unchanged(self):
        before = self.rich_model()
        path = self.dir / "model.onnx"
        path.write_bytes(before.SerializeToString())
        after = self.tiled(path, "--tile", "2x2x2")

        def parts(proto):
            graph = proto.graph
            return {
                "nodes": [
                    n.SerializeToString()
                    for n in graph.node
                    if n.name != "product" and not n.name.startswith("product/tile/")
                ],
                "weights": [
                    t.SerializeToString()
                    for t in graph.initializer
                    if not t.name.startswith("accsim/tile/")
                ],
                "shapes": [
                    v.SerializeToString()
                    for v in [*graph.input, *graph.output, *graph.value_info]
                    if not v.name.startswith("product/tile/")
                ],
                "rest": [
                    graph.name,
                    graph.doc_string,
                    proto.producer_name,
                    proto.doc_string,
                    proto.ir_version,
                    str(proto.opset_import),
                    str(proto.functions),
                    str(graph.quantization_annotation),
                ],
                "properties": [
                    (p.key, p.value) for p in proto.metadata_props if p.key != "accsim.tiled_from"
                ],
            }

        self.assertEqual(parts(before), parts(after))
        names = [n.name for n in after.graph.node if n.op_type == "MatMul"]
        self.assertEqual(len(names), 2 * 3 * 3)
        self.assertIn("product/tile/MatMul_m1_n2_k0", names)
        self.assertEqual(sum(p.key == "accsim.tiled_from" for p in after.metadata_props), 1)

    def test_weights_are_stored_once_and_cut_by_slice(self):
        path = self.save(
            model(
                [helper.make_node("MatMul", ["x", "w"], ["y"])],
                [value("x", [8, 64])],
                [value("y", [8, 64])],
                [numpy_helper.from_array(np.ones((64, 64), np.float32), "w")],
            )
        )
        after = self.tiled(path, "--tile", "8x16x16")
        floats = [t for t in after.graph.initializer if t.data_type == TensorProto.FLOAT]
        self.assertEqual([t.name for t in floats], ["w"])
        kinds = [n.op_type for n in after.graph.node]
        self.assertEqual(kinds.count("Slice"), 4 + 16)
        self.assertEqual(kinds.count("Split"), 1)
        self.assertEqual(kinds.count("Sum"), 4)

    def test_drawn_weights_are_those_of_the_model_before(self):
        for trans, dims in ((0, [20, 90]), (1, [90, 20])):
            far = TensorProto(
                name="w", data_type=TensorProto.FLOAT, dims=dims, data_location=TensorProto.EXTERNAL
            )
            far.external_data.add(key="location", value="absent.bin")
            path = self.dir / "model.onnx"
            path.write_bytes(
                model(
                    [helper.make_node("Gemm", ["x", "w"], ["y"], transB=trans)],
                    [value("x", [4, 20])],
                    [value("y", [4, 90])],
                    [far],
                ).SerializeToString()
            )
            self.tiled(path, "--tile", "3x8x16", "--edge", "pad")
            results = []
            for file in (path, self.out):
                self.good("run", file, "--weights", "random:3", "--output", self.dir / "y")
                results.append(np.load(self.dir / "y" / "y.npy"))
            # Uniform with variance 1 / 20, as is right for 20 terms: not for 90.
            self.assertTrue(0.1 < results[0].std() < 1.5)
            np.testing.assert_allclose(*results, rtol=0, atol=1e-5)

    def test_what_is_not_cut_is_said(self):
        sub = helper.make_graph(
            [helper.make_node("MatMul", ["h", "w"], ["s"], name="inner")],
            "sub",
            [],
            [value("s", [4, 4])],
        )
        nodes = [
            helper.make_node("MatMul", ["x", "w"], ["h"], name="product"),
            helper.make_node("If", ["yes"], ["i"], name="if", then_branch=sub, else_branch=sub),
            helper.make_node("Twice", ["i", "w"], ["t"], name="call", domain="mine"),
            helper.make_node("Einsum", ["t", "w"], ["e"], equation="ij,jk->ik"),
            helper.make_node("Reshape", ["e", "image"], ["p"]),
            helper.make_node("Conv", ["p", "kernel"], ["y"], name="conv"),
        ]
        stored = [
            numpy_helper.from_array(v, n)
            for n, v in (
                ("w", np.ones((4, 4), np.float32)),
                ("kernel", np.ones((3, 1, 1, 1), np.float32)),
                ("yes", np.array(True)),
                ("image", np.array([1, 1, 4, 4])),
            )
        ]
        proto = model(nodes, [value("x", [4, 4])], [value("y", [1, 3, 4, 4])], stored)
        proto.opset_import.append(helper.make_opsetid("mine", 1))
        proto.functions.append(
            helper.make_function(
                "mine",
                "Twice",
                ["a", "b"],
                ["c"],
                [
                    helper.make_node("MatMul", ["a", "b"], ["d"]),
                    helper.make_node("MatMul", ["d", "b"], ["c"]),
                ],
                [helper.make_opsetid("", 13)],
            )
        )
        path = self.dir / "model.onnx"
        path.write_bytes(proto.SerializeToString())
        text = self.good("tile", path, "-o", self.out, "--tile", "2x2x2")
        self.assertEqual(
            [line.split(":")[0] for line in text.splitlines() if "kept" in line],
            ["kept 1 Conv", "kept 1 Einsum", "kept 3 MatMul"],
        )
        text = self.good("tile", path, "-o", self.out, "--tile", "2x2x2", "--conv", "im2col")
        self.assertNotIn("Conv:", text)
        self.assertIn("conv (Conv): 16x1x3 as", text)

    def test_loops_are_counted_each_time_that_they_run(self):
        body = helper.make_graph(
            [
                helper.make_node("MatMul", ["s", "w"], ["t"]),
                helper.make_node("Identity", ["go"], ["on"]),
            ],
            "body",
            [
                helper.make_tensor_value_info("i", TensorProto.INT64, []),
                helper.make_tensor_value_info("go", TensorProto.BOOL, []),
                value("s", [2, 4]),
            ],
            [helper.make_tensor_value_info("on", TensorProto.BOOL, []), value("t", [2, 4])],
        )
        nodes = [
            helper.make_node("MatMul", ["x", "w"], ["a"], name="first"),
            helper.make_node("Loop", ["times", "", "a"], ["y"], body=body),
        ]
        stored = [
            numpy_helper.from_array(np.ones((4, 4), np.float32), "w"),
            numpy_helper.from_array(np.array(3), "times"),
        ]
        path = self.dir / "loop.onnx"
        proto = model(nodes, [value("x", [2, 4])], [value("y", [2, 4])], stored)
        path.write_bytes(proto.SerializeToString())
        text = self.good("tile", path, "-o", self.out, "--tile", "2x2x2")
        self.assertIn(
            "kept 3 MatMul: in bodies of functions, If, Loop or Scan, each time that they run",
            " ".join(text.split()),
        )

    def test_what_no_product_is_left_of_is_told(self):
        ones = [
            numpy_helper.from_array(np.ones(dims, np.float32), name)
            for name, dims in (("image", (1, 2, 4, 4)), ("kernel", (3, 2, 1, 1)), ("none", (0, 3)))
        ]
        path = self.dir / "nothing.onnx"
        for op, inputs, why in (
            ("Conv", ["image", "kernel"], "kept it (Conv): a constant"),
            ("MatMul", ["x", "none"], "kept it (MatMul): 'x' has no elements"),
            ("MatMul", ["full", "none3"], "kept it (MatMul): 'none3' has no elements"),
        ):
            nodes = [
                helper.make_node(op, inputs, ["c"], name="it"),
                helper.make_node("Relu", ["c"], ["y"]),
            ]
            given = [value("x", [2, 0]), value("full", [2, 3]), value("none3", [3, 0])]
            proto = model(nodes, given, [value("y", None)], ones)
            path.write_bytes(proto.SerializeToString())
            self.refused("tile", path, "-o", self.out, words=[why])

    def test_names_that_are_taken_are_avoided(self):
        nodes = [
            helper.make_node("Relu", ["x"], ["p/tile/m0_n0"], name="p/tile/a_m0"),
            helper.make_node("MatMul", ["p/tile/m0_n0", "x"], ["accsim/tile/integers_1"], name="p"),
            helper.make_node("MatMul", ["accsim/tile/integers_1", "x"], ["q"], name="p"),
            helper.make_node("MatMul", ["q", "x"], ["y"]),
        ]
        path = self.save(model(nodes, [value("x", [6, 6])], [value("y", [6, 6])]))
        after = self.tiled(path, "--tile", "4x4x4")
        onnx.checker.check_model(after)
        onnx.shape_inference.infer_shapes(after, check_type=True, strict_mode=True)
        outputs = [o for n in after.graph.node for o in n.output]
        self.assertEqual(len(outputs), len(set(outputs)))
        names = [n.name for n in after.graph.node]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(len(self.report(self.out)["tiled"]["layers"]), 3)
        self.assertEqual(
            [layer["nodes"] > 8 for layer in self.report(self.out)["tiled"]["layers"]], [True] * 3
        )

    def test_element_types(self):
        for dtype, extra in (
            (TensorProto.FLOAT16, {"alpha": 0.5}),
            (TensorProto.DOUBLE, {"beta": 2.0}),
            (TensorProto.INT32, {}),
        ):
            node = helper.make_node("Gemm", ["a", "b", "c"], ["y"], name="g", **extra)
            path = self.save(
                model(
                    [node],
                    [value("a", [5, 9], dtype), value("b", [9, 7], dtype), value("c", [7], dtype)],
                    [value("y", [5, 7], dtype)],
                )
            )
            after = self.tiled(path, "--tile", "4x4x4", "--edge", "pad")
            onnx.checker.check_model(after)
            onnx.shape_inference.infer_shapes(after, check_type=True, strict_mode=True)
        self.assertNotIn("Sum", [n.op_type for n in after.graph.node])
        node = helper.make_node("Gemm", ["a", "b"], ["y"], name="g", alpha=0.5)
        path = self.save(
            model(
                [node],
                [value("a", [5, 9], dtype), value("b", [9, 7], dtype)],
                [value("y", [5, 7], dtype)],
            )
        )
        self.out.unlink()
        self.refused("tile", path, "-o", self.out, words=["node 'g'", "alpha", "int32"])

    def test_symbols_are_fixed(self):
        path = self.save(
            model(
                [helper.make_node("MatMul", ["x", "w"], ["y"], name="p")],
                [value("x", ["batch", 3, 8])],
                [value("y", ["batch", 3, 5])],
                [numpy_helper.from_array(np.ones((8, 5), np.float32), "w")],
            )
        )
        after = self.tiled(path, "--tile", "2x4x4", "--bind", "batch=6")
        for v in (after.graph.input[0], after.graph.output[0]):
            self.assertEqual(v.type.tensor_type.shape.dim[0].dim_value, 6)
        onnx.shape_inference.infer_shapes(after, check_type=True, strict_mode=True)
        self.assertEqual(self.report(self.out)["totals"]["macs"], 6 * 3 * 8 * 5)

    def test_some_layers_then_the_others(self):
        once = self.tiled(ALEXNET, "--layers", "*classifier.6*")
        self.assertEqual(sum(n.op_type == "Gemm" for n in once.graph.node), 2)
        twice = self.out.with_name("twice.onnx")
        self.good("tile", self.out, "-o", twice, "--layers", "*classifier.4/Gemm")
        layers = self.report(twice)["tiled"]["layers"]
        self.assertEqual(
            [(layer["k"], layer["n"]) for layer in layers], [(4096, 1000), (4096, 4096)]
        )

    def test_bad_input_is_refused_and_leaves_no_file(self):
        tile = ("tile", ALEXNET, "-o", self.out)
        for text in ("64x64", "0x64x64", "64x64x64x64", "a", "-1x2x3", ""):
            self.refused(*tile, "--tile", text, words=["--tile"])
        self.refused(*tile, "--edge", "round", words=["--edge"])
        self.refused(*tile, "--layers", "nothing", words=["'nothing'", "alexnet"])
        self.refused(*tile, "--tile", "1x1x1", words=["products", "classifier.1/Gemm"])
        self.refused("tile", self.dir / "absent.onnx", "-o", self.out, words=["absent.onnx"])
        self.refused("tile", ALEXNET, words=["--output"])
        self.refused("tile", ALEXNET, "-o", self.dir / "no" / "folder.onnx", words=["folder.onnx"])
        (self.dir / "cut.onnx").write_bytes(ALEXNET.read_bytes()[:-100])
        self.refused("tile", self.dir / "cut.onnx", "-o", self.out, words=["cut.onnx", "byte"])

    def test_a_property_that_cant_be_is_an_error(self):
        path = self.dir / "g.onnx"
        self.good("gemm", "8x8x8", "-o", path)
        proto = self.tiled(path, "--tile", "4x4x4")
        text = proto.metadata_props[0].value
        proto.metadata_props[0].value = text.replace("outputs=8", "outputs=0")
        done = run("--hw", CONFIG, self.save(proto, "bad.onnx"))
        self.assertEqual(done.returncode, 2)
        for word in ("bad.onnx", "accsim.tiled_from", "line 1", "outputs"):
            self.assertIn(word, done.stderr)

    def test_gemm_writes_what_it_is_asked_for(self):
        path = self.dir / "g.onnx"
        for args, op, shapes in (
            ([], "Gemm", {"A": [5, 6], "B": [6, 7]}),
            (
                ["--transA", "--transB", "--alpha", "0.5", "--beta", "2", "--bias"],
                "Gemm",
                {"A": [6, 5], "B": [7, 6], "C": [7]},
            ),
            (["--op", "MatMul", "--opset", "9"], "MatMul", {"A": [5, 6], "B": [6, 7]}),
            (["--opset", "7"], "Gemm", {"A": [5, 6], "B": [6, 7]}),
            (["--batch", "3"], "MatMul", {"A": [3, 5, 6], "B": [3, 6, 7]}),
        ):
            self.good("gemm", "5x6x7", "-o", path, *args)
            proto = onnx.load(str(path))
            onnx.checker.check_model(proto)
            onnx.shape_inference.infer_shapes(proto, check_type=True, strict_mode=True)
            self.assertEqual([n.op_type for n in proto.graph.node], [op])
            self.assertEqual(
                {
                    v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
                    for v in proto.graph.input
                },
                shapes,
            )
            attributes = {
                a.name: helper.get_attribute_value(a) for a in proto.graph.node[0].attribute
            }
            self.assertEqual(
                attributes,
                {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0} if "--alpha" in args else {},
            )

    def test_gemm_stores_random_weights(self):
        path = self.dir / "g.onnx"
        files = []
        for seed in (1, 1, 2):
            self.good("gemm", "5x60x70", "-o", path, "--weights", f"random:{seed}", "--bias")
            files.append(path.read_bytes())
        self.assertTrue(files[0] == files[1] != files[2])
        proto = onnx.load(str(path))
        self.assertEqual([v.name for v in proto.graph.input], ["A"])
        b = numpy_helper.to_array(proto.graph.initializer[0])
        self.assertEqual(b.shape, (60, 70))
        self.assertTrue(-1 <= b.min() < -0.99 and 0.99 < b.max() <= 1 and abs(b.mean()) < 0.05)

    def test_gemm_refuses_what_cant_be(self):
        for args, word in (
            (["5x6"], "MxKxN"),
            (["5x6x0"], "MxKxN"),
            (["5x6x99999999999"], "2^31"),
            (["5x6x7", "--batch", "0"], "size 0"),
            (["5x6x7", "--batch", "2", "--bias"], "MatMul"),
            (["5x6x7", "--batch", "2", "--op", "Gemm"], "--batch"),
            (["5x6x7", "--op", "MatMul", "--alpha", "2"], "gemm: MatMul has no"),
            (["5x6x7", "--beta", "2"], "--beta: is the factor of a bias; add one with --bias"),
            (["5x6x7", "--opset", "3"], "--opset"),
            (["5x6x7", "--alpha", "nan"], "--alpha"),
            (["5x6x7", "--beta", "1e999"], "--beta"),
            (["5x6x7", "--weights", "random"], "--weights"),
            (["5x6x7", "--weights", "random:x"], "--weights"),
            (["9x99999x99999", "--weights", "random:1"], "1 GiB"),
        ):
            self.refused("gemm", "-o", self.out, *args, words=[word])


if __name__ == "__main__":
    unittest.main()
