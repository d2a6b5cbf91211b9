"""Small networks of floats, with random weights, that have one of each kind of layer that ONNX
Runtime's quantiser knows. Their quantised forms with weights are small enough to be test data."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


class Builder:
    """A graph, node by node; names of tensors are those of the nodes."""

    def __init__(self, seed, opset=17):
        self.rng = np.random.default_rng(seed)
        self.opset = opset
        self.nodes, self.stored, self.inputs, self.outputs = [], [], [], []

    def input(self, name, dims, kind=FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, dims))
        return name

    def output(self, name, dims, kind=FLOAT):
        self.outputs.append(helper.make_tensor_value_info(name, kind, dims))

    def constant(self, value):
        name = f"w{len(self.stored)}"
        self.stored.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def weight(self, *dims, fan=None):
        fan = fan or int(np.prod(dims[1:])) or 1
        bound = np.sqrt(3 / fan)
        return self.constant(self.rng.uniform(-bound, bound, dims).astype(np.float32))

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def add(self, op, *inputs, outputs=1, domain="", **attributes):
        name = f"{op}_{len(self.nodes)}"
        results = [name] + [f"{name}.{i}" for i in range(1, outputs)]
        self.nodes.append(
            helper.make_node(op, inputs, results, name=name, domain=domain, **attributes)
        )
        return name if outputs == 1 else results

    def model(self, name):
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.stored)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = 8 if self.opset < 21 else 10
        onnx.checker.check_model(model)
        return model


def pictures():
    """Convolutions, sums, products, pools, joins, resizing and activations."""
    b = Builder(1)
    x = b.input("x", [1, 3, 16, 16])
    x = b.add("Conv", x, b.weight(8, 3, 3, 3), b.weight(8), pads=[1, 1, 1, 1])
    stem = b.add("Relu", x)
    x = b.add("Conv", stem, b.weight(8, 1, 3, 3), b.weight(8), pads=[1, 1, 1, 1], group=8)
    x = b.add("Clip", x, b.constant(np.float32(0)), b.constant(np.float32(6)))
    x = b.add("Add", x, stem)
    gate = b.add("Sigmoid", b.add("GlobalAveragePool", x))
    x = b.add("Mul", x, gate)
    left = b.add("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    right = b.add("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = b.add("Concat", left, b.add("LeakyRelu", right, alpha=0.125), axis=1)
    x = b.add("Pad", x, b.ints(0, 0, 1, 1, 0, 0, 1, 1))
    x = b.add("Conv", x, b.weight(16, 16, 3, 3), strides=[2, 2])
    scales = b.constant(np.array([1, 1, 2, 2], np.float32))
    x = b.add(
        "Resize",
        x,
        "",
        scales,
        mode="nearest",
        nearest_mode="floor",
        coordinate_transformation_mode="asymmetric",
    )
    halves = b.add("Split", x, b.ints(8, 8), outputs=2, axis=1)
    x = b.add("Add", halves[0], b.add("Transpose", halves[1], perm=[0, 1, 3, 2]))
    x = b.add("ReduceMean", x, axes=[2, 3], keepdims=0)
    x = b.add("Gemm", x, b.weight(10, 8), b.weight(10), transB=1)
    b.output(b.add("Softmax", x, axis=-1), [1, 10])
    return b.model("pictures")


def decoder(opset=17):
    """A layer of a decoder: gathered rows, products with and without constants, a norm."""
    b = Builder(2, opset)
    ids = b.input("ids", [1, 12], TensorProto.INT64)
    x = b.add("Gather", b.weight(32, 32, fan=1), ids)
    y = b.add("LayerNormalization", x, b.weight(32, fan=1), b.weight(32, fan=1), axis=-1)
    heads = []
    for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
        h = b.add("Add", b.add("MatMul", y, b.weight(32, 32, fan=32)), b.weight(32, fan=32))
        heads.append(b.add("Transpose", b.add("Reshape", h, b.ints(1, 12, 4, 8)), perm=perm))
    scores = b.add("Mul", b.add("MatMul", heads[0], heads[1]), b.constant(np.float32(0.375)))
    hidden = np.triu(np.full((12, 12), -20, np.float32), 1)
    scores = b.add("Add", scores, b.constant(hidden))
    mixed = b.add("MatMul", b.add("Softmax", scores, axis=-1), heads[2])
    mixed = b.add("Reshape", b.add("Transpose", mixed, perm=[0, 2, 1, 3]), b.ints(1, 12, 32))
    x = b.add("Add", x, b.add("MatMul", mixed, b.weight(32, 32, fan=32)))
    up = b.add("MatMul", x, b.weight(32, 64, fan=32))
    up = b.add("Mul", up, b.add("Sigmoid", up))
    x = b.add("Add", x, b.add("MatMul", up, b.weight(64, 32, fan=64)))
    b.output(b.add("MatMul", x, b.weight(32, 32, fan=32)), [1, 12, 32])
    return b.model("decoder")


def encoder():
    """What ONNX Runtime's optimiser makes of an encoder: embeddings and attention as one node."""
    b = Builder(3)
    ids = b.input("ids", [2, 8], TensorProto.INT32)
    segments = b.input("segments", [2, 8], TensorProto.INT32)
    mask = b.input("mask", [2, 8], TensorProto.INT32)
    tables = [b.weight(n, 32, fan=1) for n in (40, 16, 2)]
    norm = [b.weight(32, fan=1), b.weight(32, fan=1)]
    x = b.add(
        "EmbedLayerNormalization",
        ids,
        segments,
        *tables,
        *norm,
        mask,
        outputs=2,
        domain="com.microsoft",
        epsilon=1e-12,
    )
    weight, bias = b.weight(32, 96, fan=32), b.weight(96, fan=32)
    y = b.add("Attention", x[0], weight, bias, x[1], domain="com.microsoft", num_heads=4)
    y = b.add("Add", b.add("MatMul", y, b.weight(32, 32, fan=32)), b.weight(32, fan=32))
    y = b.add("SkipLayerNormalization", y, x[0], *norm, domain="com.microsoft", epsilon=1e-12)
    b.output(y, [2, 8, 32])
    return b.model("encoder")


def recurrent():
    """An LSTM of two directions."""
    b = Builder(4)
    x = b.input("x", [6, 2, 16])
    weights = [b.weight(2, 48, 16, fan=16), b.weight(2, 48, 12, fan=12), b.weight(2, 96, fan=12)]
    results = b.add("LSTM", x, *weights, outputs=3, hidden_size=12, direction="bidirectional")
    b.output(results[0], [6, 2, 2, 12])
    b.output(results[1], [2, 2, 12])
    return b.model("recurrent")


NETWORKS = {
    "pictures": pictures,
    "decoder": decoder,
    "decoder21": lambda: decoder(21),
    "encoder": encoder,
    "recurrent": recurrent,
}
