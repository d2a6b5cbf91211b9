"""Networks drawn at random, of the parts that real ones are made of: ONNX files of a few kilobytes,
whose weights have shapes and no numbers."""

import random
import struct

from wire import FLOAT, graph, model, node, number, tensor, text, value

FLOAT16 = 10
MOST = 1 << 19  # elements of a tensor
MOST_MACS = 1 << 25  # of a product


def elements(dims):
    out = 1
    for d in dims:
        out *= d
    return out


def real(name, number_):
    """An attribute that is a float."""
    return text(1, name) + bytes([0x15]) + struct.pack("<f", number_) + number(20, 1)


class Network:
    """What has been drawn so far. `values` are the float tensors that later nodes may read."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.nodes, self.stored, self.inputs, self.values = [], [], [], []
        self.used = set()
        self.count = 0
        self.opset = self.random.choice((13, 17, 18))

    # ---- what parts are made of

    def name(self, of):
        self.count += 1
        return f"{of}{self.count}"

    def add(self, op, inputs, *dims, **attributes):
        """Nodes whose outputs have these dims, as (name, dims)."""
        outs = [(self.name(op.lower()), list(d)) for d in dims]
        names = [i if isinstance(i, str) else i[0] for i in inputs]
        self.used.update(names)
        reals = {k: v for k, v in attributes.items() if isinstance(v, float)}
        whole = {k: v for k, v in attributes.items() if not isinstance(v, float)}
        data = node(op, names, [o[0] for o in outs], self.name("n"), **whole)
        data += b"".join(text(5, real(k, v)) for k, v in reals.items())
        self.nodes.append(data)
        return outs[0] if len(outs) == 1 else outs

    def weight(self, dims):
        name = self.name("w")
        self.stored.append(tensor(name, dims, dtype=FLOAT))
        return name, list(dims)

    def whole(self, numbers, dims=None):
        name = self.name("i")
        self.stored.append(tensor(name, [len(numbers)] if dims is None else dims, numbers))
        return name

    def input(self, dims):
        name = self.name("x")
        self.inputs.append(value(name, dims))
        self.values.append((name, list(dims)))
        return self.values[-1]

    def pick(self, rank=None):
        """A tensor to go on with, late ones mostly; None where there is none of the rank."""
        fit = [v for v in self.values if rank is None or len(v[1]) == rank]
        if not fit:
            return None
        return fit[-1] if self.random.random() < 0.6 else self.random.choice(fit)

    # ---- parts: each takes a tensor and gives one

    def conv(self, x):
        r = self.random
        n, c, h, w = x[1]
        groups = r.choice([1, 1, 1, c, *(g for g in (2, 3, 4, 8) if c % g == 0)])
        out = groups * r.choice((1, 1, 2, max(1, r.randrange(1, 48) // groups)))
        kernel = [r.choice((1, 1, 3, 3, 5, 2)) for _ in range(2)]
        strides = [r.choice((1, 1, 1, 2, 3))] * 2
        dilations = [r.choice((1, 1, 1, 2)) for _ in range(2)]
        pads = [r.randrange(0, k) for k in kernel] + [r.randrange(0, k) for k in kernel]
        size = [
            (s + pads[i] + pads[i + 2] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1
            for i, s in enumerate((h, w))
        ]
        macs = n * out * elements(size) * (c // groups) * elements(kernel)
        if min(size) < 1 or macs > MOST_MACS:
            return None
        weights = self.weight([out, c // groups, *kernel])
        if r.random() < 0.06 and elements(weights[1]) < 4096:  # computed while the network runs
            weights = self.add("Abs", [self.input(weights[1])], weights[1])
        inputs = [x, weights] + ([self.weight([out])] if r.random() < 0.7 else [])
        return self.add(
            "Conv", inputs, [n, out, *size], group=groups, kernel_shape=kernel, strides=strides,
            dilations=dilations, pads=pads,
        )  # fmt: skip

    def conv_transpose(self, x):
        n, c, h, w = x[1]
        k = self.random.choice((2, 3, 4))
        s = self.random.choice((1, 2, k))
        out = self.random.choice((1, 8, 24))
        dims = [n, out, (h - 1) * s + k, (w - 1) * s + k]
        if n * out * h * w * c * k * k > MOST_MACS:
            return None
        weights = self.weight([c, out, k, k])
        return self.add("ConvTranspose", [x, weights], dims, kernel_shape=[k, k], strides=[s, s])

    def pool(self, x):
        n, c, h, w = x[1]
        op = self.random.choice(("MaxPool", "AveragePool", "GlobalAveragePool"))
        if op == "GlobalAveragePool":
            return self.add(op, [x], [n, c, 1, 1])
        k, s = self.random.choice((2, 3)), self.random.choice((1, 2))
        if min(h, w) < k:
            return None
        dims = [n, c, (h - k) // s + 1, (w - k) // s + 1]
        return self.add(op, [x], dims, kernel_shape=[k, k], strides=[s, s])

    def activation(self, x):
        names = [
            "Relu",
            "Sigmoid",
            "Tanh",
            "HardSwish",
            "Erf",
            "Neg",
            "Abs",
            "Exp",
            "Softplus",
            "LeakyRelu",
            "Elu",
        ]
        if self.opset < 14:
            names.remove("HardSwish")
        return self.add(self.random.choice(names), [x], x[1])

    def binary(self, x):
        other = [v for v in self.values if v[1] == x[1] and v[0] != x[0]]
        op = self.random.choice(("Add", "Mul", "Sub"))
        kinds = [x, self.weight([x[1][-1]]), self.weight([1])]
        return self.add(op, [x, self.random.choice(other if other else kinds)], x[1])

    def concat(self, x):
        axis = self.random.randrange(len(x[1]))
        rest = [
            v for v in self.values
            if len(v[1]) == len(x[1])
            and all(a == b for i, (a, b) in enumerate(zip(v[1], x[1])) if i != axis)
        ]  # fmt: skip
        parts = [self.random.choice(rest) for _ in range(self.random.choice((2, 2, 3, 9)))]
        dims = list(x[1])
        dims[axis] = sum(p[1][axis] for p in parts)
        return self.add("Concat", parts, dims, axis=axis)

    def split(self, x):
        axes = [i for i, d in enumerate(x[1]) if d > 1]
        if not axes:
            return None
        axis = self.random.choice(axes)
        first = self.random.randrange(1, x[1][axis])
        dims = [[*x[1]], [*x[1]]]
        dims[0][axis], dims[1][axis] = first, x[1][axis] - first
        sizes = self.whole([first, x[1][axis] - first])
        parts = self.add("Split", [x, sizes], *dims, axis=axis)
        self.values.extend(parts)
        return self.random.choice(parts)

    def slice(self, x):
        axis = self.random.randrange(len(x[1]))
        size = x[1][axis]
        start = self.random.randrange(size)
        stop = self.random.choice((start + 1, self.random.randrange(start + 1, size + 1)))
        step = self.random.choice((1, 1, 2, 3))
        dims = list(x[1])
        dims[axis] = (stop - start + step - 1) // step
        words = [self.whole([n]) for n in (start, stop, axis, step)]
        return self.add("Slice", [x, *words], dims)

    def transpose(self, x):
        perm = list(range(len(x[1])))
        self.random.shuffle(perm)
        return self.add("Transpose", [x], [x[1][i] for i in perm], perm=perm)

    def reshape(self, x):
        n = elements(x[1])
        rank = self.random.choice((2, 3, 4))
        dims = []
        for _ in range(rank - 1):
            dims.append(self.random.choice([d for d in range(1, min(n, 64) + 1) if n % d == 0]))
            n //= dims[-1]
        dims.append(n)
        return self.add("Reshape", [x, self.whole(dims)], dims)

    def pad(self, x):
        before = [self.random.choice((0, 0, 1, 2)) for _ in x[1]]
        behind = [self.random.choice((0, 0, 1)) for _ in x[1]]
        dims = [a + d + b for a, d, b in zip(before, x[1], behind)]
        return self.add("Pad", [x, self.whole(before + behind)], dims)

    def resize(self, x):
        n, c, h, w = x[1]
        dims = [n, c, h * self.random.choice((1, 2)), w * self.random.choice((1, 2, 3))]
        mode = self.random.choice(("nearest", "linear"))
        return self.add("Resize", [x, "", "", self.whole(dims)], dims, mode=mode)

    def gather(self, x):
        axis = self.random.randrange(len(x[1]))
        count = self.random.choice((1, 3, 40, 1000))
        dims = list(x[1])
        dims[axis] = count
        if elements(dims) > MOST:
            return None
        indices = self.whole([self.random.randrange(x[1][axis]) for _ in range(count)])
        return self.add("Gather", [x, indices], dims, axis=axis)

    def scatter(self, x):
        rows = self.random.choice((1, 5, 300))
        if rows * elements(x[1][1:]) > MOST:
            return None
        places = [self.random.randrange(x[1][0]) for _ in range(rows)]
        updates = self.input([rows, *x[1][1:]])
        return self.add("ScatterND", [x, self.whole(places, [rows, 1]), updates], x[1])

    def product(self, x):
        kind = self.random.choice(("weight", "weight", "itself", "view"))
        k = x[1][-1]
        if kind == "weight" or len(x[1]) < 2:
            n = self.random.choice((1, 7, 33, 64, 200))
            if elements(x[1]) * n > MOST_MACS:
                return None
            return self.add("MatMul", [x, self.weight([k, n])], [*x[1][:-1], n])
        if elements(x[1]) * x[1][-2] > min(MOST_MACS, MOST * k):
            return None
        dims = [*x[1][:-2], k, x[1][-2]]
        perm = list(range(len(dims)))
        perm[-2:] = perm[:-3:-1]
        if kind == "view" and k == x[1][-2]:
            other = self.add("Reshape", [x, self.whole(dims)], dims)
        else:
            other = self.add("Transpose", [x], dims, perm=perm)
        return self.add("MatMul", [x, other], [*x[1][:-1], x[1][-2]])

    def softmax(self, x):
        return self.add("Softmax", [self.maybe_cast(x)], x[1], axis=len(x[1]) - 1)

    def norm(self, x):
        c = x[1][-1]
        if self.opset >= 17 and self.random.random() < 0.5:
            inputs = [x, self.weight([c]), self.weight([c])]
            return self.add("LayerNormalization", inputs, x[1], axis=-1)
        if len(x[1]) < 3:
            return None
        weights = [self.weight([x[1][1]]) for _ in range(4)]
        if self.random.random() < 0.5:
            return self.add("InstanceNormalization", [x, *weights[:2]], x[1])
        return self.add("BatchNormalization", [x, *weights], x[1])

    def attention(self, x):
        """Scores of queries and keys, perhaps masked, softmax and values; heads as a batch."""
        b, t, d = x[1]
        heads = self.random.choice([h for h in (1, 2, 4) if d % h == 0])
        if heads * t * t > MOST:
            return None
        size = d // heads

        def head(perm):
            y = self.add("MatMul", [x, self.weight([d, d])], [b, t, d])
            dims = [b, t, heads, size]
            y = self.add("Reshape", [y, self.whole(dims)], dims)
            return self.add("Transpose", [y], [dims[i] for i in perm], perm=perm)

        q, k, v = head([0, 2, 1, 3]), head([0, 2, 3, 1]), head([0, 2, 1, 3])
        scores = self.add("MatMul", [q, k], [b, heads, t, t])
        scores = self.add("Mul", [self.maybe_cast(scores), self.weight([1])], scores[1])
        if self.random.random() < 0.5:
            scores = self.add("Add", [scores, self.input([1, 1, t, t])], scores[1])
        scores = self.add("Softmax", [scores], scores[1], axis=-1)
        y = self.add("MatMul", [self.maybe_cast(scores), v], [b, heads, t, size])
        y = self.add("Transpose", [y], [b, t, heads, size], perm=[0, 2, 1, 3])
        y = self.add("Reshape", [y, self.whole([b, t, d])], [b, t, d])
        return self.add("Add", [y, x], [b, t, d]) if self.random.random() < 0.7 else y

    def recurrent(self, x):
        steps, batch, size = x[1]
        op, gates = self.random.choice((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
        hidden = self.random.choice((4, 32, 100))
        weights = [self.weight([1, gates * hidden, size]), self.weight([1, gates * hidden, hidden])]
        return self.add(op, [x, *weights], [steps, 1, batch, hidden], hidden_size=hidden)

    def gelu(self, x):
        y = self.add("Mul", [x, self.weight([1])], x[1])
        y = self.add("Erf", [self.maybe_cast(y)], x[1])
        y = self.add("Add", [y, self.weight([1])], x[1])
        return self.add("Mul", [x, y], x[1])

    def maybe_cast(self, x):
        """To half precision and back, sometimes."""
        if self.random.random() < 0.7:
            return x
        half = self.add("Cast", [x], x[1], to=FLOAT16)
        return self.add("Cast", [half], x[1], to=FLOAT)

    def top(self, x):
        k = self.random.randrange(1, x[1][-1] + 1)
        dims = [*x[1][:-1], k]
        return self.add("TopK", [x, self.whole([k])], dims, dims, axis=-1)[0]

    def squeeze(self, x):
        """Excitation: a factor for each channel."""
        n, c, _, _ = x[1]
        y = self.add("GlobalAveragePool", [x], [n, c, 1, 1])
        y = self.add("Conv", [y, self.weight([c, c, 1, 1])], [n, c, 1, 1], kernel_shape=[1, 1])
        y = self.add("Sigmoid", [y], [n, c, 1, 1])
        return self.add("Mul", [x, y], x[1])

    PARTS = {
        4: ["conv", "conv", "conv", "conv_transpose", "pool", "squeeze", "resize", "pad", "norm"],
        3: ["attention", "attention", "product", "recurrent", "norm", "gelu"],
        2: ["product", "product", "gelu", "top"],
        None: [
            "activation",
            "activation",
            "binary",
            "binary",
            "concat",
            "split",
            "slice",
            "transpose",
            "reshape",
            "pad",
            "gather",
            "scatter",
            "product",
            "softmax",
            "norm",
            "top",
        ],
    }

    def draw(self, parts):
        rank = self.random.choice((2, 3, 3, 4, 4, 4))
        sizes = {2: (1, 160), 3: (2, 70), 4: (1, 40)}[rank]
        dims = [self.random.randrange(sizes[0], sizes[1]) for _ in range(rank)]
        dims[0] = min(dims[0], 4 if rank > 2 else 160)
        self.input(dims)
        tries = 0
        while parts > 0 and tries < 20 * 30:
            tries += 1
            x = self.pick()
            kinds = self.PARTS.get(len(x[1]), []) + self.PARTS[None]
            y = getattr(self, self.random.choice(kinds))(x)
            if y is None:
                continue
            if 0 < elements(y[1]) <= MOST:
                self.values.append(y)
                parts -= 1
        return self

    def bytes(self):
        """The model; what nobody reads is an output."""
        made = [v for v in self.values if v[0] not in self.used]
        given = [v for v in made if not v[0].startswith("x")] or self.values[-1:]
        outputs = [value(v[0], v[1]) for v in given]
        content = graph(self.nodes, self.inputs, outputs, self.stored, "drawn")
        return model(content, opset=self.opset)


def draw(seed):
    """A network's file."""
    network = Network(seed)
    return network.draw(network.random.randrange(2, 22)).bytes()
