#!/usr/bin/python3
"""accsim advise against a sweep over the same values. Usage: advise_test.py ACCSIM."""

import json
import pathlib
import re
import sqlite3
import tempfile
import unittest

from program import ROOT, run


def advice(machine, model, effort):
    done = run("advise", "--hw", machine, model, "--effort", effort, "--json", "-")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def moves(found):
    """(field, its own value, the move) of all that was costed."""
    for field in found["fields"]:
        for move in (field["tenth"], field["twofold"]):
            if "cycles" in move:
                yield field["field"], field["value"], move


class AdviseTest(unittest.TestCase):
    def compare_with_sweep(self, machine, model, effort):
        """One linked axis: a step a move, all other fields as the machine has them."""
        found = advice(machine, model, effort)
        costed = list(moves(found))
        self.assertGreater(len(costed), 60)
        # Two moves of a field to one value are one machine, which a sweep takes once.
        places = {}
        for field, _, move in costed:
            places.setdefault((field, move["value"]), len(places))
        own = {field: value for field, value, _ in costed}
        lists = {field: [value] * len(places) for field, value in own.items()}
        for (field, value), step in places.items():
            lists[field][step] = value
        with tempfile.TemporaryDirectory() as folder:
            spec = pathlib.Path(folder, "spec.yaml")
            spec.write_text(
                f"base: {machine}\nmodels: [{{file: {model}}}]\neffort: {effort}\n"
                f"axes: {{move: {{fields: {json.dumps(lists)}}}}}\n"
            )
            done = run("sweep", spec, "--store", f"{folder}/store.db")
            self.assertEqual(done.returncode, 0, done.stderr)
            with sqlite3.connect(f"{folder}/store.db") as store:
                rows = store.execute(
                    "select cycles, energy_pj, area_mm2 from points order by point"
                ).fetchall()
            store.close()
        self.assertEqual(len(rows), len(places))
        for field, _, move in costed:
            cycles, energy, area = rows[places[field, move["value"]]]
            self.assertEqual(move["cycles"], cycles, f"{field} = {move['value']}")
            self.assertAlmostEqual(move["energy_pj"] / energy, 1, delta=1e-12)
            self.assertEqual(move["area_mm2"], area)
            self.assertEqual(move["cycles_saved"], found["base"]["cycles"] - cycles)

    def test_equals_a_sweep_over_the_same_values(self):
        model = ROOT / "models" / "mobilenet_v2_op13.onnx"
        self.compare_with_sweep(ROOT / "configs" / "64x64.yaml", model, "search")
        self.compare_with_sweep(ROOT / "configs" / "64x64-starved.yaml", model, "rule")

    def test_equals_a_sweep_on_real_dram(self):
        model = ROOT / "models" / "squeezenet1_1_op13.onnx"
        self.compare_with_sweep(ROOT / "configs" / "64x64-ddr4.yaml", model, "rule")

    def test_fields_that_are_zero_are_said_not_to_be_tried(self):
        machine = ROOT / "configs" / "8x8.yaml"
        model = ROOT / "models" / "squeezenet1_1_op13.onnx"
        text = run("advise", "--hw", machine, model, "--effort", "rule").stdout
        none = text[text.index("no cycles") :]
        none = none[: none.index("clock_mhz")]
        self.assertNotIn("buffers.shared.kib", none)
        self.assertRegex(text, r"buffers\.shared\.kib\s+isn't\s+tried:\s+is\s+0")

    def test_small_energies_are_moved_by_a_tenth(self):
        with tempfile.TemporaryDirectory() as folder:
            machine = pathlib.Path(folder, "m.yaml")
            text = (ROOT / "configs" / "8x8.yaml").read_text()
            machine.write_text(re.sub(r"mac_pj: \S+", "mac_pj: 0.0000015", text))
            model = ROOT / "models" / "squeezenet1_1_op13.onnx"
            found = {f["field"]: f for f in advice(machine, model, "rule")["fields"]}
        self.assertAlmostEqual(found["energy.mac_pj"]["tenth"]["value"], 1.35e-6, delta=1e-12)
        self.assertAlmostEqual(found["energy.mac_pj"]["twofold"]["value"], 0.75e-6, delta=1e-12)

    def test_what_cannot_be_advised_is_said(self):
        model = ROOT / "models" / "squeezenet1_1_op13.onnx"
        self.assertIn("--hw is required", run("advise", model).stderr)
        done = run("advise", "--hw", model, "no.onnx")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no.onnx", done.stderr)


if __name__ == "__main__":
    unittest.main()
