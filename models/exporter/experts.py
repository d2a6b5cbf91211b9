"""A feed-forward of many experts, of which every token goes through a few, and through a shared one
beside them in some models.

Which tokens an expert gets only a run decides, so there are two forms. `uniform` costs a routing in
which all experts at work get as many tokens: `active_experts` and `tokens_per_expert` are symbolic,
the weights of all experts are stacked, and the graph reads those of the first `active_experts`.
The order of tokens by expert is an input (`expert_rows`, and `token_rows` for the way back), as
sorting these few integers is the runtime's. `separate` is the whole computation: an expert has
weights of its own and a NonZero that finds its tokens, whose count `--assume` says.
"""

import numpy as np
from feed_forward import activation, feed_forward
from onnx import TensorProto
from router import router

FORMS = ("uniform", "separate")


def clamped(b, gate, up, name, clamp):
    """(up + 1) gate sigmoid(slope gate), both within the limit."""
    limit, slope = clamp
    high, low = b.scalar("clamp_high", limit), b.scalar("clamp_low", -limit)
    gate = b.op("Clip", [gate, "", high], f"{name}/gate/clip")
    up = b.op("Clip", [up, low, high], f"{name}/up/clip")
    share = b.op("Sigmoid", [b.scaled(gate, f"{name}/gate/slope", slope)], f"{name}/sigmoid")
    gate = b.op("Mul", [gate, share], f"{name}/glu")
    up = b.op("Add", [up, b.number("one", 1.0)], f"{name}/up/one_more")
    return b.op("Mul", [up, gate], f"{name}/gated")


def product(b, x, name, label, weight, dims):
    """With the weight that `weight` makes by label and dims, and its bias."""
    made = b.op("MatMul", [x, weight(f"{label}.weight", *dims)], f"{name}/{label}")
    if not b.g.experts.bias:
        return made
    return b.op("Add", [made, weight(f"{label}.bias", 1, dims[1])], f"{name}/{label}/biased")


def gated(b, x, name, weight):
    """The feed-forward of an expert or a stack of them."""
    sizes = b.g.experts
    gate = product(b, x, name, "gate_proj", weight, (sizes.hidden, sizes.ffn))
    up = product(b, x, name, "up_proj", weight, (sizes.hidden, sizes.ffn))
    if sizes.clamp:
        inner = clamped(b, gate, up, name, sizes.clamp)
    else:
        inner = b.op("Mul", [activation(b, gate, name), up], f"{name}/gated")
    return product(b, inner, name, "down_proj", weight, (sizes.ffn, sizes.hidden))


def flat(b, x, name, width):
    """[batch, sequence, width] -> [tokens, width]."""
    return b.op("Reshape", [x, b.integers(f"rows_of_{width}", -1, width)], f"{name}/rows")


def stored(b, name, *dims):
    """A weight of products, or a bias, which has one row and stays a float."""
    return (b.weight if name.endswith(".bias") else b.matrix)(name, *dims)


def uniform(b, x, name, routing):
    sizes, shares = b.g.experts, routing[0]
    rows = b.input("expert_rows", TensorProto.INT64, ["active_experts", "tokens_per_expert"])
    back = b.input("token_rows", TensorProto.INT64, ["batch", "sequence", sizes.per_token])
    if "active" not in b.made:
        b.made.add("active")
        b.op("Shape", [rows], "active", start=0, end=1)
    zero = b.integers("zero", 0)

    def weight(label, *dims):
        stack = stored(b, f"{name}.experts.{label}", sizes.count, *dims)
        return b.cut(stack, f"{name}/experts/{label}/active", (zero, "active"), zero)

    column = b.op("Unsqueeze", [shares, b.integers("last_axis", -1)], f"{name}/share_column")
    if sizes.on_input:  # a row for each expert of a token
        x = b.op("Unsqueeze", [x, b.integers("axis_2", 2)], f"{name}/token_row")
        x = b.op("Mul", [x, column], f"{name}/weighted")
    mine = b.op("Gather", [flat(b, x, name, sizes.hidden), rows], f"{name}/routed", axis=0)
    made = gated(b, mine, f"{name}/experts", weight)
    made = flat(b, made, f"{name}/experts", sizes.hidden)
    made = b.op("Gather", [made, back], f"{name}/returned", axis=0)
    if not sizes.on_input:
        made = b.op("Mul", [made, column], f"{name}/weighted")
    return b.op("ReduceSum", [made, b.integers("axis_2", 2)], f"{name}/sum", keepdims=0)


def expert(b, x, name, routing, total):
    """Adds what one expert makes of its tokens to `total`, [tokens, hidden]."""
    shares, mine = routing
    last, first = b.integers("last_axis", -1), b.constant("first", 0, np.int64)
    places = b.op("NonZero", [mine], f"{name}/routed")
    rows = b.op("Gather", [places, first], f"{name}/token", axis=0)
    made = b.op("Gather", [x, rows], f"{name}/tokens", axis=0)
    places = b.op("Transpose", [places], f"{name}/places", perm=[1, 0])
    share = b.op("GatherND", [shares, places], f"{name}/share")
    share = b.op("Unsqueeze", [share, last], f"{name}/share_column")

    def feed(rows):
        return gated(b, rows, name, lambda label, *dims: stored(b, f"{name}.{label}", *dims))

    made = made if b.g.experts.on_input else feed(made)
    made = b.op("Mul", [made, share], f"{name}/weighted")
    made = feed(made) if b.g.experts.on_input else made
    rows = b.op("Unsqueeze", [rows, last], f"{name}/token_column")
    return b.op("ScatterND", [total, rows, made], f"{name}/added", reduction="add")


def separate(b, x, name, routing):
    sizes = b.g.experts
    shares = flat(b, routing[0], f"{name}/router/shares", sizes.per_token)
    chosen = flat(b, routing[1], f"{name}/router/chosen", sizes.per_token)
    tokens = flat(b, x, name, sizes.hidden)
    size = b.op("Shape", [tokens], f"{name}/size")
    zeros = TensorProto(name="zeros", data_type=b.real, dims=[1], raw_data=bytes(2))
    total = b.op("ConstantOfShape", [size], f"{name}/zeros", value=zeros)
    for number in range(sizes.count):
        mine = b.op(
            "Equal", [chosen, b.integers(f"expert_{number}", number)], f"{name}/mine.{number}"
        )
        total = expert(b, tokens, f"{name}/experts.{number}", (shares, mine), total)
    shape = b.op("Shape", [x], f"{name}/shape")
    return b.op("Reshape", [total, shape], f"{name}/sum")


def shared(b, x, name, sizes):
    """What all tokens go through."""
    made = feed_forward(b, x, f"{name}/shared", sizes.shared)
    if not sizes.shared_gate:
        return made
    share = b.linear(x, f"{name}/shared_gate", sizes.hidden, 1)
    share = b.op("Sigmoid", [share], f"{name}/shared_gate/sigmoid")
    return b.op("Mul", [made, share], f"{name}/shared_part")


def experts(b, x, name, sizes):
    routing = router(b, x, f"{name}/router", sizes)
    made = (separate if b.experts == "separate" else uniform)(b, x, name, routing)
    if not sizes.shared:
        return made
    return b.op("Add", [made, shared(b, x, name, sizes)], f"{name}/with_shared")
