#!/usr/bin/python3
"""Are the exporter's own models what they say? (Not the part that needs torch.)

Usage: exporter_test.py ACCSIM. Exit code 77 (skipped) without python3-onnx.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
    import onnx
    import onnx.shape_inference
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "models" / "exporter"), str(ROOT / "scripts")]

import decoder  # noqa: E402
import make_big_model  # noqa: E402
import onnx_slim  # noqa: E402

ACCSIM = None  # set by main


def numbers(count, dtype):
    return numpy.arange(count, dtype=dtype)


class Exporter(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def totals(self, path, *args):
        command = [ACCSIM, "--hw", ROOT / "configs" / "64x64.yaml", path, "--json", "-", *args]
        done = subprocess.run(
            list(map(str, command)), capture_output=True, text=True, timeout=120, check=False
        )
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = json.loads(done.stdout)
        self.assertEqual(report["unsupported"], [])
        return report["totals"]

    def cost_decoder(self, text, sequence, past):
        geometry = decoder.Geometry.parse(text)
        path = self.dir / "decoder.onnx"
        model = decoder.build_decoder(geometry)
        onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
        path.write_bytes(model.SerializeToString())
        found = self.totals(
            path,
            "--bind",
            f"sequence={sequence}",
            "--bind",
            f"past={past}",
            "--bind",
            f"total={past + sequence}",
        )
        self.assertEqual(found["params"], geometry.params())
        self.assertEqual(found["macs"], geometry.macs(sequence, past))
        return geometry, path

    def test_a_tiny_decoder_has_the_params_and_macs_of_its_geometry(self):
        for sequence, past in ((1, 7), (5, 1), (16, 16)):
            self.cost_decoder("2,64,4,2,128,1000", sequence, past)
            self.cost_decoder("1,64,4,4,96,50", sequence, past)

    def test_a_decoder_of_70_billion_parameters_is_a_small_file(self):
        geometry, path = self.cost_decoder("80,8192,64,8,28672,128256", 1, 1023)
        self.assertEqual(geometry.params(), 70_553_706_496)  # LLaMA-3-70B's published count
        self.assertLess(path.stat().st_size, 1_000_000)

    def test_impossible_geometries_are_refused(self):
        for text in (
            "",
            "1,2,3",
            "1,64,4,2,128,x",
            "0,64,4,2,128,10",
            "1,64,5,1,8,8",
            "1,64,4,3,8,8",
            "1,12,4,4,8,8",
        ):
            with self.assertRaises(ValueError, msg=text):
                decoder.Geometry.parse(text)

    def test_big_models_with_and_without_weights_are_the_same_model(self):
        embedded, external = make_big_model.make(30, self.dir)
        self.assertGreater(embedded.stat().st_size, 20e6)
        self.assertLess(external.stat().st_size, 5000)
        self.assertEqual(self.totals(embedded), self.totals(external))
        model = onnx.load(str(embedded))
        onnx.checker.check_model(model)
        for tensor in model.graph.initializer:
            self.assertEqual(len(tensor.raw_data), onnx_slim.tensor_bytes(tensor))

    def test_stripping_keeps_small_tensors_and_integer_constants(self):
        model = onnx.helper.make_model(
            onnx.helper.make_graph(
                [
                    onnx.helper.make_node(
                        "Constant",
                        [],
                        ["c"],
                        value=onnx.numpy_helper.from_array(numbers(5000, "int64"), "c"),
                    )
                ],
                "g",
                [],
                [],
                [
                    onnx.numpy_helper.from_array(numbers(256, "float32"), "small"),
                    onnx.numpy_helper.from_array(numbers(257, "float32"), "large"),
                ],
            )
        )
        self.assertEqual(onnx_slim.strip_weights(model), (1, 257 * 4))
        small, large = model.graph.initializer
        self.assertEqual(len(small.raw_data), 1024)
        self.assertEqual(large.data_location, onnx.TensorProto.EXTERNAL)
        self.assertEqual(len(model.graph.node[0].attribute[0].t.raw_data), 40000)

    def test_is_the_table_in_the_readme_the_one_accsim_gives(self):
        done = subprocess.run(
            [sys.executable, str(ROOT / "models" / "table.py"), str(ACCSIM), "--check"],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    ACCSIM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
