"""Attention with a cache of keys and values: multi-head, grouped-query or multi-query, over all
positions or a window of them, with what an architecture adds: norms, sinks, a gate, keys and values
of an earlier layer."""

import numpy as np
from norm import norm, unit
from rotary import position, rotary, tables


def suffix(g, layer):
    """Of the names that layers with a window have for themselves."""
    return "_window" if g.window(layer) else ""


def prelude(b):
    """The masks, and the tables of positions: what all layers share."""
    mixers = {}
    for layer in range(b.g.layers):
        if b.g.plan[layer].mixer.cached:
            mixers.setdefault(suffix(b.g, layer), []).append(b.g.plan[layer].mixer)
    for kind in sorted(mixers):
        mask = "window_mask" if kind else "attention_mask"
        b.input(mask, b.real, ["batch", 1, "sequence", f"total{kind}"])
    for kind in sorted(mixers):
        turning = next((mixer for mixer in mixers[kind] if mixer.rotary), None)
        if turning:
            tables(b, turning.rotary, turning.theta, kind)


def split_heads(b, x, name, heads, head):
    # Reshape's 0 keeps a dim and -1 is computed, so these serve any batch and length.
    shape = b.integers(f"shape_{heads}x{head}", 0, 0, heads, head)
    heads = b.op("Reshape", [x, shape], f"{name}/split")
    return b.op("Transpose", [heads], f"{name}/heads", perm=[0, 2, 1, 3])


def join_heads(b, x, name, width):
    turned = b.op("Transpose", [x], f"{name}/mixed_t", perm=[0, 2, 1, 3])
    shape = b.integers(f"joined_{width}", 0, 0, width)
    return b.op("Reshape", [turned, shape], f"{name}/joined")


def repeat_kv(b, x, name, sizes):
    """[batch, kv_heads, total, head] -> [batch, heads, total, head]."""
    if sizes.heads == sizes.kv_heads:
        return x
    group = b.integers("group_shape", 1, 1, sizes.heads // sizes.kv_heads, 1, 1)
    wide = b.op("Unsqueeze", [x, b.integers("axis_2", 2)], f"{name}/unsqueeze")
    wide = b.op("Expand", [wide, group], f"{name}/expand")
    shape = b.integers("heads_shape", 0, sizes.heads, -1, sizes.head)
    return b.op("Reshape", [wide, shape], f"{name}/repeat")


def cached(b, new, kind, layer, heads, width):
    """Appends to the cache of past keys or values, [batch, heads, positions, width]."""
    past, present = f"past_{kind}_{layer}", f"present_{kind}_{layer}"
    b.input(past, b.real, ["batch", heads, f"past{suffix(b.g, layer)}", width])
    b.output(present, ["batch", heads, f"total{suffix(b.g, layer)}", width])
    return b.op("Concat", [past, new], present, f"layers.{layer}/{present}", axis=2)


def fused_projections(b, x, name, sizes):
    """Parts of one product."""
    widths = (sizes.queries, sizes.keys, sizes.keys)
    both = b.linear(x, f"{name}/qkv_proj", sizes.hidden, sum(widths), sizes.qkv_bias)
    return b.parts(both, name, "qkv", widths)


def project(b, x, name, sizes, label, width):
    """[batch, sequence, width] of queries, keys or values."""
    made = b.linear(x, f"{name}/{label}_proj", sizes.hidden, width, sizes.qkv_bias)
    if sizes.qk_norm == "width" and label != "v":
        made = norm(b, made, f"{name}/{label}_norm", width)
    return made


def queries_of(b, x, name, sizes):
    """Queries, and the gate of what comes out, if there is one. Both are of one product."""
    if not sizes.gated:
        return project(b, x, name, sizes, "q", sizes.queries), None
    both = project(b, x, name, sizes, "q", 2 * sizes.queries)
    shape = b.integers("gated_shape", 0, 0, sizes.heads, 2 * sizes.head)
    both = b.op("Reshape", [both, shape], f"{name}/q_gate")
    parts = b.parts(both, name, ("q_part", "gate_part"), (sizes.head, sizes.head))
    shape = b.integers(f"joined_{sizes.queries}", 0, 0, sizes.queries)
    return [b.op("Reshape", [part, shape], f"{part}/flat") for part in parts]


def heads_of(b, x, name, label, sizes, kind):
    """Queries or keys as heads, with norm and positions."""
    count = sizes.heads if label == "q" else sizes.kv_heads
    x = split_heads(b, x, f"{name}/{label}", count, sizes.head)
    if sizes.qk_norm == "heads":
        x = norm(b, x, f"{name}/{label}_norm", sizes.head)
    x = rotary(b, x, f"{name}/{label}", sizes, kind)
    return unit(b, x, f"{name}/{label}_norm") if sizes.qk_norm == "unit" else x


def tempered(b, q, name, sizes):
    """Queries times 1 + slope log(1 + floor((position + 1) / floor)), [batch, 1, sequence, 1]."""
    floor, slope = sizes.temper
    if "temper" not in b.made:
        b.made.add("temper")
        one = b.constant("one_float", [1.0], np.float32)
        late = b.op("Add", [position(b), one], "temper/position")
        part = b.op("Div", [late, b.constant("temper_floor", [floor], np.float32)], "temper/part")
        part = b.op("Add", [b.op("Floor", [part], "temper/floor"), one], "temper/floor_1")
        part = b.op("Log", [part], "temper/log")
        part = b.op("Mul", [part, b.constant("temper_slope", [slope], np.float32)], "temper/slope")
        part = b.op("Cast", [b.op("Add", [part, one], "temper/float")], "temper/real", to=b.real)
        axes = b.integers("axes_1_3", 1, 3)
        b.op("Unsqueeze", [part, axes], "temper")
    return b.op("Mul", [q, "temper"], f"{name}/q/tempered")


def keys_and_values(b, x, name, layer):
    """The cache with those of x behind it, for every head of queries."""
    sizes, kind, source = b.g.plan[layer].mixer, suffix(b.g, layer), b.g.plan[layer].source
    if source >= 0:
        k, v = f"present_key_{source}", f"present_value_{source}"
    else:
        k, v = x if sizes.fused else (project(b, x, name, sizes, p, sizes.keys) for p in "kv")
        k = heads_of(b, k, name, "k", sizes, kind)
        v = split_heads(b, v, f"{name}/v", sizes.kv_heads, sizes.head)
        v = unit(b, v, f"{name}/v_norm") if sizes.value_norm else v
        k = cached(b, k, "key", layer, sizes.kv_heads, sizes.head)
        v = cached(b, v, "value", layer, sizes.kv_heads, sizes.head)
    return repeat_kv(b, k, f"{name}/k", sizes), repeat_kv(b, v, f"{name}/v", sizes)


def softmax(b, scores, name, sizes):
    """Weights that sum to one, or with sinks to less: theirs fall away."""
    if not sizes.sinks:
        return b.op("Softmax", [scores], f"{name}/softmax", axis=-1)
    sinks = b.weight(f"{name}.sinks", sizes.heads)
    shape = b.integers("sinks_shape", 1, sizes.heads, 1, 1)
    sinks = b.op("Reshape", [sinks, shape], f"{name}/sinks")
    if "sinks_dims" not in b.made:
        b.made.add("sinks_dims")
        dims = b.op("Shape", ["input_ids"], "sinks_dims/ids")
        batch, length = b.parts(dims, "sinks_dims", ("batch", "sequence"), (1, 1))
        inner = b.integers("sinks_heads", sizes.heads)
        last = b.integers("one_integer", 1)
        b.op("Concat", [batch, inner, length, last], "sinks_dims", axis=0)
    sinks = b.op("Expand", [sinks, "sinks_dims"], f"{name}/sinks/expand")
    scores = b.op("Concat", [scores, sinks], f"{name}/with_sinks", axis=-1)
    weights = b.op("Softmax", [scores], f"{name}/softmax", axis=-1)
    bounds = (b.integers("zero", 0), b.integers("minus_1", -1))
    return b.cut(weights, f"{name}/without_sinks", bounds, b.integers("last_axis", -1))


def weigh(b, scores, name, layer):
    """Scores as weights of all positions for every query, [batch, heads, sequence, total]."""
    sizes = b.g.plan[layer].mixer
    if sizes.scale != 1:
        scores = b.op("Mul", [scores, b.number("scale", sizes.scale)], f"{name}/scaled")
    mask = "window_mask" if b.g.window(layer) else "attention_mask"
    scores = b.op("Add", [scores, mask], f"{name}/masked")
    return softmax(b, scores, name, sizes)


def mix(b, q, k, v, name, layer):
    """What every query sees, [batch, heads, sequence, elements of a value]."""
    k = b.op("Transpose", [k], f"{name}/k_t", perm=[0, 1, 3, 2])
    scores = b.op("MatMul", [q, k], f"{name}/scores")
    weights = weigh(b, scores, name, layer)
    return b.op("MatMul", [weights, v], f"{name}/mixed")


def attention(b, x, name, layer):
    sizes = b.g.plan[layer].mixer
    source, gate = x, None
    if sizes.fused:
        q, *source = fused_projections(b, x, name, sizes)
    else:
        q, gate = queries_of(b, x, name, sizes)
    q = heads_of(b, q, name, "q", sizes, suffix(b.g, layer))
    q = tempered(b, q, name, sizes) if sizes.temper else q
    k, v = keys_and_values(b, source, name, layer)
    mixed = join_heads(b, mix(b, q, k, v, name, layer), name, sizes.queries)
    if gate:
        share = b.op("Sigmoid", [gate], f"{name}/gate")
        mixed = b.op("Mul", [mixed, share], f"{name}/gated")
    return b.linear(mixed, f"{name}/o_proj", sizes.queries, sizes.hidden, sizes.out_bias)
