"""Graphs of any size: KINDS[name](n) has work for n nodes, or that many edges of a few nodes."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
OPSET = 18


class Graph:
    """A graph that grows node by node."""

    def __init__(self, **inputs):
        self.nodes, self.weights, self.functions = [], {}, []
        self.inputs = [helper.make_tensor_value_info(k, FLOAT, d) for k, d in inputs.items()]
        self.outputs = []

    def add(self, op, *inputs, outputs=None, **attributes):
        """A node; its first output."""
        names = outputs or [f"t{len(self.nodes)}"]
        self.nodes.append(helper.make_node(op, inputs, names, f"n{len(self.nodes)}", **attributes))
        return names[0]

    def weight(self, *shape, value=None):
        """A stored tensor; equal ones are stored once."""
        array = np.full(shape, 0.5, np.float32) if value is None else np.array(value)
        name = f"w{array.shape}{array.dtype}{array.tolist() if array.size < 20 else ''}"
        self.weights[name] = array
        return name

    def ints(self, *values):
        return self.weight(value=np.array(values, np.int64))

    def model(self, *outputs):
        tensors = [numpy_helper.from_array(a, name) for name, a in self.weights.items()]
        ends = [
            helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs
        ]
        for end in ends:
            end.ClearField("type")
        graph = helper.make_graph(self.nodes, "grown", self.inputs, ends, tensors)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("mine", 1)]
        return helper.make_model(
            graph, opset_imports=opsets, ir_version=8, functions=self.functions
        )


KINDS = {}


def kind(make):
    KINDS[make.__name__] = make
    return make


def chain(step, shape, name):
    """A kind: a chain of n times `step`, a function of a graph, a tensor and which step it is."""

    def make(n):
        g = Graph(x=shape)
        t = "x"
        for i in range(n):
            t = step(g, t, i)
        return g.model(t)

    KINDS[f"chain of {name}"] = make


def fan(step, shape, name):
    """A kind: n times `step` of one input, each an output."""

    def make(n):
        g = Graph(x=shape)
        return g.model(*[step(g, "x", i) for i in range(n)])

    KINDS[f"fan of {name}"] = make


MAP, MATRIX = [1, 4, 8, 8], [8, 8]


def normalise(g, t, _):
    """LayerNormalization, spelled out."""
    mean = g.add("ReduceMean", t, g.ints(-1))
    off = g.add("Sub", t, mean)
    square = g.add("Pow", off, g.weight(value=np.float32(2)))
    power = g.add("Add", g.add("ReduceMean", square, g.ints(-1)), g.weight(value=np.float32(1e-5)))
    unit = g.add("Div", off, g.add("Sqrt", power))
    return g.add("Add", g.add("Mul", unit, g.weight(8)), g.weight(8))


def gelu(g, t, _):
    inner = g.add("Erf", g.add("Div", t, g.weight(value=np.float32(1.4142))))
    sum_ = g.add("Add", inner, g.weight(value=np.float32(1)))
    return g.add("Mul", g.add("Mul", t, sum_), g.weight(value=np.float32(0.5)))


def attention(g, t, _):
    q, k, v = (g.add("MatMul", t, g.weight(8, 8)) for _ in range(3))
    scores = g.add("MatMul", q, g.add("Transpose", k, perm=[1, 0]))
    scores = g.add("Mul", scores, g.weight(value=np.float32(0.3)))
    return g.add("Add", t, g.add("MatMul", g.add("Softmax", scores, axis=-1), v))


def residual(g, t, _):
    w = g.weight(4, 4, 3, 3)
    inner = g.add("Relu", g.add("Conv", t, w, pads=[1, 1, 1, 1]))
    return g.add("Relu", g.add("Add", t, g.add("Conv", inner, w, pads=[1, 1, 1, 1])))


def folded(g, t, _):
    """A convolution with a normalisation and a clip behind it."""
    t = g.add("Conv", t, g.weight(4, 4, 1, 1))
    t = g.add("BatchNormalization", t, *[g.weight(4)] * 4)
    return g.add("Clip", t, g.weight(value=np.float32(0)), g.weight(value=np.float32(6)))


def quantised(g, t, _):
    scale, zero = g.weight(value=np.float32(0.1)), g.weight(value=np.int8(0))
    q = g.add("QuantizeLinear", g.add("Conv", t, g.weight(4, 4, 1, 1)), scale, zero)
    return g.add("DequantizeLinear", q, scale, zero)


def split_and_joined(g, t, _):
    a = f"a{len(g.nodes)}"
    g.add("Split", t, outputs=[a, a + "b"], axis=1, num_outputs=2)
    return g.add("Concat", a + "b", a, axis=1)


chain(lambda g, t, i: g.add("Relu", t), MAP, "functions")
chain(lambda g, t, i: g.add("Sin", t), MAP, "functions without a table")
chain(lambda g, t, i: g.add("Identity", t), MAP, "nothing")
chain(lambda g, t, i: g.add("Conv", t, g.weight(4, 4, 1, 1)), MAP, "convolutions")
chain(lambda g, t, i: g.add("MatMul", t, g.weight(8, 8)), MATRIX, "products")
chain(lambda g, t, i: g.add("Mul", t, g.weight(8)), MATRIX, "products by a vector")
chain(lambda g, t, i: g.add("Add", t, g.weight(value=np.float32(i % 7))), MAP, "sums with numbers")
chain(lambda g, t, i: g.add("Add", t, t), MAP, "sums with themselves")
chain(lambda g, t, i: g.add("Add", t, "x"), MAP, "sums with the input")
chain(
    lambda g, t, i: g.add("Reshape", t, g.ints(*([64, 4] if i % 2 else [4, 64]))), MAP, "reshapes"
)
chain(lambda g, t, i: g.add("Transpose", t, perm=[1, 0]), MATRIX, "transposes")
chain(lambda g, t, i: g.add("Softmax", t, axis=-1), MATRIX, "softmaxes")
chain(lambda g, t, i: g.add("ReduceMax", t, g.ints(-1), keepdims=1), MATRIX, "maxima")
chain(lambda g, t, i: g.add("MaxPool", t, kernel_shape=[1, 1]), MAP, "pools")
chain(lambda g, t, i: g.add("Cast", t, to=FLOAT if i % 2 else TensorProto.FLOAT16), MAP, "casts")
chain(lambda g, t, i: g.add("Gather", t, g.ints(*range(8)), axis=0), MATRIX, "gathers")
chain(
    lambda g, t, i: g.add("Slice", t, g.ints(0), g.ints(8), g.ints(0), g.ints(1)), MATRIX, "slices"
)
chain(lambda g, t, i: g.add("Resize", t, "", g.weight(value=np.ones(4, np.float32))), MAP, "sizes")
chain(lambda g, t, i: g.add("Where", g.add("Greater", t, "x"), t, "x"), MAP, "choices")
chain(normalise, MATRIX, "normalisations spelled out")
chain(gelu, MATRIX, "GELUs spelled out")
chain(attention, MATRIX, "attentions")
chain(residual, MAP, "residual blocks")
chain(folded, MAP, "convolutions with what is folded")
chain(quantised, MAP, "quantised convolutions")
chain(split_and_joined, MAP, "splits and joins")
fan(lambda g, t, i: g.add("Relu", t), MAP, "functions")
fan(lambda g, t, i: g.add("MatMul", t, g.weight(8, 8)), MATRIX, "products")
fan(lambda g, t, i: g.add("Slice", t, g.ints(i % 8), g.ints(8), g.ints(0)), MATRIX, "slices")
fan(lambda g, t, i: g.add("Gather", t, g.ints(i % 8), axis=0), MATRIX, "gathers")
fan(lambda g, t, i: g.add("Reshape", t, g.ints(-1)), MATRIX, "views")


@kind
def one_split(n):
    g = Graph(x=[n, 4])
    g.add("Split", "x", outputs=[f"s{i}" for i in range(n)], axis=0, num_outputs=n)
    return g.model("s0", *[g.add("Relu", f"s{i}") for i in range(1, n)])


@kind
def one_concat(n):
    g = Graph(**{f"x{i}": [2, 4] for i in range(n)})
    return g.model(g.add("Concat", *[f"x{i}" for i in range(n)], axis=1))


@kind
def one_concat_of_results(n):
    g = Graph(x=[2, 4])
    return g.model(g.add("Concat", *[g.add("Relu", "x") for _ in range(n)], axis=1))


@kind
def one_concat_of_one(n):
    g = Graph(x=[2, 4])
    return g.model(g.add("Concat", *["x"] * n, axis=0))


@kind
def one_sum_of_one(n):
    g = Graph(x=[2, 4])
    return g.model(g.add("Sum", *["x"] * n))


@kind
def columns_turned_around(n):
    """Columns of one tensor, put together in another order."""
    g = Graph(x=[4, n])
    parts = [g.add("Slice", "x", g.ints(i), g.ints(i + 1), g.ints(1)) for i in range(n)]
    return g.model(g.add("Concat", *reversed(parts), axis=1))


@kind
def one_sum(n):
    """Of a tensor each: a few functions of one tensor would be one function of it."""
    g = Graph(**{f"x{i}": [2, 4] for i in range(n)})
    return g.model(g.add("Sum", *[g.add("Relu", f"x{i}") for i in range(n)]))


@kind
def one_maximum(n):
    g = Graph(**{f"x{i}": [2, 4] for i in range(n)})
    return g.model(g.add("Max", *[f"x{i}" for i in range(n)]))


@kind
def last_made_first_read(n):
    """All results live at once, and are read in the opposite order."""
    g = Graph(x=MATRIX)
    made = [g.add("MatMul", "x", g.weight(8, 8)) for _ in range(n)]
    t = made.pop()
    while made:
        t = g.add("Add", t, made.pop())
    return g.model(t)


@kind
def first_made_first_read(n):
    g = Graph(x=MATRIX)
    made = [g.add("MatMul", "x", g.weight(8, 8)) for _ in range(n)]
    t = made[0]
    for other in made[1:]:
        t = g.add("Add", t, other)
    return g.model(t)


@kind
def dense_block(n):
    """Each layer reads the eight results before it."""
    g = Graph(x=MAP)
    made = ["x"]
    for _ in range(n):
        t = g.add("Concat", *made[-8:], axis=1) if len(made) > 1 else "x"
        made.append(g.add("Conv", t, g.weight(4, 4 * min(8, len(made)), 1, 1)))
    return g.model(made[-1])


@kind
def diamonds(n):
    g = Graph(x=MAP)
    t = "x"
    for _ in range(n):
        t = g.add("Add", g.add("Relu", t), g.add("Sigmoid", t))
    return g.model(t)


@kind
def diamonds_of_constants(n):
    g = Graph(x=[4])
    t = g.add("ConstantOfShape", g.ints(4))
    for _ in range(n):
        t = g.add("Add", g.add("Neg", t), g.add("Abs", t))
    return g.model(g.add("Add", "x", t))


@kind
def shapes_of_shapes(n):
    g = Graph(x=MAP)
    t = "x"
    for _ in range(n):
        t = g.add("Reshape", t, g.add("Shape", t))
    return g.model(t)


@kind
def constant_nodes(n):
    g = Graph(x=[4])
    t = "x"
    for i in range(n):
        value = numpy_helper.from_array(np.full(4, i, np.float32))
        t = g.add("Add", t, g.add("Constant", value=value))
    return g.model(t)


@kind
def many_weights(n):
    g = Graph(x=[4])
    for i in range(n):
        g.weights[f"stored{i}"] = np.full(4, i, np.float32)
    t = "x"
    for i in range(n):
        t = g.add("Mul", t, f"stored{i}")
    return g.model(t)


@kind
def branches(n):
    """An If of a condition that is known, n times."""
    g = Graph(x=MAP)
    t, yes = "x", g.weight(value=np.array(True))
    for i in range(n):
        sides = {}
        for side, op in (("then_branch", "Relu"), ("else_branch", "Neg")):
            out = helper.make_tensor_value_info(f"{side}{i}", FLOAT, None)
            sides[side] = helper.make_graph(
                [helper.make_node(op, [t], [f"{side}{i}"])], side, [], [out]
            )
        t = g.add("If", yes, **sides)
    return g.model(t)


@kind
def calls_of_a_function(n):
    g = Graph(x=MAP)
    body = [helper.make_node("Relu", ["a"], ["b"]), helper.make_node("Abs", ["b"], ["c"])]
    opset = [helper.make_opsetid("", OPSET)]
    g.functions.append(helper.make_function("mine", "Twice", ["a"], ["c"], body, opset))
    t = "x"
    for _ in range(n):
        t = g.add("Twice", t, domain="mine")
    return g.model(t)


@kind
def a_loop(n):
    g = Graph(x=MAP)
    iteration = helper.make_tensor_value_info("i", INT64, [])
    kept = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    goes_on = helper.make_tensor_value_info("go", TensorProto.BOOL, [])
    state, after = (helper.make_tensor_value_info(name, FLOAT, MAP) for name in ("s", "r"))
    nodes = [helper.make_node("Identity", ["c"], ["go"]), helper.make_node("Relu", ["s"], ["r"])]
    body = helper.make_graph(nodes, "body", [iteration, kept, state], [goes_on, after])
    t = g.add("Loop", g.weight(value=np.array(n)), g.weight(value=np.array(True)), "x", body=body)
    return g.model(t)
