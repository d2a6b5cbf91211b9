"""Is golden() right about what a module's calls gave? Without torch: on what it recorded once in
tests/data/torch (make_calls.py). Run it on a Python with numpy; exit code 77 without."""

import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    print("skipped: no numpy (Debian: python3-numpy)")
    sys.exit(77)

import accsim
from accsim import _golden
from support import ROOT, main

DATA = ROOT / "tests" / "data" / "torch"
CALLS, TWICE = str(DATA / "calls.onnx"), str(DATA / "twice.onnx")


def recorded():
    """The input, and the calls in their order."""
    with numpy.load(DATA / "calls.npz") as file:
        calls = []
        for name in (n for n in file.files if n != "input"):
            _, layer, call, output = name.split("|")
            calls.append(_golden.Call(layer, int(call), int(output), file[name]))
        return file["input"], calls


class GoldenTest(unittest.TestCase):
    def setUp(self):
        self.x, self.calls = recorded()

    def compare(self, calls=None, **options):
        options.setdefault("tolerance", 1e-5)
        return _golden.compare_calls(CALLS, calls or self.calls, [self.x], **options)

    def value(self, layer, call=1, output=0):
        (one,) = (
            c.value for c in self.calls if (c.layer, c.call, c.output) == (layer, call, output)
        )
        return one

    def test_is_a_value_kept_before_it_is_overwritten(self):
        for before, after in (("bn", "relu"), ("body.0", "body.1")):
            self.assertLess(self.value(before).min(), 0)
            numpy.testing.assert_array_equal(
                numpy.maximum(self.value(before), 0), self.value(after)
            )

    def test_has_each_call_a_row_with_its_node(self):
        nodes = {(r["layer"], r["call"], r["output"]): r["node"] for r in self.compare()}
        self.assertEqual(len(nodes), len(self.calls))
        for layer, call, node in (
            ("conv", 1, "/conv/Conv"),
            ("body.0", 1, "/body/body.0/Conv"),
            ("body.0", 2, "/body/body.0_1/Conv"),
            ("body", 1, "/body/body.1/Relu"),  # a container: what its last module gave
            ("body", 2, "/body/body.1_1/Relu"),
            ("relu", 1, "/relu/Relu"),
            ("relu", 2, "/relu_1/Relu"),
            ("drop", 1, "/relu_1/Relu"),  # gives what it reads
        ):
            self.assertEqual(nodes[layer, call, 0], node, layer)
        self.assertNotEqual(nodes["head", 1, 0], nodes["head", 1, 1])  # two tensors
        self.assertEqual(nodes["head", 1, 1], nodes["", 1, 1])  # the network's second result

    def test_are_all_calls_right(self):
        rows = self.compare()
        self.assertTrue(rows.passed, rows)
        self.assertEqual(rows.failed, [])
        self.assertEqual([r["shape"] for r in rows], [c.value.shape for c in self.calls])

    def test_is_a_wrong_value_a_failure(self):
        """Of 1 element by half of the largest value, of the value that an in-place activation
        leaves, of the other call."""
        worse = self.value("bn").copy()
        worse.flat[3] += numpy.abs(worse).max() / 2
        for wrong in (worse, self.value("relu"), self.value("bn") * numpy.nan):
            calls = [c if c.layer != "bn" else _golden.Call("bn", 1, 0, wrong) for c in self.calls]
            rows = self.compare(calls)
            self.assertFalse(rows.passed)
            self.assertEqual([r["layer"] for r in rows.failed], ["bn"])
            self.assertGreater(rows.failed[0]["float_error"], 0.1)
            self.assertIn("FAILED", str(rows))

    def test_is_the_error_relative_to_the_largest_value(self):
        error = _golden._error
        a, b = numpy.array([1.0, -4.0, 2.0]), numpy.array([1.0, -4.0, 1.0])
        self.assertEqual(error(numpy, a, b), 1 / 4)
        self.assertEqual(error(numpy, a, b[:2]), float("inf"))
        infinite = numpy.array([1.0, numpy.inf, numpy.nan])
        self.assertEqual(error(numpy, infinite, infinite), 0)
        self.assertEqual(error(numpy, a, infinite), float("inf"))
        self.assertEqual(error(numpy, numpy.array([True]), numpy.array([False])), 1)
        self.assertEqual(error(numpy, numpy.zeros(0), numpy.zeros(0)), 0)

    def test_where_are_products_of_int8(self):
        with tempfile.TemporaryDirectory() as folder:
            products = _golden._Int8(TWICE, [self.x], folder, hw="16x16", layerwise=True)
            rows = self.compare(int8=products)
            errors = {(r["layer"], r["call"]): r.get("int8_error") for r in rows}
            self.assertIsNone(errors["conv", 1])  # its program ends behind the activation
            for layer in (("relu", 1), ("body.1", 1), ("body", 1)):
                self.assertGreater(errors[layer], 0, layer)
                self.assertLess(errors[layer], 0.1, layer)
            self.assertEqual(errors["body", 1], errors["body.1", 1])
            self.assertTrue(rows.passed)
            self.assertFalse(self.compare(int8=products, int8_tolerance=1e-6).passed)
            self.assertTrue(self.compare(int8=products, int8_tolerance=0.1).passed)

    def test_is_another_graph_than_the_modules_an_error(self):
        with self.assertRaisesRegex(accsim.Error, "gives .* tensors where the module's calls gave"):
            self.compare(self.calls[1:])
        with self.assertRaisesRegex(accsim.Error, "2 tensors, where the exported graph has 1 inp"):
            _golden.compare_calls(CALLS, self.calls, [self.x, self.x], tolerance=1e-5)

    def test_is_the_table_a_line_a_call(self):
        rows = self.compare()
        lines = str(rows).splitlines()
        self.assertEqual(len(lines), 1 + len(rows) + 2)
        self.assertIn(f"{len(rows)} of {len(rows)} pass", lines[-1])
        self.assertIn("(network)[1]", str(rows))
        self.assertFalse(_golden.Golden([], 1e-5, None).passed)  # of nothing

    def test_are_tolerances_checked(self):
        for words in ({"tolerance": -1}, {"int8_tolerance": float("nan")}):
            with self.assertRaisesRegex(accsim.Error, "is not a number from 0"):
                accsim.golden(None, None, **words)


if __name__ == "__main__":
    main()
