"""Models that can't be used."""

from wire import INT64, function, graph, model, node, number, tensor, text, value

from bad.case import ROOT, Case

SHAPES = "shapes net.onnx"
BROKEN = ROOT / "tests" / "data" / "broken"


def net(nodes, dims=(2, 3), stored=(), more=(), opset=17):
    """A model from x to y."""
    content = graph(nodes, [value("x", list(dims)), *more], [value("y")], stored)
    return {"net.onnx": model(content, opset=opset)}


def one(op, inputs=("x",), dims=(2, 3), stored=(), more=(), opset=17, **attributes):
    return net([node(op, inputs, ["y"], "n", **attributes)], dims, stored, more, opset)


def external(name, **entries):
    """A float tensor of 4 x 4 whose bytes are elsewhere."""
    out = tensor(name, [4, 4], dtype=1) + number(14, 1)
    for key, said in entries.items():
        out += text(13, text(1, key) + text(2, said))
    return out


CASES = [
    Case(
        "an empty file",
        SHAPES,
        {"net.onnx": b""},
        """
        accsim: error: net.onnx: the file is empty; export or copy the model again
    """,
    ),
    Case(
        "a text",
        SHAPES,
        {"net.onnx": "hello\n" * 9},
        """
        accsim: error: net.onnx: not an ONNX model, but a text file; give a file made by an ONNX
        exporter
    """,
    ),
    Case(
        "an archive",
        SHAPES,
        {"net.onnx": b"PK\x03\x04" + b"x" * 99},
        """
        accsim: error: net.onnx: not an ONNX model, but a ZIP archive (a PyTorch checkpoint is one:
        export it to ONNX first); give a file made by an ONNX exporter
    """,
    ),
    Case(
        "a pointer of Git LFS",
        SHAPES,
        {"net.onnx": "version https://git-lfs.github.com/spec/v1\n"},
        """
        accsim: error: net.onnx: not an ONNX model, but a Git LFS pointer: fetch the real file with
        `git lfs pull`; give a file made by an ONNX exporter
    """,
    ),
    Case(
        "a file cut short",
        SHAPES,
        {"net.onnx": one("Relu")["net.onnx"][:40]},
        """
        accsim: error: net.onnx: at byte 2: field 7 states 52 bytes where 36 are left; the file is
        damaged, cut short or not an ONNX model: copy or export it again
    """,
    ),
    Case(
        "no graph",
        SHAPES,
        {"net.onnx": number(1, 8)},
        """
        accsim: error: net.onnx: not an ONNX model, but 2 bytes without a graph; give a file made by
        an ONNX exporter
    """,
    ),
    Case(
        "no nodes",
        SHAPES,
        {"net.onnx": model(graph([], [value("x", [1])], []))},
        """
        accsim: error: net.onnx: the graph has no nodes and no outputs
    """,
    ),
    Case(
        "no opset",
        SHAPES,
        {"net.onnx": number(1, 8) + text(7, graph([node("Relu", ["x"], ["y"])]))},
        """
        accsim: error: net.onnx: the model doesn't say which opset of ai.onnx it is written in
    """,
    ),
    Case(
        "an old opset",
        SHAPES,
        one("Relu", opset=6),
        """
        accsim: error: net.onnx: opset 6 is older than 7; convert the model with
        onnx.version_converter or export it again
    """,
    ),
    Case(
        "an old IR",
        SHAPES,
        {"net.onnx": number(1, 2) + one("Relu")["net.onnx"][2:]},
        """
        accsim: error: net.onnx: IR version 2 is older than 3; export the model again
    """,
    ),
    Case(
        "an unknown operator",
        SHAPES,
        one("Foo"),
        """
        accsim: error: net.onnx: node 'n' (op Foo): no support for this operator;
        --allow-unsupported costs it as memory traffic
    """,
    ),
    Case(
        "an operator that is misspelt",
        SHAPES,
        one("relu"),
        """
        accsim: error: net.onnx: node 'n' (op relu): no support for this operator (the nearest name
        known is Relu); --allow-unsupported costs it as memory traffic
    """,
    ),
    Case(
        "control characters in a name",
        SHAPES,
        {"net.onnx": (BROKEN / "esc_badop.onnx").read_bytes()},
        r"""
        accsim: error: net.onnx: node 'e\x1b[31m' (op Bad\x1b[2J\x1b]52;c;aGk=\x07): no support for
        this operator; --allow-unsupported costs it as memory traffic
    """,
    ),
    Case(
        "an input that nobody gives",
        SHAPES,
        one("Add", ["x", "z"]),
        """
        accsim: error: net.onnx: node 'n' (op Add): reads 'z', which no node, input or initializer
        gives; where a file was saved without its weights, as torch does for
        include_initializers=False, save it again with them: program.save("model.onnx",
        include_initializers=True)
    """,
    ),
    Case(
        "an output that nobody gives",
        SHAPES,
        net([node("Relu", ["x"], ["z"], "n")]),
        """
        accsim: error: net.onnx: output 'y': no node, input or initializer gives it
    """,
    ),
    Case(
        "nodes in a ring",
        SHAPES,
        net(
            [
                node("Add", ["x", "b"], ["a"], "n1"),
                node("Relu", ["a"], ["b"], "n2"),
                node("Relu", ["b"], ["y"], "n3"),
            ]
        ),
        """
        accsim: error: net.onnx: node 'n1' (op Add): is on a cycle: each of 'n1', 'n2' needs the
        next one's output, the last the first's
    """,
    ),
    Case(
        "a tensor that is written twice",
        SHAPES,
        net([node("Relu", ["x"], ["y"], "n1"), node("Relu", ["x"], ["y"], "n2")]),
        """
        accsim: error: net.onnx: node 'n2' (op Relu): writes tensor 'y', which node 'n1' writes too
    """,
    ),
    Case(
        "too few inputs",
        SHAPES,
        one("Add"),
        """
        accsim: error: net.onnx: node 'n' (op Add): lacks input 1; at least 2 are needed
    """,
    ),
    Case(
        "too many inputs",
        SHAPES,
        one("Relu", ["x", "x"]),
        """
        accsim: error: net.onnx: node 'n' (op Relu): has 2 inputs, at most 1 are allowed
    """,
    ),
    Case(
        "shapes that don't broadcast",
        SHAPES,
        one("Add", ["x", "z"], more=[value("z", [4, 5])]),
        """
        accsim: error: net.onnx: node 'n' (op Add): Add: input 1 of shape 4x5 doesn't broadcast with
        2x3
    """,
    ),
    Case(
        "a product that doesn't fit",
        SHAPES,
        one("MatMul", ["x", "z"], more=[value("z", [4, 5])]),
        """
        accsim: error: net.onnx: node 'n' (op MatMul): MatMul: operands 2x3 x 4x5 don't go together
    """,
    ),
    Case(
        "a convolution of other channels",
        SHAPES,
        one("Conv", ["x", "z"], [1, 3, 8, 8], more=[value("z", [4, 5, 3, 3])]),
        """
        accsim: error: net.onnx: node 'n' (op Conv): Conv: weights 4x5x3x3 don't go with input
        1x3x8x8 in 1 groups
    """,
    ),
    Case(
        "a convolution of a matrix",
        SHAPES,
        one("Conv", ["x", "z"], more=[value("z", [4, 5])]),
        """
        accsim: error: net.onnx: node 'n' (op Conv): Conv: the input needs a batch, a channel and at
        least one spatial dim
    """,
    ),
    Case(
        "a window larger than its input",
        SHAPES,
        one("MaxPool", dims=[1, 3, 4, 4], kernel_shape=[9, 9]),
        """
        accsim: error: net.onnx: node 'n' (op MaxPool): MaxPool: the kernel covers 9 along spatial
        dim 0, but the padded input has only 4
    """,
    ),
    Case(
        "strides of 0",
        SHAPES,
        one("MaxPool", dims=[1, 3, 4, 4], kernel_shape=[2, 2], strides=[0, 1]),
        """
        accsim: error: net.onnx: node 'n' (op MaxPool): MaxPool: attribute 'strides' has entry 0,
        outside 1 to 1073741824
    """,
    ),
    Case(
        "a missing attribute",
        SHAPES,
        one("MaxPool", dims=[1, 3, 4, 4]),
        """
        accsim: error: net.onnx: node 'n' (op MaxPool): MaxPool: attribute 'kernel_shape' is missing
    """,
    ),
    Case(
        "a misspelt attribute",
        SHAPES,
        one("Softmax", axes=1),
        """
        accsim: error: net.onnx: node 'n' (op Softmax): Softmax has no attribute 'axes'; it has axis
    """,
    ),
    Case(
        "an attribute where there are none",
        SHAPES,
        one("Relu", alpha=1),
        """
        accsim: error: net.onnx: node 'n' (op Relu): Relu has no attribute 'alpha'
    """,
    ),
    Case(
        "an axis out of range",
        SHAPES,
        one("Softmax", axis=5),
        """
        accsim: error: net.onnx: node 'n' (op Softmax): Softmax: axis 5 is outside [-2, 2) of a
        tensor of rank 2
    """,
    ),
    Case(
        "a permutation that is none",
        SHAPES,
        one("Transpose", perm=[0, 0]),
        """
        accsim: error: net.onnx: node 'n' (op Transpose): Transpose: perm is no permutation of the 2
        axes
    """,
    ),
    Case(
        "a reshape of other sizes",
        SHAPES,
        one("Reshape", ["x", "s"], stored=[tensor("s", [2], [4, 4])]),
        """
        accsim: error: net.onnx: node 'n' (op Reshape): Reshape: 6 elements of shape 2x3 don't fit
        shape 4x4
    """,
    ),
    Case(
        "a reshape that only a run decides",
        SHAPES,
        one("Reshape", ["x", "s"], more=[value("s", [2], INT64)]),
        """
        accsim: error: net.onnx: node 'n' (op Reshape): Reshape: the output shape depends on the
        value of input 'shape' (tensor 's'), which isn't constant; give --value s=N,N... (int64 2)
    """,
    ),
    Case(
        "a split that doesn't add up",
        SHAPES,
        one("Split", ["x", "s"], stored=[tensor("s", [1], [7])]),
        """
        accsim: error: net.onnx: node 'n' (op Split): Split: the parts don't add up to dim 0 of 2
    """,
    ),
    Case(
        "an Einsum that is none",
        SHAPES,
        one("Einsum", equation="ab->->"),
        """
        accsim: error: net.onnx: node 'n' (op Einsum): Einsum: equation term '->' has an unexpected
        '-'
    """,
    ),
    Case(
        "texts that are multiplied",
        SHAPES,
        one("MatMul", ["x", "z"], more=[value("z", [3, 3], INT64)]),
        """
        accsim: error: net.onnx: node 'n' (op MatMul): multiplies float32 by int64; both operands
        must be numbers of one type
    """,
    ),
    Case(
        "no shape of an input",
        SHAPES,
        {"net.onnx": model(graph([node("Relu", ["x"], ["y"], "n")], [value("x")], [value("y")]))},
        """
        accsim: error: net.onnx: input 'x' has no shape; give one with --input-shape x=1x...
    """,
    ),
    Case(
        "sizes that nobody gave",
        SHAPES,
        one("Relu", dims=["n", 3, "height", "width"]),
        """
        accsim: error: net.onnx: nobody gave height, width of input 'x' (n x 3 x height x width),
        and only a batch, a first axis, is 1 unasked: give --input-shape x=1x3x224x224 or --bind
        height=224 --bind width=224 (heights and widths of 224, 320, 640 fit; --bind '*=N' gives all
        that is left)
    """,
    ),
    Case(
        "sizes that nobody gave, of a model that can have none",
        SHAPES,
        one("Reshape", ["x", "to"], dims=["n", "?"], stored=[tensor("to", [2], [1, 17])]),
        """
        accsim: error: net.onnx: nobody gave x_dim1 of input 'x' (n x x_dim1), and only a batch, a
        first axis, is 1 unasked: give --bind x_dim1=N (none that was tried fits: node 'n' (op
        Reshape): Reshape: 128 elements of shape 1x128 don't fit shape 1x17; --bind '*=N' gives all
        that is left)
    """,
    ),
    Case(
        "an input of a negative size",
        SHAPES,
        one("Relu", dims=[-2, 3]),
        """
        accsim: error: net.onnx: at byte 39: a dim is -2; it can't be negative; the file is damaged,
        cut short or not an ONNX model: copy or export it again
    """,
    ),
    Case(
        "a stored tensor of too few elements",
        SHAPES,
        one("Add", ["x", "w"], stored=[tensor("w", [3], [1, 2])]),
        """
        accsim: error: net.onnx: at byte 28: tensor 'w' has fewer elements than its shape 3; the
        file is damaged, cut short or not an ONNX model: copy or export it again
    """,
    ),
    Case(
        "an unknown element type",
        SHAPES,
        one("Add", ["x", "w"], stored=[tensor("w", [3], dtype=99)]),
        """
        accsim: error: net.onnx: at byte 30: element type 99 is unknown; the file is damaged, cut
        short or not an ONNX model: copy or export it again
    """,
    ),
    Case(
        "a stored tensor of a negative size",
        SHAPES,
        one("Add", ["x", "w"], stored=[tensor("w", [-3], dtype=1)]),
        """
        accsim: error: net.onnx: at byte 28: tensor 'w' has the dim -3; the file is damaged, cut
        short or not an ONNX model: copy or export it again
    """,
    ),
    Case(
        "an external length that isn't the shape's",
        SHAPES,
        one("MatMul", ["x", "w"], [4, 4], [external("w", location="w.bin", length="63")]),
        """
        accsim: error: net.onnx: at byte 31: tensor 'w' (float32 4x4) has an external length of 63
        bytes where its shape needs 64; the file is damaged, cut short or not an ONNX model: copy or
        export it again
    """,
    ),
    Case(
        "an external offset that is none",
        SHAPES,
        one("MatMul", ["x", "w"], [4, 4], [external("w", location="w.bin", offset="-1")]),
        """
        accsim: error: net.onnx: at byte 63: external data offset '-1' is not a byte count; the file
        is damaged, cut short or not an ONNX model: copy or export it again
    """,
    ),
    Case(
        "external weights that aren't there",
        "run net.onnx",
        one("MatMul", ["x", "w"], [4, 4], [external("w", location="w.bin")]),
        """
        accsim: error: net.onnx: tensor 'w': its elements should be in 'w.bin', which isn't there or
        too short; use --weights random:SEED to draw weights
    """,
    ),
    Case(
        "external weights that are too short",
        "run net.onnx",
        {**one("MatMul", ["x", "w"], [4, 4], [external("w", location="w.bin")]), "w.bin": "short"},
        """
        accsim: error: net.onnx: tensor 'w': its elements should be in 'w.bin', which isn't there or
        too short; use --weights random:SEED to draw weights
    """,
    ),
    Case(
        "external weights of another folder",
        "run net.onnx",
        one("MatMul", ["x", "w"], [4, 4], [external("w", location="/etc/passwd")]),
        """
        accsim: error: net.onnx: tensor 'w': its elements in '/etc/passwd' are refused: its path is
        absolute; put the file into the folder of the model and name it so, or use --weights
        random:SEED to draw weights
    """,
    ),
    Case(
        "a loop without a body",
        SHAPES,
        one("Loop", ["", "", "x"]),
        """
        accsim: error: net.onnx: node 'n' (op Loop): lacks its body
    """,
    ),
    Case(
        "a loop without an end",
        SHAPES,
        one(
            "Loop",
            ["n", "", "x"],
            stored=[tensor("n", [], [10**15])],
            body=(
                "graph",
                graph(
                    [node("Identity", ["c"], ["d"]), node("Relu", ["i"], ["o"])],
                    [value("k", [], INT64), value("c", [], 9), value("i")],
                    [value("d", [], 9), value("o")],
                ),
            ),
        ),
        """
        accsim: error: net.onnx: node 'n' (op Loop): runs for more than 4096 iterations, which
        aren't expanded; give it fewer, or cost its body by itself
    """,
    ),
    Case(
        "a branch without outputs",
        SHAPES,
        one(
            "If",
            ["b"],
            more=[value("b", [], 9)],
            then_branch=("graph", graph([])),
            else_branch=("graph", graph([])),
        ),
        """
        accsim: error: net.onnx: node 'n' (op If): has no output 0, but names one
    """,
    ),
    Case(
        "a function that calls itself",
        SHAPES,
        {
            "net.onnx": model(
                graph([node("F", ["x"], ["y"], "n", "f")], [value("x", [2])], [value("y")]),
                [function("F", ["x"], ["y"], [node("F", ["x"], ["y"], "m", "f")])],
                domains=["f"],
            )
        },
        """
        accsim: error: net.onnx: node 'n/m' (op f::F): the function calls itself
    """,
    ),
    Case(
        "no product to tile",
        "tile net.onnx -o t.onnx",
        one("Relu"),
        """
        accsim: error: net.onnx: no Gemm or MatMul of the main graph matches --layers '*'; --conv
        im2col takes convolutions, too
    """,
    ),
    Case(
        "inputs too large to compute",
        "run net.onnx",
        one("Relu", dims=[1 << 20, 1 << 20]),
        """
        accsim: error: net.onnx: input 'x': would be 1048576x1048576, beyond 4096 MiB; use
        smaller shapes, or --max-memory-mib N
    """,
    ),
    Case(
        "a tensor beyond what addresses reach",
        f"net.onnx --hw {ROOT}/configs/8x8.yaml",
        one("Relu", dims=[1 << 30, 1 << 20]),
        """
        accsim: error: layer 'n': tensor 'x' takes 1125899906842624 bytes, and addresses reach
        281474976710656; use smaller shapes
    """,
    ),
]
