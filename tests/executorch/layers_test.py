#!/usr/bin/python3
"""Do layers of a network compute on ExecuTorch what they computed here? layers_test.py ACCSIM

`accsim run --dump all --raw` leaves inputs and golden outputs of SqueezeNet's layers as raw
elements. Each kind of layer becomes a module of PyTorch, by its manifest and its attributes,
weights among its inputs, and is exported to ExecuTorch, whose runtime computes it on these inputs.
`accsim diff` compares what it gives with the golden outputs. Exit code 77 without executorch, torch
or onnx.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    import torch
    from executorch.exir import to_edge
    from executorch.runtime import Runtime
    from torch.nn import functional
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
NETWORK = ROOT / "models" / "squeezenet1_1_op13.onnx"


def sides(pads):
    """Padding of torch, which has one number for both sides of an axis."""
    before, behind = pads[: len(pads) // 2], pads[len(pads) // 2 :]
    assert before == behind, "padding that torch doesn't have"
    return before


def conv(a, x, w, b=None):
    pads = sides(a.get("pads", [0, 0, 0, 0]))
    return functional.conv2d(x, w, b, a.get("strides", 1), pads, groups=a.get("group", 1))


def max_pool(a, x):
    pads = sides(a.get("pads", [0, 0, 0, 0]))
    strides, ceiled = a.get("strides", 1), bool(a.get("ceil_mode", 0))
    return functional.max_pool2d(x, a["kernel_shape"], strides, pads, ceil_mode=ceiled)


OPERATORS = {
    "Conv": conv,
    "Relu": lambda a, x: functional.relu(x),
    "MaxPool": max_pool,
    "Concat": lambda a, *parts: torch.cat(parts, a["axis"]),
    "GlobalAveragePool": lambda a, x: functional.adaptive_avg_pool2d(x, 1),
    "Flatten": lambda a, x: x.flatten(a.get("axis", 1)),
}


class Layer(torch.nn.Module):
    def __init__(self, op_type, attributes):
        super().__init__()
        self.op_type, self.attributes = op_type, attributes

    def forward(self, *inputs):
        return OPERATORS[self.op_type](self.attributes, *inputs)


def attributes_of(path):
    (node,) = onnx.load(str(path)).graph.node
    return {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}


def run(words):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)


def kinds(folder):
    """A layer of each kind, with its attributes: kinds differ in these, or in shapes."""
    found = {}
    for layer in json.loads((folder / "manifest.json").read_text())["layers"]:
        if layer["op_type"] in OPERATORS:
            attributes = attributes_of(folder / layer["model"])
            shapes = [t["dims"] for t in layer["inputs"]]
            kind = (layer["op_type"], str(sorted(attributes.items())), str(shapes))
            found.setdefault(kind, (layer, attributes))
    return list(found.values())


def by_executorch(module, inputs, path):
    program = to_edge(torch.export.export(module, inputs)).to_executorch()
    path.write_bytes(program.buffer)
    (output,) = Runtime.get().load_program(path).load_method("forward").execute(list(inputs))
    return output.numpy()


def main():
    accsim = pathlib.Path(sys.argv[1]).resolve()
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        golden = pathlib.Path(name) / "golden"
        done = run(
            [accsim, "run", NETWORK, "--weights", "random:1", "--output", golden]
            + ["--dump", "all", "--raw", "--threads", "2"]
        )
        assert done.returncode == 0, done.stderr
        all_kinds = kinds(golden)
        tried = {layer["op_type"] for layer, _ in all_kinds}
        assert {"Conv", "Relu", "MaxPool", "Concat"} <= tried, tried
        for layer, attributes in all_kinds:
            inputs = tuple(
                torch.from_numpy(np.fromfile(golden / t["file"], t["dtype"]).reshape(t["dims"]))
                for t in layer["inputs"]
            )
            module = Layer(layer["op_type"], attributes).eval()
            theirs = golden / "theirs.bin"
            theirs.write_bytes(by_executorch(module, inputs, golden / "layer.pte").tobytes())
            (output,) = layer["outputs"]
            done = run(
                [
                    accsim,
                    "diff",
                    golden / output["file"],
                    theirs,
                    "--model",
                    golden / layer["model"],
                ]
            )
            wrong += done.returncode != 0
            if done.returncode != 0:
                print(f"WRONG {layer['name']}: {done.stdout}{done.stderr}")
    print(f"{len(all_kinds)} layers of {len(tried)} operators on ExecuTorch, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
