#!/usr/bin/python3
"""accsim validate from outside. Usage: validate_test.py ACCSIM."""

import csv
import io
import json
import pathlib
import re
import tempfile
import unittest

from program import ROOT, run

try:
    import jsonschema
except ImportError:
    jsonschema = None

NVDLA = ROOT / "validation" / "nvdla.yaml"
RTL = ROOT / "validation" / "nvdla-rtl.yaml"
TABLES = ROOT / "validation" / "tables"


def table_rows(file):
    """The rows of a table as Python's reader has them."""
    lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


class Validate(unittest.TestCase):
    def text(self, *words):
        done = run("validate", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_is_a_prediction_what_the_main_job_says(self):
        found = json.loads(self.text(NVDLA, "--no-interval", "--json", "-"))
        self.assertEqual(found["schema"], "accsim.validation/1")
        points = found["sources"][0]["points"]
        self.assertEqual([p["line"] for p in points[:7]], [None] * 7)
        for point in points[5:7]:
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
            if point["line"] is None:
                for text in (out, page, page_md):
                    self.assertIn(error, text)
        self.assertNotIn("<script", page)
        self.assertEqual(page.count("<circle"), len(points))

    def test_is_each_row_of_a_table_a_point(self):
        found = json.loads(self.text(RTL, "--no-interval", "--json", "-"))
        self.assertEqual(found["summary"], {"unfitted": None, "fitted": None})
        source = found["sources"][0]
        self.assertEqual({pathlib.Path(f).parent for f in source["tables"]}, {TABLES})
        rows = [r for f in source["tables"] for r in table_rows(pathlib.Path(f))]
        rows = [r for r in rows if r.get("result") == "PASS"]
        units = {"dc": None, "pdp": "pooling", "cdp": "LRN", "sdp": "point-wise"}
        rows = [r for r in rows if r.get("unit") in units]
        points = {p["name"]: p for p in source["points"]}
        self.assertLessEqual({r["trace"] for r in rows}, points.keys())
        for row in rows:
            point = points[row["trace"]]
            self.assertEqual(point["measured"], int(row["cycles"]))
            self.assertEqual(point["macs"], int(row["macs"] or 0))  # so its shape is the row's
            family = units[row["unit"]] or row["op"] or "NVIDIA's trace"
            self.assertEqual(point["family"], family)
            self.assertIn(point["bound"], ("compute", "weight load", "dram", "sram", "latency"))
            line = pathlib.Path(point["table"]).read_text().splitlines()[point["line"] - 1]
            self.assertTrue(line.startswith(point["name"] + ","))
        for groups in (source["families"], source["sizes"]):
            self.assertEqual(sum(g["summary"]["points"] for g in groups), len(points))

    def test_is_another_table_judged(self):
        head = "trace,unit,result,op,W,H,C,K,S,R,stride_x,stride_y,dil_x,dil_y,pad_l,pad_r,"
        head += "pad_t,pad_b,data_banks,weight_banks,"
        with tempfile.TemporaryDirectory() as folder:
            other = pathlib.Path(folder, "other.csv")
            row = "mine,dc,PASS,odd,9,8,16,24,3,3,1,1,1,1,1,1,1,1,2,2,1000"
            other.write_text(f"# other\n{head}cycles\n{row}\n")
            found = json.loads(self.text(RTL, "--table", other, "--no-interval", "--json", "-"))
            points = found["sources"][0]["points"]
            self.assertEqual([p["name"] for p in points], ["mine"])
            self.assertEqual(points[0]["macs"], 8 * 9 * 16 * 24 * 3 * 3)
            self.assertEqual(found["sources"][0]["tables"], [str(other)])
            other.write_text(f"# other\n{head}cycle\n{row.replace('9', 'x')}\n")
            done = run("validate", RTL, "--table", other)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f'{other}:2:1: no column "cycles"', done.stderr)
            self.assertIn('did you mean "cycle"?', done.stderr)
            done = run("validate", RTL, "--table", other, "--json", other)
            self.assertEqual(done.returncode, 2)
            self.assertTrue(other.read_text().startswith("# other"))
        self.assertEqual(run("validate", "--table", other).returncode, 2)
        self.assertEqual(run("validate", NVDLA, "--table", RTL).returncode, 2)

    def test_are_rows_and_other_points_summed_up_apart(self):
        sheet = TABLES / "nvdla_sheet.csv"
        page = self.text(NVDLA, "--no-interval", "--markdown", "-")
        lines = [line for line in page.splitlines() if line.startswith("| NVDLA primer")]
        self.assertIn("| estimate | 7 | ", lines[0])
        self.assertIn("| estimate | 728 rows | 0.0 % | 0.0 % (", lines[1])
        found = json.loads(self.text(NVDLA, "--table", sheet, "--no-interval", "--json", "-"))
        source = found["sources"][0]
        self.assertEqual((source["figures"], source["rows"]["points"]), (None, 728))
        for row, point in zip(table_rows(sheet), source["points"], strict=True):
            self.assertEqual(point["predicted"], float(row["cycles"]))
            self.assertEqual(point["bound"], {"MAC": "compute", "DRAM": "dram"}[row["bound"]])
            self.assertIsNone(point["machine"])

    def test_are_tables_named_from_their_sources_folder(self):
        page = self.text(RTL, "--no-interval", "--markdown", "-")
        self.assertIn("\n- 79 rows of tables/nvdla_nv_small_layers.csv\n", page)
        self.assertNotIn(str(ROOT), page.replace(f"]({ROOT}", ""))

    def test_does_a_dot_lead_to_its_row(self):
        page = self.text(RTL, "--no-interval", "--html", "-")
        links = re.findall(r'<a href="#(\w+)"><circle[^>]*><title>([^:]*):', page)
        found = json.loads(self.text(RTL, "--no-interval", "--json", "-"))
        self.assertEqual(
            [name for _, name in links], [p["name"] for p in found["sources"][0]["points"]]
        )
        for row, name in links:
            self.assertEqual(page.count(f'<tr id="{row}"><td>{name}</td>'), 1)
        self.assertNotIn("<script", page)

    @unittest.skipIf(jsonschema is None, "python3-jsonschema isn't installed")
    def test_is_the_json_what_its_schema_says(self):
        schema = json.loads(run("schema", "validation").stdout)
        validator = jsonschema.Draft7Validator(schema)
        validator.check_schema(schema)
        found = [
            json.loads(self.text(*words, "--json", "-"))
            for words in (
                (RTL, "--no-interval"),
                (NVDLA, "--no-interval"),
                (NVDLA.with_name("nvdla-area.yaml"),),
            )
        ]
        for data in found:
            validator.validate(data)
        for change in ({"line": "7"}, {"more": 1}, {"error": None}):
            bad = json.loads(json.dumps(found[0]))
            bad["sources"][0]["points"][0].update(change)
            self.assertFalse(validator.is_valid(bad), change)

    def test_is_the_best_program_of_a_tiled_layer_searched(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = (TABLES / "vta_rtl.csv").read_text().splitlines()
            head = next(i for i, line in enumerate(rows) if not line.startswith("#"))
            few = pathlib.Path(folder, "few.csv")
            few.write_text("\n".join([*rows[head : head + 3], ""]))
            words = (ROOT / "validation" / "vta-rtl.yaml", "--table", few)
            found = json.loads(self.text(*words, "--search", "--json", "-"))
            table = self.text(*words, "--search")
            without = json.loads(self.text(*words, "--json", "-"))
        for point in found["sources"][0]["points"]:
            self.assertEqual(point["error"], 0)
            self.assertLessEqual(point["best"]["cycles"], point["predicted"])
            self.assertIn(point["best"]["program"], table)
        self.assertIsNone(without["sources"][0]["points"][0]["best"])
        done = run("validate", NVDLA, "--search")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--search: no row of these sources is a tiled layer", done.stderr)
        if jsonschema is not None:
            schema = json.loads(run("schema", "validation").stdout)
            jsonschema.Draft7Validator(schema).validate(found)

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
