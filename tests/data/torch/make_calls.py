#!/usr/bin/env python3
"""Makes calls.onnx, twice.onnx and calls.npz of this folder: a network of tests/python, exported
with what each call of its modules gives and without; its input and what PyTorch gave. By hand, on
a Python with torch, and the package on PYTHONPATH:

    PYTHONPATH=PACKAGE python3 tests/data/torch/make_calls.py
"""

import pathlib
import sys

import numpy
import torch
from accsim._export import export_module
from accsim._golden import export_calls

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python"))
from torch_models import Twice  # noqa: E402


def main():
    torch.manual_seed(0)
    module, x = Twice().eval(), torch.randn(1, 3, 8, 8)
    with torch.no_grad():  # not what a fresh one has: zeros and ones
        for tensor in (*module.bn.parameters(), module.bn.running_mean, module.bn.running_var):
            tensor.uniform_(0.5, 1.5)
    calls = export_calls(module, (x,), str(HERE / "calls.onnx"))
    export_module(module, (x,), str(HERE / "twice.onnx"), weights=True)
    names = [f"{i}|{c.layer}|{c.call}|{c.output}" for i, c in enumerate(calls)]
    values = dict(zip(names, (c.value for c in calls)))
    numpy.savez_compressed(HERE / "calls.npz", input=x.numpy(), **values)


if __name__ == "__main__":
    main()
