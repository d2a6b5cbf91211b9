#!/usr/bin/python3
"""accsim validate from outside. Usage: validate_test.py ACCSIM."""

import csv
import io
import json
import pathlib
import tempfile
import unittest

from program import ROOT, run

NVDLA = ROOT / "validation" / "nvdla.yaml"


class Validate(unittest.TestCase):
    def text(self, *words):
        done = run("validate", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_is_a_prediction_what_the_main_job_says(self):
        found = json.loads(self.text(NVDLA, "--no-interval", "--json", "-"))
        self.assertEqual(found["schema"], "accsim.validation/1")
        points = found["sources"][0]["points"]
        self.assertEqual(len(points), 7)
        for point in points[-2:]:
            done = run(
                "--hw",
                ROOT / "configs" / "known" / f"{point['machine']}.yaml",
                ROOT / "models" / "resnet50_op17.onnx",
                "-q",
                "--json",
                "-",
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            cycles = json.loads(done.stdout)["totals"]["cycles"]
            self.assertAlmostEqual(point["predicted"], 1e9 / cycles, places=9)
            self.assertAlmostEqual(point["error"], point["predicted"] / point["measured"] - 1)

    def test_do_all_forms_say_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            names = {
                form: pathlib.Path(folder, form) for form in ("json", "csv", "html", "markdown")
            }
            words = [w for form, file in names.items() for w in (f"--{form}", file)]
            out = self.text(NVDLA, "--no-interval", *words)
            data = json.loads(names["json"].read_text())
            rows = list(csv.DictReader(io.StringIO(names["csv"].read_text())))
            page, page_md = names["html"].read_text(), names["markdown"].read_text()
        points = data["sources"][0]["points"]
        self.assertEqual([r["point"] for r in rows], [p["name"] for p in points])
        for row, point in zip(rows, points):
            self.assertEqual(float(row["predicted"]), float(f"{point['predicted']:.7g}"))
            for end in ("low", "high"):  # nobody looked for them
                self.assertEqual((row[end], point[end]), ("", None))
            self.assertIsNone(point["inside"])
            error = f"{100 * point['error']:+.1f} %"
            for text in (out, page, page_md):
                self.assertIn(error, text)
        self.assertNotIn("<script", page)
        self.assertEqual(page.count("<circle"), len(points))

    def test_does_the_interval_hold_the_prediction(self):
        found = json.loads(self.text(ROOT / "validation" / "tpu-v1.yaml", "--json", "-"))
        self.assertTrue(found["interval"])
        for point in found["sources"][0]["points"]:
            self.assertLessEqual(point["low"], point["predicted"])
            self.assertGreaterEqual(point["high"], point["predicted"])
            self.assertLess(point["low"], point["high"])

    def test_is_what_cant_be_used_an_error_with_its_place(self):
        done = run("validate", ROOT / "nowhere.yaml")
        self.assertEqual(done.returncode, 2)
        with tempfile.TemporaryDirectory() as folder:
            bad = pathlib.Path(folder, "bad.yaml")
            bad.write_text("source: s\nevidence: silicon\nfitted: no\npoints: []\n")
            done = run("validate", bad)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"{bad}:4:1: points must be a list of at least one", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_is_a_machine_without_origins_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder, "v.yaml")
            spec.write_text(
                f"source: s\nevidence: silicon\nfitted: no\nmachine: {ROOT}/configs/8x8.yaml\n"
                "points: [{name: a, product: 8x8x8, cycles: 1}]\n"
            )
            done = run("validate", spec)
        self.assertEqual(done.returncode, 2)
        self.assertIn("says nowhere where its value comes from", done.stderr)

    def test_isnt_a_file_overwritten_that_is_read(self):
        done = run("validate", NVDLA, "--json", NVDLA)
        self.assertEqual(done.returncode, 2)
        self.assertTrue(NVDLA.read_text().startswith("# NVDLA"))


if __name__ == "__main__":
    unittest.main()
