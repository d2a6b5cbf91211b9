"""Routers of experts: which a token goes through, and with which share.

A score is a number for each expert. SCORES says how scores become shares: of all experts, before
the best are chosen, or of the best alone.
"""

from onnx import TensorProto, helper


def softmax(b, scores, name):
    return b.op("Softmax", [scores], f"{name}/softmax", axis=-1)


def sigmoid(b, scores, name):
    return b.op("Sigmoid", [scores], f"{name}/sigmoid")


# The function, and whether it sees the scores of the best alone.
SCORES = {
    "softmax": (softmax, False),
    "softmax of best": (softmax, True),
    "sigmoid": (sigmoid, False),
    "sigmoid of best": (sigmoid, True),
}


def best(b, x, name, count):
    """(values, places) of the `count` largest of the last axis."""
    outputs = [f"{name}/best", f"{name}/chosen"]
    count = b.integers(f"best_{count}", count)
    b.nodes.append(helper.make_node("TopK", [x, count], outputs, name=f"/{name}/topk"))
    return outputs


def float_number(b, name, value):
    return b.constant(name, [value], "float32")


def best_groups(b, scores, name, sizes):
    """Scores, or a number below all of them for experts outside of the groups whose two best
    experts have the largest sums."""
    shape = b.integers("group_dims", 0, 0, sizes.groups, sizes.count // sizes.groups)
    grouped = b.op("Reshape", [scores, shape], f"{name}/groups")
    two, _ = best(b, grouped, f"{name}/groups", min(2, sizes.count // sizes.groups))
    sums = b.op("ReduceSum", [two, b.integers("last_axis", -1)], f"{name}/groups/sum", keepdims=0)
    values, _ = best(b, sums, f"{name}/groups/of_all", sizes.best_groups)
    bounds = (b.integers("minus_1", -1), b.integers("far", 2**31 - 1))
    least = b.cut(values, f"{name}/groups/least", bounds, b.integers("last_axis", -1))
    inside = b.op("GreaterOrEqual", [sums, least], f"{name}/groups/inside")
    inside = b.op("Unsqueeze", [inside, b.integers("last_axis", -1)], f"{name}/groups/column")
    low = float_number(b, "no_score", -1e30)
    kept = b.op("Where", [inside, grouped, low], f"{name}/groups/kept")
    return b.op("Reshape", [kept, b.integers("ungrouped", 0, 0, sizes.count)], f"{name}/kept")


def choose(b, scores, name, sizes):
    """(scores, experts) of those that tokens go through."""
    if not sizes.correction:
        return best(b, scores, name, sizes.per_token)
    correction = b.tensor(f"{name}.correction", TensorProto.FLOAT, [sizes.count])
    corrected = b.op("Add", [scores, correction], f"{name}/corrected")
    if sizes.groups > sizes.best_groups:
        corrected = best_groups(b, corrected, name, sizes)
    _, chosen = best(b, corrected, name, sizes.per_token)
    return b.op("GatherElements", [scores, chosen], f"{name}/shares_of", axis=-1), chosen


def router(b, x, name, sizes):
    """(shares, experts) of every token, [batch, sequence, experts a token]."""
    scores = b.linear(x, name, sizes.hidden, sizes.count, sizes.bias)
    scores = b.op("Cast", [scores], f"{name}/float", to=TensorProto.FLOAT)
    function, of_best = SCORES[sizes.score]
    scores = scores if of_best else function(b, scores, name)
    shares, chosen = choose(b, scores, name, sizes)
    if of_best:
        shares = function(b, shares, name)
    elif sizes.normal:
        sums = b.op("ReduceSum", [shares, b.integers("last_axis", -1)], f"{name}/sum", keepdims=1)
        shares = b.op("Div", [shares, sums], f"{name}/normal")
    if sizes.scale != 1:
        factor = float_number(b, "routed_scale", sizes.scale)
        shares = b.op("Mul", [shares, factor], f"{name}/scaled")
    return b.op("Cast", [shares], f"{name}/shares", to=b.real), chosen
