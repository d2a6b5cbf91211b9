#!/usr/bin/python3
"""`accsim run --int8 --network`: networks in int8 from end to end: int8_network_test.py ACCSIM"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

from program import ACCSIM, ROOT

try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

MACHINE = ROOT / "configs" / "8x8.yaml"


def stored(name, array):
    array = np.asarray(array, np.float32)
    return helper.make_tensor(name, TensorProto.FLOAT, array.shape, array.tobytes(), raw=True)


def codes(values, low, high):
    """Scale, zero point and codes of values in 255 steps from low to high, 0 among them."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / 255
    zero = int(np.clip(np.rint(-128 - low / scale), -128, 127))
    return scale, zero, np.clip(np.rint(np.asarray(values) / scale) + zero, -128, 127).astype(int)


def nearest(v, shift):
    """v / 2^shift, halves away from zero."""
    half = (1 << shift) >> 1
    return (v + half) >> shift if v >= 0 else -((-v + half) >> shift)


def fixed(factor, bits):
    """The nearest multiplier of so many bits, and its shift."""
    fraction, exponent = math.frexp(factor)
    return int(np.rint(math.ldexp(fraction, bits))), bits - exponent


class Case(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(scratch.name)
        self.addCleanup(scratch.cleanup)

    def save(self, nodes, inputs, outputs, constants=(), opset=17):
        graph = helper.make_graph(
            nodes,
            "g",
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in inputs.items()],
            [helper.make_empty_tensor_value_info(o) for o in outputs],
            [stored(n, a) for n, a in dict(constants).items()],
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8
        )
        self.model = self.folder / "m.onnx"
        onnx.save(model, str(self.model))

    def accsim(self, *args):
        return subprocess.run(
            [str(a) for a in (ACCSIM, "run", self.model, *args)],
            capture_output=True,
            text=True,
            check=False,
        )

    def run_float(self, **inputs):
        return self.outputs("f", inputs)

    def outputs(self, folder, inputs, *options):
        given = []
        for name, values in inputs.items():
            whole = np.asarray(values).dtype in (np.int32, np.int64, np.bool_)
            kept = np.asarray(values, None if whole else np.float32)
            np.save(self.folder / f"{name}.npy", kept)
            given += ["--input", f"{name}={self.folder}/{name}.npy"]
        done = self.accsim(*given, *options, "--output", self.folder / folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.text = done.stdout
        return {f.stem: np.load(f) for f in (self.folder / folder).glob("*.npy")}

    def run_int8(self, *options, **inputs):
        report = self.folder / "quality.json"
        out = self.outputs(
            "q", inputs, "--int8", "--network", "--hw", MACHINE, "--json", report, *options
        )
        self.report = json.loads(report.read_text())
        return out


class Numbers(Case):
    def test_a_product_is_that_of_its_codes(self):
        # Integers, so that the float run's sums are exact and with them all scales.
        rng = np.random.default_rng(3)
        w, b = rng.integers(-9, 10, (12, 7)), rng.integers(-50, 51, 7)
        x = rng.integers(-3, 13, (5, 12))
        nodes = [
            helper.make_node("Gemm", ["x", "w", "b"], ["g"]),
            helper.make_node("Relu", ["g"], ["y"]),
        ]
        self.save(nodes, {"x": [5, 12]}, ["y"], {"w": w, "b": b})
        got = self.run_int8(x=x.astype(np.float32))["y"]

        sums = x @ w + b
        x_scale, x_zero, x_codes = codes(x, x.min(), x.max())
        y_scale, y_zero, _ = codes(0, 0, sums.max())
        wanted = np.empty(sums.shape)
        for n in range(7):
            # Integers keep their values: as many of 127 codes as are a multiple of the largest.
            step = np.gcd.reduce(w[:, n])
            each = 127 // (abs(w[:, n]).max() // step)
            w_scale, w_codes = step / each, w[:, n] // step * each
            multiplier, shift = fixed(x_scale * w_scale / y_scale, 24)
            bias = int(np.rint(b[n] / (x_scale * w_scale)))
            for m in range(5):
                total = int((x_codes[m] - x_zero) @ w_codes) + bias
                code = np.clip(nearest(total * multiplier, shift) + y_zero, y_zero, 127)
                wanted[m, n] = (code - y_zero) * y_scale
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6 * y_scale)

    def test_constants_that_int8_cannot_represent_are_refused(self):
        nodes = [helper.make_node("Gemm", ["x", "w", "b"], ["y"])]
        for name, at, value, fine in (
            ("w", (3, 2), np.nan, False),
            ("w", (3, 2), -np.inf, False),
            ("b", 2, np.nan, False),
            ("b", 2, -np.inf, True),  # saturates
            ("w", (3, 2), 1e30, True),  # a large step
        ):
            constants = {"w": np.ones((12, 7), np.float32), "b": np.ones(7, np.float32)}
            constants[name][at] = value
            self.save(nodes, {"x": [5, 12]}, ["y"], constants)
            for mode, where in ((), "node 'Gemm_0' (int8)"), (("--network",), "layer 'Gemm_0'"):
                done = self.accsim("--int8", *mode, "--hw", MACHINE)
                self.assertEqual(done.returncode, 0 if fine else 2, (name, value, done.stderr))
                if not fine:
                    self.assertIn(f"{where}: a weight or bias", done.stderr)
                    self.assertIn("mend the file's constants", done.stderr)

    def near(self, nodes, constants, least=30.0, **values):
        """Every product's layer in int8 is near float, or the host's; y is what is compared."""
        self.save(nodes, {n: np.shape(v) for n, v in values.items()}, ["y"], constants)
        values = {n: np.asarray(v, np.float32) for n, v in values.items()}
        wanted, got = self.run_float(**values)["y"], self.run_int8(**values)["y"]
        noise = np.square(wanted - got).sum()
        snr = 10 * math.log10(np.square(wanted).sum() / noise) if noise else math.inf
        self.assertGreater(snr, least, (nodes, self.report))

    def test_batch_dims_of_either_operand_are_numpys(self):
        rng = np.random.default_rng(4)
        close = helper.make_node("MatMul", ["t", "v"], ["y"])  # one that always runs in int8
        for a, b, hosted in (
            ([2, 4, 5, 6], [4, 6, 7], True),
            ([4, 5, 6], [2, 4, 6, 7], True),
            ([3, 1, 5, 6], [1, 4, 6, 7], True),
            ([2, 4, 5, 6], [1, 4, 6, 7], True),
            ([2, 4, 5, 6], [2, 1, 6, 7], False),
            ([2, 4, 5, 6], [2, 4, 6, 7], False),
            ([4, 5, 6], [6, 7], False),
            ([5, 6], [4, 6, 7], False),
            ([1, 4, 5, 6], [2, 1, 6, 7], False),
        ):
            values = {"x": rng.normal(size=a), "z": rng.normal(size=b)}
            constants = {"v": rng.normal(size=[7, 3])}
            for computed in (True, False):
                given = {"x": values["x"]}
                stored_too = dict(constants)
                (given if computed else stored_too)["z"] = values["z"]
                with self.subTest(a=a, b=b, computed=computed):
                    nodes = [helper.make_node("MatMul", ["x", "z"], ["t"]), close]
                    self.near(nodes, stored_too, **given)
                    self.assertEqual(self.report["left_out"] != [], hosted)
                    self.assertIn(f"; {1 if hosted else 2} products in int8", self.text)

    def test_a_computed_kernel_and_a_constant_first_operand_are_the_hosts(self):
        rng = np.random.default_rng(5)
        flat = [
            helper.make_node("Flatten", ["t"], ["f"]),
            helper.make_node("MatMul", ["f", "v"], ["y"]),
        ]
        self.near(
            [helper.make_node("Conv", ["x", "k"], ["t"]), *flat],
            {"v": rng.normal(size=[3 * 4 * 4, 5])},
            x=rng.normal(size=[2, 2, 6, 6]),
            k=rng.normal(size=[3, 2, 3, 3]),
        )
        self.assertEqual(self.report["left_out"], ["Conv_0 (Conv)"])
        self.near(
            [
                helper.make_node("MatMul", ["w", "x"], ["t"]),
                helper.make_node("MatMul", ["t", "v"], ["y"]),
            ],
            {"w": rng.normal(size=[4, 6]), "v": rng.normal(size=[5, 3])},
            x=rng.normal(size=[6, 5]),
        )
        self.assertEqual(self.report["left_out"], ["MatMul_0 (MatMul)"])

    def test_the_factor_of_two_computed_operands_counts(self):
        rng = np.random.default_rng(6)
        x, z = rng.normal(size=[8, 16]), rng.normal(size=[16, 8])
        for alpha in (-1.0, 8.0, 0.01):
            nodes = [helper.make_node("Gemm", ["x", "z"], ["y"], alpha=alpha)]
            self.near(nodes, {}, x=x, z=z)
            values = {"x": x.astype(np.float32), "z": z.astype(np.float32)}
            got = self.outputs("i", values, "--int8", "--hw", MACHINE)["y"]
            wanted = alpha * (x @ z)
            self.assertLess(np.abs(got - wanted).max(), 0.05 * np.abs(wanted).max(), alpha)

    def test_products_of_scales_that_a_run_finds(self):
        # Weights without a scale of their own: the result is times the found scale alone.
        rng = np.random.default_rng(9)
        w = rng.integers(-99, 99, (16, 8)).astype(np.int8)
        x = rng.normal(size=[8, 16])
        for factor in (None, 0.25):
            nodes = [
                helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
                helper.make_node("MatMulInteger", ["q", "w", "z"], ["i"]),
                helper.make_node("Cast", ["i"], ["c"], to=TensorProto.FLOAT),
            ]
            if factor:
                nodes.append(helper.make_node("Mul", ["s", "f"], ["t"]))
            nodes.append(helper.make_node("Mul", ["c", "t" if factor else "s"], ["y"]))
            self.save(nodes, {"x": [8, 16]}, ["y"], {"f": factor} if factor else {})
            model = onnx.load(str(self.model))
            model.graph.initializer.append(numpy_helper.from_array(w, "w"))
            onnx.save(model, str(self.model))
            wanted = (factor or 1) * (x @ w)
            given = {"x": x.astype(np.float32)}
            for got in (
                self.run_float(**given)["y"],
                self.run_int8(**given)["y"],
                self.outputs("i", given, "--int8", "--hw", MACHINE)["y"],
            ):
                self.assertLess(np.abs(got - wanted).max(), 0.05 * np.abs(wanted).max(), factor)

    def test_an_engine_of_dot_products_has_the_values_of_any_array(self):
        rng = np.random.default_rng(8)
        nodes = [
            helper.make_node("Conv", ["x", "a"], ["c"], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["c"], ["r"]),
            helper.make_node("Conv", ["r", "b"], ["d"], group=12),
            helper.make_node("MaxPool", ["d"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
            helper.make_node("GlobalAveragePool", ["p"], ["y"]),
        ]
        a, b = rng.normal(size=[12, 5, 3, 3]), rng.normal(size=[12, 1, 3, 3])
        self.save(nodes, {"x": [1, 5, 10, 10]}, ["y"], {"a": a, "b": b})
        x = {"x": rng.normal(size=[1, 5, 10, 10]).astype(np.float32)}
        for network in ([], ["--network"]):
            got = [
                self.outputs("q", x, "--int8", *network, "--hw", machine)["y"]
                for machine in ("nvdla-nv-small", MACHINE)
            ]
            np.testing.assert_array_equal(*got)
            self.assertGreater(np.abs(got[0]).max(), 0)

    def test_doubles_have_scales_too(self):
        rng = np.random.default_rng(7)
        w = rng.normal(size=[16, 8])
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["y"])],
            "g",
            [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [5, 16])],
            [helper.make_empty_tensor_value_info("y")],
            [helper.make_tensor("w", TensorProto.DOUBLE, w.shape, w.tobytes(), raw=True)],
        )
        self.model = self.folder / "d.onnx"
        onnx.save(
            helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]),
            str(self.model),
        )
        x = 0.1 * rng.normal(size=[5, 16])
        np.save(self.folder / "x.npy", x)
        for mode in ((), ("--network",)):
            done = self.accsim(
                "--int8",
                *mode,
                "--hw",
                MACHINE,
                "--output",
                self.folder / "o",
                "--input",
                f"x={self.folder}/x.npy",
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            got = np.load(self.folder / "o" / "y.npy")
            self.assertLess(np.abs(got - x @ w).max(), 0.05 * np.abs(x @ w).max())

    def test_what_is_not_a_number_is_not_compared(self):
        nodes = [helper.make_node("MatMul", ["x", "w"], ["y"])]
        w = np.eye(4)
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        x[1] = np.nan
        self.save(nodes, {"x": [3, 4]}, ["y"], {"w": w})
        self.run_int8(x=x)
        (output,) = self.report["outputs"]
        self.assertEqual(output["not_compared"], 4)
        self.assertEqual(output["rows"], 2)
        self.assertGreater(output["snr_db"], 30)
        for value in (np.nan, 1e12):
            self.run_int8(x=np.full([3, 4], value, np.float32))
            (output,) = self.report["outputs"]
            self.assertEqual(output["not_compared"], 12)
            self.assertIsNone(output["snr_db"])
            self.assertIn("nothing to compare with float (12 of 12 elements", self.text)

    def test_inputs_that_decide_shapes_are_alike_in_a_series(self):
        nodes = [
            helper.make_node("Reshape", ["x", "s"], ["t"]),
            helper.make_node("MatMul", ["t", "w"], ["y"]),
        ]
        rng = np.random.default_rng(8)
        self.save(nodes, {"x": [2, 6]}, ["y"], {"w": rng.normal(size=[3, 5])})
        model = onnx.load(str(self.model))
        model.graph.input.append(helper.make_tensor_value_info("s", TensorProto.INT64, [2]))
        onnx.save(model, str(self.model))
        given = []
        for name, value in (("s", [[4, 3], [-1, 3]]), ("x", rng.normal(size=[2, 2, 6]))):
            np.save(
                self.folder / f"{name}.npy",
                np.asarray(value, np.int64 if name == "s" else np.float32),
            )
            given += ["--input", f"{name}={self.folder}/{name}.npy"]
        common = ("--int8", "--network", "--hw", MACHINE, "--inputs", "2", *given)
        done = self.accsim(*common)
        self.assertEqual(done.returncode, 2)
        self.assertIn("input 's' decides shapes", done.stderr)
        np.save(self.folder / "s.npy", np.asarray([[4, 3], [4, 3]]))
        done = self.accsim(*common)  # and x, which is small too, stays an input
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("; 1 products in int8", done.stdout)

    def test_the_noise_is_that_of_the_steps(self):
        # What an output is off by: half a step of its own, what half a step of its inputs makes of
        # it, and what 16 bits of a multiplier leave.
        rng = np.random.default_rng(5)
        a = rng.normal(1, 2, (1, 4, 8, 8)).astype(np.float32)
        b = rng.normal(-2, 1, (1, 4, 8, 8)).astype(np.float32)
        c = rng.normal(0, 3, (4, 1, 1)).astype(np.float32)
        g, s, m = (rng.normal(0, 2, 4).astype(np.float32) for _ in range(3))
        v = rng.uniform(0.2, 3, 4).astype(np.float32)
        of_norm = np.abs(g / np.sqrt(v + 1e-5)).max()
        norm = ["a", "g", "s", "m", "v"]
        window = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [2, 2]}
        cases = [  # node, how much of an error of a and of b the result has at most
            (helper.make_node("Add", ["a", "b"], ["y"]), 1, 1),
            (helper.make_node("Sub", ["a", "b"], ["y"]), 1, 1),
            (helper.make_node("Sub", ["a", "c"], ["y"]), 1, 0),
            (helper.make_node("Max", ["a", "b"], ["y"]), 1, 1),
            (helper.make_node("Mul", ["a", "b"], ["y"]), np.abs(b).max(), np.abs(a).max()),
            (helper.make_node("MaxPool", ["a"], ["y"], **window), 1, 0),
            (helper.make_node("AveragePool", ["a"], ["y"], **window), 1, 0),
            (helper.make_node("GlobalAveragePool", ["a"], ["y"]), 1, 0),
            (helper.make_node("Sigmoid", ["a"], ["y"]), 0.25, 0),
            (helper.make_node("Tanh", ["a"], ["y"]), 1, 0),
            (helper.make_node("LeakyRelu", ["a"], ["y"]), 1, 0),
            (helper.make_node("BatchNormalization", norm, ["y"]), of_norm, 0),
        ]
        step = {"a": codes(0, a.min(), a.max())[0], "b": codes(0, b.min(), b.max())[0]}
        step_c = codes(0, c.min(), c.max())[0]
        constants = {"c": c, "g": g, "s": s, "m": m, "v": v}
        for node, of_a, of_b in cases:
            with self.subTest(node.op_type, inputs=node.input):
                given = {n: v for n, v in {"a": a, "b": b}.items() if n in node.input}
                self.save([node], {n: v.shape for n, v in given.items()}, ["y"], constants)
                wanted, got = self.run_float(**given)["y"], self.run_int8(**given)["y"]
                own = codes(0, wanted.min(), wanted.max())[0]
                most = own + of_a * step["a"] / 2 + of_b * step["b"] / 2
                if "c" in node.input:
                    most += step_c / 2
                if node.op_type == "Mul":
                    most += step["a"] * step["b"] / 4
                self.assertLessEqual(np.abs(got - wanted).max(), 1.001 * most)
                self.assertGreater(np.abs(got - wanted).max(), 0)

    def test_rows_of_a_transformer(self):
        rng = np.random.default_rng(7)
        x = rng.normal(0, 2, (1, 6, 16)).astype(np.float32)
        gain, shift = rng.uniform(0.5, 2, 16), rng.normal(0, 1, 16)
        step = codes(0, x.min(), x.max())[0]
        self.save([helper.make_node("Softmax", ["x"], ["y"])], {"x": x.shape}, ["y"])
        wanted, got = self.run_float(x=x)["y"], self.run_int8(x=x)["y"]
        # Logits off by half a step each change a share by at most that and their mean's.
        most = wanted.max() / 255 + wanted.max() * math.expm1(step)
        self.assertLessEqual(np.abs(got - wanted).max(), most)
        self.save(
            [helper.make_node("LayerNormalization", ["x", "g", "s"], ["y"], axis=-1)],
            {"x": x.shape},
            ["y"],
            {"g": gain, "s": shift},
        )
        wanted, got = self.run_float(x=x)["y"], self.run_int8(x=x)["y"]
        # The row of codes, normalised exactly, is within a step of the result.
        scale, zero, x_codes = codes(x, x.min(), x.max())
        r = (x_codes - zero) * scale
        r = (r - r.mean(-1, keepdims=True)) / np.sqrt(r.var(-1, keepdims=True) + 1e-5)
        own = codes(0, wanted.min(), wanted.max())[0]
        exact = np.clip(r * gain + shift, wanted.min(), wanted.max())
        self.assertLessEqual(np.abs(got - exact).max(), 1.02 * own)

    def test_rows_of_length_one_and_of_variance_one(self):
        """Rows of codes, normalised exactly, are within a step of the results."""
        x = np.random.default_rng(8).normal(0, 2, (2, 6, 5, 16)).astype(np.float32)
        scale, zero, x_codes = codes(x, x.min(), x.max())
        r = (x_codes - zero) * scale
        centred = r - r.mean((2, 3), keepdims=True)
        for node, exact in (
            (
                helper.make_node("LpNormalization", ["x"], ["y"], axis=1),
                r / np.sqrt((r * r).sum(1, keepdims=True)),
            ),
            (
                helper.make_node("LpNormalization", ["x"], ["y"], axis=-1, p=2),
                r / np.sqrt((r * r).sum(-1, keepdims=True)),
            ),
            (
                helper.make_node("MeanVarianceNormalization", ["x"], ["y"], axes=[2, 3]),
                centred / np.sqrt((centred * centred).mean((2, 3), keepdims=True)),
            ),
        ):
            self.save([node], {"x": x.shape}, ["y"])
            wanted, got = self.run_float(x=x)["y"], self.run_int8(x=x)["y"]
            own = codes(0, wanted.min(), wanted.max())[0]
            exact = np.clip(exact, wanted.min(), wanted.max())
            self.assertLessEqual(np.abs(got - exact).max(), 1.02 * own, node.op_type)

    def test_what_is_filled(self):
        # An infinity is the end of the codes, whichever side of the condition it is on.
        rng = np.random.default_rng(13)
        x = rng.normal(0, 1, (3, 8)).astype(np.float32)
        kept = rng.integers(0, 2, 8).astype(bool)
        for end, of in ((-np.inf, "x"), (3e38, "x"), (-1e9, "zeros"), (np.inf, "zeros")):
            for when in (True, False):
                with self.subTest(end=end, of=of, when=when):
                    branches = ["end", of] if when else [of, "end"]
                    nodes = [
                        helper.make_node("Not", ["kept"], ["gone"]),
                        helper.make_node("Where", ["gone" if when else "kept", *branches], ["f"]),
                        helper.make_node("Clip", ["f", "low", "high"], ["c"]),
                        helper.make_node("Add", ["c", "x"], ["y"]),
                    ]
                    bounds = {"end": np.array(end), "low": np.array(-1.0), "high": np.array(1.0)}
                    zeros = rng.normal(0, 0.3, (3, 8)).astype(np.float32)
                    self.save(nodes, {"x": x.shape}, ["y"], bounds | {"zeros": zeros})
                    model = onnx.load(str(self.model))
                    model.graph.input.append(
                        helper.make_tensor_value_info("kept", TensorProto.BOOL, [8])
                    )
                    onnx.save(model, str(self.model))
                    got = self.run_int8(x=x, kept=kept)["y"]
                    self.assertEqual(self.report["left_out"], [])
                    values = x if of == "x" else zeros
                    wanted = np.where(kept, values, end).clip(-1, 1) + x
                    self.assertLessEqual(np.abs(got - wanted).max(), 0.1)

    def test_lines_that_no_window_reaches(self):
        """Windows of 3 in steps of 2 leave the last line and column of 8 alone; of the same image
        without them the network computes the same."""
        weights = np.arange(4 * 27).reshape(4, 3, 3, 3) / 50 - 1
        node = helper.make_node("Conv", ["x", "w"], ["y"], strides=[2, 2])
        image = np.sin(np.arange(3 * 64)).reshape(1, 3, 8, 8)
        image[0, 0, 0, 0] = 1.5  # the largest, so that the scales are the same
        results = []
        for size in (8, 7):
            self.save([node], {"x": [1, 3, size, size]}, ["y"], {"w": weights})
            results.append(self.run_int8(x=image[:, :, :size, :size])["y"])
        self.assertEqual(results[0].shape, (1, 4, 3, 3))
        self.assertGreater(np.ptp(results[0]), 1)
        np.testing.assert_array_equal(*results)

    def test_integers(self):
        # Rows by a list; what is equal in all bytes and what in some; numbers that become floats.
        rng = np.random.default_rng(11)
        rows = rng.normal(0, 1, (40, 6)).astype(np.float32)
        ids = rng.integers(0, 40, (5,))
        kinds = np.array([263, 7, 263 + 2**40, -249, 519])
        places = rng.integers(0, 300, (5, 1))
        nodes = [
            helper.make_node("Gather", ["rows", "ids"], ["picked"]),
            helper.make_node("Equal", ["kinds", "kind"], ["alike"]),
            helper.make_node("Where", ["alike", "two", "half"], ["weight"]),
            helper.make_node("Cast", ["places"], ["place"], to=TensorProto.FLOAT),
            helper.make_node("Neg", ["place"], ["behind"]),
        ]
        shapes = {"ids": [5], "kinds": [5], "places": [5, 1]}
        constants = {"rows": rows, "two": np.array(2), "half": np.array(0.5)}
        self.save(nodes, shapes, ["picked", "weight", "behind"], constants)
        model = onnx.load(str(self.model))
        for given in model.graph.input:
            given.type.tensor_type.elem_type = TensorProto.INT64
        model.graph.initializer.append(helper.make_tensor("kind", TensorProto.INT64, [], [263]))
        onnx.save(model, str(self.model))
        got = self.run_int8(ids=ids, kinds=kinds, places=places)
        self.assertEqual(self.report["left_out"], [])
        step = codes(0, rows.min(), rows.max())[0]
        self.assertLessEqual(np.abs(got["picked"] - rows[ids]).max(), 1.001 * step)
        np.testing.assert_allclose(got["weight"], [2, 0.5, 0.5, 0.5, 0.5], atol=2 / 255 / 2 * 1.01)
        self.assertLessEqual(np.abs(got["behind"] + places).max(), 1.01 * places.max() / 255)

    def test_stored_integers(self):
        """Weights that the file has as integers of scales of their own, channel by channel, many
        enough to stay in the file until they are read; each channel takes all of its range."""
        rng = np.random.default_rng(5)
        x = rng.uniform(-1, 1, (7, 96)).astype(np.float32)
        w = rng.integers(-127, 128, (96, 200)).astype(np.int8)
        w[0] = 127
        by = rng.uniform(0.001, 0.02, 200).astype(np.float32)
        x_scale, x_zero, y_scale, y_zero = 2 / 255, 3, 0.5, -7
        nodes = [
            helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["xq"]),
            helper.make_node("DequantizeLinear", ["xq", "xs", "xz"], ["xf"]),
            helper.make_node("DequantizeLinear", ["w", "by"], ["wf"], axis=1),
            helper.make_node("MatMul", ["xf", "wf"], ["p"]),
            helper.make_node("QuantizeLinear", ["p", "ys", "yz"], ["yq"]),
            helper.make_node("DequantizeLinear", ["yq", "ys", "yz"], ["y"]),
        ]
        scales = {"xs": np.array(x_scale), "by": by, "ys": np.array(y_scale)}
        self.save(nodes, {"x": x.shape}, ["y"], scales)
        model = onnx.load(str(self.model))
        for name, array in (
            ("w", w),
            ("xz", np.array(x_zero, np.int8)),
            ("yz", np.array(y_zero, np.int8)),
        ):
            model.graph.initializer.append(
                helper.make_tensor(name, TensorProto.INT8, array.shape, array.tobytes(), raw=True)
            )
        onnx.save(model, str(self.model))
        step, zero = np.float32(x_scale), x_zero
        read = (np.clip(np.rint(x / step) + zero, -128, 127) - zero) * step
        exact = read.astype(np.float64) @ (w * by.astype(np.float64))
        reach = (np.array([-128, 127]) - y_zero) * y_scale
        got = self.run_int8(x=x)["y"]
        self.assertEqual(self.report["left_out"], [])
        self.assertLessEqual(np.abs(got - np.clip(exact, *reach)).max(), 0.51 * y_scale)
        # Against the floats that the integers stand for: half a step of results, evenly spread.
        noise = np.clip(exact, *reach) - got
        snr = 10 * math.log10((exact**2).mean() / (noise**2).mean())
        self.assertAlmostEqual(self.report["outputs"][0]["snr_db"], snr, delta=1)


class Quality(Case):
    def classifier(self):
        rng = np.random.default_rng(11)
        nodes = [
            helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", ["c"], ["r"]),
            helper.make_node("Conv", ["r", "v"], ["d"], pads=[1, 1, 1, 1]),
            helper.make_node("Add", ["d", "r"], ["s"]),
            helper.make_node("GlobalAveragePool", ["s"], ["p"]),
            helper.make_node("Flatten", ["p"], ["f"]),
            helper.make_node("Gemm", ["f", "u"], ["y"]),
        ]
        constants = {
            "w": rng.normal(0, 0.3, (8, 3, 3, 3)),
            "v": rng.normal(0, 0.1, (8, 8, 3, 3)),
            "u": rng.normal(0, 1, (8, 4)),
        }
        self.save(nodes, {"x": [1, 3, 9, 9]}, ["y"], constants)
        return rng.normal(0, 1, (6, 1, 3, 9, 9)).astype(np.float32)

    def test_signal_noise_and_top_1_of_all_inputs(self):
        x = self.classifier()
        got = self.run_int8("--calibrate", 3, "--inputs", len(x), x=x)["y"]
        self.assertEqual(got.shape, (len(x), 1, 4))
        report, text = self.report, self.text
        wanted = np.stack([self.run_float(x=one)["y"] for one in x]).astype(np.float64)
        signal, noise = (wanted**2).sum(), ((wanted - got) ** 2).sum()
        agreed = int((wanted.argmax(-1) == got.argmax(-1)).sum())
        self.report, self.text = report, text
        output = self.report["outputs"][0]
        self.assertEqual((output["name"], output["rows"]), ("y", len(x)))
        self.assertEqual(output["top1_agreed"], agreed)
        self.assertAlmostEqual(output["snr_db"], 10 * math.log10(signal / noise), places=4)
        self.assertEqual((self.report["inputs"], self.report["calibrated"]), (len(x), 3))
        self.assertEqual(self.report["referenced"], 4 * len(x))  # two sums, a mean, a product
        self.assertEqual(self.report["left_out"], [])
        self.assertIn(f"top-1 agrees in {agreed} of {len(x)}", self.text)

    def test_scales_are_those_of_the_inputs_calibrated_on(self):
        x = self.classifier()
        got = self.run_int8("--calibrate", 1, "--inputs", len(x), x=x)["y"][0]
        alone = self.run_int8(x=x[0])["y"]
        np.testing.assert_array_equal(got, alone)
        all_of_them = self.run_int8("--inputs", len(x), x=x)["y"][0]
        self.assertFalse(np.array_equal(got, all_of_them))

    def test_layers_say_where_the_noise_begins(self):
        x = self.classifier()
        out = self.run_int8(x=x[0])
        layers = [(q["op_type"], q["snr_db"]) for q in self.report["layers"]]
        self.assertEqual([op for op, _ in layers], ["Conv", "Conv", "GlobalAveragePool", "Gemm"])
        wanted = self.run_float(x=x[0])["y"].astype(np.float64)
        snr = 10 * math.log10((wanted**2).sum() / ((wanted - out["y"]) ** 2).sum())
        self.assertAlmostEqual(layers[-1][1], snr, places=4)

    def test_a_percentile_clips(self):
        x = np.zeros((1, 1000), np.float32)
        x[0, :990] = np.linspace(-1, 1, 990)
        x[0, 990:] = 100
        self.save([helper.make_node("Sigmoid", ["x"], ["y"])], {"x": [1, 1000]}, ["y"])
        noise = {}
        for percentile in (100, 98):
            wanted = self.run_float(x=x)["y"][0, :990]
            got = self.run_int8("--percentile", percentile, x=x)["y"][0, :990]
            noise[percentile] = np.abs(got - wanted).max()
        low, high = np.sort(x[0])[[20, 979]]  # 2 % and 98 % of 999
        clipped = max(low + 1, 1 - high)
        self.assertLess(noise[98], 0.25 * (clipped + (high - low) / 255) + 1 / 255)
        self.assertGreater(noise[100], 0.25 * 100 / 255 / 4)

    def check_picked_elements(self, axis, left_out):
        """GatherElements, by places some of which count from the end."""
        x = np.random.default_rng(2).normal(0, 1, (3, 40)).astype(np.float32)
        nodes = [
            helper.make_node("Tanh", ["x"], ["t"]),
            helper.make_node("GatherElements", ["t", "places"], ["s"], axis=axis),
            helper.make_node("Sigmoid", ["s"], ["y"]),
        ]
        self.save(nodes, {"x": [3, 40]}, ["y"])
        model = onnx.load(str(self.model))
        size = x.shape[axis]
        places = np.random.default_rng(3).integers(-size, size, (3, 40))
        model.graph.initializer.append(numpy_helper.from_array(places, "places"))
        onnx.save(model, str(self.model))
        got = self.run_int8(x=x)["y"]
        self.assertEqual(len(self.report["left_out"]), left_out)
        t_step = codes(0, np.tanh(x).min(), np.tanh(x).max())[0]
        picked = np.take_along_axis(np.tanh(x), places, axis)
        s_step = codes(0, picked.min(), picked.max())[0]
        # Each element has the noise of what it was, a step at most, and its own.
        most = 0.25 * (t_step + s_step) + 1 / 255
        self.assertLess(np.abs(got - 1 / (1 + np.exp(-picked))).max(), most)

    def test_the_host_computes_what_has_no_commands(self):
        self.check_picked_elements(0, 1)
        self.assertIn("GatherElements", self.report["left_out"][0])

    def test_gathered_loads_read_constant_lists(self):
        self.check_picked_elements(1, 0)

    def test_weights_and_images_count_as_memory(self):
        """4 MiB of weights in float; in int8 a quarter of them is in each of four images: 8 MiB."""
        weights = np.ones((1024, 1024))
        node = helper.make_node("MatMul", ["x", "w"], ["y"], "product")
        self.save([node], {"x": [1, 1024]}, ["y"], {"w": weights})
        words = ("--int8", "--network", "--hw", MACHINE, "--max-memory-mib")
        for mib in (3, 7):
            done = self.accsim(*words, mib)
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f"at most {mib} are taken; --max-memory-mib N takes N", done.stderr)
        self.assertEqual(self.accsim(*words, 10).returncode, 0)

    def test_what_cannot_be_asked(self):
        self.classifier()
        for text, *options in (
            ("--int8", "--network"),
            ("--network", "--int8", "--inputs", 2),
            ("--network", "--int8", "--calibrate", 2),
            ("--network", "--int8", "--percentile", 99),
            ("--network", "--int8", "--json", "-"),
            ("one by one", "--int8", "--network", "--layerwise"),
            ("--network", "--int8", "--network", "--output", "o", "--dump", "all"),
        ):
            with self.subTest(options):
                done = self.accsim(*options)
                self.assertEqual(done.returncode, 2)
                self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
