"""A feed-forward of many experts, of which every token goes through a few.

Which tokens an expert gets only a run decides, so there are two forms. `uniform` costs a routing in
which all experts at work get as many tokens: `active_experts` and `tokens_per_expert` are symbolic,
the weights of all experts are stacked, and the graph reads those of the first `active_experts`.
The order of tokens by expert is an input (`expert_rows`, and `token_rows` for the way back), as
sorting these few integers is the runtime's. `separate` is the whole computation: an expert has
weights of its own and a NonZero that finds its tokens, whose count `--assume` says.
"""

import numpy as np
from feed_forward import activation
from onnx import TensorProto, helper

FORMS = ("uniform", "separate")


def router(b, x, name):
    """(shares that sum to one, experts) of every token, [batch, sequence, experts a token]."""
    g = b.g
    scores = b.linear(x, f"{name}/router", g.hidden, g.experts)
    scores = b.op("Cast", [scores], f"{name}/router/float", to=TensorProto.FLOAT)
    shares = b.op("Softmax", [scores], f"{name}/router/softmax", axis=-1)
    best, chosen = f"{name}/router/best", f"{name}/router/chosen"
    count = b.integers("experts_per_token", g.experts_per_token)
    b.nodes.append(helper.make_node("TopK", [shares, count], [best, chosen], name=f"/{name}/topk"))
    sums = b.op("ReduceSum", [best, b.integers("last_axis", -1)], f"{name}/router/sum", keepdims=1)
    shares = b.op("Div", [best, sums], f"{name}/router/normal")
    return b.op("Cast", [shares], f"{name}/router/shares", to=b.real), chosen


def gated(b, x, name, weight):
    """The feed-forward of an expert or a stack of them; `weight` makes one by name and dims."""
    g = b.g
    up_size, down_size = (g.hidden, g.ffn), (g.ffn, g.hidden)
    gate = b.op("MatMul", [x, weight("gate_proj", *up_size)], f"{name}/gate_proj")
    up = b.op("MatMul", [x, weight("up_proj", *up_size)], f"{name}/up_proj")
    inner = b.op("Mul", [activation(b, gate, name), up], f"{name}/gated")
    return b.op("MatMul", [inner, weight("down_proj", *down_size)], f"{name}/down_proj")


def flat(b, x, name, width):
    """[batch, sequence, width] -> [tokens, width]."""
    return b.op("Reshape", [x, b.integers(f"rows_of_{width}", -1, width)], f"{name}/rows")


def uniform(b, x, name):
    g = b.g
    shares, _ = router(b, x, name)
    rows = b.input("expert_rows", TensorProto.INT64, ["active_experts", "tokens_per_expert"])
    back = b.input("token_rows", TensorProto.INT64, ["batch", "sequence", g.experts_per_token])
    if "active" not in b.made:
        b.made.add("active")
        b.op("Shape", [rows], "active", start=0, end=1)
    zero = b.integers("zero", 0)

    def weight(label, *dims):
        stack = b.matrix(f"{name}.experts.{label}.weight", g.experts, *dims)
        return b.cut(stack, f"{name}/experts/{label}/active", (zero, "active"), zero)

    mine = b.op("Gather", [flat(b, x, name, g.hidden), rows], f"{name}/routed", axis=0)
    made = gated(b, mine, f"{name}/experts", weight)
    made = flat(b, made, f"{name}/experts", g.hidden)
    made = b.op("Gather", [made, back], f"{name}/returned", axis=0)
    column = b.op("Unsqueeze", [shares, b.integers("last_axis", -1)], f"{name}/share_column")
    weighted = b.op("Mul", [made, column], f"{name}/weighted")
    axis = b.integers("axis_2", 2)
    return b.op("ReduceSum", [weighted, axis], f"{name}/sum", keepdims=0)


def expert(b, x, name, routing, total):
    """Adds what one expert makes of its tokens to `total`, [tokens, hidden]."""
    shares, mine = routing
    last, first = b.integers("last_axis", -1), b.constant("first", 0, np.int64)
    places = b.op("NonZero", [mine], f"{name}/routed")
    rows = b.op("Gather", [places, first], f"{name}/token", axis=0)
    made = b.op("Gather", [x, rows], f"{name}/tokens", axis=0)
    made = gated(b, made, name, lambda label, *dims: b.matrix(f"{name}.{label}.weight", *dims))
    places = b.op("Transpose", [places], f"{name}/places", perm=[1, 0])
    share = b.op("GatherND", [shares, places], f"{name}/share")
    share = b.op("Unsqueeze", [share, last], f"{name}/share_column")
    made = b.op("Mul", [made, share], f"{name}/weighted")
    rows = b.op("Unsqueeze", [rows, last], f"{name}/token_column")
    return b.op("ScatterND", [total, rows, made], f"{name}/added", reduction="add")


def separate(b, x, name):
    g = b.g
    shares, chosen = router(b, x, name)
    shares = flat(b, shares, f"{name}/router/shares", g.experts_per_token)
    chosen = flat(b, chosen, f"{name}/router/chosen", g.experts_per_token)
    tokens = flat(b, x, name, g.hidden)
    size = b.op("Shape", [tokens], f"{name}/size")
    zeros = TensorProto(name="zeros", data_type=b.real, dims=[1], raw_data=bytes(2))
    total = b.op("ConstantOfShape", [size], f"{name}/zeros", value=zeros)
    for number in range(g.experts):
        mine = b.op(
            "Equal", [chosen, b.integers(f"expert_{number}", number)], f"{name}/mine.{number}"
        )
        total = expert(b, tokens, f"{name}/experts.{number}", (shares, mine), total)
    shape = b.op("Shape", [x], f"{name}/shape")
    return b.op("Reshape", [total, shape], f"{name}/sum")


def experts(b, x, name):
    return (separate if b.experts == "separate" else uniform)(b, x, name)
