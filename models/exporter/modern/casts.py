"""Casts between floats in ONNX models: which there are, and the model without them."""

import contextlib

import onnx
from onnx import TensorProto

FLOATS = {TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE}
TYPES = ("to", "dtype", "output_dtype", "stash_type")  # attributes that name an element type


def graphs_of(graph):
    """A graph and those of its nodes' attributes."""
    yield graph
    for node in graph.node:
        for a in node.attribute:
            for inner in [a.g] if a.HasField("g") else a.graphs:
                yield from graphs_of(inner)


def declared(graph):
    return [*graph.input, *graph.output, *graph.value_info]


def types_of(model):
    """Element types of all tensors whose type is known, by name."""
    with contextlib.suppress(Exception):  # else what the file says itself must do
        model = onnx.shape_inference.infer_shapes(model)
    found = {}
    for graph in graphs_of(model.graph):
        found |= {v.name: v.type.tensor_type.elem_type for v in declared(graph)}
        found |= {t.name: t.data_type for t in graph.initializer}
        for node in graph.node:
            for a in node.attribute:
                if node.op_type == "Constant" and a.name == "value":
                    found[node.output[0]] = a.t.data_type
    return found


def is_float_cast(node, types):
    if node.op_type not in ("Cast", "CastLike") or node.domain not in ("", "ai.onnx"):
        return False
    if node.op_type == "Cast":
        to = next(a.i for a in node.attribute if a.name == "to")
    else:
        to = types.get(node.input[1])
    return to in FLOATS and types.get(node.input[0]) in FLOATS


def float_casts(model):
    """All nodes that cast floats to floats."""
    types = types_of(model)
    return [n for g in graphs_of(model.graph) for n in g.node if is_float_cast(n, types)]


def has_mixed_convolutions(path):
    """Does a convolution have operands of two types? No such file is valid. PyTorch's optimiser
    writes some: it folds a batch normalisation in float32 into a convolution that isn't."""
    model = onnx.load(path, load_external_data=False)
    types = types_of(model)
    convolutions = [n for g in graphs_of(model.graph) for n in g.node if n.op_type == "Conv"]
    return any(len({types[i] for i in n.input if i in types}) > 1 for n in convolutions)


def write_without_casts(path, to):
    """Writes the model without its casts between floats, all of which are float32 then."""
    model = onnx.load(path, load_external_data=False)
    types = types_of(model)
    given = {v.name for g in graphs_of(model.graph) for v in g.output}
    instead = {}
    for graph in graphs_of(model.graph):
        for node in [n for n in graph.node if is_float_cast(n, types)]:
            if node.output[0] in given:  # keeps its name
                node.op_type = "Identity"
                del node.attribute[:], node.input[1:]
            else:
                instead[node.output[0]] = node.input[0]
                graph.node.remove(node)
    for graph in graphs_of(model.graph):
        for node in graph.node:
            node.input[:] = [source(name, instead) for name in node.input]
    make_float32(model)
    onnx.save(model, to)


def source(name, instead):
    """What is read where a tensor came through casts."""
    while name in instead:
        name = instead[name]
    return name


def make_float32(model):
    """Declares all floats to be float32, so that nothing needs a cast."""
    for graph in graphs_of(model.graph):
        for v in declared(graph):
            if v.type.tensor_type.elem_type in FLOATS:
                v.type.tensor_type.elem_type = TensorProto.FLOAT
        for tensor in graph.initializer:
            store_float32(tensor)
        for a in [a for node in graph.node for a in node.attribute]:
            if a.HasField("t"):
                store_float32(a.t)
            if a.name in TYPES and a.i in FLOATS:
                a.i = TensorProto.FLOAT


def store_float32(tensor):
    """A tensor of other floats as float32; data that isn't there stays so."""
    if tensor.data_type not in FLOATS - {TensorProto.FLOAT}:
        return
    if tensor.data_location == TensorProto.EXTERNAL:
        tensor.data_type = TensorProto.FLOAT
        return
    values = onnx.numpy_helper.to_array(tensor).astype("float32")
    tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))
