"""What a file of a quantised network holds: bytes of its tensors, steps of its results."""

import numpy as np
import onnx
from onnx import numpy_helper

# By number: the packages of Debian don't know all of the names.
BITS = {1: 32, 4: 16, 5: 16, 6: 32, 10: 16, 11: 64, 12: 32, 16: 16}
BITS |= {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}  # uint4, int4, float4e2m1, uint2, int2
SETTINGS = {7, 9}  # int64, bool: shapes, axes, positions


def frequencies(graph):
    """Names of what is read for nothing but cosines and sines. Single numbers are scales."""
    elsewhere, angles = set(), set()
    for node in reversed(graph.node):
        turns = node.op_type in {"Cos", "Sin"} or (
            angles.intersection(node.output) and not elsewhere.intersection(node.output)
        )
        (angles if turns else elsewhere).update(node.input)
    single = {t.name for t in graph.initializer if np.prod(t.dims, dtype=np.int64) == 1}
    return angles - elsewhere - single


def bytes_by_width(path):
    """{bits of an element: bytes} of the initializers that nodes read, but for settings and for
    what rotary embeddings turn by. Those of fewer than 8 bits are with the bytes that they are
    packed in."""
    model = onnx.load(path, load_external_data=False)
    read = {name for node in model.graph.node for name in node.input}
    read -= frequencies(model.graph)
    sums = {}
    for tensor in model.graph.initializer:
        if tensor.name not in read or tensor.data_type in SETTINGS:
            continue
        width = BITS.get(tensor.data_type, 8)
        count = int(np.prod(tensor.dims, dtype=np.int64))
        sums[max(width, 8)] = sums.get(max(width, 8), 0) + (count * width + 7) // 8
    return sums


def by_width(bytes_by_type):
    """The same of a report's bytes by type."""
    sums = {}
    for kind, count in bytes_by_type.items():
        digits = "".join(c for c in kind if c.isdigit())
        width = 8 if kind.startswith("float8") else max(8, int(digits))
        sums[width] = sums.get(width, 0) + count
    return sums


def step(model, name, values):
    """The real that one step of an output's integers is, but no less than two of the last bits of
    its largest float; of an output that is no integers', a 255th of the range of its values."""
    maker = next(node for node in model.graph.node if name in node.output)
    scales = [t for t in model.graph.initializer if t.name in maker.input[1:2]]
    if maker.op_type == "DequantizeLinear" and scales:
        precise = float(np.abs(values).max(initial=0)) * 2.0**-22
        return max(float(numpy_helper.to_array(scales[0]).max()), precise)
    if values.dtype.kind in "iu":
        return 1.0
    return max(float(values.max() - values.min()) / 255, 1e-30)
