"""Exports one network in all its forms: exports_one.py NAME FOLDER. Writes FOLDER/NAME.FORM.onnx
without weights, and FOLDER/NAME.json: a reason for each form that there isn't."""

import json
import pathlib
import sys

import genai
import networks
import onnx
import onnxruntime
import torch
from one import drop_weights
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, quantize_static

# Forms of a network, in the order of the table.
FORMS = ("torchscript", "dynamo", "extended", "layout", "fused", "qdq", "qoperator", "genai")
SCRIPT_OPSET = 17
# Levels of ONNX Runtime's optimiser: fused operators, and blocks of channels beside them.
LEVELS = {
    "extended": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "layout": onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
# Kinds of networks that onnxruntime.transformers knows, by the beginning of a name.
KINDS = {
    "hf_bert": "bert",
    "hf_distilbert": "bert",
    "hf_gpt2": "gpt2",
    "hf_t5": "t5",
    "hf_clip": "clip",
    "hf_dinov2": "vit",
    "tv_vit": "vit",
}


def kind_of(name):
    """What onnxruntime.transformers calls the kind of network, or None."""
    return next((kind for begin, kind in KINDS.items() if name.startswith(begin)), None)


def wanted(name):
    """The forms that a network has: fused and genai are for some networks alone."""
    absent = set() if kind_of(name) else {"fused"}
    absent |= set() if name in genai.NAMES else {"genai"}
    return [form for form in FORMS if form not in absent]


class Random(CalibrationDataReader):
    """Two runs on what the network is given."""

    def __init__(self, session, inputs):
        names = [i.name for i in session.get_inputs()]
        self.left = [dict(zip(names, (x.numpy() for x in inputs), strict=True))] * 2

    def get_next(self):
        return self.left.pop() if self.left else None


def export(module, inputs, path, opset, dynamo):
    with torch.no_grad():
        torch.onnx.export(module, inputs, path, opset_version=opset, dynamo=dynamo)


def optimise(source, path, level):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.optimized_model_filepath = str(path)
    onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])


def fuse(source, path, kind):
    from onnxruntime.transformers import optimizer

    fused = optimizer.optimize_model(str(source), model_type=kind, opt_level=0)
    fused.save_model_to_file(str(path))


def quantise(source, path, inputs, form):
    session = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    quantize_static(source, path, Random(session, inputs), quant_format=form, per_channel=True)


def make(form, name, network, module, inputs, folder):
    """Writes the form with its weights."""
    path, dynamo = folder / f"{form}.onnx", folder / "dynamo.onnx"
    if form == "torchscript":
        export(module, inputs, str(path), SCRIPT_OPSET, False)
    elif form == "dynamo":
        export(module, inputs, str(path), network.opset, True)
    elif form in LEVELS:
        optimise(dynamo, path, LEVELS[form])
    elif form == "fused":
        script = folder / "torchscript.onnx"
        if not script.is_file():
            raise ValueError("it is made of the torchscript form")
        fuse(script, path, kind_of(name))
    elif form == "genai":
        genai.write(module.module, path)
    else:
        quant = QuantFormat.QDQ if form == "qdq" else QuantFormat.QOperator
        quantise(dynamo, path, inputs, quant)
    return path


def main():
    name, out = sys.argv[1], pathlib.Path(sys.argv[2])
    network = networks.NETWORKS[name]
    torch.manual_seed(0)
    module, inputs = network.build().eval().requires_grad_(False), network.inputs()
    folder = out / f"{name}.work"
    folder.mkdir(exist_ok=True)
    missing = {}
    for form in wanted(name):
        try:
            path = make(form, name, network, module, inputs, folder)
            model = onnx.load(path, load_external_data=False)
            drop_weights(model)
            onnx.save(model, out / f"{name}.{form}.onnx")
        except Exception as error:  # whatever an exporter raises is why there is no such form
            missing[form] = (str(error).strip().splitlines() or [type(error).__name__])[0][:120]
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    (out / f"{name}.json").write_text(json.dumps(missing, indent=1) + "\n")


if __name__ == "__main__":
    main()
