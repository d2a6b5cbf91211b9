#!/usr/bin/python3
"""Small files with a large appetite: 5 seconds of processor time and 512 MB for any file up to 1
MB, or exit code 2 or 3 with the reason.

Usage: bombs_test.py ACCSIM [unittest arguments].

Each bomb goes through the commands that take models from anybody. Memory is what the process had at
most (ru_maxrss); processor time is limited by the kernel. `run` has all tensors that are alive in
memory, by default 4 GiB of them: it is told the 512 MB (--max-memory-mib).
"""

import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import unittest

from program import ACCSIM, ROOT
from wire import INT64, function, graph, model, node, tensor, text, value

SECONDS = 5
KB = 512 * 1024
ONE_MB = 1 << 20

COMMANDS = {
    "cost": ["--hw", ROOT / "configs" / "8x8.yaml", "{model}"],
    "inspect": ["inspect", "{model}"],
    "shapes": ["shapes", "{model}"],
    "tile": ["tile", "{model}", "--output", "{out}", "--conv", "im2col"],
    "run": ["run", "{model}", "--weights", "random:1", "--max-memory-mib", 400],
}
MANY = 16_000  # nodes that fit a MB
HUGE = 1 << 40


def chain(op, count, name="", first="x", **attributes):
    """x -> op -> ... -> y; of another first one: -> y0"""
    names = [first, *(f"t{i}" for i in range(count - 1)), "y" if first == "x" else "y0"]
    return [
        node(op, [a], [b], name and f"{name}{i}", **attributes)
        for i, (a, b) in enumerate(zip(names, names[1:]))
    ]


def collected(op, count, reader=None):
    """A chain of which each value is read elsewhere, too: by a Concat, or by a `reader` before."""
    names = [f"t{i}" for i in range(count)]
    nodes = [node(op, [a], [b]) for a, b in zip(["x", *names], names)]
    if reader:
        nodes += [node(reader, [name], [f"r{name}"]) for name in names]
        names = [f"r{name}" for name in names]
    return [*nodes, node("Concat", names, ["y"], axis=0)]


def simple(nodes, dims=(2, 3), stored=(), more=(), opset=17):
    """A model from x to y."""
    return model(
        graph(nodes, [value("x", list(dims)), *more], [value("y")], stored),
        opset=opset,
    )


def one(op, dims, inputs=(), opset=17, outputs=("y",), **attributes):
    """A node of x and further inputs: shapes, or (shape, integers) of constants."""
    names = ["x", *(f"i{k}" for k in range(len(inputs)))]
    more, stored = [], []
    for name, what in zip(names[1:], inputs):
        if isinstance(what, tuple):
            stored.append(tensor(name, *what))
        else:
            more.append(value(name, what))
    return simple([node(op, names, outputs, **attributes)], dims, stored, more, opset)


def loop(trips, body_nodes, dims=(2,), stored=(), last="o"):
    """x through `trips` iterations of nodes from i to `last`."""
    body = graph(
        [*body_nodes, node("Identity", ["c"], ["d"])],
        [value("k", [], INT64), value("c", [], 9), value("i")],
        [value("d", [], 9), value(last)],
    )
    nodes = [node("Loop", ["n", "", "x"], ["y"], "l", body=("graph", body))]
    return simple(nodes, dims, [tensor("n", [], [trips]), *stored])


def chain_inside(count):
    names = ["i", *(f"q{k}" for k in range(count - 1)), "o"]
    return [node("Relu", [a], [b]) for a, b in zip(names, names[1:])]


def nested(depth, trips):
    """Loops inside of each other."""
    inner = [node("Relu", ["i"], ["o"])]
    for _ in range(depth - 1):
        body = graph(
            [*inner, node("Identity", ["c"], ["d"])],
            [value("k", [], INT64), value("c", [], 9), value("i")],
            [value("d", [], 9), value("o")],
        )
        inner = [node("Loop", ["n", "", "i"], ["o"], body=("graph", body))]
    return loop(trips, inner, stored=())


def ifs(depth):
    """Ifs inside of each other, twice as many in each level."""

    def branch(level):
        if level == 0:
            return graph([node("Relu", ["x"], ["y"])], outputs=[value("y")])
        inner = node(
            "If",
            ["b"],
            ["y"],
            **{f"{which}_branch": ("graph", branch(level - 1)) for which in ("then", "else")},
        )
        return graph([inner], outputs=[value("y")])

    nodes = [
        node(
            "If",
            ["b"],
            ["y"],
            **{f"{which}_branch": ("graph", branch(depth)) for which in ("then", "else")},
        )
    ]
    return model(graph(nodes, [value("x", [2]), value("b", [], 9)], [value("y")]))


def doubling(levels, op="Relu"):
    """A function that calls the one below it twice, and so on."""
    functions = [function("F0", ["x"], ["y"], [node(op, ["x"], ["y"])])]
    for i in range(1, levels + 1):
        calls = [
            node(f"F{i - 1}", ["x"], ["m"], domain="f"),
            node(f"F{i - 1}", ["m"], ["y"], domain="f"),
        ]
        functions.append(function(f"F{i}", ["x"], ["y"], calls))
    top = graph([node(f"F{levels}", ["x"], ["y"], domain="f")], [value("x", [2])], [value("y")])
    return model(top, functions, domains=["f"])


def recursive():
    call = node("F", ["x"], ["y"], domain="f")
    return model(
        graph([call], [value("x", [2])], [value("y")]),
        [function("F", ["x"], ["y"], [call])],
        domains=["f"],
    )


def distinct(count, op, shapes, **attributes):
    """`count` products of different sizes; shapes(i) are those of both operands."""
    nodes, inputs = [], []
    for i in range(count):
        a, b = shapes(i)
        inputs += [value(f"a{i}", a), value(f"b{i}", b)]
        nodes.append(node(op, [f"a{i}", f"b{i}"], [f"y{i}"], **attributes))
    return model(graph(nodes, inputs, [value(f"y{count - 1}")]))


def attention(count, heads, rows, size, keys, between=()):
    """`count` attentions of the same queries; keys(i): how many keys and values each has."""
    nodes, inputs = [], []
    for i in range(count):
        inputs += [value(f"k{i}", [1, heads, size, keys(i)])]
        inputs += [value(f"v{i}", [1, heads, keys(i), size])]
        names = [f"{name}{i}" for name in ("s", *(f"{op}_" for op in between), "p")]
        nodes.append(node("MatMul", ["x", f"k{i}"], names[:1]))
        for op, a, b in zip([*between, "Softmax"], names, names[1:]):
            nodes.append(node(op, [a], [b]))
        nodes.append(node("MatMul", [names[-1], f"v{i}"], [f"y{i}"]))
    outputs = [value(f"y{i}") for i in range(count)]
    return model(graph(nodes, [value("x", [1, heads, rows, size]), *inputs], outputs))


def odd_sizes(i):
    """Of an image and filters of which nothing divides into tiles evenly."""
    channels = 65 + i % 67
    return [1, channels, 113 + i % 101, 97 + i % 89], [131 + i % 127, channels, 3, 3]


def searches():
    """Of different products, and of runs in which ops can take turns in many ways."""
    for name, data in (
        ("", attention(300, 4, 2048, 32, lambda i: 1000 + 8 * i)),
        (" of twelve heads", attention(300, 12, 2048, 64, lambda i: 512 + 8 * i)),
        (" of 720 rows", attention(330, 8, 720, 64, lambda i: 512 + 8 * i)),
        (" of 5,040 rows", attention(300, 4, 5040, 32, lambda i: 1000 + 8 * i)),
        (" of many channels", attention(300, 2, 4096, 128, lambda i: 2048 + 64 * i)),
        (" with ops between", attention(160, 4, 2048, 32, lambda i: 1000 + 8 * i, ["Relu", "Erf"])),
    ):
        yield f"attentions{name}", data
    yield (
        "990 large products",
        distinct(990, "MatMul", lambda i: ([1024, 1024 + 16 * i], [1024 + 16 * i, 4096])),
    )
    yield (
        "990 products of many divisors",
        distinct(990, "MatMul", lambda i: ([5040 + 12 * i, 5040], [5040, 2520 + 12 * i])),
    )
    for count in (240, 700):
        yield f"{count} convolutions of odd sizes", distinct(count, "Conv", odd_sizes, pads=[1] * 4)
    for op in ("Softmax", "Relu", "Transpose", "ReduceMean"):
        nodes = [node(op, [f"x{i}"], [f"y{i}"]) for i in range(990)]
        inputs = [value(f"x{i}", [8, 720 + 12 * i, 2520]) for i in range(990)]
        yield f"990 of {op}", model(graph(nodes, inputs, [value(f"y{i}") for i in range(990)]))


def recurrent(op, gates):
    weights = [[1, gates * 8, 8], [1, gates * 8, 8]]
    return one(op, [HUGE, 1, 8], weights, hidden_size=8)


def bombs():
    perm = list(range(63, -1, -1))
    yield "loop of a million nodes", loop(4000, chain_inside(250))
    yield "LSTM of 2^40 steps", recurrent("LSTM", 4)
    yield "GRU of 2^40 steps", recurrent("GRU", 3)
    yield "RNN of 2^40 steps", recurrent("RNN", 1)
    for levels in (12, 18, 30, 60):
        yield f"functions doubled {levels} times", doubling(levels)
    yield "function that calls itself", recursive()
    yield "loop of 4096 trips", loop(4096, [node("Relu", ["i"], ["o"])])
    yield "loop of 10^18 trips", loop(10**18, [node("Relu", ["i"], ["o"])])
    yield "loops in loops", nested(6, 16)
    yield "loops in loops, deep", nested(40, 2)
    yield "loop of long names", loop(4000, [node("Relu", ["i"], ["o"], "n" * 200_000)])
    yield (
        "loop of long values",
        loop(4000, [node("Relu", ["i"], ["o" * 200_000])], last="o" * 200_000),
    )
    yield (
        "loop of long attributes",
        loop(4000, [node("ReduceSum", ["i"], ["o"], keepdims=1, noop=list(range(100_000)))]),
    )
    yield "loop that grows a tensor", loop(4000, [node("Concat", ["i", "i"], ["o"], axis=0)])
    yield "loop of a thousand products", loop(1000, [node("MatMul", ["i", "i"], ["o"])], [64, 64])
    yield "Ifs in Ifs", ifs(12)
    yield "chain of Relu", simple(chain("Relu", MANY))
    yield "chain of Identity", simple(chain("Identity", MANY))
    made = node("ConstantOfShape", ["size"], ["x0"])
    folded = [made, *chain("Neg", 25_000, first="x0"), node("Add", ["x", "y0"], ["y"])]
    yield "chain of known numbers", simple(folded, (64, 64), [tensor("size", [2], [64, 64])])
    nodes = chain("Identity", MANY)
    yield (
        "chain of Identity between a sum and a clip",
        simple(
            [
                node("Add", ["x", "x"], ["s"]),
                node("Identity", ["s"], ["t0"]),
                *nodes[1:-1],
                node("Relu", [f"t{MANY - 2}"], ["y"]),
            ]
        ),
    )
    for op in ("Relu", "Sigmoid"):
        yield f"chain of {op}, all collected", simple(collected(op, MANY))
        yield f"chain of {op}, of all others collected", simple(collected(op, MANY // 3, "Exp"))
    yield (
        "chain of sums with what isn't one value",
        simple(
            [node("Add", ["x", "z"], ["s0"])]
            + [node("Add", [f"s{i}", "z"], [f"s{i + 1}"]) for i in range(MANY)]
            + [node("Add", [f"s{MANY}", "z"], ["y"])],
            more=[value("z", [2, 3])],
        ),
    )
    yield "chain of Softmax", simple(chain("Softmax", MANY), [4, 4])
    yield "chain of Sigmoid", simple(chain("Sigmoid", MANY))
    yield "chain of Transpose", simple(chain("Transpose", MANY, perm=[1, 0]), [3, 3])
    yield (
        "many Relu side by side",
        simple(
            [node("Relu", ["x"], [f"y{i}"]) for i in range(MANY)] + [node("Relu", ["x"], ["y"])]
        ),
    )
    yield (
        "sums of all before",
        simple(
            [node("Add", ["x", "x"], ["s0"])]
            + [node("Add", [f"s{i}", f"s{i // 2}"], [f"s{i + 1}"]) for i in range(MANY // 2)]
            + [node("Relu", [f"s{MANY // 2}"], ["y"])]
        ),
    )
    yield (
        "long lived tensors",
        simple(
            [node("Relu", ["x"], [f"a{i}"]) for i in range(5000)]
            + [node("Sum", [f"a{i}" for i in range(5000)], ["y"])]
        ),
    )
    yield "Concat of 50,000", simple([node("Concat", ["x"] * 50_000, ["y"], axis=0)])
    yield "Sum of 50,000", simple([node("Sum", ["x"] * 50_000, ["y"])])
    yield (
        "Split into 30,000",
        simple(
            [
                node("Split", ["x"], [f"p{i}" for i in range(30_000)], axis=0),
                node("Relu", ["p0"], ["y"]),
            ],
            [30_000, 1],
            opset=11,
        ),
    )
    yield (
        "9,000 different products",
        distinct(9000, "MatMul", lambda i: ([1 + i % 97, 2 + i // 97], [2 + i // 97, 3 + i % 89])),
    )
    for count in (1000, 2000):
        yield (
            f"{count:,} different products",
            distinct(
                count,
                "MatMul",
                lambda i: ([64 + i % 47, 65 + i // 47], [65 + i // 47, 66 + i % 43]),
            ),
        )
    yield (
        "3,000 different convolutions",
        distinct(3000, "Conv", lambda i: ([1, 3, 8 + i % 61, 9 + i // 61], [4, 3, 3, 3])),
    )
    yield "rank 100,000", simple([node("Relu", ["x"], ["y"])], [1] * 100_000)
    yield (
        "transpose of rank 2,000",
        simple([node("Transpose", ["x"], ["y"], perm=list(range(1999, -1, -1)))], [1] * 2000),
    )
    yield "transposes of rank 64", simple(chain("Transpose", 2000, perm=perm), [2] * 30 + [1] * 34)
    yield "reshape to rank 100,000", one("Reshape", [1], [([100_000], [1] * 100_000)])
    yield "unsqueeze to rank 4,096", one("Unsqueeze", [1], [([4096], list(range(4096)))])
    yield (
        "weights of rank 100,000",
        simple([node("Add", ["x", "w"], ["y"])], stored=[tensor("w", [1] * 100_000, dtype=1)]),
    )
    yield "sum of rank 64", one("Add", [2] * 30 + [1] * 34, [[1] * 34 + [2] * 30])
    yield (
        "Einsum of many operands",
        simple([node("Einsum", ["x"] * 200, ["y"], equation=",".join(["ab"] * 200) + "->ab")]),
    )
    yield (
        "Einsum of a long equation",
        simple([node("Einsum", ["x", "x"], ["y"], equation="a" * 500_000 + "," + "b" * 400_000)]),
    )
    yield "product of 2^20", one("MatMul", [1 << 20, 1 << 20], [[1 << 20, 1 << 20]])
    yield "2^40 products", one("MatMul", [HUGE, 2, 3], [[HUGE, 3, 2]])
    yield "product of 2^40 rows", one("MatMul", [HUGE, 64], [[64, 64]])
    yield "product of 2^40 columns", one("MatMul", [64, 64], [[64, HUGE]])
    yield "product over 2^40", one("MatMul", [64, HUGE], [[HUGE, 64]])
    yield "convolution of 2^20 x 2^20", one("Conv", [1, 8, 1 << 20, 1 << 20], [[8, 8, 3, 3]])
    yield "convolution of 2^20 channels", one("Conv", [1, 1 << 20, 8, 8], [[64, 1 << 20, 3, 3]])
    yield (
        "convolution of 2^18 groups",
        one("Conv", [1, 1 << 18, 8, 8], [[1 << 18, 1, 3, 3]], group=1 << 18),
    )
    yield (
        "convolution with a window of 2^15",
        one("Conv", [1, 1, 1 << 16, 1 << 16], [[1, 1, 1 << 15, 1 << 15]]),
    )
    yield (
        "convolution of 2^10 x 2^10 x 2^10",
        one("Conv", [1, 4] + [1 << 10] * 3, [[4, 4, 3, 3, 3]]),
    )
    yield (
        "transposed convolution",
        one("ConvTranspose", [1, 8, 1 << 18, 1 << 18], [[8, 8, 4, 4]], strides=[2, 2]),
    )
    yield "pooling of 2^20", one("MaxPool", [1, 8, 1 << 20, 1 << 20], kernel_shape=[1 << 10] * 2)
    yield "softmax of 2^40", one("Softmax", [4, HUGE])
    yield "softmax of many rows", one("Softmax", [HUGE, 4])
    yield "layer norm of 2^40 rows", one("LayerNormalization", [HUGE, 8], [[8], [8]])
    yield (
        "attention of 2^20",
        simple(
            [
                node("MatMul", ["x", "k"], ["s"]),
                node("Softmax", ["s"], ["p"]),
                node("MatMul", ["p", "v"], ["y"]),
            ],
            [8, 1 << 20, 64],
            more=[value("k", [8, 64, 1 << 20]), value("v", [8, 1 << 20, 64])],
        ),
    )
    yield "reduction of 2^40", one("ReduceMean", [1 << 20, 1 << 20], axes=[0], opset=13)
    yield "lanes of odd sizes", one("Add", [(1 << 20) + 1, (1 << 19) - 1], [[(1 << 20) + 1, 1]])
    yield "broadcast", one("Mul", [1 << 20, 1, 1 << 20], [[1, 1 << 20, 1]])
    yield (
        "ConstantOfShape",
        simple(
            [node("ConstantOfShape", ["n"], ["c"]), node("Add", ["x", "c"], ["y"])],
            [1],
            [tensor("n", [2], [1 << 30, 1 << 30])],
        ),
    )
    yield (
        "Range",
        simple(
            [
                node("Range", ["a", "n", "d"], ["r"]),
                node("Cast", ["r"], ["c"], to=1),
                node("Add", ["x", "c"], ["y"]),
            ],
            [1],
            [tensor("a", [], [0]), tensor("n", [], [HUGE]), tensor("d", [], [1])],
        ),
    )
    yield "Expand", one("Expand", [1], [([4], [1 << 15] * 4)])
    yield "Tile", one("Tile", [2, 2], [([2], [1 << 30, 1 << 30])])
    yield "Pad", one("Pad", [2, 2], [([4], [1 << 30] * 4)])
    yield (
        "OneHot",
        simple(
            [
                node("OneHot", ["k", "d", "v"], ["o"]),
                node("Cast", ["o"], ["c"], to=1),
                node("Add", ["x", "c"], ["y"]),
            ],
            [1],
            [tensor("d", [], [HUGE]), tensor("v", [2], [0, 1])],
            [value("k", [4], INT64)],
        ),
    )
    yield "Resize", one("Upsample", [1, 3, 8, 8], [[4]], opset=9)
    yield "TopK", one("TopK", [4, 1 << 30], [([1], [1 << 30])], outputs=("y", "z"))
    yield "CumSum", one("CumSum", [1 << 20, 1 << 20], [([], [0])])
    yield "Gather", one("Gather", [1 << 18, 64], [([4096], list(range(4096)))])
    yield "DepthToSpace", one("DepthToSpace", [1, 1 << 20, 4, 4], blocksize=1 << 10)
    yield (
        "50,000 inputs",
        model(
            graph(
                [node("Relu", ["x0"], ["y"])],
                [value(f"x{i}", [2]) for i in range(40_000)],
                [value("y")],
            )
        ),
    )
    yield (
        "40,000 symbols",
        simple(
            [node("Relu", ["x"], ["y"])], more=[value(f"i{k}", [f"s{k}"]) for k in range(30_000)]
        ),
    )
    yield (
        "30,000 weights",
        simple(
            [node("Relu", ["x"], ["y"])],
            stored=[tensor(f"w{i}", [1 << 30], dtype=1) for i in range(30_000)],
        ),
    )
    yield (
        "20,000 values that one node reads",
        simple(
            [node("Relu", ["x"], [f"t{i}"]) for i in range(20_000)]
            + [node("Sum", [f"t{i}" for i in range(20_000)], ["y"])],
            [4, 4],
        ),
    )
    yield (
        "900 large products with many tilings",
        distinct(900, "MatMul", lambda i: ([840 + 12 * i, 5040], [5040, 2520 + 60 * (i % 9)])),
    )
    yield (
        "ten products of 65,536 cubed",
        distinct(10, "MatMul", lambda i: ([65536, 65536 - i], [65536 - i, 65536])),
    )
    yield "one name a million bytes long", simple([node("Relu", ["x"], ["y"], "n" * 1_000_000)])
    yield "one operator a million bytes long", simple([node("R" * 1_000_000, ["x"], ["y"])])
    yield "bytes of nothing", b"\x00" * ONE_MB
    yield "a text", b"a: b\n" * 200_000
    yield "fields of the graph alone", text(7, b"") * 300_000
    yield (
        "subgraphs in subgraphs",
        simple([node("Relu", ["x"], ["y"], body=("graph", deep_graph(400)))]),
    )


def deep_graph(depth):
    inner = graph([node("Relu", ["x"], ["y"])])
    for _ in range(depth):
        inner = graph([node("If", ["x"], ["y"], body=("graph", inner))])
    return inner


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_DATA, (4 * KB * 1024, 4 * KB * 1024))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def appetites():
    """What `run` computes for seconds on end: as long as its limit allows, and some beyond it."""
    wide = [1 << 13, 1 << 12]  # 128 MiB
    yield "chain of large Relu", simple(chain("Relu", 200), wide)
    yield "chain of large Erf", simple(chain("Erf", 200), wide)
    yield "chain of large Transpose", simple(chain("Transpose", 200, perm=[1, 0]), wide)
    yield "chain of large Softmax", simple(chain("Softmax", 100, axis=0), wide)
    yield (
        "chain of large CumSum",
        simple(
            [
                node("CumSum", [a, "axis"], [b])
                for a, b in zip(
                    ["x", *(f"t{i}" for i in range(99))], [*(f"t{i}" for i in range(99)), "y"]
                )
            ],
            wide,
            [tensor("axis", [], [0])],
        ),
    )
    # Kernels that compute in double, or that keep more than inputs and results.
    flat = [1 << 13, 1 << 12]
    for op, inputs, attributes in (
        ("Hardmax", (), {}),
        ("Mod", ([1],), {"fmod": 1}),
        ("Trilu", (), {}),
        ("TopK", (([1], [4]),), {"outputs": ("y", "z")}),
        ("Einsum", (), {"equation": "ij->ji"}),
    ):
        yield f"one large {op}", one(op, flat, inputs, **attributes)
    yield "one large LpPool", one("LpPool", [1, 32, 1024, 1024], kernel_shape=[2, 2])
    yield (
        "a large ConvTranspose",
        one("ConvTranspose", [1, 8, 1024, 1024], [[8, 8, 3, 3]], strides=[2, 2]),
    )
    yield (
        "a large DeformConv",
        one("DeformConv", [1, 16, 512, 512], [[16, 16, 3, 3], [1, 18, 510, 510]], opset=19),
    )
    heads = [1, 1, 1 << 14, 64]
    yield "long Attention", one("Attention", heads, [heads, heads], opset=23)
    square = [1 << 11, 1 << 11]
    yield "three in an Einsum", one("Einsum", square, [square] * 2, equation="ij,jk,kl->il")
    for count in (5, 10, 20, 100):
        yield (
            f"{count} large products",
            simple(
                [node("MatMul", ["x", "x"], [f"y{i}"]) for i in range(count)]
                + [node("Relu", [f"y{count - 1}"], ["y"])],
                square,
            ),
        )
    yield "large windows", one("AveragePool", [1, 8, 512, 512], kernel_shape=[63, 63])
    yield "a large convolution", one("Conv", [1, 64, 256, 256], [[64, 64, 9, 9]])
    yield "a grouped convolution", one("Conv", [1, 512, 128, 128], [[512, 1, 9, 9]], group=512)
    yield "a large Einsum", one("Einsum", [256, 256, 16], [[256, 16, 256]], equation="abc,acd->bd")
    yield (
        "a long LSTM",
        one("LSTM", [4096, 1, 256], [[1, 1024, 256], [1, 1024, 256]], hidden_size=256),
    )
    yield "a large Resize", one("Upsample", [1, 8, 256, 256], [([4], [1, 1, 8, 8])], opset=9)
    for size, x, count in (
        ([4, 4], [1, 4, 256, 256], 400),
        ([1, 1], [1, 64, 512, 512], 400),
        ([1, 50_000_000], [1, 1, 4, 4], 1),
    ):
        rois = [[-9, -9, 1000, 1000]] * count  # each all of the image
        stored = [tensor("corners", [count, 4], sum(rois, [])), tensor("of", [count], [0] * count)]
        yield (
            f"wide regions, {size[0]} x {size[1]} of {x[1]} channels",
            simple(
                [
                    node("Cast", ["corners"], ["rois"], to=1),
                    node(
                        "RoiAlign",
                        ["x", "rois", "of"],
                        ["y"],
                        output_height=size[0],
                        output_width=size[1],
                        mode="max",
                    ),
                ],
                x,
                stored,
            ),
        )
    yield "a large TopK", one("TopK", [64, 1 << 18], [([1], [1 << 17])], outputs=("y", "z"))
    yield (
        "9,000 different small products",
        distinct(
            9000, "MatMul", lambda i: ([64 + i % 97, 2 + i // 97], [2 + i // 97, 63 + i % 89])
        ),
    )


class BombsTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.model = self.dir / "bomb.onnx"

    def measure(self, words):
        """Exit code (below 0: a signal), standard error, processor seconds, KB at most. A core that
        is shared does less in a second: what takes too long is measured three times."""
        for _ in range(3):
            measured = self.measure_once(words)
            if measured[0] != -signal.SIGXCPU:
                break
        return measured

    def measure_once(self, words):
        places = {"model": self.model, "out": self.dir / "out.onnx"}
        command = [str(ACCSIM), *(str(w).format(**places) for w in words)]
        with open(self.dir / "err", "w+b") as err:
            running = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=err, preexec_fn=limit
            )
            _, status, used = os.wait4(running.pid, 0)
            running.returncode = os.waitstatus_to_exitcode(status)
            err.seek(0)
            said = err.read().decode()
        return running.returncode, said, used.ru_utime + used.ru_stime, used.ru_maxrss

    def test_every_bomb_in_every_command(self):
        seen = 0
        for name, data in bombs():
            self.assertLessEqual(len(data), ONE_MB, name)
            self.model.write_bytes(data)
            seen += 1
            for words in COMMANDS.values():
                self.check_limits(name, words)
        self.assertGreaterEqual(seen, 60)

    def check_limits(self, name, words):
        command = " ".join(map(str, words))
        with self.subTest(bomb=name, command=command):
            code, said, seconds, kb = self.measure(words)
            facts = f"{seconds:.1f} s, {kb // 1024} MB, exit {code}: {said[:300]}"
            if os.environ.get("VERBOSE"):
                print(f"{name} | {command} | {facts}".strip(), flush=True)
            self.assertNotIn(code, (-signal.SIGXCPU, -signal.SIGKILL), facts)
            self.assertIn(code, (0, 2, 3), facts)
            self.assertLessEqual(kb, KB, facts)
            if code != 0:
                self.assertRegex(said, r"\Aaccsim: error: ", facts)

    def test_searches_end_on_large_machines_too(self):
        for name, data in searches():
            self.assertLessEqual(len(data), ONE_MB, name)
            self.model.write_bytes(data)
            for machine in ("64x64", "8x8", "64x64-ddr4", "64x64-hbm-banked"):
                self.check_limits(name, ["--hw", machine, "{model}"])

    def test_run_takes_as_long_as_its_limit_allows(self):
        refused = 0
        for name, data in appetites():
            self.assertLessEqual(len(data), ONE_MB, name)
            self.model.write_bytes(data)
            with self.subTest(bomb=name):
                code, said, seconds, kb = self.measure(COMMANDS["run"])
                facts = f"{seconds:.1f} s, {kb // 1024} MB, exit {code}: {said[:300]}"
                if os.environ.get("VERBOSE"):
                    print(f"{name} | run | {facts}".strip(), flush=True)
                self.assertIn(code, (0, 2), facts)
                self.assertLessEqual(kb, KB, facts)
                if code == 2:
                    self.assertRegex(said, r"\Aaccsim: error: .*--max-(gops|memory-mib) N")
                refused += "--max-gops N" in said
        self.assertGreater(refused, 3)

    def test_limits_have_options(self):
        """What a limit refuses goes through when its option says so."""
        for option, value_of, name, data in (
            ("--max-nodes", 20_000, "nodes", loop(3000, chain_inside(40))),
            (
                "--max-graph-mib",
                256,
                "MiB",
                loop(1000, [node("Relu", ["i"], ["o"], "n" * 100_000)]),
            ),
            ("--max-rank", 100, "dims", simple([node("Relu", ["x"], ["y"])], [1] * 70)),
        ):
            with self.subTest(option):
                self.model.write_bytes(data)
                for words in (["shapes", "{model}"],):
                    extra = [option, value_of] if option != "--max-nodes" else [option, 130_000]
                    code, said, *_ = self.measure(words)
                    self.assertEqual(code, 2, said)
                    self.assertIn(f"{option} N", said)
                    self.assertIn(name, said)
                    code, said, *_ = self.measure([*words, *extra])
                    self.assertEqual((code, said), (0, ""))
        self.model.write_bytes(distinct(30, "MatMul", lambda i: ([8, 1 + i], [1 + i, 8])))
        few = ["--max-programs", 29]
        code, said, *_ = self.measure([*COMMANDS["cost"], *few])
        self.assertEqual(code, 2)
        self.assertIn(
            "needs 30 different programs, at most 29 are looked for; --max-programs N", said
        )
        self.assertEqual(self.measure(COMMANDS["cost"])[0], 0)
        product = node("Einsum", ["x"] * 40, ["y"], equation=",".join(["ab"] * 40) + "->ab")
        self.model.write_bytes(simple([product]))
        code, said, *_ = self.measure([*COMMANDS["cost"], "--max-programs", 1])
        self.assertEqual(code, 2)
        self.assertIn("operands, at most 1000 are taken; --max-programs N", said)
        self.assertEqual(self.measure(COMMANDS["cost"])[0], 0)

    def test_searches_have_so_many_tilings(self):
        """Also where one product alone has more; one tiling each can be had all the same."""
        for count in (1, 12):
            self.model.write_bytes(
                distinct(count, "MatMul", lambda i: ([840 + 12 * i, 5040], [5040, 2520]))
            )
            with self.subTest(count=count):
                few = [*COMMANDS["cost"], "--max-programs", count]
                code, said, *_ = self.measure(few)
                self.assertEqual(code, 2)
                self.assertIn(f"longer than looking at {count * 20_000:,} tilings", said)
                self.assertIn("--max-programs N", said)
                self.assertEqual(self.measure([*few, "--effort", "rule"])[:2], (0, ""))
                self.assertEqual(self.measure(COMMANDS["cost"])[:2], (0, ""))

    def test_runs_have_so_many_operations(self):
        """2^30 multiply-accumulates a product; elements and the Relu come on top."""
        square = [1 << 10, 1 << 10]
        nodes = [node("MatMul", ["x", "x"], [f"y{i}"]) for i in range(4)]
        self.model.write_bytes(simple([*nodes, node("Relu", ["y3"], ["y"])], square))
        words = ["run", "{model}", "--max-gops"]
        code, said, *_ = self.measure([*words, 4])
        self.assertEqual(code, 2)
        self.assertIn("would compute some 5 billion operations, at most 4 are", said)
        self.assertIn("--max-gops N", said)
        self.assertEqual(self.measure([*words, 8])[0], 0)

    def test_inputs_count_as_memory(self):
        """1,000 inputs of 1 MiB, all alive from the beginning."""
        names = [f"i{k}" for k in range(1000)]
        more = [value(name, [1 << 18]) for name in names]
        self.model.write_bytes(simple([node("Sum", ["x", *names], ["y"])], [1 << 18], more=more))
        code, said, _, kb = self.measure(["run", "{model}", "--max-memory-mib", 400])
        self.assertEqual(code, 2)
        self.assertIn("at most 400 are taken; --max-memory-mib N", said)
        self.assertLessEqual(kb, KB)

    def test_runs_have_so_much_memory(self):
        """Weights, values alive and inputs count: 4 MiB each, two of them at a time."""
        self.model.write_bytes(simple(chain("Relu", 5, "relu"), [1024, 1024]))
        code, said, *_ = self.measure(["run", "{model}", "--max-memory-mib", 7])
        self.assertEqual(code, 2)
        self.assertIn("node 'relu0' (Relu): arrays would take 8 MiB", said)
        self.assertIn("at most 7 are taken; --max-memory-mib N", said)
        self.assertEqual(self.measure(["run", "{model}", "--max-memory-mib", 8])[0], 0)
        code, said, *_ = self.measure(["run", "{model}", "--max-memory-mib", 3])
        self.assertEqual(code, 2)
        self.assertIn("input 'x': would be 1024x1024, beyond 3 MiB", said)
        self.assertIn("--max-memory-mib N", said)
        weights = [tensor("w", [1024, 1024], dtype=1)]
        product = [node("MatMul", ["x", "w"], ["y"], "product")]
        self.model.write_bytes(simple(product, [1, 1024], weights))
        words = ["run", "{model}", "--weights", "random:1", "--max-memory-mib"]
        code, said, *_ = self.measure([*words, 4])
        self.assertEqual(code, 2)
        self.assertIn("node 'product' (MatMul): arrays would take 5 MiB", said)
        self.assertEqual(self.measure([*words, 5])[0], 0)


if __name__ == "__main__":
    unittest.main()
