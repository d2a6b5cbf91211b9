"""Mamba's mixer: a short causal convolution, and a scan whose step depends on the token.

The scan is ONNX's Scan over `sequence`, its body one step of all channels: `sequence` 1 is a step
of decoding. The states of convolution and scan are inputs and outputs, as a cache is. What the body
computes is elementwise and a sum over a channel's states, so it counts no multiply-accumulates.
"""

from causal import convolution
from feed_forward import activation
from scan import Step, scan


def step(b, name, sizes):
    """The graph of one step: h' = exp(d A) h + d u B; y sums h' C over a channel's states."""
    one_step = Step(b, name)
    op = one_step.op
    last, one = b.integers("last_axis", -1), b.integers("axis_1", 1)
    delta = op("Unsqueeze", ["d", last], "d_column")
    decay = op("Exp", [op("Mul", [delta, f"{name}/A"], "d_A")], "decay")
    kept = op("Mul", [decay, "h"], "kept")
    fresh = op("Unsqueeze", [op("Mul", ["d", "u"], "d_u"), last], "d_u_column")
    fresh = op("Mul", [fresh, op("Unsqueeze", ["B", one], "B_row")], "fresh")
    op("Add", [kept, fresh], "h_next")
    seen = op("Mul", ["h_next", op("Unsqueeze", ["C", one], "C_row")], "seen")
    op("ReduceSum", [seen, last], "y", keepdims=0)
    inner, state = [sizes.inner], [sizes.state]
    tokens = (("d", inner), ("u", inner), ("B", state), ("C", state))
    return one_step.graph([sizes.inner, sizes.state], tokens, inner)


def mamba(b, x, name, layer):
    sizes = b.g.plan[layer].mixer
    both = b.linear(x, f"{name}/in_proj", sizes.hidden, 2 * sizes.inner)
    u, gate = b.parts(both, name, ("inner", "gate"), (sizes.inner, sizes.inner))
    u = convolution(b, u, f"{name}/conv1d", layer, sizes.inner, sizes.kernel, True)
    u = activation(b, u, f"{name}/u")
    chosen = b.linear(u, f"{name}/x_proj", sizes.inner, sizes.rank + 2 * sizes.state)
    widths = (sizes.rank, sizes.state, sizes.state)
    d, *states = b.parts(chosen, name, ("d_low", "B", "C"), widths)
    d = b.linear(d, f"{name}/dt_proj", sizes.rank, sizes.inner, True)
    d = b.op("Softplus", [d], f"{name}/d")
    log = b.weight(f"{name}.A_log", sizes.inner, sizes.state)
    b.op("Neg", [b.op("Exp", [log], f"{name}/A_exp")], f"{name}/A")
    state = [sizes.inner, sizes.state]
    y = scan(b, [d, u, *states], name, layer, state, step(b, name, sizes))
    around = b.op("Mul", [u, b.weight(f"{name}.D", sizes.inner)], f"{name}/around")
    y = b.op("Add", [y, around], f"{name}/with_around")
    y = b.op("Mul", [y, activation(b, gate, f"{name}/gate")], f"{name}/gated")
    return b.linear(y, f"{name}/out_proj", sizes.inner, sizes.hidden)
