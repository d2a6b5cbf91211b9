"""Makes an ONNX model small: drops the bytes of its weights and keeps everything else."""

import math

from onnx import TensorProto

# A tensor of up to this many bytes may decide shapes or attributes (axes, pads, scales): it stays.
KEEP_BYTES = 1024
# Masks and position tables that exporters bake into Constant nodes go from this size on.
KEEP_CONSTANT_BYTES = 16384
# Above this file size the long scoped names of tensors are replaced.
LONG_FILE_BYTES = 1_000_000

# Of onnx 1.16; two of them are in a byte.
INT4 = 22

_PAYLOADS = (
    "raw_data",
    "float_data",
    "int32_data",
    "int64_data",
    "double_data",
    "uint64_data",
    "string_data",
)
_BYTES = {
    TensorProto.FLOAT: 4,
    TensorProto.UINT8: 1,
    TensorProto.INT8: 1,
    TensorProto.UINT16: 2,
    TensorProto.INT16: 2,
    TensorProto.INT32: 4,
    TensorProto.INT64: 8,
    TensorProto.BOOL: 1,
    TensorProto.FLOAT16: 2,
    TensorProto.DOUBLE: 8,
    TensorProto.UINT32: 4,
    TensorProto.UINT64: 8,
    TensorProto.COMPLEX64: 8,
    TensorProto.COMPLEX128: 16,
    TensorProto.BFLOAT16: 2,
    INT4: 0.5,
}


def tensor_bytes(tensor):
    """Size of a tensor's elements; 0 for strings, which have no fixed size."""
    return math.ceil(_BYTES.get(tensor.data_type, 0) * math.prod(tensor.dims))


def make_absent(tensor, offset):
    """Turns a tensor into one whose bytes lie in a file weights.bin that doesn't exist."""
    size = tensor_bytes(tensor)
    for payload in _PAYLOADS:
        tensor.ClearField(payload)
    tensor.data_location = TensorProto.EXTERNAL
    del tensor.external_data[:]
    for key, value in (("location", "weights.bin"), ("offset", offset), ("length", size)):
        tensor.external_data.add(key=key, value=str(value))
    return size


def strip_weights(model):
    """Drops the large tensors of a model. Returns (tensors dropped, their bytes)."""
    large = [t for t in model.graph.initializer if tensor_bytes(t) > KEEP_BYTES]
    for node in model.graph.node:
        for attribute in node.attribute:
            # Integer constants may be shapes or indices, whatever their size.
            if (
                attribute.HasField("t")
                and attribute.t.data_type in (TensorProto.FLOAT, TensorProto.BOOL)
                and tensor_bytes(attribute.t) > KEEP_CONSTANT_BYTES
            ):
                large.append(attribute.t)
    offset = 0
    for tensor in large:
        offset += make_absent(tensor, offset)
    return len(large), offset


def shorten_names(model):
    """Renames inner tensors to t0, t1, ... and drops node names."""
    graph = model.graph
    keep = {v.name for part in (graph.input, graph.output, graph.initializer) for v in part}
    new = {}
    for node in graph.node:
        node.name = ""
        for name in node.output:
            if name and name not in keep:
                new[name] = f"t{len(new)}"
    for node in graph.node:
        for names in (node.input, node.output):
            for i, name in enumerate(names):
                names[i] = new.get(name, name)
    for info in graph.value_info:
        info.name = new.get(info.name, info.name)


def slim_bytes(model):
    """The model as a small file's bytes. Changes the model."""
    strip_weights(model)
    data = model.SerializeToString()
    if len(data) > LONG_FILE_BYTES:
        shorten_names(model)
        data = model.SerializeToString()
    return data
