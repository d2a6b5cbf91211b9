"""Rotary positions: tables of cosines and sines that all layers share, and heads that turn by them.

Halves of a head turn together. Where an architecture turns neighbours instead, the columns of the
projections are in the order of halves, which changes no product of a query and a key.
"""

import numpy as np
from onnx import TensorProto


def position(b):
    """The positions as floats, [batch, sequence]."""
    if "position" not in b.made:
        b.made.add("position")
        b.op("Cast", ["position_ids"], "position", to=TensorProto.FLOAT)
    return "position"


def tables(b, width, theta, name):
    """cos{name} and sin{name} of [batch, 1, sequence, width]."""
    shares = np.arange(0, width, 2) / width
    frequencies = b.constant(f"frequencies{name}", theta**-shares, np.float32)
    last, one = b.integers("last_axis", -1), b.integers("axis_1", 1)
    if "position_column" not in b.made:
        b.made.add("position_column")
        b.op("Unsqueeze", [position(b), last], "position_column")
    angle = b.op("Mul", ["position_column", frequencies], f"angle_half{name}")
    angle = b.op("Concat", [angle, angle], f"angle_row{name}", axis=-1)
    angle = b.op("Unsqueeze", [angle, one], f"angle{name}")
    for function in ("Cos", "Sin"):
        table = b.op(function, [angle], f"{function.lower()}_float{name}")
        b.op("Cast", [table], f"{function.lower()}{name}", to=b.real)


def turn(b, x, name, width, kind):
    """All `width` elements of the heads of x."""
    low, high = b.parts(x, name, ("low", "high"), (width // 2, width // 2))
    minus = b.op("Neg", [high], f"{name}/minus")
    turned = b.op("Concat", [minus, low], f"{name}/turned", axis=-1)
    straight = b.op("Mul", [x, f"cos{kind}"], f"{name}/cos")
    across = b.op("Mul", [turned, f"sin{kind}"], f"{name}/sin")
    return b.op("Add", [straight, across], f"{name}/rotary")


def rotary(b, x, name, sizes, kind):
    """The first elements of the heads of x, all of them in most models."""
    if not sizes.rotary:
        return x
    if sizes.rotary == sizes.head:
        return turn(b, x, name, sizes.head, kind)
    widths = (sizes.rotary, sizes.head - sizes.rotary)
    first, rest = b.parts(x, name, ("first", "rest"), widths)
    turned = turn(b, first, name, sizes.rotary, kind)
    return b.op("Concat", [turned, rest], f"{name}/positioned", axis=-1)
