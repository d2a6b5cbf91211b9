"""Multi-head latent attention: the cache has a latent vector for all heads' keys and values, and a
key that turns with the position, the same for all heads.

Two forms of one function. Keys and values of all positions are made of the cache in every step, or
(absorbed) a head's part of that product goes to its query and behind its mixture instead: then all
heads read the cache as one key, whose first elements are the value.
"""

from attention import cached, join_heads, mix, split_heads, weigh
from norm import norm
from rotary import turn


def queries(b, x, name, sizes):
    """(plain, turning) parts of the heads' queries, [batch, heads, sequence, elements]."""
    width, rows = sizes.heads * sizes.head, sizes.hidden
    if sizes.query_rank:
        x = b.linear(x, f"{name}/q_a_proj", rows, sizes.query_rank, sizes.bias)
        x, rows = norm(b, x, f"{name}/q_a_norm", sizes.query_rank), sizes.query_rank
    q = b.linear(x, f"{name}/q_b_proj" if sizes.query_rank else f"{name}/q_proj", rows, width)
    q = split_heads(b, q, f"{name}/q", sizes.heads, sizes.head)
    plain, turning = b.parts(q, f"{name}/q", ("plain", "turning"), (sizes.plain, sizes.turning))
    return plain, turn(b, turning, f"{name}/q", sizes.turning, "")


def latents(b, x, name, sizes):
    """(latent, turning key) of new tokens, [batch, 1, sequence, elements]."""
    widths = (sizes.rank, sizes.turning)
    both = b.linear(x, f"{name}/kv_a_proj", sizes.hidden, sum(widths), sizes.bias)
    latent, key = b.parts(both, f"{name}/kv", ("latent", "turning"), widths)
    latent = norm(b, latent, f"{name}/kv_a_norm", sizes.rank)
    one = b.integers("axis_1", 1)
    latent, key = (b.op("Unsqueeze", [part, one], f"{part}/head") for part in (latent, key))
    return latent, turn(b, key, f"{name}/k", sizes.turning, "")


def expanded(b, parts, name, layer):
    """Keys and values of all positions are made, [batch, heads, total, elements]."""
    sizes = b.g.plan[layer].mixer
    plain, turning, latent, key = parts
    latent = cached(b, latent, "latent", layer, 1, sizes.rank)
    key = cached(b, key, "rotary", layer, 1, sizes.turning)
    rows, width, _ = sizes.expansion()
    both = b.linear(latent, f"{name}/kv_b_proj", rows, width)
    widths = (sizes.plain, sizes.value)
    shape = b.integers("expanded_shape", 0, -1, sizes.heads, sum(widths))
    both = b.op("Reshape", [both, shape], f"{name}/kv/split")
    both = b.op("Transpose", [both], f"{name}/kv/heads", perm=[0, 2, 1, 3])
    own, v = b.parts(both, f"{name}/kv", ("key", "value"), widths)
    key = b.op("Expand", [key, b.integers("heads_once", 1, sizes.heads, 1, 1)], f"{name}/k/expand")
    k = b.op("Concat", [own, key], f"{name}/k", axis=-1)
    q = b.op("Concat", [plain, turning], f"{name}/q", axis=-1)
    return mix(b, q, k, v, name, layer)


def absorbed(b, parts, name, layer):
    """All heads' queries are rows that see one key."""
    sizes = b.g.plan[layer].mixer
    plain, turning, latent, key = parts
    new = b.op("Concat", [latent, key], f"{name}/k/new", axis=-1)
    width = sizes.rank + sizes.turning
    k = cached(b, new, "latent", layer, 1, width)
    into = b.matrix(f"{name}/k_b_proj.weight", sizes.heads, sizes.plain, sizes.rank)
    seen = b.op("MatMul", [plain, into], f"{name}/q/latent")
    q = b.op("Concat", [seen, turning], f"{name}/q", axis=-1)
    rows = b.integers(f"one_head_{width}", 0, 1, -1, width)
    q = b.op("Reshape", [q, rows], f"{name}/q/rows")
    turned = b.op("Transpose", [k], f"{name}/k_t", perm=[0, 1, 3, 2])
    scores = b.op("MatMul", [q, turned], f"{name}/score_rows")
    # The mask broadcasts over heads: rows are heads again while it is added.
    dims = b.op("Shape", [seen], f"{name}/heads", end=3)
    dims = b.op("Concat", [dims, b.integers("minus_1", -1)], f"{name}/heads_shape", axis=0)
    scores = b.op("Reshape", [scores, dims], f"{name}/scores")
    weights = weigh(b, scores, name, layer)
    dims = b.op("Shape", [k], f"{name}/positions", start=2, end=3)
    few = b.integers("one_head", 0, 1, -1)
    dims = b.op("Concat", [few, dims], f"{name}/rows_shape", axis=0)
    weights = b.op("Reshape", [weights, dims], f"{name}/weight_rows")
    bounds = (b.integers("zero", 0), b.integers(f"bound_{sizes.rank}", sizes.rank))
    value = b.cut(k, f"{name}/value", bounds, b.integers("last_axis", -1))
    mixed = b.op("MatMul", [weights, value], f"{name}/mixed_rows")
    dims = b.op("Shape", [seen], f"{name}/mixed_shape")
    mixed = b.op("Reshape", [mixed, dims], f"{name}/mixed_latent")
    out = b.matrix(f"{name}/v_b_proj.weight", sizes.heads, sizes.rank, sizes.value)
    return b.op("MatMul", [mixed, out], f"{name}/mixed")


def latent(b, x, name, layer):
    sizes = b.g.plan[layer].mixer
    parts = (*queries(b, x, name, sizes), *latents(b, x, name, sizes))
    mixed = (absorbed if sizes.absorbed else expanded)(b, parts, name, layer)
    width = sizes.heads * sizes.value
    mixed = join_heads(b, mixed, name, width)
    return b.linear(mixed, f"{name}/o_proj", width, sizes.hidden, sizes.bias)
