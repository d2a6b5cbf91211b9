#!/usr/bin/python3
"""Do the layers of a network, each a model of its own, compute elsewhere what they computed here?
layers_test.py ACCSIM

`accsim run --dump all --raw` leaves a folder for each layer: layer.onnx, its inputs and golden
outputs as raw elements. ONNX's checker takes each model. ONNX Runtime runs it on these inputs, and
`accsim diff` compares what it gives, raw too, with the golden outputs. Exit code 77 without node,
npm, numpy or python3-onnx.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from networks_test import MODELS, install, run
    from onnx import TensorProto, helper, numpy_helper
    from parts_test import by_onnxruntime
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

NETWORKS = [
    ("squeezenet1_1_op13.onnx", []),
    ("googlenet_bn_op13.onnx", []),
    ("llama_tiny2_prefill64_op17.onnx", []),
    ("llama_tiny2_decode_dyn_op17.onnx", ["--bind", "past=24"]),
]
NAMES = {"bool": np.bool_}


def odd_network(path):
    """Types, attributes and bodies that the others haven't got."""
    node, value = helper.make_node, helper.make_tensor_value_info
    rng = np.random.default_rng(3)
    hidden = 3
    body = helper.make_graph(
        [node("Mul", ["l", "two"], ["scaled"]), node("Identity", ["go"], ["on"])],
        "body",
        [
            value("i", TensorProto.INT64, []),
            value("go", TensorProto.BOOL, []),
            value("l", TensorProto.FLOAT, [1, 2, 3]),
        ],
        [value("on", TensorProto.BOOL, []), value("scaled", TensorProto.FLOAT, [1, 2, 3])],
    )
    nodes = [
        node(
            "LSTM",
            ["x", "w", "r"],
            ["all", "last", ""],
            name="lstm",
            hidden_size=hidden,
            activations=["Sigmoid", "Tanh", "Relu"],
        ),
        node("Loop", ["times", "", "last"], ["looped"], name="loop", body=body),
        node("TopK", ["looped", "k"], ["top", "at"], name="top", axis=2),
        node("Mul", ["top", "top"], ["square"], name="square"),
        node("Greater", ["square", "zero"], ["flags"], name="flags"),
        node("Where", ["flags", "top", "zero"], ["w1"], name="where"),
        node("Cast", ["w1"], ["half"], name="half", to=TensorProto.FLOAT16),
        node("Cast", ["half"], ["double"], name="double", to=TensorProto.DOUBLE),
        node("Cast", ["w1"], ["bytes"], name="bytes", to=TensorProto.INT8),
    ]

    def real(name, *dims):
        return numpy_helper.from_array(rng.uniform(-1, 1, dims).astype(np.float32), name)

    stored = [
        real("w", 1, 4 * hidden, 5),
        real("r", 1, 4 * hidden, hidden),
        numpy_helper.from_array(np.array(3), "times"),
        numpy_helper.from_array(np.array([2]), "k"),
        numpy_helper.from_array(np.float32(2), "two"),
        helper.make_tensor("zero", TensorProto.FLOAT, [], [0.0]),
    ]
    outputs = [helper.make_empty_tensor_value_info(n) for n in ("double", "bytes", "all", "at")]
    graph = helper.make_graph(
        nodes, "odd", [value("x", TensorProto.FLOAT, [4, 2, 5])], outputs, stored
    )
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=7),
        str(path),
    )


def elements(folder, tensor):
    dtype = NAMES.get(tensor["dtype"], tensor["dtype"])
    return np.fromfile(folder / tensor["file"], dtype).reshape(tensor["dims"])


def runs_elsewhere(layer):
    """run.js has no float16."""
    return all(t["dtype"] != "float16" for t in layer["inputs"] + layer["outputs"])


def check_model(folder, layer):
    """Inputs and outputs of the layer's model are those of the manifest."""
    model = onnx.load(str(folder / layer["model"]))
    onnx.checker.check_model(model, full_check=True)
    for values, tensors in (
        (model.graph.input, [t for t in layer["inputs"] if not t.get("stored")]),
        (model.graph.output, layer["outputs"]),
    ):
        stated = [(v.name, [d.dim_value for d in v.type.tensor_type.shape.dim]) for v in values]
        if stated != [(t["name"], t["dims"]) for t in tensors]:
            raise SystemExit(f"FAILED: {layer['name']}: {stated}")
    for stored in model.graph.initializer:
        (tensor,) = [t for t in layer["inputs"] if t["name"] == stored.name]
        if not np.array_equal(numpy_helper.to_array(stored), elements(folder, tensor)):
            raise SystemExit(f"FAILED: {layer['name']}: other elements of {stored.name}")


def jobs_of(folder, layers, theirs):
    for i, layer in enumerate(layers):
        given = {}
        for port, tensor in enumerate(layer["inputs"]):
            if not tensor.get("stored"):
                given[tensor["name"]] = theirs / f"{i}_{port}.npy"
                np.save(given[tensor["name"]], elements(folder, tensor))
        yield folder / layer["model"], theirs / str(i), given


def check(accsim, model, words, folder):
    """How many layers there are, how many were run elsewhere, which of these differ."""
    ours, theirs = folder / "ours", folder / "theirs"
    theirs.mkdir()
    run(
        [
            accsim,
            "run",
            model,
            "--weights",
            "random:1",
            "--output",
            ours,
            "--dump",
            "all",
            "--raw",
            "--threads",
            "2",
            *words,
        ]
    )
    layers = json.loads((ours / "manifest.json").read_text())["layers"]
    for layer in layers:
        check_model(ours, layer)
    tried = [layer for layer in layers if runs_elsewhere(layer)]
    jobs = list(jobs_of(ours, tried, theirs))
    wrong = []
    for layer, job, names in zip(tried, jobs, by_onnxruntime(jobs), strict=True):
        for i, name in enumerate(names):
            (tensor,) = [t for t in layer["outputs"] if t["name"] == name]
            result = job[1] / "result.out"
            result.write_bytes(np.load(job[1] / f"{i}.npy").tobytes())
            done = subprocess.run(
                [accsim, "diff", ours / tensor["file"], result, "--model", job[0], "--tensor", name,
                 "--atol", "1e-5", "--rtol", "1e-3"],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode != 0:
                wrong.append(f"{layer['name']}: {done.stdout[-300:]}{done.stderr}")
    return len(layers), len(tried), wrong


def main():
    accsim = pathlib.Path(sys.argv[1]).resolve()
    install()
    failed = 0
    with tempfile.TemporaryDirectory() as odd:
        odd_network(pathlib.Path(odd) / "odd.onnx")
        models = [(MODELS / name, words) for name, words in NETWORKS]
        for model, words in [*models, (pathlib.Path(odd) / "odd.onnx", [])]:
            with tempfile.TemporaryDirectory() as folder:
                layers, tried, wrong = check(accsim, model, words, pathlib.Path(folder))
            failed += len(wrong)
            print(
                f"{'WRONG' if wrong else 'ok':6}{model.name:36}{layers:4} layers, {tried:4} run",
                *wrong,
                flush=True,
            )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
