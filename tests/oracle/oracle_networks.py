"""Small networks of every kind of layer, as ONNX models without weights in the file: what
network_oracle_test.py times. Needs python3-onnx."""

from onnx import TensorProto, helper

FLOAT, INT = TensorProto.FLOAT, TensorProto.INT64


class Net:
    """A network built node by node; the methods give the name of what they make. Weights are in a
    file that isn't there: only their shapes are read."""

    def __init__(self, *dims, dtype=FLOAT):
        self.nodes, self.weights, self.made = [], [], 0
        self.inputs = [helper.make_tensor_value_info("input", dtype, dims)]

    def name(self, what):
        self.made += 1
        return f"{what}_{self.made}"

    def op(self, op, *inputs, **attributes):
        out = self.name(op)
        self.nodes.append(helper.make_node(op, inputs, [out], name=out, **attributes))
        return out

    def several(self, op, count, *inputs, **attributes):
        outs = [self.name(op) for _ in range(count)]
        self.nodes.append(helper.make_node(op, inputs, outs, name=outs[0], **attributes))
        return outs

    def weight(self, *dims):
        tensor = TensorProto(name=self.name("w"), data_type=FLOAT, dims=dims)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights.bin")
        self.weights.append(tensor)
        return tensor.name

    def constant(self, *values, dtype=INT, dims=None):
        name = self.name("c")
        dims = [len(values)] if dims is None else dims
        self.weights.append(helper.make_tensor(name, dtype, dims, values))
        return name

    def scalar(self, value):
        return self.constant(value, dtype=FLOAT, dims=[])

    def conv(self, x, inner, outer, kernel=1, stride=1, group=1, dilation=1):
        pad = dilation * (kernel // 2)
        return self.op(
            "Conv",
            x,
            self.weight(outer, inner // group, kernel, kernel),
            self.weight(outer),
            kernel_shape=[kernel] * 2,
            strides=[stride] * 2,
            pads=[pad] * 4,
            dilations=[dilation] * 2,
            group=group,
        )

    def conv_relu(self, *args, **options):
        return self.op("Relu", self.conv(*args, **options))

    def pool(self, op, x, kernel, stride, pad=0):
        window = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        return self.op(op, x, **window)

    def dense(self, x, inner, outer):
        return self.op("Add", self.op("MatMul", x, self.weight(inner, outer)), self.weight(outer))

    def classifier(self, x, channels, classes=10):
        flat = self.op("Flatten", self.op("GlobalAveragePool", x))
        return self.op("Gemm", flat, self.weight(channels, classes), self.weight(classes))

    def reshape(self, x, *dims):
        return self.op("Reshape", x, self.constant(*dims))

    def layer_norm(self, x, width):
        return self.op(
            "LayerNormalization", x, self.weight(width), self.weight(width), axis=-1, epsilon=1e-5
        )

    def rms_norm(self, x, width):
        squares = self.op("Pow", x, self.scalar(2.0))
        mean = self.op("ReduceMean", squares, axes=[-1], keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.scalar(1e-6)))
        scaled = self.op("Mul", x, self.op("Div", self.scalar(1.0), root))
        return self.op("Mul", self.weight(width), scaled)

    def gelu(self, x):
        half = self.op("Mul", x, self.scalar(0.5))
        erf = self.op("Erf", self.op("Div", x, self.scalar(1.4142135)))
        return self.op("Mul", half, self.op("Add", erf, self.scalar(1.0)))

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def attention(self, x, tokens, width, heads, mask=False):
        size = width // heads

        def head(turn):
            split = self.reshape(self.dense(x, width, width), 1, tokens, heads, size)
            return self.op("Transpose", split, perm=turn)

        q, k, v = head([0, 2, 1, 3]), head([0, 2, 3, 1]), head([0, 2, 1, 3])
        scores = self.op("Mul", self.op("MatMul", q, k), self.scalar(size**-0.5))
        if mask:
            scores = self.op("Add", scores, self.weight(1, 1, tokens, tokens))
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        joined = self.op("Transpose", mixed, perm=[0, 2, 1, 3])
        return self.dense(self.reshape(joined, 1, tokens, width), width, width)

    def model(self, *outputs):
        results = [helper.make_empty_tensor_value_info(o) for o in outputs]
        graph = helper.make_graph(self.nodes, "network", self.inputs, results, self.weights)
        return helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def plain():
    n = Net(1, 3, 32, 32)
    x = n.conv_relu("input", 3, 16, kernel=3)
    x = n.pool("MaxPool", x, 2, 2)
    x = n.conv_relu(x, 16, 40, kernel=5)
    return n.model(n.classifier(n.pool("MaxPool", x, 3, 2, 1), 40))


def residual():
    n = Net(1, 3, 40, 40)
    x = n.conv_relu("input", 3, 24, kernel=7, stride=2)
    for _ in range(2):
        y = n.conv_relu(n.conv_relu(x, 24, 16), 16, 16, kernel=3)
        x = n.op("Relu", n.op("Add", n.conv(y, 16, 24), x))
    y = n.conv(n.conv_relu(x, 24, 48, kernel=3, stride=2), 48, 48, kernel=3)
    x = n.op("Relu", n.op("Add", y, n.conv(x, 24, 48, stride=2)))
    return n.model(n.classifier(x, 48))


def depthwise():
    n = Net(1, 3, 32, 32)
    x = n.conv_relu("input", 3, 16, kernel=3, stride=2)
    for stride in (1, 2, 1):
        y = n.op("Clip", n.conv(x, 16, 72), n.scalar(0.0), n.scalar(6.0))
        y = n.conv_relu(y, 72, 72, kernel=3, stride=stride, group=72)
        y = n.conv(y, 72, 16)
        x = n.op("Add", x, y) if stride == 1 else y
    return n.model(n.classifier(x, 16))


def branches():
    n = Net(1, 3, 35, 35)
    x = n.conv_relu("input", 3, 32, kernel=3, stride=2)
    for inner in (32, 48):
        s = n.conv_relu(x, inner, 8)
        wide = [n.conv_relu(s, 8, 24), n.conv_relu(s, 8, 24, kernel=3)]
        x = n.op("Concat", *wide, axis=1)
    return n.model(n.classifier(n.conv_relu(x, 48, 20), 20, classes=5))


def dense_block():
    n = Net(1, 3, 24, 24)
    x, channels = n.conv_relu("input", 3, 16, kernel=3), 16
    for _ in range(3):
        y = n.conv_relu(n.conv_relu(n.op("Relu", x), channels, 24), 24, 12, kernel=3)
        x, channels = n.op("Concat", x, y, axis=1), channels + 12
    x = n.pool("AveragePool", n.conv(x, channels, 20), 2, 2)
    return n.model(n.classifier(x, 20))


def shuffle():
    n = Net(1, 3, 28, 28)
    x = n.conv_relu("input", 3, 24, kernel=3, stride=2)
    for _ in range(2):
        y = n.conv_relu(x, 24, 24, group=3)
        y = n.op("Transpose", n.reshape(y, 1, 3, 8, 14, 14), perm=[0, 2, 1, 3, 4])
        y = n.conv(n.reshape(y, 1, 24, 14, 14), 24, 24, kernel=3, group=24)
        x = n.op("Relu", n.op("Add", x, n.conv(y, 24, 24, group=3)))
    return n.model(n.classifier(x, 24))


def split_branches():
    n = Net(1, 3, 28, 28)
    x = n.conv_relu("input", 3, 32, kernel=3, stride=2)
    left, right = n.several("Split", 2, x, n.constant(16, 16), axis=1)
    right = n.conv(n.conv_relu(right, 16, 16), 16, 16, kernel=3, group=16)
    right = n.conv_relu(right, 16, 16)
    x = n.op("Concat", left, right, axis=1)
    begin, end, axes = n.constant(1, 1), n.constant(13, 13), n.constant(2, 3)
    return n.model(n.classifier(n.op("Slice", x, begin, end, axes), 32))


def gates():
    n = Net(1, 3, 32, 32)
    x = n.op("HardSwish", n.conv("input", 3, 16, kernel=3, stride=2))
    for _ in range(2):
        y = n.op("HardSwish", n.conv(x, 16, 64))
        y = n.op("HardSwish", n.conv(y, 64, 64, kernel=5, group=64))
        g = n.conv_relu(n.op("GlobalAveragePool", y), 64, 16)
        y = n.op("Mul", y, n.op("HardSigmoid", n.conv(g, 16, 64)))
        x = n.op("Add", x, n.conv(y, 64, 16))
    return n.model(n.classifier(n.silu(n.conv(x, 16, 48)), 48))


def perceptron():
    n = Net(20, 96)
    x = "input"
    for inner, outer in ((96, 200), (200, 75), (75, 31)):
        x = n.gelu(n.dense(x, inner, outer))
    return n.model(n.op("Softmax", n.dense(x, 31, 10), axis=-1))


def encoder():
    n, tokens, width = Net(1, 24, 64), 24, 64
    x = "input"
    for _ in range(2):
        x = n.op("Add", x, n.attention(x, tokens, width, 4))
        x = n.layer_norm(x, width)
        y = n.dense(n.gelu(n.dense(x, width, 160)), 160, width)
        x = n.layer_norm(n.op("Add", x, y), width)
    return n.model(x)


def decoder():
    n, tokens, width = Net(1, 20, 48), 20, 48
    x = "input"
    for _ in range(2):
        x = n.op("Add", x, n.attention(n.rms_norm(x, width), tokens, width, 3, mask=True))
        h = n.rms_norm(x, width)
        gated = n.op("Mul", n.silu(n.dense(h, width, 120)), n.dense(h, width, 120))
        x = n.op("Add", x, n.dense(gated, 120, width))
    return n.model(n.dense(n.rms_norm(x, width), width, 100))


def patches():
    n, tokens, width = Net(1, 3, 32, 32), 16, 48
    w = n.weight(width, 3, 8, 8)
    x = n.op("Conv", "input", w, n.weight(width), kernel_shape=[8, 8], strides=[8, 8])
    x = n.op("Transpose", n.reshape(x, 1, width, tokens), perm=[0, 2, 1])
    x = n.op("Concat", n.weight(1, 1, width), x, axis=1)
    tokens += 1
    x = n.op("Add", x, n.weight(1, tokens, width))
    x = n.op("Add", x, n.attention(n.layer_norm(x, width), tokens, width, 3))
    y = n.gelu(n.dense(n.layer_norm(x, width), width, 100))
    x = n.layer_norm(n.op("Add", x, n.dense(y, 100, width)), width)
    first = n.op("Gather", x, n.constant(0, dims=[]), axis=1)
    return n.model(n.dense(first, width, 10))


def embedded():
    n = Net(1, 18, dtype=INT)
    x = n.op("Gather", n.weight(500, 40), "input")
    x = n.layer_norm(n.op("Add", x, n.weight(1, 18, 40)), 40)
    x = n.op("Tanh", n.dense(x, 40, 90))
    x = n.op("ReduceMean", x, axes=[1], keepdims=0)
    return n.model(n.op("Softmax", n.dense(x, 90, 12), axis=-1))


def up_and_down():
    n = Net(1, 3, 32, 32)
    a = n.conv_relu("input", 3, 12, kernel=3)
    b = n.conv_relu(n.pool("MaxPool", a, 2, 2), 12, 24, kernel=3)
    c = n.conv_relu(n.pool("MaxPool", b, 2, 2), 24, 36, kernel=3)
    twice = n.constant(1.0, 1.0, 2.0, 2.0, dtype=FLOAT)
    for inner, outer, skip, width in ((36, 24, b, 24), (24, 12, a, 12)):
        up = n.op("Resize", n.conv_relu(c, inner, outer), "", twice, mode="nearest")
        c = n.conv_relu(n.op("Concat", up, skip, axis=1), outer + width, outer, kernel=3)
    return n.model(n.op("Sigmoid", n.conv(c, 12, 2)))


def dilated():
    n = Net(1, 8, 27, 27)
    x = n.conv_relu("input", 8, 30, kernel=3, dilation=2)
    sides = [n.conv_relu(x, 30, 14, kernel=3, dilation=d) for d in (1, 2, 4)]
    x = n.op("Concat", *sides, axis=1)
    strip = n.weight(18, 42, 1, 5)
    x = n.op("Conv", x, strip, kernel_shape=[1, 5], pads=[0, 2, 0, 2])
    return n.model(n.pool("AveragePool", n.op("LeakyRelu", x, alpha=0.1), 3, 3))


def norms():
    n = Net(1, 4, 24, 24)
    x = n.conv("input", 4, 32, kernel=3)
    x = n.silu(n.op("InstanceNormalization", x, n.weight(32), n.weight(32)))
    x = n.conv(x, 32, 32, kernel=3, stride=2)
    x = n.op("Add", x, n.op("Sigmoid", x))
    x = n.op("Transpose", x, perm=[0, 2, 3, 1])
    x = n.gelu(n.dense(n.layer_norm(x, 32), 32, 64))
    return n.model(n.op("ReduceMean", n.dense(x, 64, 20), axes=[1, 2], keepdims=0))


def signal():
    n = Net(1, 2, 200)

    def conv(x, inner, outer, kernel, stride):
        w = n.weight(outer, inner, kernel)
        pads = [kernel // 2] * 2
        return n.op("Conv", x, w, kernel_shape=[kernel], strides=[stride], pads=pads)

    x = n.gelu(conv("input", 2, 24, 7, 2))
    x = n.gelu(conv(x, 24, 32, 5, 2))
    x = n.op("Transpose", x, perm=[0, 2, 1])
    x = n.op("Add", x, n.attention(n.layer_norm(x, 32), 50, 32, 2))
    return n.model(n.dense(x, 32, 9))


def volume():
    n = Net(1, 2, 8, 14, 14)

    def conv(x, inner, outer, stride):
        w = n.weight(outer, inner, 3, 3, 3)
        window = {"kernel_shape": [3] * 3, "strides": [stride] * 3, "pads": [1] * 6}
        return n.op("Relu", n.op("Conv", x, w, n.weight(outer), **window))

    x = conv(conv("input", 2, 16, 1), 16, 24, 2)
    x = n.op("Flatten", n.op("GlobalAveragePool", x))
    return n.model(n.op("Gemm", x, n.weight(24, 6), n.weight(6)))


def products():
    """Of computed tensors, in a batch, one of them turned."""
    n = Net(3, 40, 50)
    a = n.op("MatMul", "input", n.weight(50, 33))
    b = n.op("MatMul", "input", n.weight(50, 33))
    scores = n.op("MatMul", a, n.op("Transpose", b, perm=[0, 2, 1]))
    x = n.op("MatMul", n.op("Softmax", scores, axis=-1), "input")
    return n.model(n.op("Sub", n.op("Max", x, "input"), n.op("Min", x, "input")))


def windows():
    """Attention within windows of a picture, as a shifted-window transformer has it."""
    n, width, side = Net(1, 3, 32, 32), 32, 8
    w = n.weight(width, 3, 4, 4)
    x = n.op("Conv", "input", w, n.weight(width), kernel_shape=[4, 4], strides=[4, 4])
    x = n.layer_norm(n.op("Transpose", x, perm=[0, 2, 3, 1]), width)
    parts = n.reshape(x, 1, 2, 4, 2, 4, width)
    parts = n.reshape(n.op("Transpose", parts, perm=[0, 1, 3, 2, 4, 5]), 4, 16, width)
    q, k, v = (n.dense(parts, width, width) for _ in range(3))
    scores = n.op("MatMul", q, n.op("Transpose", k, perm=[0, 2, 1]))
    mixed = n.op("MatMul", n.op("Softmax", scores, axis=-1), v)
    back = n.op("Transpose", n.reshape(mixed, 1, 2, 2, 4, 4, width), perm=[0, 1, 3, 2, 4, 5])
    x = n.op("Add", x, n.reshape(back, 1, side, side, width))
    return n.model(n.dense(n.gelu(n.dense(x, width, 96)), 96, width))


NETWORKS = {
    make.__name__: make
    for make in (
        plain,
        residual,
        depthwise,
        branches,
        dense_block,
        shuffle,
        split_branches,
        gates,
        perceptron,
        encoder,
        decoder,
        patches,
        embedded,
        up_and_down,
        dilated,
        norms,
        signal,
        volume,
        products,
        windows,
    )
}
