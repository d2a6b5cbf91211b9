"""Random products and convolutions as models of one node, with the formula of what they become."""

import math

import numpy as np
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT
MATMUL_SHAPES = [((), ()), ((2,), ()), ((), (3,)), ((2,), (2,)), ((2, 1), (3,)), ((1,), (4,))]


def opset_of(rng):
    return int(rng.choice([7, 9, 10, 11, 12, 13, 16]))


def real(rng, *shape):
    return rng.uniform(-1, 1, shape).astype(np.float32)


class Case:
    """One node `op` of `given` {name: array}; those in `stored` are initializers."""

    def __init__(self, op, given, stored, attributes, opset, ir, sizes, tile, edge):
        self.op, self.given, self.stored = op, given, stored
        self.attributes, self.opset, self.ir = attributes, opset, ir
        self.sizes = sizes  # batch, M, K, N
        self.tile, self.edge = tile, edge

    def products(self):
        """MatMuls that the node must become."""
        return math.prod(-(-size // t) for size, t in zip(self.sizes[1:], self.tile))

    def macs(self):
        """Of those MatMuls: ragged tiles leave them, padding rounds every size up."""
        sizes = self.sizes[1:]
        if self.edge == "pad":
            sizes = [-(-size // t) * t for size, t in zip(sizes, self.tile)]
        return self.sizes[0] * math.prod(sizes)

    def model(self):
        node = helper.make_node(self.op, list(self.given), ["y"], name="layer", **self.attributes)
        inputs = [
            helper.make_tensor_value_info(n, FLOAT, v.shape)
            for n, v in self.given.items()
            if n not in self.stored or self.ir < 4
        ]
        weights = [numpy_helper.from_array(self.given[n], n) for n in self.stored]
        graph = helper.make_graph(
            [node],
            "case",
            inputs,
            [helper.make_tensor_value_info("y", FLOAT, self.output())],
            weights,
        )
        return helper.make_model(
            graph, ir_version=self.ir, opset_imports=[helper.make_opsetid("", self.opset)]
        )

    def output(self):
        return self.attributes_output if hasattr(self, "attributes_output") else None

    def fed(self):
        return {n: v for n, v in self.given.items() if n not in self.stored}

    def __str__(self):
        shapes = " ".join(f"{n}{list(v.shape)}" for n, v in self.given.items())
        return (
            f"{self.op} {shapes} {self.attributes} opset {self.opset} IR {self.ir} "
            f"tile {self.tile} {self.edge}, stored {self.stored}"
        )


def tile_of(rng, m, k, n):
    return [
        int(rng.integers(1, size + 3)) if size < 12 else int(rng.integers(3, size + 3))
        for size in (m, k, n)
    ]


def gemm(rng):
    m, k, n = (int(v) for v in rng.integers(1, 24, 3))
    ta, tb = (int(v) for v in rng.integers(0, 2, 2))
    opset = opset_of(rng)
    given = {
        "a": real(rng, *((k, m) if ta else (m, k))),
        "b": real(rng, *((n, k) if tb else (k, n))),
    }
    bias = [None, (n,), (1, n), (m, 1), (m, n), (1,), ()][
        int(rng.integers(0 if opset >= 11 else 1, 7))
    ]
    if bias is not None:
        given["c"] = real(rng, *bias)
    attributes = {"transA": ta, "transB": tb}
    if rng.random() < 0.5:
        attributes["alpha"] = float(rng.choice([0.5, -1.25, 2.0]))
    if rng.random() < 0.5:
        attributes["beta"] = float(rng.choice([0.0, 0.5, -3.0]))
    stored = [name for name in ("b", "c") if name in given and rng.random() < 0.6]
    case = Case(
        "Gemm",
        given,
        stored,
        attributes,
        opset,
        int(rng.choice([3, 8])),
        (1, m, k, n),
        tile_of(rng, m, k, n),
        str(rng.choice(["pad", "ragged"])),
    )
    case.attributes_output = [m, n]
    return case


def matmul(rng):
    m, k, n = (int(v) for v in rng.integers(1, 20, 3))
    left, right = MATMUL_SHAPES[int(rng.integers(0, len(MATMUL_SHAPES)))]
    a, b = left + (m, k), right + (k, n)
    out = list(np.broadcast_shapes(left, right)) + [m, n]
    batch = math.prod(out[:-2])
    kind = rng.random()
    if kind < 0.1:
        a, m, out = (k,), 1, out[:-2] + [n]
        batch, out = math.prod(right), list(right) + [n]
    elif kind < 0.2:
        b, n = (k,), 1
        batch, out = math.prod(left), list(left) + [m]
    given = {"a": real(rng, *a), "b": real(rng, *b)}
    case = Case(
        "MatMul",
        given,
        ["b"] if rng.random() < 0.5 else [],
        {},
        opset_of(rng),
        int(rng.choice([3, 8])),
        (batch, m, k, n),
        tile_of(rng, m, k, n),
        str(rng.choice(["pad", "ragged"])),
    )
    case.attributes_output = out
    return case


def conv(rng):
    rank = int(rng.choice([1, 2, 2, 2, 3]))
    groups = int(rng.choice([1, 1, 2, 3]))
    channels, outputs = (int(v) for v in rng.integers(1, 5, 2))
    images = int(rng.integers(1, 3))
    kernel = [int(v) for v in rng.integers(1, 4, rank)]
    stride, dilation = ([int(v) for v in rng.integers(1, 3, rank)] for _ in range(2))
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    size = [s + int(rng.integers(0, 5)) for s in spans]
    attributes = {"kernel_shape": kernel, "strides": stride, "dilations": dilation, "group": groups}
    way = rng.random()
    if way < 0.6:
        before, behind = ([int(rng.integers(0, s)) for s in spans] for _ in range(2))
        attributes["pads"] = before + behind
        out = [
            (n + b + e - s) // t + 1 for n, b, e, s, t in zip(size, before, behind, spans, stride)
        ]
    elif way < 0.8 and max(dilation) == 1:
        attributes["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER"]))
        out = [-(-n // t) for n, t in zip(size, stride)]
    else:
        out = [(n - s) // t + 1 for n, s, t in zip(size, spans, stride)]
    given = {
        "a": real(rng, images, channels * groups, *size),
        "b": real(rng, outputs * groups, channels, *kernel),
    }
    if rng.random() < 0.5:
        given["c"] = real(rng, outputs * groups)
    m, k = images * math.prod(out), channels * math.prod(kernel)
    case = Case(
        "Conv",
        given,
        [n for n in ("b", "c") if n in given and rng.random() < 0.7],
        attributes,
        opset_of(rng),
        int(rng.choice([3, 8])),
        (groups, m, k, outputs),
        tile_of(rng, m, k, outputs),
        str(rng.choice(["pad", "ragged"])),
    )
    case.attributes_output = [images, outputs * groups, *out]
    return case


def cases(count, seed):
    rng = np.random.default_rng(seed)
    for i in range(count):
        yield (gemm, matmul, gemm, conv)[i % 4](rng)
