#!/usr/bin/python3
"""Do quantised networks give what ONNX Runtime gives? quantised_test.py ACCSIM

Files of ONNX Runtime's quantiser with weights (tests/data/quantised) run in both, the graph as it
stands: what the runtime's optimiser makes of it rounds elsewhere. Every output must agree within
one step: one of its integers, or where it is floats 1/255 of its range. Exit code 77 without node,
npm, numpy or python3-onnx.
"""

import json
import pathlib
import sys
import tempfile

from networks_test import HERE, install, run

try:
    import numpy as np
    import onnx
    import weights
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

sys.dont_write_bytecode = True
ROOT = HERE.parent.parent
FILES = ROOT / "tests" / "data" / "quantised"
sys.path.insert(0, str(ROOT / "tests" / "quantiser"))

import stored  # noqa: E402


def is_whole(model):
    """Does the file have its weights?"""
    return all(t.data_location != onnx.TensorProto.EXTERNAL for t in model.graph.initializer)


def compare(accsim, path, model, folder):
    """The largest difference of an output, in its steps, and the share of elements that differ."""
    given = []
    for i, (name, values) in enumerate(weights.inputs(model, {}, 2).items()):
        np.save(folder / f"input_{i}.npy", values)
        given.append(f"{name}={folder}/input_{i}.npy")
    (folder / "theirs").mkdir()
    theirs = json.loads(run(["node", HERE / "run.js", path, folder / "theirs", "--plain", *given]))
    flags = [flag for text in given for flag in ("--input", text)]
    run([accsim, "run", path, "--output", folder / "ours", *flags])
    most, differ = 0, 0
    for i, name in enumerate(theirs["outputs"]):
        a = np.load(folder / "theirs" / f"{i}.npy")
        b = np.load(folder / "ours" / f"{name}.npy")
        if a.shape != b.shape or not np.isfinite(a).all() or a.max() == a.min():
            raise SystemExit(f"FAILED: {path.name}: {name}: other shapes, or theirs is constant")
        far = np.abs(a.astype(np.float64) - b) / stored.step(model, name, a)
        most, differ = max(most, float(far.max())), max(differ, float((far > 0.01).mean()))
    return most, differ


def main():
    accsim = pathlib.Path(sys.argv[1]).resolve()
    install()
    failed = count = 0
    for path in sorted(FILES.glob("*.onnx")):
        model = onnx.load(path, load_external_data=False)
        if not is_whole(model):
            continue
        with tempfile.TemporaryDirectory() as folder:
            most, differ = compare(accsim, path, model, pathlib.Path(folder))
        good = round(most, 2) <= 1  # floats are no exact multiples of a step
        failed += not good
        count += 1
        print(f"{'ok' if good else 'WRONG':6}{path.name:28}{most:8.3f} steps, {differ:.1%} differ")
    if count < 15:
        raise SystemExit(f"FAILED: only {count} files")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
