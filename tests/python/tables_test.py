"""Do pyarrow, pandas, polars and numpy read the package's tables and arrays? Skips where they
aren't; run it on .venv's Python with the package on PYTHONPATH."""

import gc
import pathlib
import tempfile
import unittest

import accsim
import numpy
import pandas
import polars
import pyarrow
from onnx import helper
from support import MODELS, main, program

RESNET = MODELS / "resnet18_op13.onnx"
NULLS = MODELS / "bert_base_op17.onnx"


def plain(value):
    """Tuples as lists, so that values of both kinds compare."""
    return [plain(v) for v in value] if isinstance(value, (list, tuple)) else value


class TablesTest(unittest.TestCase):
    def test_does_arrow_have_the_same_values(self):
        for path in (RESNET, NULLS):
            layers = accsim.cost(path, "64x64").layers
            table = layers.to_arrow()
            table.validate(full=True)
            self.assertEqual(table.column_names, layers.columns)
            for name in layers.columns:
                self.assertEqual(table[name].to_pylist(), plain(layers[name]), name)
            field = table.schema.field("cycles")
            self.assertEqual(field.metadata[b"unit"], b"cycles")
            self.assertTrue(table.schema.field("macs").metadata[b"description"])
            kinds = {str(f.type) for f in table.schema}
            self.assertIn("list<item: list<item: int64>>", kinds)

    def test_is_the_schema_the_same_for_every_network(self):
        schemas = {
            str(accsim.cost(MODELS / name, "16x16").layers.to_arrow().schema)
            for name in ("resnet18_op13.onnx", "bert_base_op17.onnx", "vgg16_op13.onnx")
        }
        self.assertEqual(len(schemas), 1)

    def test_does_arrow_share_the_memory_and_outlive_the_report(self):
        layers = accsim.cost(RESNET, "64x64").layers
        array = pyarrow.record_batch(layers)
        address = layers.to_numpy("cycles").__array_interface__["data"][0]
        self.assertEqual(array["cycles"].buffers()[1].address, address)
        values = plain(layers["cycles"])
        del layers
        gc.collect()
        self.assertEqual(array["cycles"].to_pylist(), values)

    def test_is_the_stream_read_once_or_not_at_all(self):
        layers = accsim.cost(RESNET, "64x64").layers
        reader = pyarrow.RecordBatchReader.from_stream(layers)
        self.assertEqual(reader.read_all().num_rows, len(layers))
        unread = layers.__arrow_c_stream__()
        del unread
        self.assertEqual(pyarrow.schema(layers), layers.to_arrow().schema)

    def test_do_pandas_and_polars_have_the_same_values(self):
        layers = accsim.cost(NULLS, "64x64").layers
        frame = layers.to_pandas()
        self.assertIsInstance(frame, pandas.DataFrame)
        self.assertEqual(list(frame.columns), layers.columns)
        self.assertEqual(frame["cycles"].sum(), sum(layers["cycles"]))
        self.assertEqual(list(frame["output_shape"]), layers["output_shape"])
        other = layers.to_polars()
        self.assertIsInstance(other, polars.DataFrame)
        self.assertEqual(other["cycles"].to_list(), layers["cycles"])
        self.assertEqual(other["name"].to_list(), layers["name"])
        self.assertEqual(other["utilization"].to_list(), layers["utilization"])

    def test_are_columns_of_numbers_numpy_arrays(self):
        layers = accsim.cost(RESNET, "64x64").layers
        cycles = layers.to_numpy("cycles")
        self.assertEqual(cycles.dtype, numpy.int64)
        self.assertFalse(cycles.flags.writeable)
        self.assertEqual(list(cycles), layers["cycles"])
        with self.assertRaises(TypeError):
            layers.to_numpy("name")
        with self.assertRaises(KeyError):
            layers.to_numpy("nme")

    def test_does_run_compute_what_the_command_line_does(self):
        path = MODELS / "squeezenet1_1_op13.onnx"
        name = next(iter(accsim.Model.load(path).inputs))
        values = numpy.random.default_rng(5).standard_normal((1, 3, 224, 224), numpy.float32)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            numpy.save(folder / "in.npy", values)
            words = ("run", path, "--weights", "random:3", "--input", f"{name}={folder}/in.npy")
            code, _, errors = program(*words, "--output", folder / "a", "--dump", "all")
            self.assertEqual(code, 0, errors)
            outputs = accsim.run(path, {name: values}, weights=3, output=folder / "b", dump="all")
            for array in outputs.values():
                self.assertEqual(array.dtype, numpy.float32)
                self.assertGreater(array.std(), 0)
            found = accsim.diff(folder / "a", folder / "b", atol=0, rtol=0)
            _, out, _ = program(
                "diff", folder / "a", folder / "b", "--atol", 0, "--rtol", 0, "--json", "-"
            )
            self.assertEqual(found.to_json(), out)
            self.assertTrue(found.layers)
            stored = {p.name: numpy.load(p) for p in (folder / "a").glob("*.npy")}
            self.assertEqual(len(stored), len(outputs))
            for array in outputs.values():
                self.assertTrue(any(numpy.array_equal(array, s) for s in stored.values()))

    def test_is_attention_the_network_of_one(self):
        heads, kv_heads, queries, keys, size = 8, 2, 16, 96, 32
        rows = heads // kv_heads * queries
        shapes = {"q": (kv_heads, rows, size), "k": (kv_heads, size, keys)}
        shapes |= {"v": (kv_heads, keys, size), "y": (kv_heads, rows, size)}
        values = [helper.make_tensor_value_info(n, 1, s) for n, s in shapes.items()]
        nodes = [
            helper.make_node("MatMul", ["q", "k"], ["scores"]),
            helper.make_node("Softmax", ["scores"], ["p"]),
            helper.make_node("MatMul", ["p", "v"], ["y"]),
        ]
        graph = helper.make_graph(nodes, "attention", values[:3], values[3:])
        opsets = [helper.make_opsetid("", 17)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        total = accsim.cost(model.SerializeToString(), "64x64").total
        found = accsim.LatencyModel("64x64").attention(
            heads, queries, keys, size, kv_heads=kv_heads
        )
        self.assertEqual(found.cycles, total.cycles)
        self.assertEqual(found.energy_pj, total.energy_pj)
        self.assertEqual(found.macs, total.macs)

    def test_are_wrong_inputs_errors(self):
        with self.assertRaisesRegex(accsim.Error, "has no input 'nope'"):
            accsim.run(RESNET, {"nope": numpy.zeros(3)})
        with self.assertRaisesRegex(accsim.Error, "--output"):
            accsim.run(RESNET, dump="all")
        for words in (
            {"threads": 0},
            {"threads": 9999},
            {"weights": -1},
            {"weights": 2**70},
            {"inputs": {"input": -1}},
            {"hw": "64x64"},
            {"layerwise": True},
            {"output": ""},
        ):
            with self.subTest(**words), self.assertRaises(accsim.Error):
                accsim.run(RESNET, **{"weights": 1, **words})
        with self.assertRaisesRegex(accsim.Error, "give a path"):
            accsim.run(RESNET.read_bytes())
        for words in ({"atol": -1}, {"rtol": float("nan")}):
            with self.assertRaisesRegex(accsim.Error, "is not a number from 0"):
                accsim.diff("a", "b", **words)

    def test_are_scalars_given_as_arrays(self):
        inputs = [
            helper.make_tensor_value_info("a", 1, []),
            helper.make_tensor_value_info("b", 1, [2]),
        ]
        graph = helper.make_graph(
            [helper.make_node("Mul", ["a", "b"], ["y"])],
            "g",
            inputs,
            [helper.make_tensor_value_info("y", 1, [2])],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "m.onnx")
            path.write_bytes(model.SerializeToString())
            b = numpy.array([2, 4], numpy.float32)
            for a in (numpy.array(1.5, numpy.float32), numpy.float32(1.5)):
                numpy.testing.assert_array_equal(accsim.run(path, {"a": a, "b": b})["y"], [3, 6])


if __name__ == "__main__":
    main()
