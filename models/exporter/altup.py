"""Alternating updates: several hidden states (streams), of which every layer computes one.

A layer predicts all streams from all, computes the active one, and corrects the others by what its
prediction missed. Beside attention goes a residual of low rank (laurel), and every layer has an
embedding of its own for the token. Streams are [streams, batch, sequence, hidden].
"""

import math

from feed_forward import activation
from norm import norm, unit


def pick(b, x, name, number, axis=0):
    """Element `number` of an axis, which goes."""
    place = b.scalar(f"place_{number}", number, "int64")
    return b.op("Gather", [x, place], name, axis=axis)


def size_of(b, x, name, least=None):
    """The root of the mean square of the last axis."""
    mean = b.mean(b.op("Mul", [x, x], f"{name}/square"), f"{name}/mean")
    if least:
        mean = b.op("Max", [mean, b.number("least_square", least)], f"{name}/clamped")
    return b.op("Sqrt", [mean], f"{name}/size")


def resized(b, x, target, name):
    """x with the mean square of another tensor."""
    own = size_of(b, x, name, 1e-5)
    wide = b.op("Mul", [x, target], f"{name}/wide")
    return b.op("Div", [wide, own], f"{name}/resized")


def stack(b, streams, name):
    first = b.integers("zero", 0)
    rows = [b.op("Unsqueeze", [x, first], f"{name}/{i}") for i, x in enumerate(streams)]
    return b.op("Concat", rows, name, axis=0)


def start(b, x):
    """All streams, of the embedding; and what layers get of the tokens, one after another."""
    sizes, target = b.g.altup, size_of(b, x, "altup/target")
    streams = [x]
    for number in range(1, sizes.streams):
        name = f"altup_projections.{number - 1}"
        made = b.linear(x, name, sizes.hidden, sizes.hidden)
        streams.append(resized(b, made, target, name))
    extra(b, x)
    return stack(b, streams, "altup/streams")


def extra(b, x):
    """`extra`, [batch, sequence, layers, extra]: from a table, and from the embedding."""
    sizes, layers = b.g.altup, b.g.layers
    width = layers * sizes.extra
    last = b.integers("extra_vocabulary", sizes.extra_vocab)
    inside = b.op("Less", ["input_ids", last], "extra/inside")
    ids = b.op("Where", [inside, "input_ids", b.integers("zero", 0)], "extra/ids")
    table = b.weight("embed_tokens_per_layer.weight", sizes.extra_vocab, width)
    found = b.op("Gather", [table, ids], "extra/embedded")
    found = b.scaled(found, "extra/scaled", sizes.extra**0.5)
    shape = b.integers("extra_shape", 0, 0, layers, sizes.extra)
    found = b.op("Reshape", [found, shape], "extra/found")
    made = b.linear(x, "per_layer_model_projection", sizes.hidden, width)
    made = b.scaled(made, "extra/projected", sizes.hidden**-0.5)
    made = b.op("Reshape", [made, shape], "extra/made")
    made = norm(b, made, "per_layer_projection_norm", sizes.extra)
    both = b.op("Add", [made, found], "extra/both")
    b.scaled(both, "extra", 0.5**0.5)


def routed(b, x, name, where):
    """A number for each stream between -1 and 1, [batch, sequence, streams]."""
    sizes = b.g.altup
    x = unit(b, x, f"{name}/{where}")
    weight = b.weight(f"{name}/router_norm.weight", sizes.hidden)
    x = b.op("Mul", [x, weight], f"{name}/{where}/norm")
    x = b.scaled(x, f"{name}/{where}/scaled", 1 / sizes.hidden)
    weight = b.weight(f"{name}/router.weight", sizes.hidden, sizes.streams)
    x = b.op("MatMul", [x, weight], f"{name}/{where}/routed")
    return b.op("Tanh", [x], f"{name}/{where}/tanh")


def predict(b, streams, name):
    """Every stream, and what a matrix of each token makes of all streams."""
    sizes, count = b.g.altup, b.g.altup.streams
    active = pick(b, streams, f"{name}/before", sizes.active)
    weight = b.weight(f"{name}/prediction.weight", count, count**2)
    mixing = b.op("MatMul", [routed(b, active, name, "predict"), weight], f"{name}/coefficients")
    shape = b.integers("prediction_shape", 0, 0, count, count)
    mixing = b.op("Reshape", [mixing, shape], f"{name}/matrix")
    mixing = b.op("Transpose", [mixing], f"{name}/mixing", perm=[0, 1, 3, 2])
    columns = b.op("Transpose", [streams], f"{name}/columns", perm=[1, 2, 3, 0])
    mixed = b.op("MatMul", [columns, mixing], f"{name}/mixed")
    mixed = b.op("Transpose", [mixed], f"{name}/mixed_t", perm=[3, 0, 1, 2])
    return b.op("Add", [mixed, streams], f"{name}/predicted")


def correct(b, predicted, active, made, name):
    """Predictions with what the active one missed, as much as each stream's coefficient says."""
    count = b.g.altup.streams
    missed = b.op("Sub", [made, active], f"{name}/missed")
    weight = b.weight(f"{name}/correction.weight", count, count)
    shares = b.op("MatMul", [routed(b, made, name, "correct"), weight], f"{name}/corrections")
    shares = b.op("Add", [shares, b.number("one", 1.0)], f"{name}/corrections/shares")
    shares = b.op("Transpose", [shares], f"{name}/corrections/t", perm=[2, 0, 1])
    last = b.integers("last_axis", -1)
    shares = b.op("Unsqueeze", [shares, last], f"{name}/corrections/column")
    correction = b.op("Mul", [missed, shares], f"{name}/correction")
    return b.op("Add", [correction, predicted], f"{name}/corrected")


def laurel(b, x, name):
    """x and the norm of a product of low rank."""
    sizes = b.g.altup
    low = b.linear(x, f"{name}/linear_left", sizes.hidden, sizes.laurel)
    high = b.linear(low, f"{name}/linear_right", sizes.laurel, sizes.hidden)
    return b.op("Add", [x, norm(b, high, f"{name}/norm")], f"{name}/out")


def add_extra(b, streams, name, layer):
    """Adds to all streams but the first what the token's own embedding of a layer gates."""
    sizes = b.g.altup
    first = pick(b, streams, f"{name}/first", sizes.active)
    if sizes.corrected_scale:
        scale = b.weight(f"{name}/correct_output_scale", sizes.hidden)
        first = b.op("Mul", [first, scale], f"{name}/first/scaled")
    gate = b.linear(first, f"{name}/per_layer_input_gate", sizes.hidden, sizes.extra)
    gate = activation(b, gate, f"{name}/per_layer_input_gate")
    own = pick(b, "extra", f"{name}/own", layer, axis=2)
    gate = b.op("Mul", [gate, own], f"{name}/own/gated")
    made = b.linear(gate, f"{name}/per_layer_projection", sizes.extra, sizes.hidden)
    made = norm(b, made, f"{name}/per_layer_norm")
    zero, one, far = (b.integers(f"bound_{n}", n) for n in (0, 1, 2**31 - 1))
    kept = b.cut(streams, f"{name}/kept", (zero, one), zero)
    others = b.cut(streams, f"{name}/others", (one, far), zero)
    others = b.op("Add", [others, made], f"{name}/others/more")
    return b.op("Concat", [kept, others], f"{name}/streams", axis=0)


def block(b, streams, layer, mix, feed):
    """`mix` and `feed` are the parts of a layer, from norm to norm."""
    name = f"layers.{layer}"
    path = f"{name}/altup"
    predicted = predict(b, streams, path)
    active = pick(b, predicted, f"{path}/active", b.g.altup.active)
    normal = norm(b, active, f"{name}/input_norm")
    low = laurel(b, normal, f"{name}/laurel")
    attended = norm(b, mix(normal), f"{name}/attn_after_norm")
    x = b.op("Add", [active, attended], f"{name}/attn_residual")
    x = b.op("Add", [x, low], f"{name}/with_laurel")
    x = b.scaled(x, f"{name}/halved", 1 / math.sqrt(2))
    fed = feed(norm(b, x, f"{name}/post_norm"))
    fed = norm(b, fed, f"{name}/mlp_after_norm")
    x = b.op("Add", [x, fed], f"{name}/mlp_residual")
    corrected = correct(b, predicted, active, x, path)
    return add_extra(b, corrected, path, layer)


def finish(b, streams):
    """The mean of all streams, each brought to the size of the first."""
    sizes = b.g.altup
    first = pick(b, streams, "altup/last.0", 0)
    target = size_of(b, first, "altup/last_target")
    found = [first]
    for number in range(1, sizes.streams):
        name = f"altup_unembed_projections.{number - 1}"
        one = pick(b, streams, f"altup/last.{number}", number)
        made = b.linear(one, name, sizes.hidden, sizes.hidden)
        found.append(resized(b, made, target, name))
    return b.mean(stack(b, found, "altup/all"), "altup/out", axis=0, keep=0)
