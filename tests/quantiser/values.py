"""Results of accsim beside those of ONNX Runtime: of whole networks, and of every node alone."""

import re
import subprocess

import numpy as np
import onnx
import onnxruntime
import stored
from onnx import helper, numpy_helper

# Whose results are their inputs' elements, or follow from shapes.
SKIPPED = {"Constant", "Shape", "Cast", "Reshape", "Transpose", "Concat", "Slice", "Unsqueeze"}
SKIPPED |= {"Squeeze", "Flatten", "Identity", "Gather", "Expand", "ConstantOfShape"}


def runtime(path, inputs, *, plain):
    """{output: values} of ONNX Runtime; `plain`: of the graph as it stands."""
    options = onnxruntime.SessionOptions()
    levels = onnxruntime.GraphOptimizationLevel
    level = levels.ORT_DISABLE_ALL if plain else levels.ORT_ENABLE_ALL
    options.graph_optimization_level = level
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def accsim(program, path, inputs, folder):
    """{output: values} of accsim."""
    given = []
    for i, (name, values) in enumerate(inputs.items()):
        np.save(folder / f"{i}.npy", values)
        given += ["--input", f"{name}={folder}/{i}.npy"]
    out = folder / path.stem
    command = [program, "run", path, "--output", out, "--threads", "2", *given]
    subprocess.run(command, check=True, capture_output=True, text=True)
    found = {}
    for value in onnx.load(path, load_external_data=False).graph.output:
        names = (value.name, re.sub(r"[^A-Za-z0-9._-]", "_", value.name))
        file = next(out / f"{n}.npy" for n in names if (out / f"{n}.npy").is_file())
        found[value.name] = np.load(file)
    return found


def furthest(model, ours, theirs):
    """The largest difference of any output, in steps of that output."""
    most = 0.0
    for name, expected in theirs.items():
        equal = (ours[name] == expected) | (np.isnan(ours[name]) & np.isnan(expected))
        far = np.abs(ours[name].astype(np.float64) - expected)[~equal]
        if far.size:
            finite = expected[np.isfinite(expected)]
            most = max(most, float(far.max()) / stored.step(model, name, finite))
    return most


def disturbed(path, inputs, folder):
    """ONNX Runtime's results where the last bit of each float of a vector or matrix is another:
    what float arithmetic in another order may make of the network."""
    model = onnx.load(path)
    rng = np.random.default_rng(3)
    for tensor in model.graph.initializer:
        if tensor.data_type != onnx.TensorProto.FLOAT or not tensor.dims:
            continue
        values = numpy_helper.to_array(tensor)
        to = np.where(rng.integers(0, 2, values.shape) > 0, np.inf, -np.inf)
        moved = np.nextafter(values, to.astype(np.float32))
        tensor.CopyFrom(numpy_helper.from_array(moved, tensor.name))
    target = folder / "disturbed.onnx"
    onnx.save(model, target)
    return runtime(target, inputs, plain=True)


def nodes_alone(path, inputs, folder):
    """A model of the nodes of another one, none of which reads another's results, what they read
    in ONNX Runtime's run of that, and what they then give: (path, inputs, outputs)."""
    model = onnx.load(path)
    told = {value.name for value in model.graph.output}
    for node in model.graph.node:
        for name in node.output:
            if name and name not in told:
                model.graph.output.append(onnx.ValueInfoProto(name=name))
    whole = folder / "whole.onnx"
    onnx.save(model, whole)
    theirs = runtime(whole, inputs, plain=True)
    constants = {t.name for t in model.graph.initializer}
    parts = onnx.GraphProto(name="nodes", initializer=model.graph.initializer)
    given, wanted = {}, {}
    for node in model.graph.node:
        if node.op_type in SKIPPED:
            continue
        part = parts.node.add()
        part.CopyFrom(node)
        for port, name in enumerate(node.input):
            if name and name not in constants:
                part.input[port] = f"given_{len(given)}"
                given[part.input[port]] = theirs[name] if name in theirs else inputs[name]
        wanted |= {name: theirs[name] for name in node.output if name}
    for side, values in ((parts.input, given), (parts.output, wanted)):
        for name, value in values.items():
            kind = helper.np_dtype_to_tensor_dtype(value.dtype)
            side.append(helper.make_tensor_value_info(name, kind, value.shape))
    alone = helper.make_model(parts, opset_imports=model.opset_import)
    alone.ir_version = model.ir_version
    target = folder / "nodes.onnx"
    onnx.save(alone, target)
    return target, given, wanted
