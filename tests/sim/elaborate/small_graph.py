"""Small ONNX graphs, node by node, and the parts of which real ones are spelled out."""

import numpy as np
from onnx import helper, mapping, numpy_helper

MS = "com.microsoft"
F = np.float32
rng = np.random.default_rng(3)


def real(*shape):
    return (rng.standard_normal(shape) * 0.2).astype(F)


def ints(*values):
    return np.array(values, np.int64)


class SmallGraph:
    """Calls add nodes: g("Add", [a, b]) gives its output's name. Arrays are stored."""

    def __init__(self, inputs):
        self.inputs, self.nodes, self.stored, self.count = inputs, [], [], 0

    def store(self, array):
        self.count += 1
        self.stored.append(numpy_helper.from_array(np.asarray(array), f"c{self.count}"))
        return f"c{self.count}"

    def __call__(self, op, inputs, outputs=1, domain="", **attributes):
        """`outputs`: how many, or which of them by number."""
        self.count += 1
        wanted = range(outputs) if isinstance(outputs, int) else outputs
        names = [f"t{self.count}_{i}" if i in wanted else "" for i in range(max(wanted) + 1)]
        ins = [i if isinstance(i, str) else self.store(i) for i in inputs]
        self.nodes.append(
            helper.make_node(op, ins, names, f"n{self.count}", domain=domain, **attributes)
        )
        named = [n for n in names if n]
        return named[0] if len(named) == 1 else named

    def ms(self, op, inputs, outputs=1, **attributes):
        return self(op, inputs, outputs, MS, **attributes)

    def model(self, outputs, opset):
        outputs = [outputs] if isinstance(outputs, str) else outputs
        given = [
            helper.make_tensor_value_info(k, mapping.NP_TYPE_TO_TENSOR_TYPE[v.dtype], v.shape)
            for k, v in self.inputs.items()
        ]
        made = [helper.make_empty_tensor_value_info(o) for o in outputs]
        graph = helper.make_graph(self.nodes, "g", given, made, self.stored)
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid(MS, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def gelu(g, x):
    erf = g("Erf", [g("Div", [x, F(np.sqrt(2))])])
    return g("Mul", [g("Mul", [x, g("Add", [erf, F(1)])]), F(0.5)])


def tanh_gelu(g, x):
    cube = g("Mul", [g("Pow", [x, F(3)]), F(0.044715)])
    tanh = g("Tanh", [g("Mul", [g("Add", [x, cube]), F(np.sqrt(2 / np.pi))])])
    return g("Mul", [g("Mul", [x, F(0.5)]), g("Add", [tanh, F(1)])])


def silu(g, x):
    return g("Mul", [x, g("Sigmoid", [x])])


def rms_norm(g, x, gain, epsilon=1e-5):
    mean = g("ReduceMean", [g("Pow", [x, F(2)]), ints(-1)])
    root = g("Sqrt", [g("Add", [mean, F(epsilon)])])
    return g("Mul", [g("Mul", [x, g("Div", [F(1), root])]), gain])


def layer_norm(g, x, gain, shift, epsilon):
    off = g("Sub", [x, g("ReduceMean", [x, ints(-1)])])
    variance = g("ReduceMean", [g("Pow", [off, F(2)]), ints(-1)])
    normed = g("Div", [off, g("Sqrt", [g("Add", [variance, F(epsilon)])])])
    return g("Add", [g("Mul", [normed, gain]), shift])


def nchw(g, x):
    return g("Transpose", [x], perm=[0, 3, 1, 2])


def nhwc(g, x):
    return g("Transpose", [x], perm=[0, 2, 3, 1])


def reshape(g, x, *dims):
    return g("Reshape", [x, ints(*dims)])


def cut(g, x, axis, start, end):
    return g("Slice", [x, ints(start), ints(end), ints(axis)])
