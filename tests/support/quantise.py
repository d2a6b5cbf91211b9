"""Quantised forms of a network of floats, as quantisers write them.

  quantise.py qdq|qoperator|dynamic MODEL OUT [RANGES.json]

qdq: QuantizeLinear and DequantizeLinear around products, sums, pools and joins. qoperator: the
operators of integers instead. dynamic: matrix products of integers with scales found in the run.
Activations are uint8, weights int8 with a scale an output channel, biases int32. RANGES has least
and largest of activations by name; the others are taken to be within -4 .. 4. Weights that the file
doesn't have are drawn.
"""

import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

PRODUCTS = {"Conv": 0, "Gemm": 0, "MatMul": 1}  # -> axis of the output channels
SAME_CODES = {"MaxPool", "Flatten", "Reshape", "Transpose", "Squeeze", "Unsqueeze"}
INTEGER_FORMS = {
    "Add": "QLinearAdd",
    "Mul": "QLinearMul",
    "Sigmoid": "QLinearSigmoid",
    "LeakyRelu": "QLinearLeakyRelu",
    "AveragePool": "QLinearAveragePool",
    "GlobalAveragePool": "QLinearGlobalAveragePool",
    "Concat": "QLinearConcat",
    "Softmax": "QLinearSoftmax",
}
CONTRIB = "com.microsoft"


class Quantiser:
    def __init__(self, model, form, ranges):
        self.model, self.form, self.ranges = model, form, ranges
        self.graph = model.graph
        self.weights = {t.name: self.array(t) for t in self.graph.initializer}
        self.new, self.stored, self.codes = [], {}, {}
        self.shown, self.skipped = set(), set()
        self.real = set()  # floats that the network has beside their integers
        self.readers = {}
        for node in self.graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
        self.outputs = {v.name for v in self.graph.output}
        known = onnx.shape_inference.infer_shapes(model).graph
        self.types = {t.name: t.data_type for t in known.initializer}
        for value in [*known.input, *known.value_info, *known.output]:
            self.types[value.name] = value.type.tensor_type.elem_type

    @staticmethod
    def array(tensor):
        if tensor.data_location != onnx.TensorProto.EXTERNAL:
            return numpy_helper.to_array(tensor)
        rng = np.random.default_rng(len(tensor.name))
        kind = helper.mapping.TENSOR_TYPE_TO_NP_TYPE[tensor.data_type]
        return rng.uniform(-0.1, 0.1, tuple(tensor.dims)).astype(kind)

    def run(self):
        for node in list(self.graph.node):
            self.node(node)
        kept = {name for node in self.new for name in node.input}
        del self.graph.node[:]
        self.graph.node.extend(self.new)
        del self.graph.initializer[:]
        for name, value in {**self.weights, **self.stored}.items():
            if name in kept:
                self.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        if CONTRIB not in {o.domain for o in self.model.opset_import}:
            self.model.opset_import.append(helper.make_opsetid(CONTRIB, 1))
        del self.graph.value_info[:]
        return self.model

    def store(self, name, value):
        self.stored[name] = value
        return name

    def emit(self, op, inputs, outputs, **attributes):
        self.new.append(
            helper.make_node(op, inputs, outputs, name=outputs[0] + "/" + op, **attributes)
        )

    # ---- tensors

    def scale(self, name):
        """Names of a tensor's scale and zero point: uint8, 0 within the range."""
        if name + "_scale" not in self.stored:
            low, high = self.ranges.get(name, (-4.0, 4.0))
            low, high = min(low, 0.0), max(high, 0.0, low + 1e-6)
            step = (high - low) / 255
            self.store(name + "_scale", np.float32(step))
            self.store(name + "_zero", np.uint8(np.clip(round(-low / step), 0, 255)))
        return [name + "_scale", name + "_zero"]

    def integers(self, name):
        """The integers of a tensor, made where nothing has made them."""
        if name not in self.codes:
            self.emit("QuantizeLinear", [name, *self.scale(name)], [name + "_q"])
            self.codes[name] = name + "_q"
            self.real.add(name)
        return self.codes[name]

    def floats(self, name):
        """The floats that a tensor's integers stand for."""
        if name in self.weights or self.form == "dynamic":
            return name
        if self.form == "qoperator" and name in self.outputs and name not in self.real:
            return name
        if name not in self.shown:
            self.shown.add(name)
            self.emit("DequantizeLinear", [self.integers(name), *self.scale(name)], [name + "_dq"])
        return name + "_dq"

    def weight(self, name, axis):
        """int8 weights of a scale an output channel: (integers, scales, zero points, scales)."""
        w = self.weights[name]
        others = tuple(a for a in range(w.ndim) if a != axis)
        scale = np.maximum(np.abs(w).max(axis=others), 1e-6).astype(np.float32) / 127
        shape = [-1 if a == axis else 1 for a in range(w.ndim)]
        self.store(name + "_q", np.rint(w / scale.reshape(shape)).astype(np.int8))
        self.store(name + "_scale", scale)
        self.store(name + "_zero", np.zeros(scale.shape, np.int8))
        return [name + "_q", name + "_scale", name + "_zero"]

    def bias(self, name, x, weight):
        steps = self.stored[self.scale(x)[0]] * self.stored[weight + "_scale"]
        self.store(name + "_q", np.rint(self.weights[name] / steps).astype(np.int32))
        self.store(name + "_scale", steps.astype(np.float32))
        return name + "_q"

    # ---- nodes

    def quantised(self, node):
        if node.op_type in PRODUCTS:
            return all(n in self.weights for n in node.input[2:])
        return node.op_type in INTEGER_FORMS or node.op_type in SAME_CODES

    def is_float(self, name):
        return self.types.get(name) == onnx.TensorProto.FLOAT

    def clipped(self, node):
        """A product's only reader, where that is a Relu: it is quantised behind that."""
        readers = self.readers.get(node.output[0], [])
        alone = len(readers) == 1 and node.output[0] not in self.outputs
        return readers[0] if alone and readers[0].op_type == "Relu" else None

    def node(self, node):
        if node.output[0] in self.skipped:
            return None
        if self.form == "dynamic":
            return self.dynamic(node)
        if not all(self.is_float(n) for n in [*node.input[:1], *node.output]):
            return self.keep(node)
        if not self.quantised(node):
            return self.keep(node)
        return self.qdq(node) if self.form == "qdq" else self.qoperator(node)

    def keep(self, node):
        """Floats in and out; a Relu behind a quantised product is part of it."""
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        for port, name in enumerate(node.input):
            if name in self.codes and name not in self.real:
                copy.input[port] = self.floats(name)
        self.new.append(copy)

    def qdq(self, node):
        inputs = []
        axis = self.axis(node)
        for port, name in enumerate(node.input):
            if name in self.weights and node.op_type in PRODUCTS and port in (1, 2):
                inputs.append(self.qdq_weight(node, port, axis))
            elif not self.is_float(name) or name in self.weights:
                inputs.append(name)
            else:
                inputs.append(self.floats(name))
        self.copy(node, inputs)
        self.finish(node)

    def axis(self, node):
        axis = PRODUCTS.get(node.op_type)
        turned = any(a.name == "transB" and a.i for a in node.attribute)
        return 1 if node.op_type == "Gemm" and not turned else axis

    def qdq_weight(self, node, port, axis):
        name = node.input[port]
        if port == 1:
            q, scale, zero = self.weight(name, axis)
            self.emit("DequantizeLinear", [q, scale, zero], [name + "_dq"], axis=axis)
        else:
            self.bias(name, node.input[0], node.input[1])
            self.emit("DequantizeLinear", [name + "_q", name + "_scale"], [name + "_dq"], axis=0)
        return name + "_dq"

    def copy(self, node, inputs, outputs=None):
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        copy.input[:] = inputs
        if outputs:
            copy.output[:] = outputs
        self.new.append(copy)

    def finish(self, node):
        """Outputs of the graph are floats that integers stand for."""
        for name in node.output:
            if name not in self.outputs:
                continue
            self.new[-1].output[list(self.new[-1].output).index(name)] = name + "_raw"
            self.emit("QuantizeLinear", [name + "_raw", *self.scale(name)], [name + "_out_q"])
            self.emit("DequantizeLinear", [name + "_out_q", *self.scale(name)], [name])

    def qoperator(self, node):
        out = node.output[0]
        relu = self.clipped(node)
        if relu is not None:
            out = relu.output[0]
            self.skipped.add(relu.output[0])
        if node.op_type in SAME_CODES:
            for suffix in ("_scale", "_zero"):
                self.store(out + suffix, self.stored[self.scale(node.input[0])[suffix == "_zero"]])
            self.copy(node, [self.integers(node.input[0]), *node.input[1:]], [out + "_q"])
        elif node.op_type in PRODUCTS and node.input[1] in self.weights:
            self.product(node, out)
        elif node.op_type in PRODUCTS:
            pairs = [[self.integers(n), *self.scale(n)] for n in node.input]
            self.emit("QLinearMatMul", [*sum(pairs, []), *self.scale(out)], [out + "_q"])
        else:
            self.integer_form(node, out)
        self.codes[out] = out + "_q"
        if out in self.outputs:
            self.emit("DequantizeLinear", [out + "_q", *self.scale(out)], [out])

    def product(self, node, out):
        x = [self.integers(node.input[0]), *self.scale(node.input[0])]
        w = self.weight(node.input[1], self.axis(node))
        bias = [self.bias(node.input[2], *node.input[:2])] if len(node.input) > 2 else []
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if node.op_type == "Gemm":
            attributes.pop("beta", None)
            self.emit(
                "QGemm",
                [*x, *w, *(bias or [""]), *self.scale(out)],
                [out + "_q"],
                domain=CONTRIB,
                **attributes,
            )
        elif node.op_type == "Conv":
            self.emit("QLinearConv", [*x, *w, *self.scale(out), *bias], [out + "_q"], **attributes)
        else:
            self.emit("QLinearMatMul", [*x, *w, *self.scale(out)], [out + "_q"])

    def integer_form(self, node, out):
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        triples = []
        for name in node.input:
            if name in self.weights:
                value = self.weights[name]
                self.ranges.setdefault(name, (float(value.min()), float(value.max())))
                scale, zero = (self.stored[n] for n in self.scale(name))
                codes = np.clip(np.rint(value / scale) + zero, 0, 255).astype(np.uint8)
                triples += [self.store(name + "_q", codes), *self.scale(name)]
            else:
                triples += [self.integers(name), *self.scale(name)]
        inputs = [*triples, *self.scale(out)]
        if node.op_type == "Concat":
            inputs = [*self.scale(out), *triples]
        if node.op_type == "Softmax":
            attributes["opset"] = next(o.version for o in self.model.opset_import if not o.domain)
        self.emit(INTEGER_FORMS[node.op_type], inputs, [out + "_q"], domain=CONTRIB, **attributes)

    def dynamic(self, node):
        if node.op_type != "MatMul" or node.input[1] not in self.weights:
            return self.new.append(node)
        x, out = node.input[0], node.output[0]
        if x not in self.codes:
            self.codes[x] = x + "_q"
            self.emit("DynamicQuantizeLinear", [x], [x + "_q", x + "_found", x + "_middle"])
        w, scale, zero = self.weight(node.input[1], 1)
        self.store(zero, np.int8(0))
        self.emit("MatMulInteger", [x + "_q", w, x + "_middle", zero], [out + "_sums"])
        self.emit("Cast", [out + "_sums"], [out + "_cast"], to=onnx.TensorProto.FLOAT)
        self.emit("Mul", [x + "_found", scale], [out + "_scale"])
        self.emit("Mul", [out + "_cast", out + "_scale"], [out])
        return None


def quantise(model, form, ranges=None):
    """The model in one of the forms; `ranges`: {activation: (least, largest)}."""
    return Quantiser(model, form, dict(ranges or {})).run()


def main():
    form, source, target = sys.argv[1:4]
    ranges = json.loads(pathlib.Path(sys.argv[4]).read_text()) if len(sys.argv) > 4 else {}
    model = onnx.load(source, load_external_data=False)
    onnx.save(quantise(model, form, ranges), target)


if __name__ == "__main__":
    main()
