"""Collects the nodes, weights, inputs and outputs of a decoder while its parts are built."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx_slim import make_absent
from weights import WeightFormat


class Builder:
    """Weights are external and absent. Names of tensors are the paths of the modules that write
    them; what all layers share (constants, masks, tables of positions) is made once."""

    def __init__(self, geometry, weights=None, experts="uniform", scan="steps"):
        self.g, self.format = geometry, weights or WeightFormat()
        self.experts, self.scan = experts, scan
        self.real, self.opset = self.format.real, self.format.opset
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.offset = 0
        self.made = set()

    def op(self, kind, inputs, output, path=None, **attributes):
        """A node of one output, named by its path, which the output's name is in most cases."""
        name = f"/{path or output}"
        self.nodes.append(helper.make_node(kind, inputs, [output], name=name, **attributes))
        return output

    def tensor(self, name, element, dims):
        """A weight; several parts may ask for the same."""
        if name in self.made:
            return name
        self.made.add(name)
        tensor = TensorProto(name=name, data_type=element, dims=dims)
        self.offset += make_absent(tensor, self.offset)
        self.initializers.append(tensor)
        return name

    def weight(self, name, *dims):
        """A weight that stays a float: of norms, biases, embeddings, convolutions."""
        return self.tensor(name, self.real, dims)

    def matrix(self, name, *dims):
        """A weight of products, [rows, columns] or a stack of such, stored in the format."""
        if self.format.integer is None:
            return self.weight(name, *dims)
        stored = self.tensor(f"{name}.integer", self.format.integer, dims)
        scale_dims = self.format.scale_dims(dims)
        if len(dims) == 2 and not self.format.group:
            scale = self.weight(f"{name}.scale", dims[-1])
            return self.op("DequantizeLinear", [stored, scale], name, axis=1)
        scale = self.weight(f"{name}.scale", *scale_dims)
        block = self.format.group or dims[-2]
        axis = len(dims) - 2
        return self.op("DequantizeLinear", [stored, scale], name, axis=axis, block_size=block)

    def constant(self, name, values, dtype):
        """A node, because a float initializer would count as a parameter."""
        if name not in self.made:
            self.made.add(name)
            tensor = numpy_helper.from_array(np.array(values, dtype), name)
            self.op("Constant", [], name, value=tensor)
        return name

    def number(self, name, value):
        """A constant of one element of the type that the decoder computes in."""
        if self.real == TensorProto.FLOAT16:
            return self.constant(name, [value], np.float16)
        if name not in self.made:
            self.made.add(name)
            bits = np.array([value], np.float32).view(np.uint32) + 0x8000 >> 16
            data = bits.astype("<u2").tobytes()
            tensor = TensorProto(name=name, data_type=self.real, dims=[1], raw_data=data)
            self.op("Constant", [], name, value=tensor)
        return name

    def scalar(self, name, value, dtype=None):
        """A constant without dims, of the type that the decoder computes in or another."""
        if dtype:
            return self.constant(name, value, dtype)
        if name not in self.made:
            self.op("Squeeze", [self.number(f"{name}/element", value)], name)
            self.made.add(name)
        return name

    def integers(self, name, *values):
        return self.constant(name, list(values), np.int64)

    def input(self, name, element, dims):
        """An input of the graph; several parts may ask for the same."""
        if name not in {value.name for value in self.inputs}:
            self.inputs.append(helper.make_tensor_value_info(name, element, dims))
        return name

    def output(self, name, dims):
        self.outputs.append(helper.make_tensor_value_info(name, self.real, dims))
        return name

    def linear(self, x, name, rows, cols, bias=False):
        product = f"{name}/product" if bias else name
        product = self.op("MatMul", [x, self.matrix(f"{name}.weight", rows, cols)], product)
        return self.op("Add", [product, self.weight(f"{name}.bias", cols)], name) if bias else name

    def mean(self, x, name, axis=-1, keep=1):
        """Over the last axis, or another."""
        if self.opset < 18:
            return self.op("ReduceMean", [x], name, axes=[axis], keepdims=keep)
        axes = self.integers("last_axis" if axis == -1 else f"mean_axis_{axis}", axis)
        return self.op("ReduceMean", [x, axes], name, keepdims=keep)

    def cut(self, x, output, bounds, axis, path=None):
        """Elements first .. last - 1 of an axis; bounds and axis are tensors of one element."""
        return self.op("Slice", [x, *bounds, axis], output, path)

    def parts(self, x, name, labels, sizes):
        """What lies side by side in the last axis of x."""
        axis, first, made = self.integers("last_axis", -1), 0, []
        for label, size in zip(labels, sizes):
            bounds = [self.integers(f"bound_{n}", n) for n in (first, first + size)]
            made.append(self.cut(x, f"{name}/{label}", bounds, axis))
            first += size
        return made

    def scaled(self, x, name, factor):
        """x times a number, if that isn't 1; numbers of one name are one."""
        if factor == 1:
            return x
        return self.op("Mul", [x, self.number(f"factor_{factor:.9g}", factor)], name)

    def model(self):
        graph = helper.make_graph(
            self.nodes,
            f"decoder_{self.g.layers}x{self.g.hidden}",
            self.inputs,
            self.outputs,
            self.initializers,
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", self.opset)],
            producer_name="accsim models/exporter",
            ir_version=8 if self.opset < 18 else 10,
        )
