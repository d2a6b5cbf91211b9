"""Do the other commands answer in Python as on the command line? Needs no package beside accsim."""

import json
import os
import pathlib
import pickle
import sys
import tempfile
import unittest
import unittest.mock

import accsim
from support import MODELS, ROOT, main, program

RESNET = MODELS / "resnet18_op13.onnx"
MACHINE = str(ROOT / "configs" / "64x64.yaml")


class CommandsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def test_is_inspect_the_command_lines(self):
        _, out, _ = program("inspect", RESNET, "--macs", "all", "--json", "-")
        found = accsim.inspect(RESNET, macs="all")
        self.assertEqual(found.to_json(), out)
        self.assertEqual(found.macs, json.loads(out)["macs"])
        self.assertEqual(pickle.loads(pickle.dumps(found)), found)
        self.assertIn("params", repr(found))
        with self.assertRaisesRegex(accsim.Error, "--macs: few not in"):
            accsim.inspect(RESNET, macs="few")

    def test_is_inspect_of_integers_the_command_lines(self):
        path = ROOT / "tests" / "data" / "quantised" / "resnet18_op13.qdq.onnx"
        _, out, _ = program("inspect", path, "--json", "-")
        self.assertEqual(accsim.inspect(path).to_json(), out)
        read = accsim.Model.load(path)
        accsim.cost(read, MACHINE)  # on the reals that they stand for
        self.assertEqual(accsim.inspect(read).to_json(), out)

    def test_is_compare_the_command_lines(self):
        small = accsim.cost(RESNET, MACHINE)
        large = accsim.cost(RESNET, accsim.Machine.load(MACHINE).replace({"array.rows": 128}))
        files = [self.dir / "a.json", self.dir / "b.json"]
        for file, report in zip(files, (small, large)):
            file.write_text(report.to_json())
        _, out, _ = program("compare", *files, "--json", "-")
        found = accsim.compare(small, large)
        self.assertEqual(found.to_json(), out)
        self.assertEqual(accsim.compare(*files).to_json(), out)
        self.assertEqual(found.difference, large.total.cycles - small.total.cycles)
        self.assertEqual(sum(row["difference"] for row in found.waterfall()), found.difference)

    def test_is_advise_the_command_lines(self):
        path = MODELS / "squeezenet1_1_op13.onnx"
        _, out, _ = program("advise", "--hw", MACHINE, path, "--effort", "rule", "--json", "-")
        self.assertEqual(accsim.advise(path, MACHINE, effort="rule").to_json(), out)

    def test_does_a_sweep_find_the_front(self):
        hw = accsim.Machine.load("64x64")
        axes = {"array": [16, 32, 64], "latency": {"field": "dram.latency", "values": [50, 100]}}
        kept = self.dir / "s.sqlite"
        store = accsim.sweep(
            hw, axes=axes, models=[RESNET], objectives=["cycles", "area"], store=kept
        )
        points = store.points().to_dict()
        self.assertEqual(len(points["point"]), 6)
        for rows, latency, cycles in zip(points["array"], points["latency"], points["cycles"]):
            edits = {"array.rows": rows, "array.cols": rows, "dram.latency": latency}
            self.assertEqual(accsim.cost(RESNET, hw.replace(edits)).total.cycles, cycles)
        pairs = list(zip(points["cycles"], points["area_mm2"], points["point"]))
        front = {
            p
            for c, a, p in pairs
            if not any(x <= c and y <= a and (x, y) != (c, a) for x, y, _ in pairs)
        }
        self.assertEqual(set(store.pareto()["point"]), front)
        self.assertEqual(len(store.points("array >= 32")), 4)
        again = accsim.Store(kept)
        self.assertEqual(again.to_json(), store.to_json())
        _, shown, _ = program("sweep", "show", kept, "--json", "-")
        self.assertEqual(store.to_json(), shown)
        with self.assertRaisesRegex(accsim.Error, "no objective"):
            store.pareto(["speed"])

    def test_are_wrong_sweeps_refused(self):
        with self.assertRaises(accsim.Error) as caught:
            accsim.sweep("64x64", axes={"array": [16]}, models=[RESNET], objectives=["speed"])
        self.assertIn("speed", str(caught.exception))
        with self.assertRaises(accsim.Error):
            accsim.sweep("64x64", axes={"dram.latencee": [1]}, models=[RESNET])
        with self.assertRaises(accsim.Error):
            accsim.Store(self.dir / "none.sqlite")

    def test_are_models_read_once_and_described(self):
        model = accsim.Model.load(MODELS / "resnet50_dynbatch_op17.onnx", bind={"batch": 3})
        self.assertEqual(model.bindings, {"batch": 3})
        self.assertEqual(next(iter(model.inputs.values()))[1][0], 3)
        self.assertEqual(
            accsim.cost(model, "64x64", bind={"batch": 2}).total.macs * 3,
            accsim.cost(model, "64x64").total.macs * 2,
        )
        with self.assertRaises(TypeError):
            accsim.Model.load(3)

    def test_are_sizes_asked_for_as_on_the_command_line(self):
        path = MODELS / "bert_base_dyn_op17.onnx"
        code, _, errors = program("inspect", path)
        self.assertEqual(code, 2)
        with self.assertRaises(accsim.Error) as caught:
            accsim.inspect(path)
        self.assertEqual(caught.exception.causes, errors)
        self.assertIn("--bind sequence=128 ", str(caught.exception))
        found = accsim.Model.load(path, bind={"*": 16, "batch": 2})
        self.assertEqual(found.bindings, {"batch": 2, "sequence": 16})
        found = accsim.Model.load(path, input_shapes={"input_ids": (2, 16)})
        self.assertEqual(found.bindings, {"batch": 2, "sequence": 16})

    def test_does_verify_say_what_it_lacks(self):
        with self.assertRaises(accsim.Error) as caught:
            accsim.verify(None, "8x8", gemm="8x8")
        self.assertIn("'8x8' is not MxKxN", str(caught.exception))

    def test_does_verify_say_that_verilator_is_missing(self):
        with (
            unittest.mock.patch.dict(os.environ, {"PATH": str(self.dir)}),
            self.assertRaisesRegex(accsim.Error, "verilator"),
        ):
            accsim.verify(None, "8x8", gemm="8x8x8", cache=self.dir / "cache")

    def test_is_nothing_imported_that_was_not_asked_for(self):
        for package in ("numpy", "pandas", "pyarrow", "polars", "torch", "onnx"):
            self.assertNotIn(package, sys.modules)

    def test_does_help_say_something(self):
        for name in accsim.__all__:
            if name != "__version__":
                self.assertTrue(getattr(accsim, name).__doc__, name)


if __name__ == "__main__":
    main()
