"""ONNX models as bytes, written field by field: for tests that need what no library would write, or
no library at all. Field numbers are those of onnx.proto."""

FLOAT, INT64 = 1, 7


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n >= 128:
        out += bytes([n % 128 + 128])
        n //= 128
    return out + bytes([n])


def text(field, value):
    """A field of bytes: text, or a message."""
    value = value.encode() if isinstance(value, str) else value
    return varint(field * 8 + 2) + varint(len(value)) + value


def number(field, value):
    return varint(field * 8) + varint(value)


def dim(size):
    return text(1, number(1, size) if isinstance(size, int) else text(2, size))


def value(name, dims=None, dtype=FLOAT):
    """ValueInfoProto; dims are numbers, or names of symbols. None: no shape."""
    shape = b"" if dims is None else text(2, b"".join(map(dim, dims)))
    return text(1, name) + text(2, text(1, number(1, dtype) + shape))


def attribute(name, content):
    """AttributeProto of a number, text, list of numbers, tensor() or graph()."""
    if isinstance(content, int):
        return text(1, name) + number(3, content) + number(20, 2)
    if isinstance(content, str):
        return text(1, name) + text(4, content) + number(20, 3)
    if isinstance(content, list):
        return text(1, name) + text(8, b"".join(map(varint, content))) + number(20, 7)
    kind, content = content
    return (
        text(1, name)
        + text({"tensor": 5, "graph": 6}[kind], content)
        + number(20, {"tensor": 4, "graph": 5}[kind])
    )


def node(op, inputs, outputs, name="", domain="", **attributes):
    out = b"".join(text(1, i) for i in inputs) + b"".join(text(2, o) for o in outputs)
    out += (text(3, name) if name else b"") + text(4, op)
    out += b"".join(text(5, attribute(key, a)) for key, a in attributes.items())
    return out + (text(7, domain) if domain else b"")


def tensor(name, dims, values=None, dtype=INT64):
    """TensorProto of whole numbers; without values its elements are absent."""
    out = b"".join(number(1, d) for d in dims) + number(2, dtype) + text(8, name)
    if values is None:
        return out
    return out + text(7, b"".join(map(varint, values)))


def graph(nodes, inputs=(), outputs=(), stored=(), name="g"):
    out = b"".join(text(1, n) for n in nodes) + text(2, name)
    out += b"".join(text(5, t) for t in stored)
    return out + b"".join(text(11, v) for v in inputs) + b"".join(text(12, v) for v in outputs)


def function(name, inputs, outputs, nodes, domain="f", opset=17):
    out = text(1, name) + b"".join(text(4, i) for i in inputs)
    out += b"".join(text(5, o) for o in outputs) + b"".join(text(7, n) for n in nodes)
    return (
        out + text(9, opset_import("", opset)) + text(9, opset_import(domain, 1)) + text(10, domain)
    )


def opset_import(domain, version):
    return (text(1, domain) if domain else b"") + number(2, version)


def model(content, functions=(), opset=17, domains=()):
    """ModelProto of a graph()."""
    out = number(1, 8) + text(7, content) + text(8, opset_import("", opset))
    out += b"".join(text(8, opset_import(d, 1)) for d in domains)
    return out + b"".join(text(25, f) for f in functions)


def small_network():
    """Products with a softmax between them, a convolution and pooling."""
    return model(
        graph(
            [
                node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
                node("Relu", ["c"], ["r"], "relu"),
                node("MaxPool", ["r"], ["m"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
                node("Flatten", ["m"], ["f"], "flat"),
                node("MatMul", ["f", "u"], ["p"], "product"),
                node("Softmax", ["p"], ["y"], "softmax"),
            ],
            [value("x", [1, 3, 8, 8])],
            [value("y", [1, 10])],
            [tensor("w", [4, 3, 3, 3], dtype=1), tensor("u", [64, 10], dtype=1)],
        )
    )
