#!/usr/bin/python3
"""accsim cut: is a part of a model a valid model with just what it needs? cut_test.py ACCSIM

What the parts compute: tests/onnxruntime/parts_test.py. Exit code 77 (skipped) without
python3-onnx.
"""

import pathlib
import sys
import tempfile
import unittest

from program import run

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

node = helper.make_node


def value(name, dims, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, dims)


def array(name, values):
    return numpy_helper.from_array(np.array(values), name)


def ones(name, *dims):
    return numpy_helper.from_array(np.ones(dims, np.float32), name)


def model(nodes, inputs, outputs, stored=(), opset=13, ir=8, functions=(), infos=()):
    graph = helper.make_graph(nodes, "net", inputs, outputs, list(stored), value_info=list(infos))
    opsets = [helper.make_opsetid("", opset)]
    if functions:
        opsets.append(helper.make_opsetid("mine", 1))
    return helper.make_model(graph, opset_imports=opsets, ir_version=ir, functions=list(functions))


def shape_of(info):
    return [d.dim_value for d in info.type.tensor_type.shape.dim]


class CutTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.out = self.dir / "part.onnx"
        self.path = self.dir / "model.onnx"

    def save(self, proto):
        onnx.checker.check_model(proto)
        self.path.write_bytes(proto.SerializeToString())
        return proto

    def part(self, *words):
        done = run("cut", self.path, "-o", self.out, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        self.said = done.stdout
        proto = onnx.load(str(self.out), load_external_data=False)
        return proto

    def valid(self, *words):
        proto = self.part(*words)
        onnx.checker.check_model(proto, full_check=True)
        self.assertEqual([], [n for n in self.names(proto.graph.node) if not n])
        return proto

    def refused(self, text, *words):
        done = run("cut", self.path, "-o", self.out, *words)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(text, " ".join(done.stderr.split()))
        self.assertFalse(self.out.exists())
        return done.stderr

    @staticmethod
    def names(things):
        return [thing.name for thing in things]

    def chain(self, inputs=(), **more):
        """x -> a (MatMul w) -> b (Add v) -> c (Relu) -> d (Add of a) -> y."""
        return self.save(
            model(
                [
                    node("MatMul", ["x", "w"], ["a"], name="product"),
                    node("Add", ["a", "v"], ["b"], name="bias"),
                    node("Relu", ["b"], ["c"], name="clip", doc_string="kept"),
                    node("Add", ["c", "a"], ["d"], name="skip"),
                    node("Mul", ["d", "s"], ["y"], name="scale"),
                ],
                [value("x", ["batch", 4]), *inputs],
                [value("y", ["batch", 6])],
                [ones("w", 4, 6), ones("v", 6), ones("s", 1)],
                infos=[value("b", ["batch", 6]), value("c", ["batch", 6])],
                **more,
            )
        )

    def test_a_run_of_layers(self):
        self.chain()
        part = self.valid("--from", "bias", "--until", "d", "--bind", "batch=3")
        self.assertEqual(self.names(part.graph.node), ["bias", "clip", "skip"])
        self.assertEqual(part.graph.node[1].doc_string, "kept")
        self.assertEqual([(v.name, shape_of(v)) for v in part.graph.input], [("a", [3, 6])])
        self.assertEqual([(v.name, shape_of(v)) for v in part.graph.output], [("d", [3, 6])])
        self.assertEqual(self.names(part.graph.initializer), ["v"])
        self.assertEqual(self.names(part.graph.value_info), ["b", "c"])
        self.assertEqual(
            self.said.splitlines(),
            [
                "input 'a': float32 3x6",
                "output 'd': float32 3x6",
                "symbol 'batch' is 3 now",
                f"{self.out}: 3 of 5 nodes",
            ],
        )

    def test_one_end_is_enough(self):
        self.chain()
        part = self.valid("--until", "clip")
        self.assertEqual(self.names(part.graph.node), ["product", "bias", "clip"])
        self.assertEqual([(v.name, shape_of(v)) for v in part.graph.input], [("x", [1, 4])])
        part = self.valid("--from", "skip")
        self.assertEqual(self.names(part.graph.node), ["skip", "scale"])
        self.assertEqual(self.names(part.graph.input), ["c", "a"])
        self.assertEqual(self.names(part.graph.output), ["y"])

    def test_a_layer(self):
        self.chain()
        for name, reads, stored in (
            ("product", ["x"], ["w"]),
            ("skip", ["c", "a"], []),
            ("y", ["d"], ["s"]),
        ):
            part = self.valid("--from", name, "--until", name)
            self.assertEqual(len(part.graph.node), 1)
            self.assertEqual(self.names(part.graph.input), reads)
            self.assertEqual(self.names(part.graph.initializer), stored)

    def test_old_files_list_initializers_as_inputs(self):
        self.chain([value("w", [4, 6]), value("v", [6]), value("s", [1])], ir=3)
        part = self.valid("--from", "bias", "--until", "clip")
        self.assertEqual(self.names(part.graph.input), ["v", "a"])
        self.assertEqual(self.names(part.graph.initializer), ["v"])

    def test_constants_come_along(self):
        """Of nodes without inputs as nodes, of those that look at shapes as integers."""
        self.save(
            model(
                [
                    node("Constant", [], ["k"], name="k", value=ones("", 6)),
                    node("Transpose", ["w"], ["wt"], name="turned", perm=[1, 0]),
                    node("Relu", ["x"], ["r"], name="first"),
                    node("Shape", ["r"], ["shape"], name="shape"),
                    node("Gather", ["shape", "zero"], ["rows"], name="rows"),
                    node("Concat", ["rows", "minus"], ["target"], name="target", axis=0),
                    node("MatMul", ["r", "wt"], ["m"], name="product"),
                    node("Add", ["m", "k"], ["a"], name="bias"),
                    node("Reshape", ["a", "target"], ["y"], name="flat"),
                ],
                [value("x", ["n", 2, 4])],
                [value("y", ["n", 12])],
                [ones("w", 6, 4), array("zero", [0]), array("minus", [-1])],
            )
        )
        part = self.valid("--from", "product", "--until", "flat", "--bind", "n=5")
        self.assertEqual(self.names(part.graph.input), ["r"])
        self.assertEqual(self.names(part.graph.node), ["k", "turned", "product", "bias", "flat"])
        stored = {t.name: numpy_helper.to_array(t).tolist() for t in part.graph.initializer}
        self.assertEqual(sorted(stored), ["target", "w"])
        self.assertEqual(stored["target"], [5, -1])
        self.assertEqual([shape_of(v) for v in part.graph.output], [[5, 12]])

    def with_bodies(self):
        """An If whose branches read tensors of the graph, and a call of a function."""
        branches = [
            helper.make_graph(
                [node(op, ["h", "v"], ["s"], name="inner")], op, [], [value("s", [2, 4])]
            )
            for op in ("Add", "Mul")
        ]
        twice = helper.make_function(
            "mine",
            "Twice",
            ["p"],
            ["q"],
            [node("Add", ["p", "p"], ["q"], name="sum")],
            [helper.make_opsetid("", 13)],
        )
        return self.save(
            model(
                [
                    node("Relu", ["x"], ["h"], name="relu"),
                    node(
                        "If",
                        ["yes"],
                        ["i"],
                        name="if",
                        then_branch=branches[0],
                        else_branch=branches[1],
                    ),
                    node("Twice", ["i"], ["t"], name="call", domain="mine"),
                    node("Neg", ["t"], ["y"], name="neg"),
                ],
                [value("x", [2, 4]), value("yes", [], TensorProto.BOOL)],
                [value("y", [2, 4])],
                [ones("v", 4), ones("unread", 9)],
                functions=[twice],
            )
        )

    def test_bodies_and_functions_stay_whole(self):
        whole = self.with_bodies()
        part = self.valid("--from", "if", "--until", "call")
        self.assertEqual(self.names(part.graph.node), ["if", "call"])
        self.assertEqual(self.names(part.graph.input), ["yes", "h"])
        self.assertEqual(self.names(part.graph.initializer), ["v"])
        self.assertEqual(part.functions, whole.functions)
        self.assertEqual(part.opset_import, whole.opset_import)
        # What crosses behind a body and a call has their types, too.
        part = self.valid("--from", "call", "--until", "call")
        self.assertEqual([(v.name, shape_of(v)) for v in part.graph.input], [("i", [2, 4])])
        part = self.valid("--from", "neg")
        self.assertEqual([(v.name, shape_of(v)) for v in part.graph.input], [("t", [2, 4])])

    def test_a_node_within_a_node_is_no_end(self):
        self.with_bodies()
        text = self.refused("is within node 'call'", "--from", "call/sum")
        self.assertIn("--from", text)

    def test_words_that_are_no_part_are_refused(self):
        self.chain()
        self.refused("'none' is no node of the model", "--from", "none")
        self.refused("--until: 'none' is no node", "--until", "none")
        self.refused("'bias' doesn't depend on 'clip'", "--from", "clip", "--until", "bias")
        self.refused("--from: name the first node")

    def test_sequences_are_no_inputs(self):
        self.save(
            model(
                [
                    node("SplitToSequence", ["x"], ["s"], name="split", axis=0),
                    node("ConcatFromSequence", ["s"], ["y"], name="join", axis=0),
                ],
                [value("x", [2, 4])],
                [value("y", [2, 4])],
            )
        )
        self.refused("'s', between the part and the rest, is no tensor", "--from", "join")
        self.refused("is no tensor", "--until", "split")
        self.valid("--until", "join")

    def test_weights_beside_the_model(self):
        far = TensorProto(name="w", data_type=1, dims=[4, 6], data_location=TensorProto.EXTERNAL)
        far.external_data.add(key="location", value="w.bin")
        values = np.arange(24, dtype=np.float32).reshape(4, 6)
        (self.dir / "w.bin").write_bytes(values.tobytes())
        proto = model(
            [node("MatMul", ["x", "w"], ["a"], name="m"), node("Relu", ["a"], ["y"], name="r")],
            [value("x", [2, 4])],
            [value("y", [2, 6])],
            [far],
        )
        self.path.write_bytes(proto.SerializeToString())
        self.part("--until", "m")
        loaded = onnx.load(str(self.out))
        np.testing.assert_array_equal(numpy_helper.to_array(loaded.graph.initializer[0]), values)
        self.assertNotIn("w.bin", self.said)
        (self.dir / "sub").mkdir()
        self.out = self.dir / "sub" / "part.onnx"
        self.part("--until", "m")
        self.assertIn(
            f"weights in 'w.bin' are now looked for beside {self.out}", " ".join(self.said.split())
        )
        self.part("--from", "r")  # which reads none
        self.assertNotIn("w.bin", self.said)

    def far(self, name, file, values, **more):
        """A tensor whose elements lie in a file."""
        (self.dir / file).write_bytes(b"before" + values.tobytes())
        kind = numpy_helper.from_array(values).data_type
        tensor = TensorProto(
            name=name, data_type=kind, dims=values.shape, data_location=TensorProto.EXTERNAL
        )
        for key, of in {"location": file, "offset": "6", **more}.items():
            tensor.external_data.add(key=key, value=of)
        return tensor

    def test_weights_beside_the_model_are_embedded(self):
        """Among initializers, in a Constant, in a body and in a function."""
        values = [np.arange(n, n + 24, dtype=np.float32).reshape(4, 6) for n in (0, 100, 200, 300)]
        stored, constant, inner, called = (
            self.far(f"w{i}", f"w{i}.bin", v, length="96") for i, v in enumerate(values)
        )
        body = helper.make_graph(
            [node("Add", ["c", "w2"], ["b"])], "body", [], [value("b", [4, 6])], [inner]
        )
        function = helper.make_function(
            "mine",
            "Plus",
            ["p"],
            ["q"],
            [node("Constant", [], ["k"], value=called), node("Add", ["p", "k"], ["q"])],
            [helper.make_opsetid("", 13)],
        )
        proto = model(
            [
                node("Add", ["x", "w0"], ["a"], name="first"),
                node("Constant", [], ["k"], name="k", value=constant),
                node("Add", ["a", "k"], ["c"], name="second"),
                node("If", ["yes"], ["d"], name="if", then_branch=body, else_branch=body),
                node("Plus", ["d"], ["y"], domain="mine", name="last"),
            ],
            [value("x", [4, 6])],
            [value("y", [4, 6])],
            [stored, array("yes", True)],
            functions=[function],
        )
        self.path.write_bytes(proto.SerializeToString())
        self.out = self.dir / "sub" / "part.onnx"
        self.out.parent.mkdir()
        cut = self.valid("--from", "first", "--embed")
        self.assertNotIn("w0.bin", self.said)
        self.assertNotIn(b"EXTERNAL", str(cut).encode())
        np.testing.assert_array_equal(numpy_helper.to_array(cut.graph.initializer[0]), values[0])
        x = np.ones((4, 6), np.float32)
        np.save(self.dir / "x.npy", x)
        done = run("run", self.out, "--input", f"x={self.dir}/x.npy", "--output", self.dir / "made")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        np.testing.assert_array_equal(np.load(self.dir / "made" / "y.npy"), x + sum(values))

    def test_weights_that_cannot_be_embedded(self):
        far = self.far("w", "w.bin", np.zeros((4, 6), np.float32))
        proto = model(
            [node("MatMul", ["x", "w"], ["a"], name="m"), node("Relu", ["a"], ["y"], name="r")],
            [value("x", [2, 4])],
            [value("y", [2, 6])],
            [far],
        )
        self.path.write_bytes(proto.SerializeToString())
        (self.dir / "w.bin").write_bytes(b"short")
        self.refused("tensor 'w' can't be read from 'w.bin'", "--until", "m", "--embed")
        # What isn't needed needn't be there; nor is more than protobuf takes even read.
        self.valid("--from", "r", "--embed")
        self.out.unlink()
        proto.graph.initializer[0].dims[1] = 1 << 28
        proto.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 1 << 28
        self.path.write_bytes(proto.SerializeToString())
        self.refused("more than 2147483647 bytes", "--until", "m", "--embed")

    def test_optionals_and_sequences(self):
        """Inputs of a part keep their types."""
        tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2, 4])
        proto = model(
            [
                node("OptionalGetElement", ["o"], ["t"], name="get"),
                node("ConcatFromSequence", ["s"], ["c"], name="join", axis=0),
                node("Add", ["t", "c"], ["y"], name="add"),
            ],
            [
                helper.make_value_info("o", helper.make_optional_type_proto(tensor)),
                helper.make_value_info("s", helper.make_sequence_type_proto(tensor)),
            ],
            [value("y", [2, 4])],
            opset=16,
        )
        self.save(proto)
        cut = self.valid("--until", "get")
        self.assertEqual(cut.graph.input[0], proto.graph.input[0])
        self.assertIn("input 'o': optional float32 2x4", self.said)
        cut = self.valid("--until", "join")
        self.assertEqual(cut.graph.input[0], proto.graph.input[1])
        self.assertIn("input 's': sequence of float32", self.said)

    def test_a_part_of_a_cut_model_says_what_it_has(self):
        tiled = self.dir / "tiled.onnx"
        self.chain()
        proto = onnx.load(str(self.path))
        second = node("MatMul", ["y", "w2"], ["z"], name="second")
        proto.graph.node.append(second)
        proto.graph.initializer.append(ones("w2", 6, 5))
        proto.graph.output[0].CopyFrom(value("z", ["batch", 5]))
        self.save(proto)
        self.assertEqual(run("tile", self.path, "-o", tiled, "--tile", "4x4x4").returncode, 0)
        self.path = tiled
        lines = {p.key: p.value for p in onnx.load(str(tiled)).metadata_props}
        self.assertEqual(lines["accsim.tiled_from"].count("layer="), 2)
        part = self.valid("--from", "bias")
        (line,) = [p.value for p in part.metadata_props]
        self.assertIn("second", line)
        part = self.valid("--from", "bias", "--until", "scale")
        self.assertEqual(list(part.metadata_props), [])

    def test_element_types_and_quantisation_notes(self):
        proto = model(
            [
                node("Cast", ["x"], ["h"], name="half", to=TensorProto.FLOAT16),
                node("Identity", ["h"], ["i"], name="same"),
                node("TopK", ["i", "k"], ["v", "at"], name="top", axis=1),
            ],
            [value("x", [2, 4])],
            [value("v", [2, 3], TensorProto.FLOAT16), value("at", [2, 3], TensorProto.INT64)],
            [array("k", [3])],
        )
        for name, scale in (("h", "k"), ("i", ""), ("v", "at")):
            note = proto.graph.quantization_annotation.add(tensor_name=name)
            if scale:
                note.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value=scale)
        self.save(proto)
        part = self.valid("--from", "top", "--until", "top")
        types = [v.type.tensor_type.elem_type for v in [*part.graph.input, *part.graph.output]]
        self.assertEqual(types, [TensorProto.FLOAT16, TensorProto.FLOAT16, TensorProto.INT64])
        part = self.valid("--from", "same", "--until", "same")
        notes = [a.tensor_name for a in part.graph.quantization_annotation]
        self.assertEqual(notes, ["i"])  # of h the scale isn't there


if __name__ == "__main__":
    unittest.main()
