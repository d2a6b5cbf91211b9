#!/usr/bin/env python3
"""Makes the files of this folder: what the newest PyTorch's exporter (torch.onnx, dynamo) writes,
without weights. By hand, in a virtual environment:

    python3 -m venv v && v/bin/pip install torch onnxscript onnx
    v/bin/python tests/data/torch/make.py
"""

import pathlib
import sys

import onnx
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))
from torch_models import Encoder, Llama, ResNet18  # noqa: E402

CASES = {
    "resnet18": (ResNet18, torch.zeros(1, 3, 224, 224)),
    "llama": (lambda: Llama(2, 256, 8, 2, 688, 1000), torch.zeros(1, 16, dtype=torch.int64)),
    "encoder": (lambda: Encoder(2, 128, 4, 512, 1000, 10), torch.zeros(1, 32, dtype=torch.int64)),
}
MOST_BYTES = 64  # of constants that stay in the file: shapes, axes, scales


def drop_weights(model):
    """Weights become data of a file that isn't there, as in models/."""
    for tensor in model.graph.initializer:
        if len(tensor.raw_data) <= MOST_BYTES:
            continue
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights.bin")
    for node in model.graph.node:
        for prop in list(node.metadata_props):
            if prop.key == "pkg.torch.onnx.stack_trace":  # lines and paths of the sources
                node.metadata_props.remove(prop)


def main():
    for name, (make, example) in CASES.items():
        torch.manual_seed(0)
        path = HERE / f"{name}.onnx"
        torch.onnx.export(make().eval(), (example,), dynamo=True).save(path)
        model = onnx.load(path, load_external_data=False)
        drop_weights(model)
        onnx.save(model, path)


if __name__ == "__main__":
    main()
