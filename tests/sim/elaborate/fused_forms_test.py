#!/usr/bin/python3
"""Does a fused operator cost and compute what it stands for? fused_forms_test.py ACCSIM

Each pair of fused_pairs.py is one function, written as a runtime's operator and as the operators
that it stands for: `run` gives the same numbers, and the cycles agree within 2 %. Exit code 77
without numpy or python3-onnx.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import fused_quantised_pairs  # noqa: F401  (registers its pairs)
    import numpy as np
    from fused_pairs import PAIRS, models
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[3]
MACHINE = ROOT / "configs/64x64.yaml"
MOST_APART = 0.02


def call(*words):
    done = subprocess.run([ACCSIM, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return done.stdout


def cycles(model):
    return json.loads(call("--hw", MACHINE, model, "--json", "-"))["totals"]["cycles"]


def values(model, outputs, inputs, folder):
    given = []
    for name, array in inputs.items():
        np.save(folder / f"{name}.npy", array)
        given += ["--input", f"{name}={folder / name}.npy"]
    call("run", model, "--output", folder / "out", *given)
    return [np.load(folder / "out" / f"{name}.npy") for name in outputs]


class FusedForms(unittest.TestCase):
    def check(self, name):
        (fused, spelled), inputs, tolerance = models(name)
        took, gave = [], []
        with tempfile.TemporaryDirectory() as temporary:
            for which, model in (("fused", fused), ("spelled", spelled)):
                folder = pathlib.Path(temporary) / which
                folder.mkdir()
                path = folder / "model.onnx"
                path.write_bytes(model.SerializeToString())
                took.append(cycles(path))
                outputs = [o.name for o in model.graph.output]
                gave.append(values(path, outputs, inputs, folder))
        if not getattr(PAIRS[name][0], "values_only", False):
            self.assertLessEqual(abs(took[0] / took[1] - 1), MOST_APART, took)
        for ours, theirs in zip(*gave):
            self.assertEqual(ours.shape, theirs.shape)
            size = max(1.0, float(np.abs(theirs.astype(float)).max()))
            apart = float(np.abs(ours.astype(float) - theirs.astype(float)).max())
            self.assertLessEqual(apart, tolerance * (1 if ours.dtype.kind in "iu" else size))


def add_tests():
    for name in PAIRS:
        setattr(FusedForms, f"test_{name}", lambda self, name=name: self.check(name))


add_tests()

if __name__ == "__main__":
    ACCSIM = sys.argv.pop(1)
    unittest.main()
