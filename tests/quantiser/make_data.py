#!/usr/bin/env python3
"""Makes the files of tests/data/quantised: what ONNX Runtime's quantiser writes.

    tests/quantiser/make_data.py [--out tests/data/quantised] [--venv out/quantiser/venv]

Networks of small.py in every form, with weights: tests run them in accsim and in ONNX Runtime.
Networks of models/ without weights, whose costs tests look at.
"""

import argparse
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "support"), str(ROOT / "tests" / "onnxruntime")]

import environment  # noqa: E402

SMALL = {
    "pictures": ["qdq", "qdq_16", "qdq_4", "qoperator", "dynamic_u8"],
    "decoder": ["qdq_u8", "qoperator", "dynamic", "blocks4", "blocks4_rows"],
    "decoder21": ["blocks4_qdq"],
    "encoder": ["dynamic", "dynamic_u8"],
    "recurrent": ["dynamic", "dynamic_u8"],
}
WHOLE = {
    "resnet18_op13": ["qdq", "dynamic"],
    "resnet50_op17": ["qoperator"],
    "mobilenet_v2_op13": ["qdq_u8"],
    "llama_tiny2_prefill64_op17": ["qoperator", "blocks4"],
}
MOST_BYTES = 16  # of constants that stay in files without weights: zero points, scales


def drop_weights(model):
    for tensor in model.graph.initializer:
        if tensor.data_type != 7 and tensor.ByteSize() > MOST_BYTES + len(tensor.name) + 8:
            for field in ("raw_data", "int32_data", "float_data"):
                tensor.ClearField(field)
            tensor.data_location = 1  # external
            tensor.external_data.add(key="location", value="weights.bin")
    del model.graph.value_info[:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    data = ROOT / "tests" / "data" / "quantised"
    parser.add_argument("--out", default=data, type=pathlib.Path)
    parser.add_argument("--venv", default=ROOT / "out" / "quantiser" / "venv")
    options = parser.parse_args()
    environment.enter(HERE / "requirements.txt", options.venv)
    import logging

    import forms
    import onnx
    import small
    import weights

    logging.disable(logging.WARNING)
    options.out.mkdir(parents=True, exist_ok=True)
    for name, wanted in SMALL.items():
        source = options.out / f"{name}.float.onnx"
        onnx.save(small.NETWORKS[name](), source)
        for form in wanted:
            forms.quantise(source, form, options.out / f"{name}.{form}.onnx")
        if name[-1].isdigit():  # the same in another opset
            source.unlink()
    with tempfile.TemporaryDirectory() as folder:
        for name, wanted in WHOLE.items():
            source = pathlib.Path(folder) / f"{name}.onnx"
            weights.fill(ROOT / "models" / f"{name}.onnx", source, 1)
            for form in wanted:
                path = options.out / f"{name}.{form}.onnx"
                forms.quantise(source, form, path)
                model = onnx.load(path)
                drop_weights(model)
                onnx.save(model, path)


if __name__ == "__main__":
    main()
