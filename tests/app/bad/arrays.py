"""Arrays (.npy) that can't be used as an input of 2 x 3 floats."""

import struct

from wire import graph, model, node, value

from bad.case import Case

NET = {"net.onnx": model(graph([node("Relu", ["x"], ["y"])], [value("x", [2, 3])], [value("y")]))}
RUN = "run net.onnx --input x=x.npy"


def npy(header, data=b"\0" * 24, version=1):
    header = header.encode()
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H", len(header)) + header + data


def header(descr="<f4", shape="(2, 3)", order="False"):
    return f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n"


def given(data):
    return {**NET, "x.npy": data}


CASES = [
    Case(
        "no file",
        RUN,
        NET,
        """
        accsim: error: x.npy: can't be opened; check the path
    """,
    ),
    Case(
        "a folder",
        "run net.onnx --input x=.",
        NET,
        """
        accsim: error: .: is a folder; name a .npy file, or one of raw elements
    """,
    ),
    Case(
        "an empty file",
        RUN,
        given(b""),
        """
        accsim: error: x.npy: isn't a .npy file; write it again with numpy.save
    """,
    ),
    Case(
        "a text",
        RUN,
        given(b"1 2 3\n4 5 6\n"),
        """
        accsim: error: x.npy: isn't a .npy file; write it again with numpy.save
    """,
    ),
    Case(
        "a header cut short",
        RUN,
        given(npy(header())[:30]),
        """
        accsim: error: x.npy: ends inside its header; write it again with numpy.save
    """,
    ),
    Case(
        "data cut short",
        RUN,
        given(npy(header(), b"\0" * 23)),
        """
        accsim: error: x.npy: is too short for an array of 2x3; write it again with numpy.save
    """,
    ),
    Case(
        "texts",
        RUN,
        given(npy(header("<U3"), b"\0" * 72)),
        """
        accsim: error: x.npy: holds string, but input 'x' is float32
    """,
    ),
    Case(
        "texts without a length",
        RUN,
        given(npy(header("<U0"))),
        """
        accsim: error: x.npy: holds strings without a length; write it again with numpy.save
    """,
    ),
    Case(
        "complex numbers",
        RUN,
        given(npy(header("<c8"))),
        """
        accsim: error: x.npy: holds elements of type 'c8', which isn't computed with; write it again
        with numpy.save
    """,
    ),
    Case(
        "records",
        RUN,
        given(npy("{'descr': [('a', '<f4')], 'shape': (2, 3), }\n")),
        """
        accsim: error: x.npy: holds no plain array; write it again with numpy.save
    """,
    ),
    Case(
        "no shape",
        RUN,
        given(npy("{'descr': '<f4', 'fortran_order': False, }\n")),
        """
        accsim: error: x.npy: doesn't state its shape; write it again with numpy.save
    """,
    ),
    Case(
        "a shape of texts",
        RUN,
        given(npy(header(shape="(two, 3)"))),
        """
        accsim: error: x.npy: doesn't state its shape; write it again with numpy.save
    """,
    ),
    Case(
        "a negative size",
        RUN,
        given(npy(header(shape="(-2, 3)"))),
        """
        accsim: error: x.npy: doesn't state its shape; write it again with numpy.save
    """,
    ),
    Case(
        "a size beyond 64 bits",
        RUN,
        given(npy(header(shape="(99999999999999999999, 3)"))),
        """
        accsim: error: x.npy: doesn't state its shape; write it again with numpy.save
    """,
    ),
    Case(
        "more elements than can be",
        RUN,
        given(npy(header(shape="(4611686018427387904, 4)"))),
        """
        accsim: error: x.npy: is too short for an array of 4611686018427387904x4; write it again
        with numpy.save
    """,
    ),
    Case(
        "another shape",
        RUN,
        given(npy(header(shape="(3, 2)"))),
        """
        accsim: error: net.onnx: input 'x': is float32 2x3, but was given float32 3x2
    """,
    ),
    Case(
        "another rank",
        RUN,
        given(npy(header(shape="(6,)"))),
        """
        accsim: error: net.onnx: input 'x': is float32 2x3, but was given float32 6
    """,
    ),
]
