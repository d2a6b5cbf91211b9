"""Mamba 2's mixer: a scan of heads, whose decay is one number a head and token.

As in mamba.py the scan is ONNX's Scan over `sequence`. A head's sum over its states is a product of
its matrix and a column, and counts multiply-accumulates.
"""

from causal import convolution
from feed_forward import activation
from mamba2_chunks import chunked
from norm import unit
from scan import Step, scan


def step(b, name, sizes):
    """The graph of one step: h' = exp(d A) h + d x B; y = h' C."""
    one_step = Step(b, name)
    op = one_step.op
    last, two, axes = (b.integers(f"axes_{n}", *n) for n in ((-1,), (2,), (2, 3)))
    heads = b.integers("scan_heads", 0, sizes.heads, 1, sizes.state)
    share = b.integers("scan_share", 1, 1, sizes.heads // sizes.groups, 1)

    def of_heads(label):
        """[batch, groups, state] -> [batch, heads, 1, state]."""
        if sizes.groups == sizes.heads:
            return op("Unsqueeze", [label, two], f"{label}_row")
        wide = op("Unsqueeze", [label, two], f"{label}_group")
        wide = op("Expand", [wide, share], f"{label}_wide")
        return op("Reshape", [wide, heads], f"{label}_row")

    decay = op("Exp", [op("Mul", ["d", f"{name}/A"], "d_A")], "decay")
    kept = op("Mul", ["h", op("Unsqueeze", [decay, axes], "decay_matrix")], "kept")
    step_in = op("Mul", [op("Unsqueeze", ["d", axes], "d_matrix"), of_heads("B")], "d_B")
    fresh = op("Mul", [step_in, op("Unsqueeze", ["x", last], "x_column")], "fresh")
    op("Add", [kept, fresh], "h_next")
    turned = op("Transpose", [of_heads("C")], "C_column", perm=[0, 1, 3, 2])
    op("Squeeze", [op("MatMul", ["h_next", turned], "y_column"), last], "y")
    grouped, out = [sizes.groups, sizes.state], [sizes.heads, sizes.head]
    tokens = (("d", [sizes.heads]), ("x", out), ("B", grouped), ("C", grouped))
    return one_step.graph([sizes.heads, sizes.head, sizes.state], tokens, out)


def gated_norm(b, y, gate, name, sizes):
    """A norm of each group of y times its gate."""
    y = b.op("Mul", [y, activation(b, gate, f"{name}/gate")], f"{name}/gated")
    if sizes.groups > 1:
        shape = b.integers("norm_groups", 0, 0, sizes.groups, sizes.inner // sizes.groups)
        y = b.op("Reshape", [y, shape], f"{name}/norm/groups")
    y = unit(b, y, f"{name}/norm")
    if sizes.groups > 1:
        y = b.op("Reshape", [y, b.integers("norm_flat", 0, 0, sizes.inner)], f"{name}/norm/flat")
    return b.op("Mul", [y, b.weight(f"{name}/norm.weight", sizes.inner)], f"{name}/norm/out")


def as_heads(b, x, count, size):
    """[batch, sequence, count x size] -> [batch, sequence, count, size]."""
    shape = b.integers(f"shape_{count}x{size}", 0, 0, count, size)
    return b.op("Reshape", [x, shape], f"{x}/heads")


def mamba2(b, x, name, layer):
    sizes = b.g.plan[layer].mixer
    widths = (sizes.inner, sizes.channels, sizes.heads)
    wide = b.linear(x, f"{name}/in_proj", sizes.hidden, sum(widths), sizes.bias)
    gate, u, d = b.parts(wide, name, ("z", "inner", "d_low"), widths)
    u = convolution(b, u, f"{name}/conv1d", layer, sizes.channels, sizes.kernel, sizes.conv_bias)
    u = activation(b, u, f"{name}/u")
    grouped = sizes.groups * sizes.state
    u, *states = b.parts(u, name, ("x", "B", "C"), (sizes.inner, grouped, grouped))
    d = b.op("Add", [d, b.weight(f"{name}.dt_bias", sizes.heads)], f"{name}/d_biased")
    d = b.op("Softplus", [d], f"{name}/d")
    log = b.weight(f"{name}.A_log", sizes.heads)
    b.op("Neg", [b.op("Exp", [log], f"{name}/A_exp")], f"{name}/A")
    u = as_heads(b, u, sizes.heads, sizes.head)
    states = [as_heads(b, state, sizes.groups, sizes.state) for state in states]
    dims = [sizes.heads, sizes.head, sizes.state]
    if b.scan == "chunks":
        y = chunked(b, (d, u, *states), name, layer, sizes)
    else:
        y = scan(b, [d, u, *states], name, layer, dims, step(b, name, sizes))
    way = b.op(
        "Unsqueeze", [b.weight(f"{name}.D", sizes.heads), b.integers("last_axis", -1)], f"{name}/D"
    )
    y = b.op("Add", [y, b.op("Mul", [u, way], f"{name}/around")], f"{name}/with_around")
    y = b.op("Reshape", [y, b.integers("norm_flat", 0, 0, sizes.inner)], f"{name}/flat")
    y = gated_norm(b, y, gate, name, sizes)
    return b.linear(y, f"{name}/out_proj", sizes.inner, sizes.hidden, sizes.bias)
