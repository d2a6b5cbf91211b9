#!/usr/bin/python3
"""Reports are what `accsim schema` says, read by python3-jsonschema, and the schema can refuse.

Usage: report_schema_test.py ACCSIM [unittest arguments]. Exit code 77 (skipped) without
python3-jsonschema."""

import copy
import csv
import io
import json
import pathlib
import sys
import tempfile
import unittest

from program import ROOT, run

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema isn't installed", file=sys.stderr)
    sys.exit(77)

MODELS = ROOT / "models"
OTHER_MACHINES = ("64x64-ddr4", "8x8")


def places(schema, report, at=()):
    """(path, the schema there) of every key of a report, one layer standing for all."""
    if "properties" in schema:
        for key, inner in schema["properties"].items():
            if key in report:
                yield (*at, key), inner
                yield from places(inner, report[key], (*at, key))
    elif schema.get("type") == "array" and report:
        yield from places(schema["items"], report[0], (*at, 0))


def inside(report, path):
    for key in path:
        report = report[key]
    return report


class ReportSchema(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        done = run("schema")
        cls.schema = json.loads(done.stdout)
        cls.validator = jsonschema.Draft7Validator(cls.schema)
        cls.validator.check_schema(cls.schema)
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.dir = pathlib.Path(scratch.name)

    def report(self, model, machine="64x64", *args):
        done = run("--hw", machine, model, "-q", "--effort", "rule", "--json", "-", *args)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def refused(self, report):
        return any(True for _ in self.validator.iter_errors(report))

    def test_is_every_report_of_it(self):
        models = sorted(MODELS.glob("*.onnx"))
        cases = [(model, "64x64") for model in models]
        cases += [(model, machine) for model in models[:2] for machine in OTHER_MACHINES]
        self.assertGreater(len(cases), 15)
        for model, machine in cases:
            with self.subTest(model=model.name, machine=machine):
                self.validator.validate(self.report(model, machine, "--bind", "*=1"))

    def test_are_reports_of_cut_models(self):
        product, tiled = self.dir / "product.onnx", self.dir / "tiled.onnx"
        self.assertEqual(run("gemm", "130x70x64", "-o", product, "--transB").returncode, 0)
        self.assertEqual(run("tile", product, "-o", tiled).returncode, 0)
        report = self.report(tiled)
        self.assertIn("tiled", report)
        self.validator.validate(report)
        report["tiled"]["layers"][0]["products"] = "many"
        self.assertTrue(self.refused(report))

    def test_is_a_report_refused_that_lacks_a_key_or_has_another_type(self):
        good = self.report(MODELS / "squeezenet1_1_op13.onnx")
        good["layers"] = good["layers"][:1]  # reading a schema is slow
        found = list(places(self.schema, good))
        self.assertGreater(len(found), 150)
        sections = {path[:-1] for path, _ in found}
        for path, schema in found:
            with self.subTest(path=path):
                self.assertTrue(schema["description"], "not described")
                broken = copy.deepcopy(good)
                del inside(broken, path[:-1])[path[-1]]
                self.assertTrue(self.refused(broken), "the key lacks")
                broken = copy.deepcopy(good)
                inside(broken, path[:-1])[path[-1]] = True
                self.assertTrue(self.refused(broken), "another type")
        for path in sections - {("model", "bindings")}:
            with self.subTest(path=path):
                broken = copy.deepcopy(good)
                inside(broken, path)["banana"] = 1
                self.assertTrue(self.refused(broken), "a key more")

    def test_has_it_the_keys_of_the_table(self):
        done = run("--hw", "8x8", MODELS / "squeezenet1_1_op13.onnx", "-q", "--csv", "-")
        columns = next(csv.reader(io.StringIO(done.stdout)))
        layer = self.schema["properties"]["layers"]["items"]["properties"]
        self.assertEqual([c for c in columns if c in layer], list(layer))


if __name__ == "__main__":
    unittest.main()
