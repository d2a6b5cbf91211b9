#!/usr/bin/python3
"""`accsim run` and `accsim diff` from the outside: run_test.py ACCSIM"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from program import ACCSIM, ROOT

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

MODELS = ROOT / "models"


def accsim(*args):
    return subprocess.run([ACCSIM, *map(str, args)], capture_output=True, text=True, check=False)


def save(nodes, inputs, outputs, path, stored=(), opset=13):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(*i) for i in inputs],
        [helper.make_empty_tensor_value_info(o) for o in outputs],
        stored,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.save(model, str(path))


class Case(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self.scratch.name)
        self.addCleanup(self.scratch.cleanup)

    def refused(self, text, *args):
        done = accsim(*args)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn(text, done.stderr)
        return done.stderr

    def good(self, *args):
        done = accsim(*args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def two_layers(self):
        """relu(x w) + b with a dynamic batch."""
        rng = np.random.default_rng(0)
        w, b = rng.normal(size=(8, 4)).astype(np.float32), rng.normal(size=4).astype(np.float32)
        path = self.folder / "m.onnx"
        save(
            [
                helper.make_node("MatMul", ["x", "w"], ["xw"], name="product"),
                helper.make_node("Relu", ["xw"], ["r"], name="clip"),
                helper.make_node("Add", ["r", "b"], ["y"], name="bias"),
            ],
            [("x", TensorProto.FLOAT, ["batch", 8])],
            ["y"],
            path,
            [
                helper.make_tensor("w", TensorProto.FLOAT, w.shape, w.tobytes(), raw=True),
                helper.make_tensor("b", TensorProto.FLOAT, b.shape, b.tobytes(), raw=True),
            ],
        )
        return path, w, b


class Run(Case):
    def test_values_and_symbols_come_from_the_input_file(self):
        path, w, b = self.two_layers()
        x = np.random.default_rng(1).normal(size=(5, 8)).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        self.good("run", path, "--input", f"x={self.folder}/x.npy", "--output", self.folder / "o")
        y = np.load(self.folder / "o" / "y.npy")
        np.testing.assert_allclose(y, np.maximum(x @ w, 0) + b, rtol=1e-5, atol=1e-6)

    def test_inputs_not_named_are_drawn_and_it_says_so(self):
        path, _, _ = self.two_layers()
        out = self.good("run", path, "--bind", "batch=3", "--output", self.folder / "a")
        self.assertIn("input 'x': random:0", out)
        self.assertIn("float32 3x4", out)
        self.good(
            "run", path, "--bind", "batch=3", "--input", "x=random:0", "--output", self.folder / "b"
        )
        self.good(
            "run", path, "--bind", "batch=3", "--input", "x=random:1", "--output", self.folder / "c"
        )
        a, b, c = (np.load(self.folder / n / "y.npy") for n in "abc")
        np.testing.assert_array_equal(a, b)
        self.assertFalse(np.array_equal(a, c))

    def test_shapes_may_depend_on_an_input_files_elements(self):
        path = self.folder / "r.onnx"
        save(
            [helper.make_node("Reshape", ["x", "s"], ["y"])],
            [("x", TensorProto.FLOAT, [2, 6]), ("s", TensorProto.INT64, [2])],
            ["y"],
            path,
        )
        np.save(self.folder / "s.npy", np.array([3, 4], np.int64))
        self.good("run", path, "--input", f"s={self.folder}/s.npy", "--output", self.folder / "o")
        self.assertEqual(np.load(self.folder / "o" / "y.npy").shape, (3, 4))

    def test_dump_holds_inputs_and_outputs_of_the_layers_asked_for(self):
        path, w, _ = self.two_layers()
        for what, names in (
            ("all", ["product", "clip", "bias"]),
            ("Relu", ["clip"]),
            ("b*", ["bias"]),
        ):
            out = self.folder / f"dump_{names[0]}_{len(names)}"
            self.good("run", path, "--output", out, "--dump", what)
            manifest = json.loads((out / "manifest.json").read_text())
            self.assertEqual(manifest["schema"], "accsim.dump/1")
            self.assertEqual([layer["name"] for layer in manifest["layers"]], names)
            for layer in manifest["layers"]:
                for tensor in layer["inputs"] + layer["outputs"]:
                    self.assertEqual(list(np.load(out / tensor["file"]).shape), tensor["dims"])
            if what == "all":
                stored = manifest["layers"][0]["inputs"][1]
                np.testing.assert_array_equal(np.load(out / stored["file"]), w)

    def test_a_raw_dump_is_for_other_runtimes(self):
        path, w, b = self.two_layers()
        out, again = self.folder / "d", self.folder / "e"
        x = np.random.default_rng(1).normal(size=(2, 8)).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        given = ("run", path, "--input", f"x={self.folder}/x.npy", "--dump", "all", "--raw")
        self.good(*given, "--output", out)
        manifest = json.loads((out / "manifest.json").read_text())
        self.assertEqual(
            [layer["model"] for layer in manifest["layers"]],
            [f"layers/{n}/layer.onnx" for n in ("0000_product", "0001_clip", "0002_bias")],
        )
        wanted = {"x": x, "w": w, "b": b}
        wanted["xw"] = x @ w
        wanted["r"] = np.maximum(wanted["xw"], 0)
        wanted["y"] = wanted["r"] + b
        for layer in manifest["layers"]:
            self.assertTrue((out / layer["model"]).is_file())
            for side, ending in (("inputs", ".bin"), ("outputs", ".out")):
                for tensor in layer[side]:
                    values = np.fromfile(out / tensor["file"], tensor["dtype"])
                    values = values.reshape(tensor["dims"])
                    np.testing.assert_allclose(values, wanted[tensor["name"]], rtol=1e-5, atol=1e-6)
                    self.assertTrue(tensor["file"].endswith(ending))
                    self.assertEqual(tensor.get("stored", False), tensor["name"] in "wb")
        self.assertFalse((out / "tensors").exists())
        # A raw dump is compared like another, also with one.
        self.good(*given[:-1], "--output", again)
        for other in (out, again):
            text = self.good("diff", out, other, "--atol", "0", "--rtol", "0")
            self.assertIn("all 3 layers within", text)
        file = out / manifest["layers"][1]["outputs"][0]["file"]
        values = np.fromfile(file, np.float32)
        values[5] += 1
        file.write_bytes(values.tobytes())
        text = accsim("diff", again, out).stdout
        self.assertIn("clip (Relu); its first element beyond is at [1, 1]", " ".join(text.split()))

    def test_a_raw_dump_of_what_is_not_so(self):
        path, _, _ = self.two_layers()
        out = ("--output", self.folder / "d")
        self.refused("--raw requires --dump", "run", path, *out, "--raw")
        self.refused("not for --int8", "run", path, *out, "--dump", "all", "--raw", "--int8")

    def test_outputs_whose_names_make_one_file_name_get_two_files(self):
        path = self.folder / "n.onnx"
        save(
            [helper.make_node("Neg", ["x"], ["a/b"]), helper.make_node("Abs", ["x"], ["a_b"])],
            [("x", TensorProto.FLOAT, [9])],
            ["a/b", "a_b"],
            path,
        )
        self.good("run", path, "--output", self.folder / "o")
        neg, size = (np.load(self.folder / "o" / n) for n in ("a_b.npy", "a_b_2.npy"))
        np.testing.assert_array_equal(np.abs(neg), size)
        self.assertTrue((neg > 0).any() and (neg < 0).any() and (size >= 0).all())

    def test_a_given_input_takes_the_place_of_its_default(self):
        path = self.folder / "default.onnx"
        save(
            [helper.make_node("Add", ["x", "w"], ["y"])],
            [("x", TensorProto.FLOAT, [3]), ("w", TensorProto.FLOAT, [3])],
            ["y"],
            path,
            [helper.make_tensor("w", TensorProto.FLOAT, [3], [10, 20, 30])],
        )
        np.save(self.folder / "x.npy", np.zeros(3, np.float32))
        np.save(self.folder / "w.npy", np.array([1, 2, 4], np.float32))
        given = ("run", path, "--input", f"x={self.folder}/x.npy", "--output", self.folder / "o")
        self.good(*given)
        self.assertEqual(list(np.load(self.folder / "o" / "y.npy")), [10, 20, 30])
        self.good(*given, "--input", f"w={self.folder}/w.npy")
        self.assertEqual(list(np.load(self.folder / "o" / "y.npy")), [1, 2, 4])

    def test_numbers_beyond_the_inputs_type_are_refused(self):
        path, file = self.folder / "m.onnx", self.folder / "x.npy"
        for dtype, values, said in (
            (TensorProto.BOOL, np.array([0, 1, 300]), "300"),
            (TensorProto.UINT8, np.array([0, -1, 5]), "-1"),
            (TensorProto.INT8, np.array([0, 128, 5]), "128"),
            (TensorProto.INT64, np.array([2**63, 0, 0], np.uint64), str(2**63)),
            (TensorProto.UINT64, np.array([-1, 0, 0]), "-1"),
            (TensorProto.FLOAT, np.array([1, 1e300, 0]), "1e+300"),
            (TensorProto.UINT8, np.array([0, 255, 5]), None),
            (TensorProto.BOOL, np.array([0, 1, 1]), None),
            (TensorProto.FLOAT, np.array([1, np.inf, np.nan]), None),
        ):
            save([helper.make_node("Identity", ["x"], ["y"])], [("x", dtype, [3])], ["y"], path)
            np.save(file, values)
            given = ("run", path, "--input", f"x={file}", "--output", self.folder / "o")
            if said:
                self.refused(f"x.npy: holds {said}, which is beyond", *given)
                continue
            self.good(*given)
            np.testing.assert_array_equal(
                np.load(self.folder / "o" / "y.npy").astype(values.dtype), values
            )

    def test_what_is_not_a_number_is_counted(self):
        path, file = self.folder / "m.onnx", self.folder / "x.npy"
        save([helper.make_node("Neg", ["x"], ["y"])], [("x", TensorProto.FLOAT, [3])], ["y"], path)
        for values, said in (
            ([np.nan, 1, 2], "from -2 to -1, mean -1.5, 1 of 3 NaN"),
            ([np.nan] * 3, "float32 3, 3 of 3 NaN"),
            ([1, 2, 3], "from -3 to -1, mean -2\n"),
        ):
            np.save(file, np.array(values, np.float32))
            self.assertIn(said, self.good("run", path, "--input", f"x={file}"))

    def test_what_cannot_be_used_is_told(self):
        path, _, _ = self.two_layers()
        np.save(self.folder / "bad.npy", np.zeros((2, 7), np.float32))
        np.save(self.folder / "words.npy", np.array(["a"]))
        self.refused("no input 'z'", "run", path, "--input", "z=random:1")
        self.refused("not NAME=", "run", path, "--input", "x")
        self.refused("no number", "run", path, "--input", "x=random:one")
        self.refused("given twice", "run", path, "--input", "x=random:1", "--input", "x=random:2")
        self.refused("can't be opened", "run", path, "--input", "x=absent.npy")
        self.refused("is a folder", "run", path, "--input", f"x={self.folder}")
        self.refused("2x7", "run", path, "--input", f"x={self.folder}/bad.npy")
        self.refused("holds string", "run", path, "--input", f"x={self.folder}/words.npy")
        np.save(self.folder / "waves.npy", np.zeros(2, np.complex64))
        self.refused("isn't computed with", "run", path, "--input", f"x={self.folder}/waves.npy")
        self.refused("--output DIR", "run", path, "--dump", "all")
        self.refused("no layer", "run", path, "--dump", "nothing", "--output", self.folder / "n")
        self.refused("random:SEED", "run", path, "--weights", "1")
        self.refused("--weights random:SEED", "run", MODELS / "alexnet_op13.onnx")
        self.refused("--int8", "run", path, "--hw", ROOT / "configs" / "8x8.yaml")
        (self.folder / "file").write_text("")
        self.refused("folder", "run", path, "--output", self.folder / "file" / "x")

    def outputs(self, path, *words):
        """{name: array} of a run."""
        out = self.folder / "o"
        self.said = self.good("run", path, *words, "--output", out)
        return {file.stem: np.load(file) for file in out.glob("*.npy")}

    def test_inputs_may_be_raw_elements(self):
        path, w, b = self.two_layers()
        x = np.random.default_rng(1).normal(size=(5, 8)).astype(np.float32)
        wanted = np.maximum(x @ w, 0) + b
        for name in ("x.bin", "x.raw", "x"):
            (self.folder / name).write_bytes(x.tobytes())
            given = ("--input", f"x={self.folder}/{name}")
            for shape in (("--bind", "batch=5"), ("--input-shape", "x=5x8")):
                y = self.outputs(path, *given, *shape)["y"]
                np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)
            self.refused(f"{name}: holds 160 bytes, but float32 1x8 takes 32", "run", path, *given)
        # Whatever it is called, a .npy file is one.
        np.save(self.folder / "x.npy", x)
        (self.folder / "x.npy").rename(self.folder / "x.bin")
        y = self.outputs(path, "--input", f"x={self.folder}/x.bin")["y"]
        np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)

    def test_raw_elements_have_the_inputs_type(self):
        path = self.folder / "t.onnx"
        for dtype, kind in (
            (TensorProto.INT8, np.int8),
            (TensorProto.UINT16, np.uint16),
            (TensorProto.INT64, np.int64),
            (TensorProto.FLOAT16, np.float16),
            (TensorProto.DOUBLE, np.float64),
            (TensorProto.BOOL, np.bool_),
        ):
            save([helper.make_node("Identity", ["x"], ["y"])], [("x", dtype, [2, 3])], ["y"], path)
            x = np.arange(6).reshape(2, 3).astype(kind)
            (self.folder / "x.bin").write_bytes(x.tobytes())
            y = self.outputs(path, "--input", f"x={self.folder}/x.bin")["y"]
            self.assertEqual(y.dtype, kind)
            np.testing.assert_array_equal(y, x)

    def test_a_part_of_a_network(self):
        path, w, b = self.two_layers()
        xw = np.random.default_rng(2).normal(size=(3, 4)).astype(np.float32)
        np.save(self.folder / "xw.npy", xw)
        (self.folder / "xw.bin").write_bytes(xw.tobytes())
        for file in ("xw.npy", "xw.bin"):
            given = ("--bind", "batch=3", "--input", f"xw={self.folder}/{file}")
            y = self.outputs(path, "--from", "clip", *given)["y"]
            np.testing.assert_array_equal(y, np.maximum(xw, 0) + b)
            r = self.outputs(path, "--from", "clip", "--until", "r", *given)["r"]
            np.testing.assert_array_equal(r, np.maximum(xw, 0))
        # What isn't given is drawn.
        first = self.outputs(path, "--from", "clip", "--until", "clip")["r"]
        self.assertIn("input 'xw': random:0", self.said)
        self.assertGreater(np.ptp(first), 0)
        x = np.random.default_rng(3).normal(size=(2, 8)).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        part = self.outputs(path, "--until", "product", "--input", f"x={self.folder}/x.npy")
        np.testing.assert_allclose(part["xw"], x @ w, rtol=1e-5, atol=1e-6)

    def test_inputs_that_a_part_lacks_are_told(self):
        path, _, _ = self.two_layers()
        np.save(self.folder / "x.npy", np.zeros((2, 8), np.float32))
        np.save(self.folder / "wide.npy", np.zeros((2, 5), np.float32))
        part = ("run", path, "--from", "clip", "--bind", "batch=2")
        said = "the part has no input 'x'; its inputs are: xw"
        self.refused(said, *part, "--input", "x=random:1")
        self.refused(said, *part, "--input", f"x={self.folder}/x.npy")
        self.refused("has no input 'z'", *part, "--input", "z=random:1")
        self.refused("2x5", *part, "--input", f"xw={self.folder}/wide.npy")
        (self.folder / "xw.bin").write_bytes(bytes(31))
        self.refused("holds 31 bytes", *part, "--input", f"xw={self.folder}/xw.bin")
        self.refused("no input 'xw'", "run", path, "--input", "xw=random:1")

    def test_refused_operators_are_named_all_at_once(self):
        path = self.folder / "n.onnx"
        save(
            [
                helper.make_node("RandomNormalLike", ["x"], ["a"], name="first"),
                helper.make_node("Bernoulli", ["x"], ["y"], name="second"),
            ],
            [("x", TensorProto.FLOAT, [2])],
            ["a", "y"],
            path,
            opset=15,
        )
        text = self.refused("random", "run", path)
        self.assertIn("first", text)
        self.assertIn("second", text)


class Forms(Case):
    """Forms of model files that other tools write."""

    def result(self, path, *words, **inputs):
        """Output y of a run on these inputs."""
        flags = []
        for name, values in inputs.items():
            file = self.folder / f"{name.replace('/', '_')}.npy"
            np.save(file, values)
            flags += ["--input", f"{name}={file}"]
        self.good("run", path, *flags, *words, "--output", self.folder / "o")
        return np.load(self.folder / "o" / "y.npy")

    def product_with(self, sparse, elements, stored):
        """y of x times a sparse tensor, an initializer or a constant."""
        path = self.folder / "sparse.onnx"
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
        if not stored:
            nodes.insert(0, helper.make_node("Constant", [], ["w"], sparse_value=sparse))
        shape = helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, len(elements)])
        graph = helper.make_graph(nodes, "g", [shape], [helper.make_empty_tensor_value_info("y")])
        if stored:
            graph.sparse_initializer.append(sparse)
        opset = [helper.make_opsetid("", 17)]
        onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), str(path))
        x = np.random.default_rng(0).normal(size=(4, len(elements))).astype(np.float32)
        np.testing.assert_allclose(self.result(path, x=x), x @ elements, rtol=1e-5, atol=1e-6)
        self.assertIn("MatMul", self.good("--hw", "8x8", path))
        return path

    def sparse(self, elements, linear, kind=TensorProto.INT64):
        """A matrix as a sparse tensor "w"."""
        places = np.argwhere(elements)
        values = elements[tuple(places.T)].astype(np.float32)
        if linear:
            places = np.flatnonzero(elements)
        return helper.make_sparse_tensor(
            helper.make_tensor("w", TensorProto.FLOAT, values.shape, values.tobytes(), raw=True),
            helper.make_tensor("", kind, places.shape, places.flatten().tolist()),
            elements.shape,
        )

    def test_sparse_tensors_are_zeros_and_their_values(self):
        rng = np.random.default_rng(1)
        for rows, columns in ((6, 5), (70, 90)):
            elements = rng.normal(size=(rows, columns)).astype(np.float32)
            elements *= rng.uniform(size=elements.shape) < 0.2
            for linear in (False, True):
                for stored in (False, True):
                    self.product_with(self.sparse(elements, linear), elements, stored)
        narrow = self.sparse(elements, False, TensorProto.INT32)
        self.product_with(narrow, elements, True)
        none = np.zeros((6, 5), np.float32)
        self.product_with(self.sparse(none, True), none, True)

    def test_sparse_tensors_may_lie_in_another_file(self):
        elements = np.zeros((70, 90), np.float32)
        elements[3, 4], elements[69, 89] = 2, -3
        sparse = self.sparse(elements, True)
        places = np.array(sparse.indices.int64_data, np.int64)
        (self.folder / "w.bin").write_bytes(sparse.values.raw_data + places.tobytes())
        for part, offset, length in ((sparse.values, 0, 8), (sparse.indices, 8, 16)):
            part.ClearField("raw_data")
            part.ClearField("int64_data")
            part.data_location = TensorProto.EXTERNAL
            for key, text in (("location", "w.bin"), ("offset", offset), ("length", length)):
                part.external_data.add(key=key, value=str(text))
        path = self.product_with(sparse, elements, True)
        self.refused("w.bin", "--hw", "8x8", path, "--json", self.folder / "w.bin")
        (self.folder / "w.bin").unlink()
        self.refused("should be in 'w.bin', which isn't there or too short", "run", path)
        self.good("--hw", "8x8", path)

    def test_elements_that_are_refused_are_not_called_missing(self):
        path, w, _ = self.two_layers()
        model = onnx.load(str(path))
        (self.folder / "sub").mkdir()
        (self.folder / "w.bin").write_bytes(w.tobytes())
        model.graph.initializer[0].ClearField("raw_data")
        model.graph.initializer[0].data_location = TensorProto.EXTERNAL
        model.graph.initializer[0].external_data.add(key="location", value="sub/../w.bin")
        onnx.save(model, str(path))
        text = self.refused("'sub/../w.bin' are refused: its path has '..' in it", "run", path)
        self.assertIn("put the file into the folder of the model", " ".join(text.split()))

    def test_a_graph_may_have_no_nodes(self):
        path = self.folder / "none.onnx"
        stored = helper.make_tensor("c", TensorProto.FLOAT, [2], [4, 5])
        save([], [("y", TensorProto.FLOAT, [2, 3])], ["y", "c"], path, [stored])
        y = np.random.default_rng(0).normal(size=(2, 3)).astype(np.float32)
        np.testing.assert_array_equal(self.result(path, y=y), y)
        np.testing.assert_array_equal(np.load(self.folder / "o" / "c.npy"), [4, 5])
        out = self.good("--hw", "8x8", path, "--json", self.folder / "r.json")
        self.assertIn("0 nodes", out)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["totals"]["cycles"], 0)
        self.good("inspect", path)
        self.good("shapes", path)

    def test_floats_of_six_bits_hold_the_nearest_of_their_values(self):
        x = np.random.default_rng(0).normal(size=200).astype(np.float32) * 8
        x = np.concatenate([x, np.arange(-30, 30, 0.03125, np.float32)])
        for number, exponents, mantissas, bias in ((27, 2, 3, 1), (28, 3, 2, 3)):
            codes = np.arange(1 << (exponents + mantissas))
            power, fraction = codes >> mantissas, codes & ((1 << mantissas) - 1)
            values = np.where(
                power == 0,
                fraction / 2.0**mantissas * 2.0 ** (1 - bias),
                (1 + fraction / 2.0**mantissas) * 2.0 ** (power - bias),
            )
            far = np.abs(np.abs(x)[:, None] - values)
            least = far == far.min(1, keepdims=True)  # of two that are as near, the even code
            even = np.where(least & (codes % 2 == 0), 0, np.where(least, 1, 2)).argmin(1)
            path = self.folder / "six.onnx"
            nodes = [
                helper.make_node("Cast", ["x"], ["t"], to=number),
                helper.make_node("Cast", ["t"], ["y"], to=TensorProto.FLOAT),
            ]
            save(nodes, [("x", TensorProto.FLOAT, [len(x)])], ["y"], path, opset=28)
            np.testing.assert_array_equal(self.result(path, x=x), values[even] * np.sign(x))
            self.good("--hw", "8x8", path)

    def test_strings_go_where_numbers_go(self):
        names = np.array(["ant", "bee", "", "d\u00f6g", "\U0001f40c"])
        stored = [
            helper.make_tensor("names", TensorProto.STRING, [5], [n.encode() for n in names]),
            helper.make_tensor("shape", TensorProto.INT64, [2], [3, 2]),
            helper.make_tensor("two", TensorProto.INT64, [1], [2]),
        ]
        path = self.folder / "strings.onnx"
        save(
            [
                helper.make_node("ArgMax", ["x"], ["best"], axis=1, keepdims=0),
                helper.make_node("Gather", ["names", "best"], ["label"]),
                helper.make_node("TopK", ["x", "two"], ["v", "ids"]),
                helper.make_node("Gather", ["names", "ids"], ["top"]),
                helper.make_node("Reshape", ["s", "shape"], ["r"]),
                helper.make_node("Concat", ["r", "top"], ["all"], axis=1),
                helper.make_node("Transpose", ["all"], ["y"]),
                helper.make_node("Constant", [], ["words"], value_strings=["a", "b"]),
                helper.make_node("Shape", ["words"], ["n"]),
            ],
            [("x", TensorProto.FLOAT, [3, 5]), ("s", TensorProto.STRING, [6])],
            ["label", "y", "n", "words"],
            path,
            stored,
        )
        x = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
        for given in (
            np.array(list("pqrbst")),
            np.array(["\u00e9", "longer", "", "bee", "a", "b"]),
        ):
            top = names[np.argsort(-x, 1)[:, :2]]
            expected = np.concatenate([given.reshape(3, 2), top], 1).T
            np.testing.assert_array_equal(self.result(path, x=x, s=given), expected)
            label = np.load(self.folder / "o" / "label.npy")
            np.testing.assert_array_equal(label, names[x.argmax(1)])
            np.testing.assert_array_equal(np.load(self.folder / "o" / "words.npy"), ["a", "b"])
            np.testing.assert_array_equal(np.load(self.folder / "o" / "n.npy"), [2])
        self.good("--hw", "8x8", path)
        out = self.good("run", path)
        self.assertIn("output 'words': string 2, 'a', 'b'", out)
        self.assertRegex(out, "output 'y': string 4x3, '[01]', '[01]', '[01]' ...")
        np.save(self.folder / "numbers.npy", np.zeros(6, np.int64))
        self.refused(
            "holds int64, but input 's' is string",
            "run",
            path,
            "--input",
            f"s={self.folder}/numbers.npy",
        )
        hashed = self.folder / "hashed.onnx"
        save(
            [helper.make_node("Cast", ["s"], ["y"], to=TensorProto.FLOAT)],
            [("s", TensorProto.STRING, [2])],
            ["y"],
            hashed,
        )
        self.refused("tensor 's' is string, which isn't computed with", "run", hashed)

    def test_optionals_and_mapped_sequences_are_what_is_in_them(self):
        rng = np.random.default_rng(0)
        x, z = (rng.normal(size=(2, 3)).astype(np.float32) for _ in range(2))
        shape = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 3]) for n in "abz"]
        body = helper.make_graph(
            [
                helper.make_node("Mul", ["a", "b"], ["ab"]),
                helper.make_node("Add", ["ab", "z"], ["o"]),
                helper.make_node("Neg", ["a"], ["n"]),
            ],
            "body",
            shape[:2],
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2, 3]) for n in "on"],
        )
        path = self.folder / "mapped.onnx"
        save(
            [
                helper.make_node("SequenceConstruct", ["x", "z"], ["s"]),
                helper.make_node("Optional", ["s"], ["maybe"]),
                helper.make_node("OptionalGetElement", ["maybe"], ["got"]),
                helper.make_node("SequenceMap", ["got", "x"], ["t", "u"], body=body),
                helper.make_node("ConcatFromSequence", ["t"], ["first"], axis=0),
                helper.make_node("ConcatFromSequence", ["u"], ["second"], axis=0),
                helper.make_node("Concat", ["first", "second"], ["y"], axis=0),
                helper.make_node("OptionalHasElement", ["maybe"], ["h"]),
            ],
            [("x", TensorProto.FLOAT, [2, 3]), ("z", TensorProto.FLOAT, [2, 3])],
            ["y", "h"],
            path,
            opset=18,
        )
        expected = np.concatenate([x * x + z, z * x + z, -x, -z])
        np.testing.assert_allclose(self.result(path, x=x, z=z), expected, rtol=1e-6)
        self.assertTrue(np.load(self.folder / "o" / "h.npy"))
        self.good("--hw", "8x8", path)

    def test_inputs_may_be_optionals_and_sequences(self):
        """The sum of a sequence, with o on top where it is there, times how many it has."""
        tensor = helper.make_tensor_type_proto(TensorProto.FLOAT, [2, "n"])
        given = helper.make_graph(
            [
                helper.make_node("OptionalGetElement", ["o"], ["e"]),
                helper.make_node("SequenceInsert", ["s", "e"], ["more"]),
                helper.make_node("ConcatFromSequence", ["more"], ["r"], axis=0, new_axis=1),
            ],
            "given",
            [],
            [helper.make_tensor_value_info("r", TensorProto.FLOAT, None)],
        )
        without = helper.make_graph(
            [helper.make_node("ConcatFromSequence", ["s"], ["q"], axis=0, new_axis=1)],
            "without",
            [],
            [helper.make_tensor_value_info("q", TensorProto.FLOAT, None)],
        )
        graph = helper.make_graph(
            [
                helper.make_node("OptionalHasElement", ["o"], ["h"]),
                helper.make_node("If", ["h"], ["c"], then_branch=given, else_branch=without),
                helper.make_node("ReduceSum", ["c", "first"], ["sum"], keepdims=0),
                helper.make_node("SequenceLength", ["s"], ["length"]),
                helper.make_node("Cast", ["length"], ["count"], to=TensorProto.FLOAT),
                helper.make_node("Mul", ["sum", "count"], ["y"]),
            ],
            "net",
            [
                helper.make_value_info("o", helper.make_optional_type_proto(tensor)),
                helper.make_value_info("s", helper.make_sequence_type_proto(tensor)),
            ],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
            [helper.make_tensor("first", TensorProto.INT64, [1], [0])],
        )
        path = self.folder / "inputs.onnx"
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 16)], ir_version=8)
        onnx.save(model, str(path))
        rng = np.random.default_rng(0)
        o, a, b = (rng.normal(size=(2, 3)).astype(np.float32) for _ in range(3))
        both = {"s/0": a, "s/1": b}
        np.testing.assert_allclose(self.result(path, o=o, **both), 2 * (a + b + o), rtol=1e-5)
        left_out = self.result(path, "--assume", "o=0", **both)
        np.testing.assert_allclose(left_out, 2 * (a + b), rtol=1e-5)
        named = self.good("inspect", path, "--bind", "n=3", "--assume", "s=4")
        self.assertIn("tensors of optional inputs: o = 1 (the most there can be)", named)
        self.assertIn("tensors of sequence inputs: s = 4", named)
        self.good("--hw", "8x8", path, "--input-shape", "s=2x3", "--input-shape", "o=2x3")
        shapes = self.good("shapes", path, "--bind", "n=3", "--assume", "s=2")
        self.assertRegex(shapes, r"c +float32 +3x2x3")
        left_out = ("run", path, "--input", f"o={self.folder}/o.npy", "--assume", "o=0")
        self.refused("an optional that --assume leaves out", *left_out)
        self.refused("at most 1", "inspect", path, "--bind", "n=3", "--assume", "o=2")


class Diff(Case):
    def dump(self, name, *args):
        self.good(
            "run",
            MODELS / "squeezenet1_1_op13.onnx",
            "--weights",
            "random:1",
            "--output",
            self.folder / name,
            "--dump",
            "all",
            "--threads",
            "2",
            *args,
        )
        return self.folder / name

    def test_equal_dumps_are_equal_and_changed_ones_are_not(self):
        a, b = self.dump("a"), self.dump("b")
        done = accsim("diff", a, b, "--atol", "0", "--rtol", "0")
        self.assertEqual(done.returncode, 0, done.stdout)
        manifest = json.loads((b / "manifest.json").read_text())
        changed = manifest["layers"][10]["outputs"][0]
        x = np.load(b / changed["file"])
        y = x.copy()
        y.flat[7] += 0.25
        np.save(b / changed["file"], y)
        done = accsim("diff", a, b, "--json", self.folder / "d.json")
        self.assertEqual(done.returncode, 1)
        report = json.loads((self.folder / "d.json").read_text())
        self.assertEqual(report["first_differing"], manifest["layers"][10]["name"])
        entry = [layer for layer in report["layers"] if layer["tensor"] == changed["name"]][0]
        d = y.astype(np.float64) - x
        self.assertAlmostEqual(entry["max_abs"], np.abs(d).max(), places=6)
        self.assertAlmostEqual(entry["mean_abs"], np.abs(d).mean(), places=9)
        snr = 10 * np.log10((x.astype(np.float64) ** 2).sum() / (d**2).sum())
        self.assertAlmostEqual(entry["snr_db"], snr, places=3)
        self.assertEqual(accsim("diff", a, b, "--atol", "1").returncode, 0)

    def test_layers_of_one_folder_only_are_named(self):
        path, _, _ = self.two_layers()
        a, b = self.folder / "a", self.folder / "b"
        self.good("run", path, "--output", a, "--dump", "all")
        self.good("run", path, "--output", b, "--dump", "Relu")
        for left, right in ((a, b), (b, a)):
            text = self.good("diff", left, right)
            self.assertIn(f"only in {a}: 2 layers: product, bias", text)
            self.assertNotIn(f"only in {b}", text)
        self.good("diff", a, b, "--json", self.folder / "d.json")
        report = json.loads((self.folder / "d.json").read_text())
        self.assertEqual((report["only_a"], report["only_b"]), (["product", "bias"], []))

    def test_inputs_and_weights_that_differ_are_named(self):
        path, _, _ = self.two_layers()
        a, b, c = self.folder / "a", self.folder / "b", self.folder / "c"
        for folder, seed in ((a, 1), (b, 2), (c, 1)):
            self.good(
                "run", path, "--output", folder, "--dump", "all", "--input", f"x=random:{seed}"
            )
        done = accsim("diff", a, b, "--json", self.folder / "d.json")
        self.assertEqual(done.returncode, 1)
        report = json.loads((self.folder / "d.json").read_text())
        self.assertEqual(report["inputs_differ"], ["x"])
        words = "inputs or weights differ, of which the layers are computed: "
        self.assertIn(f"{words}x\n", accsim("diff", a, b).stdout)
        self.assertNotIn(words, self.good("diff", a, c))
        # No layer differs: the exit code stays 0.
        layers = json.loads((c / "manifest.json").read_text())["layers"]
        file = next(t["file"] for t in layers[0]["inputs"] if t["name"] == "x")
        np.save(c / file, np.load(c / file) + 1)
        self.assertIn(f"{words}x\n", self.good("diff", a, c))
        self.good("diff", a, c, "--json", self.folder / "d.json")
        report = json.loads((self.folder / "d.json").read_text())
        self.assertTrue(report["equal"])
        self.assertEqual(report["inputs_differ"], ["x"])

    def test_values_that_are_not_finite_are_told(self):
        path, _, _ = self.two_layers()
        a, b = self.folder / "a", self.folder / "b"
        for folder in (a, b):
            self.good("run", path, "--output", folder, "--dump", "Relu")
        file = json.loads((b / "manifest.json").read_text())["layers"][0]["outputs"][0]["file"]
        x = np.load(b / file)
        for value in (np.nan, np.inf, -np.inf):
            y = x.copy()
            y.flat[1] = value
            np.save(b / file, y)
            done = accsim("diff", a, b, "--atol", "9", "--json", self.folder / "d.json")
            self.assertEqual(done.returncode, 1, value)
            (layer,) = json.loads((self.folder / "d.json").read_text())["layers"]
            self.assertEqual((layer["beyond"], layer["max_abs"]), (1, "inf"))
            self.assertEqual((layer["snr_db"], layer["cosine"]), ("nan", "nan"))
            np.save(a / file, y)
            self.assertEqual(accsim("diff", a, b).returncode, 0, value)
            np.save(a / file, x)

    def test_folders_without_manifest_are_refused(self):
        a = self.dump("a")
        self.refused("manifest.json", "diff", a, self.folder)
        for bad in ("nan", "inf", "-1", "much"):
            self.refused("0 or more", "diff", a, a, "--atol", bad)
            self.refused("0 or more", "diff", a, a, f"--rtol={bad}")
        (self.folder / "odd" / "manifest.json").mkdir(parents=True)
        self.refused("manifest.json", "diff", a, self.folder / "odd")
        manifest = json.loads((a / "manifest.json").read_text())
        manifest["layers"][0]["outputs"][0]["file"] = "tensors"
        (self.folder / "odd2").mkdir()
        (self.folder / "odd2" / "tensors").mkdir()
        (self.folder / "odd2" / "manifest.json").write_text(json.dumps(manifest))
        self.refused("is a folder", "diff", a, self.folder / "odd2")
        (self.folder / "manifest.json").write_text("{}")
        self.refused("accsim.dump/1", "diff", a, self.folder)
        (self.folder / "manifest.json").write_text('{"schema": "accsim.dump/1", "layers": [{}]}')
        self.refused("wrong kind", "diff", a, self.folder)

    def test_int8_costs_some_signal_and_layerwise_less_of_it(self):
        a, b, c = self.dump("a"), self.dump("b", "--int8"), self.dump("c", "--int8", "--layerwise")
        ends = {}
        for name, folder in (("run", b), ("layerwise", c)):
            report = self.folder / f"{name}.json"
            self.assertEqual(accsim("diff", a, folder, "--json", report).returncode, 1)
            layers = json.loads(report.read_text())["layers"]
            kept = {layer["layer"]: layer["snr_db"] for layer in layers if layer["snr_db"] != "inf"}
            # 8 bits of a roughly uniform signal leave about 35 to 50 dB.
            self.assertTrue(all(25 < v < 70 for v in kept.values()), kept)
            ends[name] = kept
        convs = list(ends["layerwise"])
        self.assertEqual(len(convs), 26)  # every convolution, named after what it was merged with
        self.assertGreater(
            np.mean([ends["layerwise"][n] for n in convs]), np.mean([ends["run"][n] for n in convs])
        )

    def test_layerwise_says_what_the_outputs_are(self):
        path, _, _ = self.two_layers()
        given = ("run", path, "--bind", "batch=3", "--int8", "--hw", ROOT / "configs" / "8x8.yaml")
        self.assertNotIn("float run's", self.good(*given))
        said = " ".join(self.good(*given, "--layerwise").split())
        self.assertIn("1 products in int8, each on the float run's values", said)

    def test_int8_product_is_the_integer_product(self):
        """One layer against the arithmetic of its definition, all scales from the float run."""
        path, w, _ = self.two_layers()
        x = np.random.default_rng(3).normal(size=(5, 8)).astype(np.float32)
        np.save(self.folder / "x.npy", x)
        self.good(
            "run",
            path,
            "--input",
            f"x={self.folder}/x.npy",
            "--int8",
            "--dump",
            "product",
            "--output",
            self.folder / "q",
            "--hw",
            ROOT / "configs" / "8x8.yaml",
        )
        manifest = json.loads((self.folder / "q" / "manifest.json").read_text())
        got = np.load(self.folder / "q" / manifest["layers"][0]["outputs"][0]["file"])
        real = np.maximum(x @ w, 0)
        sx, so = np.abs(x).max() / 127, np.abs(real).max() / 127
        sw = np.abs(w).max(0) / 127
        sums = np.rint(x / sx) @ np.rint(w / sw)
        expected = np.clip(np.rint(sums * (sx * sw / so)), 0, 127) * so
        np.testing.assert_allclose(got, expected, atol=1.01 * so)
        self.assertGreater((np.abs(got - expected) < so / 100).mean(), 0.9)

    def convolution(self, name, nodes, constants, kernel=3):
        """Conv -> `nodes` from "c" to "y"; its path, weights and an input of 1 x 5 x 9 x 9."""
        rng = np.random.default_rng(7)
        w = rng.normal(size=(6, 5, kernel, kernel)).astype(np.float32)
        b = rng.normal(size=6).astype(np.float32)
        x = rng.normal(size=(1, 5, 9, 9)).astype(np.float32)
        path = self.folder / f"{name}.onnx"
        stored = [("w", w), ("b", b)] + [(n, np.array(v, np.float32)) for n, v in constants.items()]
        save(
            [helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv"), *nodes],
            [("x", TensorProto.FLOAT, x.shape), ("r", TensorProto.FLOAT, (1, 6, 7, 7))],
            ["y"],
            path,
            [
                helper.make_tensor(n, TensorProto.FLOAT, v.shape, v.tobytes(), raw=True)
                for n, v in stored
            ],
        )
        windows = np.lib.stride_tricks.sliding_window_view(
            x.astype(float), (kernel, kernel), axis=(2, 3)
        )
        return path, x, w.astype(float), b.astype(float), windows

    def int8_output(self, path, **inputs):
        given = []
        for name, value in inputs.items():
            np.save(self.folder / f"{name}.npy", value)
            given += ["--input", f"{name}={self.folder / name}.npy"]
        machine = ROOT / "configs" / "8x8.yaml"
        self.good("run", path, *given, "--int8", "--output", self.folder / "q", "--hw", machine)
        return np.load(self.folder / "q" / "y.npy")

    @staticmethod
    def away(v):
        """The nearest integer, halves away from zero."""
        return np.sign(v) * np.floor(np.abs(v) + 0.5)

    @staticmethod
    def integer_sums(w, b, windows):
        """Sums as the machine has them, in their units, and those units by channel."""
        sx = np.abs(windows).max() / 127
        sw = np.abs(w).max((1, 2, 3), keepdims=True) / 127
        units = (sx * sw).reshape(1, -1, 1, 1)
        sums = np.einsum("bcijyx,ocyx->boij", np.rint(windows / sx), np.rint(w / sw))
        return sums + np.rint(b.reshape(1, -1, 1, 1) / units), units

    def expect_steps(self, got, expected, step):
        """In steps of the result: multipliers have 24 bits, so that hardly one is off by one."""
        wrong = np.abs(np.rint(got / step) - expected)
        self.assertLessEqual(wrong.max(), 1)
        self.assertLess((wrong > 0).mean(), 0.02)

    def test_int8_functions_are_tables_of_their_256_arguments(self):
        """SiLU behind a convolution, with and without a sum behind it, from the definition."""
        node = helper.make_node
        silu = [node("Sigmoid", ["c"], ["s"], name="s"), node("Mul", ["c", "s"], ["t"], name="t")]
        ends = {
            "alone": node("Identity", ["t"], ["y"], name="y"),
            "sum": node("Add", ["t", "r"], ["y"], name="y"),
        }
        for name, end in ends.items():
            path, x, w, b, windows = self.convolution(name, [*silu, end], {})
            r = np.random.default_rng(8).normal(size=(1, 6, 7, 7)).astype(np.float32)
            got = self.int8_output(path, x=x, r=r)
            real = np.einsum("bcijyx,ocyx->boij", windows, w) + b.reshape(1, -1, 1, 1)
            added = r if name == "sum" else 0 * r
            sc = np.abs(real).max() / 127
            sy = np.abs(real / (1 + np.exp(-real)) + added).max() / 127
            codes = np.arange(-128, 128) * sc
            table = np.clip(self.away(codes / (1 + np.exp(-codes)) / sy), -128, 127)
            sums, units = self.integer_sums(w, b, windows)
            v = np.clip(self.away(sums * units / sc), -128, 127).astype(int)
            y = table[v + 128]
            if name == "sum":
                sr = float(np.abs(r).max()) / 127
                y = np.clip(y + self.away(np.rint(r / sr) * (sr / sy)), -128, 127)
            self.expect_steps(got, y, sy)

    def test_int8_factors_are_part_of_the_scales(self):
        """relu((d - c conv) / e): nothing but another multiplier and bias."""
        node = helper.make_node
        nodes = [
            node("Mul", ["c", "k"], ["m"], name="m"),
            node("Sub", ["d", "m"], ["u"], name="u"),
            node("Div", ["u", "e"], ["v"], name="v"),
            node("Relu", ["v"], ["y"], name="y"),
        ]
        k, d, e = 0.75, 1.5, 0.3
        path, x, w, b, windows = self.convolution("factor", nodes, {"k": k, "d": d, "e": e})
        got = self.int8_output(path, x=x, r=np.zeros((1, 6, 7, 7), np.float32))
        real = np.einsum("bcijyx,ocyx->boij", windows, w) + b.reshape(1, -1, 1, 1)
        sy = np.maximum((d - k * real) / e, 0).max() / 127
        sums, units = self.integer_sums(w * (-k / e), (d - k * b) / e, windows)
        self.expect_steps(got, np.clip(self.away(sums * units / sy), 0, 127), sy)


class DiffFiles(Case):
    """Two files instead of two folders, held against numpy."""

    def write(self, name, values):
        path = self.folder / name
        if name.endswith(".npy"):
            np.save(path, values)
        else:
            path.write_bytes(np.ascontiguousarray(values).tobytes())
        return path

    def report(self, *args, code=0):
        done = accsim("diff", *args, "--json", "-")
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        report = json.loads(done.stdout)
        self.assertEqual(report["equal"], code == 0)
        return report

    def pair(self):
        rng = np.random.default_rng(4)
        a = rng.normal(size=(2, 3, 5)).astype(np.float32)
        b = a.copy()
        b[1, 0, 2] += 0.5
        b[1, 2, 4] -= 2
        return a, b

    def test_npy_files(self):
        a, b = self.pair()
        x, y = self.write("a.npy", a), self.write("b.npy", b)
        self.assertEqual(accsim("diff", x, x, "--atol", "0", "--rtol", "0").returncode, 0)
        report = self.report(x, y, code=1)
        (tensor,) = report["layers"]
        d = np.abs(b.astype(float) - a)
        self.assertEqual(tensor["beyond"], 2)
        self.assertAlmostEqual(tensor["max_abs"], d.max(), places=12)
        self.assertAlmostEqual(tensor["max_rel"], (d / np.abs(a)).max(), places=9)
        first = tensor["first_beyond"]
        self.assertEqual(first["index"], [1, 0, 2])
        self.assertEqual((first["a"], first["b"]), (float(a[1, 0, 2]), float(b[1, 0, 2])))
        text = accsim("diff", x, y).stdout
        self.assertIn(
            "first tensor beyond atol 1e-05 and rtol 0.001: a.npy", " ".join(text.split())
        )
        self.assertIn("first element beyond is at [1, 0, 2]", " ".join(text.split()))
        self.assertEqual(accsim("diff", x, y, "--atol", "2.5").returncode, 0)
        self.assertIn("within atol 2.5", accsim("diff", x, y, "--atol", "2.5").stdout)
        relative = str(float((d / np.abs(a)).max()) * 1.01)
        self.assertEqual(accsim("diff", x, y, "--rtol", relative).returncode, 0)

    def test_raw_files(self):
        a, b = self.pair()
        npy = self.write("a.npy", a)
        for name in ("b.bin", "b.out", "b"):
            raw = self.write(name, b)
            for words in (
                [npy, raw],  # as the other file has it
                [self.write("a.bin", a), raw, "--dtype", "float32", "--shape", "2x3x5"],
            ):
                (tensor,) = self.report(*words, code=1)["layers"]
                self.assertEqual(tensor["first_beyond"]["index"], [1, 0, 2])
        row = self.report(self.folder / "a.bin", raw, "--dtype", "float32", code=1)["layers"][0]
        self.assertEqual(row["first_beyond"]["index"], [17])

    def test_raw_files_of_every_type(self):
        for dtype, word in (
            (np.float64, "float64"),
            (np.float16, "float16"),
            (np.int8, "int8"),
            (np.uint16, "uint16"),
            (np.int32, "int32"),
            (np.int64, "int64"),
            (np.bool_, "bool"),
        ):
            a = np.arange(7).astype(dtype)
            b = a.copy()
            b[3] = 0
            words = [self.write("a.raw", a), self.write("b.raw", b), "--dtype", word]
            (tensor,) = self.report(*words, code=1)["layers"]
            self.assertEqual(tensor["elements"], 7)
            first = tensor["first_beyond"]
            self.assertEqual((first["index"], first["a"], first["b"]), ([3], float(a[3]), 0))
        # bfloat16 is the upper half of float32, int4 two in a byte.
        values = np.array([1.5, -2, 0.25], np.float32)
        halves = (values.view(np.uint32) >> 16).astype(np.uint16)
        words = [self.write("a.raw", halves), self.write("b.npy", values), "--dtype", "bfloat16"]
        self.assertEqual(self.report(*words)["layers"][0]["elements"], 3)
        nibbles = np.array([0x21, 0xF8], np.uint8)
        numbers = self.write("b.npy", np.array([1, 2, -8, -1], np.int8))
        self.report(self.write("a.raw", nibbles), numbers, "--dtype", "int4")

    def test_raw_files_of_a_models_tensor(self):
        path, w, b = self.two_layers()
        x = np.random.default_rng(1).normal(size=(1, 8)).astype(np.float32)
        r = np.maximum(x @ w, 0)
        for words, values in ((["--tensor", "r"], r), ([], r + b)):
            one, two = self.write("one.out", values), self.write("two.out", values + 1)
            (tensor,) = self.report(one, two, "--model", path, *words, code=1)["layers"]
            self.assertEqual(tensor["first_beyond"]["index"], [0, 0])
        self.refused("the model has no 'z'", "diff", one, two, "--model", path, "--tensor", "z")

    def test_other_shapes_and_types(self):
        a, _ = self.pair()
        x = self.write("a.npy", a)
        (tensor,) = self.report(x, self.write("b.npy", a.reshape(3, 10)), code=1)["layers"]
        self.assertEqual(tensor["problem"], "2x3x5 in one, 3x10 in the other")
        self.report(x, self.write("b.npy", a.astype(np.float64)))
        self.report(self.write("a.npy", np.arange(4)), self.write("b.npy", np.arange(4.0)))

    def test_what_cannot_be_compared_is_told(self):
        a, _ = self.pair()
        npy, raw = self.write("a.npy", a), self.write("a.bin", a)
        short = self.write("short.bin", a.ravel()[:-1])
        self.refused("raw elements don't say what they are", "diff", raw, short)
        self.refused("holds 116 bytes, but float32 2x3x5 takes 120", "diff", npy, short)
        self.refused("is no element type", "diff", raw, raw, "--dtype", "float")
        self.refused("is no shape", "diff", raw, raw, "--dtype", "float32", "--shape", "2x")
        self.refused("holds 120 bytes", "diff", raw, raw, "--dtype", "float32", "--shape", "2x3")
        self.refused("is a folder", "diff", self.folder, npy)
        self.refused("can't be opened", "diff", npy, self.folder / "absent.npy")
        self.refused(
            "isn't a .npy file", "diff", npy, self.write("no", a).rename(npy.with_name("n.npy"))
        )
        self.refused("folders say what they hold", "diff", self.folder, self.folder, "--shape", "2")


if __name__ == "__main__":
    unittest.main()
