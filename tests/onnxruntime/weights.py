"""Random weights for models whose weights are external and absent, and random inputs."""

import pathlib

import numpy as np
import onnx
from onnx import numpy_helper

DTYPES = {1: np.float32, 6: np.int32, 7: np.int64, 9: np.bool_, 11: np.float64}


def roles(graph):
    """{tensor name: (op type, input port)} of every initializer's first reader."""
    found = {}
    for node in graph.node:
        for port, name in enumerate(node.input):
            found.setdefault(name, (node.op_type, port))
    return found


def random_tensor(rng, tensor, role):
    dims = tuple(tensor.dims)
    dtype = DTYPES[tensor.data_type]
    if dtype is not np.float32 and dtype is not np.float64:
        return np.zeros(dims, dtype)
    if role == ("BatchNormalization", 4):
        values = rng.uniform(0.5, 1.5, dims)
    elif role[0].endswith("Normalization") and role[1] == 1:
        values = rng.uniform(0.8, 1.2, dims)
    else:
        fan = int(np.prod(dims[1:])) if len(dims) > 2 else max(dims, default=1)
        values = rng.uniform(-1, 1, dims) * np.sqrt(3 / max(fan, 1))
    return values.astype(dtype)


def fill(source, target, seed):
    """Writes `source` to `target` with random elements wherever they are external."""
    model = onnx.load(str(source), load_external_data=False)
    rng = np.random.default_rng(seed)
    role = roles(model.graph)
    constants = [a.t for node in model.graph.node for a in node.attribute if a.HasField("t")]
    for tensor in list(model.graph.initializer) + constants:
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            continue
        values = random_tensor(rng, tensor, role.get(tensor.name, ("", 0)))
        filled = numpy_helper.from_array(np.ascontiguousarray(values), tensor.name)
        tensor.CopyFrom(filled)
    onnx.save(model, str(target))
    return model


def inputs(model, bindings, seed):
    """{name: array} for every graph input; symbols as bound, else 1; integers are 0 or 1."""
    rng = np.random.default_rng(seed)
    stored = {t.name for t in model.graph.initializer}
    out = {}
    for value in model.graph.input:
        if value.name in stored:
            continue
        kind = value.type.tensor_type
        dims = [d.dim_value or bindings.get(d.dim_param, 1) for d in kind.shape.dim]
        dtype = DTYPES[kind.elem_type]
        floats = dtype in (np.float32, np.float64)
        values = rng.uniform(-1, 1, dims) if floats else rng.integers(0, 2, dims)
        out[value.name] = np.asarray(values).astype(dtype)
    return out


def here():
    return pathlib.Path(__file__).resolve().parent
