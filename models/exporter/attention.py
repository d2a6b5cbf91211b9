"""Attention with a cache of keys and values: multi-head, grouped-query or multi-query, over all
positions or a window of them, with rotary positions on all or some elements of a head."""

import numpy as np
from norm import norm
from onnx import TensorProto


def suffix(g, layer):
    """Of the names that layers with a window have for themselves."""
    return "_window" if g.window(layer) else ""


def rotary_tables(b, theta, name):
    """cos{name} and sin{name} of [batch, 1, sequence, elements that turn]."""
    width = b.g.rotary
    shares = np.arange(0, width, 2) / width
    frequencies = b.constant(f"frequencies{name}", theta**-shares, np.float32)
    last, one = b.integers("last_axis", -1), b.integers("axis_1", 1)
    if "position_column" not in b.made:
        b.made.add("position_column")
        position = b.op("Cast", ["position_ids"], "position", to=TensorProto.FLOAT)
        b.op("Unsqueeze", [position, last], "position_column")
    angle = b.op("Mul", ["position_column", frequencies], f"angle_half{name}")
    angle = b.op("Concat", [angle, angle], f"angle_row{name}", axis=-1)
    angle = b.op("Unsqueeze", [angle, one], f"angle{name}")
    for function in ("Cos", "Sin"):
        table = b.op(function, [angle], f"{function.lower()}_float{name}")
        b.op("Cast", [table], f"{function.lower()}{name}", to=b.real)


def prelude(b):
    """The masks, and the tables of positions: what all layers share."""
    g = b.g
    kinds = {suffix(g, layer) for layer in range(g.layers)}
    for kind in sorted(kinds):
        mask = "window_mask" if kind else "attention_mask"
        b.input(mask, b.real, ["batch", 1, "sequence", f"total{kind}"])
    b.number("scale", g.head**-0.5)
    if g.positions == "rotary":
        for kind in sorted(kinds):
            rotary_tables(b, (kind and g.local_theta) or g.theta, kind)


def split_heads(b, x, name, heads):
    # Reshape's 0 keeps a dim and -1 is computed, so these serve any batch and length.
    shape = b.integers(f"shape_{heads}_heads", 0, 0, heads, b.g.head)
    heads = b.op("Reshape", [x, shape], f"{name}/split")
    return b.op("Transpose", [heads], f"{name}/heads", perm=[0, 2, 1, 3])


def turn(b, x, name, kind):
    """Rotary positions on all elements of x."""
    half, end = b.integers("half", b.g.rotary // 2), b.integers("end", b.g.rotary)
    zero, axis = b.integers("zero", 0), b.integers("last_axis", -1)
    low = b.cut(x, f"{name}/low", (zero, half), axis)
    high = b.cut(x, f"{name}/high", (half, end), axis)
    minus = b.op("Neg", [high], f"{name}/minus")
    turned = b.op("Concat", [minus, low], f"{name}/turned", axis=-1)
    straight = b.op("Mul", [x, f"cos{kind}"], f"{name}/cos")
    across = b.op("Mul", [turned, f"sin{kind}"], f"{name}/sin")
    return b.op("Add", [straight, across], f"{name}/rotary")


def rotary(b, x, name, kind):
    """Rotary positions on the first elements of every head, all of them in most models."""
    g = b.g
    if g.positions != "rotary":
        return x
    if g.rotary == g.head:
        return turn(b, x, name, kind)
    axis, zero = b.integers("last_axis", -1), b.integers("zero", 0)
    middle, end = b.integers("end", g.rotary), b.integers("head_size", g.head)
    first = b.cut(x, f"{name}/first", (zero, middle), axis)
    rest = b.cut(x, f"{name}/rest", (middle, end), axis)
    turned = turn(b, first, name, kind)
    return b.op("Concat", [turned, rest], f"{name}/positioned", axis=-1)


def repeat_kv(b, x, name):
    """[batch, kv_heads, total, head] -> [batch, heads, total, head]."""
    g = b.g
    if g.heads == g.kv_heads:
        return x
    group = b.integers("group_shape", 1, 1, g.heads // g.kv_heads, 1, 1)
    wide = b.op("Unsqueeze", [x, b.integers("axis_2", 2)], f"{name}/unsqueeze")
    wide = b.op("Expand", [wide, group], f"{name}/expand")
    shape = b.integers("heads_shape", 0, g.heads, -1, g.head)
    return b.op("Reshape", [wide, shape], f"{name}/repeat")


def cached(b, new, kind, layer):
    """Appends to the cache of past keys or values."""
    g = b.g
    past, present = f"past_{kind}_{layer}", f"present_{kind}_{layer}"
    b.input(past, b.real, ["batch", g.kv_heads, f"past{suffix(g, layer)}", g.head])
    b.output(present, ["batch", g.kv_heads, f"total{suffix(g, layer)}", g.head])
    return b.op("Concat", [past, new], present, f"layers.{layer}/{present}", axis=2)


def fused_projections(b, x, name):
    """Parts of one product."""
    g = b.g
    both = b.linear(x, f"{name}/qkv_proj", g.hidden, g.queries + 2 * g.keys, g.qkv_bias)
    ends = [0, g.queries, g.queries + g.keys, g.queries + 2 * g.keys]
    bounds = [b.integers(f"qkv_{i}", end) for i, end in enumerate(ends)]
    axis = b.integers("last_axis", -1)
    return [b.cut(both, f"{name}/{p}", bounds[i : i + 2], axis) for i, p in enumerate("qkv")]


def projections(b, x, name):
    """Queries, keys and values, [batch, sequence, heads x head]."""
    g = b.g
    if g.fused:
        return fused_projections(b, x, name)
    widths = zip("qkv", (g.queries, g.keys, g.keys))
    return [b.linear(x, f"{name}/{p}_proj", g.hidden, width, g.qkv_bias) for p, width in widths]


def heads_of(b, x, name, layer):
    """Queries, keys and values as heads, positions in queries and keys."""
    g, kind = b.g, suffix(b.g, layer)
    q, k, v = projections(b, x, name)
    parts = []
    for part, letter, heads in ((q, "q", g.heads), (k, "k", g.kv_heads)):
        part = split_heads(b, part, f"{name}/{letter}", heads)
        if g.qk_norm:
            part = norm(b, part, f"{name}/{letter}_norm", g.head)
        parts.append(rotary(b, part, f"{name}/{letter}", kind))
    return (*parts, split_heads(b, v, f"{name}/v", g.kv_heads))


def attention(b, x, name, layer):
    g = b.g
    q, k, v = heads_of(b, x, name, layer)
    k = repeat_kv(b, cached(b, k, "key", layer), f"{name}/k")
    v = repeat_kv(b, cached(b, v, "value", layer), f"{name}/v")
    k = b.op("Transpose", [k], f"{name}/k_t", perm=[0, 1, 3, 2])
    scores = b.op("MatMul", [q, k], f"{name}/scores")
    scores = b.op("Mul", [scores, "scale"], f"{name}/scaled")
    mask = "window_mask" if g.window(layer) else "attention_mask"
    scores = b.op("Add", [scores, mask], f"{name}/masked")
    weights = b.op("Softmax", [scores], f"{name}/softmax", axis=-1)
    mixed = b.op("MatMul", [weights, v], f"{name}/mixed")
    mixed = b.op("Transpose", [mixed], f"{name}/mixed_t", perm=[0, 2, 1, 3])
    mixed = b.op("Reshape", [mixed, b.integers("queries_shape", 0, 0, g.queries)], f"{name}/joined")
    return b.linear(mixed, f"{name}/o_proj", g.queries, g.hidden, g.out_bias)
