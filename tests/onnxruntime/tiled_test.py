#!/usr/bin/python3
"""Does AlexNet, cut into 14,336 MatMuls, compute what it computed before? tiled_test.py ACCSIM

With random weights in the file, cut 64x64x64 with ragged and with padded edges; whole and cut run
in the reference executor and in ONNX Runtime. Both must agree within 1e-6 of the output's range,
and the two programs within 1e-5. Exit code 77 without node, npm, numpy or python3-onnx.
"""

import math
import pathlib
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import weights
    from networks_test import HERE, MODELS, install, run
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

MOST = 1e-6
LINEAR = [(1, 9216, 4096), (1, 4096, 4096), (1, 4096, 1000)]


def by_accsim(accsim, model, given, folder):
    run([accsim, "run", model, "--output", folder, "--threads", "2", "--input", given])
    return np.load(folder / "output.npy")


def by_onnxruntime(model, given, folder):
    folder.mkdir()
    run(["node", HERE / "run.js", model, folder, "--plain", given])
    return np.load(folder / "0.npy")


def main():
    accsim = pathlib.Path(sys.argv[1]).resolve()
    install()
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        whole = folder / "whole.onnx"
        model = weights.fill(MODELS / "alexnet_op13.onnx", whole, 1)
        (values,) = weights.inputs(model, {}, 2).values()
        np.save(folder / "input.npy", values)
        given = f"input={folder}/input.npy"
        before = (
            by_accsim(accsim, whole, given, folder / "a"),
            by_onnxruntime(whole, given, folder / "b"),
        )
        span = float(before[0].max() - before[0].min())
        failed += not (span > 0 and np.abs(before[0] - before[1]).max() <= 1e-5 * span)
        for edge in ("ragged", "pad"):
            cut = folder / f"{edge}.onnx"
            run([accsim, "tile", whole, "-o", cut, "--tile", "64x64x64", "--edge", edge])
            found = sum(n.op_type == "MatMul" for n in onnx.load(str(cut)).graph.node)
            wanted = sum(math.prod(-(-size // 64) for size in layer) for layer in LINEAR)
            after = (
                by_accsim(accsim, cut, given, folder / f"{edge}-a"),
                by_onnxruntime(cut, given, folder / f"{edge}-b"),
            )
            worst = [float(np.abs(x - y).max()) / span for x, y in zip(before, after)]
            good = found == wanted and max(worst) <= MOST
            failed += not good
            print(
                f"{'ok' if good else 'WRONG':6}{edge}: {found} MatMuls, max abs {worst[0]:.1e} of "
                f"the range in the reference executor, {worst[1]:.1e} in ONNX Runtime",
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
