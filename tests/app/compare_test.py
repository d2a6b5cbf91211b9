#!/usr/bin/python3
"""accsim compare as people call it. Usage: compare_test.py ACCSIM."""

import fcntl
import json
import os
import pathlib
import pty
import re
import struct
import subprocess
import tempfile
import termios
import unittest

from program import ACCSIM, ROOT, run

SMALL, LARGE = (str(ROOT / "configs" / f"{name}.yaml") for name in ("16x16", "64x64"))
MODEL = str(ROOT / "models" / "squeezenet1_1_op13.onnx")
OTHER = str(ROOT / "models" / "resnet18_op13.onnx")


def compared(*args):
    done = run("compare", *args, "--effort", "rule", "--json", "-")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["comparisons"]


class Compare(unittest.TestCase):
    def test_reports_and_machines_say_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            files = []
            for machine in (SMALL, LARGE):
                files.append(f"{folder}/{pathlib.Path(machine).stem}.json")
                done = run("--hw", machine, MODEL, "--effort", "rule", "-q", "--json", files[-1])
                self.assertEqual(done.returncode, 0, done.stderr)
            reports = run("compare", *files, "--json", "-")
            self.assertEqual(reports.returncode, 0, reports.stderr)
            cycles = [json.loads(pathlib.Path(f).read_text())["totals"]["cycles"] for f in files]
        one = json.loads(reports.stdout)["comparisons"]
        self.assertEqual(one, compared("--hw", SMALL, "--hw", LARGE, MODEL))
        self.assertEqual(one[0]["difference"], cycles[1] - cycles[0])
        self.assertEqual(
            sum(row["difference"] for row in one[0]["waterfall"]), one[0]["difference"]
        )

    def test_the_page_holds_the_comparison(self):
        done = run(
            "compare", "--hw", SMALL, "--hw", LARGE, MODEL, "--effort", "rule", "--html", "-"
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(done.stdout.startswith("<!DOCTYPE html>"), done.stdout[:100])
        data = re.search(r'<script[^>]*id="?data"?[^>]*>(.*?)</script>', done.stdout, re.DOTALL)
        page = json.loads(data[1])
        self.assertEqual(page["kind"], "compare")
        self.assertEqual(
            page["compare"]["comparisons"], compared("--hw", SMALL, "--hw", LARGE, MODEL)
        )

    def test_every_other_is_compared_with_the_first(self):
        def runs(comparisons):
            stem = lambda side, key: pathlib.Path(side[key]["file"]).stem  # noqa: E731
            return [
                tuple(stem(c[s], k) for s in "ab" for k in ("hw", "model")) for c in comparisons
            ]

        both = runs(compared("--hw", SMALL, "--hw", LARGE, MODEL, OTHER))
        m, o = pathlib.Path(MODEL).stem, pathlib.Path(OTHER).stem
        self.assertEqual(both, [("16x16", m, "64x64", m), ("16x16", o, "64x64", o)])
        models = runs(compared("--hw", LARGE, MODEL, OTHER))
        self.assertEqual(models, [("64x64", m, "64x64", o)])

    def test_side_b_is_mapped_in_its_own_way(self):
        (one,) = compared("--hw", LARGE, MODEL, "--b-effort", "search")
        self.assertLess(one["difference"], 0)
        self.assertEqual(one["changed"], [])
        self.assertEqual(one["a"]["objective"], "cycles by the fixed rule")
        self.assertEqual(
            one["b"]["objective"], "cycles and the least energy x traffic within 1% of them"
        )
        (one,) = compared("--hw", LARGE, MODEL, "--b-effort", "search", "--b-slack", "0")
        self.assertEqual(one["b"]["objective"], "cycles")

    def test_what_cannot_be_compared_is_said(self):
        for args, said in [
            ([MODEL], "name two reports, or a model and machines with --hw"),
            ([MODEL, OTHER], "is a model: name the machine that it runs on, --hw"),
            (["--hw", LARGE, MODEL], "one model on one machine is one run"),
            ([LARGE, LARGE], "is not JSON"),
            (["--hw", LARGE, MODEL, "--b-dataflow", "up"], "'up' is not a dataflow"),
            (
                ["--hw", LARGE, MODEL, "--b-objective", "cycles", "--json", MODEL],
                "is read (input)",
            ),
        ]:
            done = run("compare", *args)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn(said, done.stderr)

    def test_dataflows_and_pins_are_named(self):
        (one,) = compared("--hw", LARGE, MODEL, "--b-dataflow", "is", "--b-mapping", "n64")
        self.assertEqual(one["a"]["objective"], "cycles by the fixed rule")
        self.assertEqual(
            one["b"]["objective"],
            "cycles by the fixed rule, dataflow input_stationary, pinned 'n64'",
        )

    def test_models_with_and_without_a_symbol_are_compared(self):
        dynamic = ROOT / "models" / "mobilenet_v2_dynbatch_op17.onnx"
        self.assertEqual(len(compared("--hw", LARGE, dynamic, MODEL, "--bind", "batch=2")), 1)
        done = run("compare", "--hw", LARGE, dynamic, MODEL, "--bind", "btch=2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no model has a symbol 'btch' to bind", done.stderr)

    def reports(self, change):
        """compare of a report with itself changed."""
        with tempfile.TemporaryDirectory() as folder:
            good, bad = pathlib.Path(folder, "good.json"), pathlib.Path(folder, "bad.json")
            done = run("--hw", SMALL, MODEL, "-q", "--effort", "rule", "--json", good)
            self.assertEqual(done.returncode, 0, done.stderr)
            report = json.loads(good.read_text())
            text = change(report)
            bad.write_text(json.dumps(report) if text is None else text)
            return run("compare", good, bad)

    def test_changed_reports_are_refused_by_file_and_key(self):
        def first(**values):
            return lambda r: r["layers"][0].update(values)

        most = 2**63 - 1
        for change, said in [
            (lambda r: r.update(schema=1), 'has no "schema"'),
            (lambda r: r["totals"].update(cycles=1), "totals.cycles: is 1, but the layers' add up"),
            (lambda r: r.update(layers=3 * r["layers"]), "totals.cycles: is"),
            (first(cycles=most, compute_cycles=most, tail_cycles=most), "layers[0]."),
            (first(vector_cycles=most, move_cycles=most), "layers[0].vector_cycles"),
            (lambda r: r.update(model=[]), "model: is a list, not an object"),
            (lambda r: json.dumps(r).replace("{", "[" * 100_000 + "{", 1), "is not JSON"),
        ]:
            done = self.reports(change)
            self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
            self.assertIn("bad.json: " if "layers" in said or "." in said else "bad", done.stderr)
            self.assertIn(said, done.stderr)

    def test_older_reports_have_weight_load_in_array_fill(self):
        def older(report):
            for row in (report["totals"], *report["layers"]):
                row["stall_array_cycles"] += row.pop("stall_weight_load_cycles")

        done = self.reports(older)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the same cycles", done.stdout)
        self.assertNotIn("weight load", done.stdout)

    def test_options_of_mappings_need_machines(self):
        for words in (
            ["--b-effort", "rule"],
            ["--b-mapping", "*=ws"],
            ["--objective", "energy"],
            ["--slack", "0"],
            ["--dataflow", "ws"],
            ["--bind", "a=1"],
        ):
            done = run("compare", "a.json", "b.json", *words)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"error: {words[0]}: reports say what was costed", done.stderr)

    def test_a_glob_of_side_b_that_matches_nothing_is_named(self):
        cost = ("compare", "--hw", SMALL, "--hw", LARGE, MODEL, "--effort", "rule")
        for option in ("--mapping", "--b-mapping"):
            done = run(*cost, option, "zzz*=n16")
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"error: {option}: no layer with a product", done.stderr)

    def test_text_fits_a_terminal_of_80_columns(self):
        parent, child = pty.openpty()
        fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        args = ["--hw", SMALL, "--hw", LARGE, MODEL, "--effort", "rule", "--color", "never"]
        with subprocess.Popen([ACCSIM, "compare", *args], stdout=child) as process:
            os.close(child)
            text = b""
            while True:
                try:
                    block = os.read(parent, 4096)
                except OSError:
                    break
                if not block:
                    break
                text += block
            self.assertEqual(process.wait(), 0)
        os.close(parent)
        lines = text.decode().splitlines()
        self.assertGreater(len(lines), 20)
        self.assertLessEqual(max(map(len, lines)), 80)


if __name__ == "__main__":
    unittest.main()
