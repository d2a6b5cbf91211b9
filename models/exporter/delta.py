"""A gated delta rule as a mixer: a matrix for each head, which decays, forgets what it has for a
key and learns the token's value for it.

As in mamba.py the scan is ONNX's Scan over `sequence`. What a step computes is elementwise and sums
over keys, so it counts no multiply-accumulates.
"""

from causal import convolution
from delta_chunks import chunked
from feed_forward import activation
from mamba2 import as_heads
from norm import norm
from scan import Step, scan


def step(b, name, sizes):
    """The graph of one step: h' = g h; h'' = h' + k (v - k h') beta; y = q h''."""
    one_step = Step(b, name)
    op = one_step.op
    last, two = b.integers("last_axis", -1), b.integers("axis_2", 2)
    axes = b.integers("axes_(2, 3)", 2, 3)
    key = op("Unsqueeze", ["k", last], "k_column")
    kept = op("Mul", ["h", op("Unsqueeze", ["g", axes], "g_matrix")], "kept")
    known = op("ReduceSum", [op("Mul", [kept, key], "k_kept"), two], "known", keepdims=0)
    new = op("Sub", ["v", known], "new")
    new = op("Mul", [new, op("Unsqueeze", ["beta", last], "beta_column")], "learnt")
    new = op("Mul", [key, op("Unsqueeze", [new, two], "learnt_row")], "fresh")
    op("Add", [kept, new], "h_next")
    seen = op("Mul", ["h_next", op("Unsqueeze", ["q", last], "q_column")], "seen")
    op("ReduceSum", [seen, two], "y", keepdims=0)
    heads, keys, out = [sizes.heads], [sizes.heads, sizes.key], [sizes.heads, sizes.value]
    tokens = (("q", keys), ("k", keys), ("v", out), ("g", heads), ("beta", heads))
    return one_step.graph([sizes.heads, sizes.key, sizes.value], tokens, out)


def unit_heads(b, x, name, sizes):
    """Queries or keys as heads of length one, repeated for heads of values."""
    x = as_heads(b, x, sizes.key_heads, sizes.key)
    square = b.op("Mul", [x, x], f"{name}/square")
    length = b.op("ReduceSum", [square, b.integers("last_axis", -1)], f"{name}/sum", keepdims=1)
    length = b.op("Add", [length, b.number("small", 1e-6)], f"{name}/safe")
    x = b.op("Div", [x, b.op("Sqrt", [length], f"{name}/length")], f"{name}/unit")
    if sizes.heads == sizes.key_heads:
        return x
    share = b.integers("delta_share", 1, 1, 1, sizes.heads // sizes.key_heads, 1)
    x = b.op("Unsqueeze", [x, b.integers("axis_3", 3)], f"{name}/unsqueeze")
    x = b.op("Expand", [x, share], f"{name}/expand")
    shape = b.integers("delta_heads", 0, 0, sizes.heads, sizes.key)
    return b.op("Reshape", [x, shape], f"{name}/repeat")


def rates(b, x, name, sizes):
    """(log of the decay, beta) of every head and token: how much stays, and how much is learnt."""
    low = b.linear(x, f"{name}/in_proj_ba", sizes.hidden, 2 * sizes.heads)
    beta, step_size = b.parts(low, name, ("b", "a"), (sizes.heads, sizes.heads))
    beta = b.op("Sigmoid", [beta], f"{name}/beta")
    bias = b.weight(f"{name}.dt_bias", sizes.heads)
    step_size = b.op("Add", [step_size, bias], f"{name}/d_biased")
    step_size = b.op("Softplus", [step_size], f"{name}/d")
    log = b.op("Exp", [b.weight(f"{name}.A_log", sizes.heads)], f"{name}/A_exp")
    return b.op("Neg", [b.op("Mul", [step_size, log], f"{name}/d_A")], f"{name}/log_decay"), beta


def delta(b, x, name, layer):
    sizes = b.g.plan[layer].mixer
    wide = b.linear(x, f"{name}/in_proj_qkvz", sizes.hidden, sizes.channels + sizes.inner)
    u, gate = b.parts(wide, name, ("qkv", "z"), (sizes.channels, sizes.inner))
    u = convolution(b, u, f"{name}/conv1d", layer, sizes.channels, sizes.kernel, False)
    u = activation(b, u, f"{name}/u")
    keys = sizes.key_heads * sizes.key
    q, k, v = b.parts(u, name, "qkv", (keys, keys, sizes.inner))
    q, k = (unit_heads(b, part, part, sizes) for part in (q, k))
    q = b.scaled(q, f"{name}/q/scaled", sizes.key**-0.5)
    v = as_heads(b, v, sizes.heads, sizes.value)
    log, beta = rates(b, x, name, sizes)
    if b.scan == "chunks":
        y = chunked(b, (q, k, v, log, beta), name, layer, sizes)
    else:
        dims = [sizes.heads, sizes.key, sizes.value]
        tokens = [q, k, v, b.op("Exp", [log], f"{name}/decay"), beta]
        y = scan(b, tokens, name, layer, dims, step(b, name, sizes))
    y = norm(b, y, f"{name}/norm", sizes.value)
    gate = activation(b, as_heads(b, gate, sizes.heads, sizes.value), f"{name}/gate")
    y = b.op("Mul", [y, gate], f"{name}/gated")
    y = b.op("Reshape", [y, b.integers("delta_flat", 0, 0, sizes.inner)], f"{name}/flat")
    return b.linear(y, f"{name}/out_proj", sizes.inner, sizes.hidden)
