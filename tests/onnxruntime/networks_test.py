#!/usr/bin/python3
"""Do whole networks give what ONNX Runtime gives? networks_test.py ACCSIM

Every network gets random weights and inputs, runs in both, and every output must agree within 1e-4
of its range. Exit code 77 without node, npm, numpy or python3-onnx.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODELS = HERE.parent.parent / "models"
MOST = 1e-4

try:
    import numpy as np
    import weights
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

NETWORKS = [
    ("squeezenet1_1_op13.onnx", {}),
    ("mobilenet_v2_op13.onnx", {}),
    ("mobilenet_v2_dynbatch_op17.onnx", {"batch": 2}),
    ("resnet18_bn_op13.onnx", {}),
    ("resnet50_op17.onnx", {}),
    ("googlenet_bn_op13.onnx", {}),
    ("llama_tiny2_prefill64_op17.onnx", {}),
    ("llama_tiny2_decode_dyn_op17.onnx", {"past": 24}),
]


def install():
    """ONNX Runtime in node_modules; skips when there is no npm to install it with."""
    if not shutil.which("node") or not shutil.which("npm"):
        print("SKIPPED: node or npm is missing; scripts/setup installs them")
        sys.exit(77)
    if not (HERE / "node_modules" / "onnxruntime-node").is_dir():
        subprocess.run(
            ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=HERE, check=True
        )


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"FAILED: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def saved_inputs(model, bindings, folder):
    """Files with random values, by input."""
    files = {}
    for i, (name, values) in enumerate(weights.inputs(model, bindings, 2).items()):
        files[name] = folder / f"input{i}.npy"
        np.save(files[name], values)
    return files


def compare(accsim, network, bindings, folder):
    model = weights.fill(MODELS / network, folder / "model.onnx", 1)
    given = [f"{name}={file}" for name, file in saved_inputs(model, bindings, folder).items()]
    (folder / "theirs").mkdir()
    theirs = json.loads(
        run(["node", HERE / "run.js", folder / "model.onnx", folder / "theirs", *given])
    )
    flags = [flag for text in given for flag in ("--input", text)]
    flags += [flag for name, n in bindings.items() for flag in ("--bind", f"{name}={n}")]
    run(
        [
            accsim,
            "run",
            folder / "model.onnx",
            "--output",
            folder / "ours",
            "--threads",
            "2",
            *flags,
        ]
    )
    worst = 0
    for i, name in enumerate(theirs["outputs"]):
        a = np.load(folder / "theirs" / f"{i}.npy")
        b = np.load(folder / "ours" / f"{name}.npy")
        if a.shape != b.shape or not np.isfinite(a).all() or a.max() == a.min():
            raise SystemExit(
                f"FAILED: {network}: {name}: shapes {a.shape} and {b.shape}, or theirs "
                "is constant or not finite"
            )
        worst = max(worst, float(np.abs(a - b).max() / (a.max() - a.min())))
    return f"{len(theirs['outputs']):3} outputs", worst, "the range"


def check_each(networks, check, most):
    """The exit code: 0 where check(accsim, network, bindings, folder) finds an error of at most
    `most` in each. It gives what it compared, the worst error, and of what that is a share."""
    accsim = pathlib.Path(sys.argv[1]).resolve()
    install()
    failed = 0
    for network, bindings in networks:
        with tempfile.TemporaryDirectory() as folder:
            compared, worst, of = check(accsim, network, bindings, pathlib.Path(folder))
        good = worst <= most
        failed += not good
        print(
            f"{'ok' if good else 'WRONG':6}{network:36}{compared}, max abs {worst:.2e} of {of}",
            flush=True,
        )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(check_each(NETWORKS, compare, MOST))
