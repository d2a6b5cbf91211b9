"""Mamba's mixer: a short causal convolution, and a scan whose step depends on the token.

The scan is ONNX's Scan over `sequence`, its body one step of all channels: `sequence` 1 is a step
of decoding. The states of convolution and scan are inputs and outputs, as a cache is. What the body
computes is elementwise and a sum over a channel's states, so it counts no multiply-accumulates.
"""

from feed_forward import activation
from onnx import helper


def step(b, name):
    """The graph of one step: h' = exp(d A) h + d u B; y sums h' C over a channel's states."""
    g, nodes = b.g, []

    def op(kind, inputs, output, **attributes):
        path = f"{name}/step/{output}"
        nodes.append(helper.make_node(kind, inputs, [output], name=f"/{path}", **attributes))
        return output

    last, one = b.integers("last_axis", -1), b.integers("axis_1", 1)
    delta = op("Unsqueeze", ["d", last], "d_column")
    decay = op("Exp", [op("Mul", [delta, f"{name}/A"], "d_A")], "decay")
    kept = op("Mul", [decay, "h"], "kept")
    fresh = op("Unsqueeze", [op("Mul", ["d", "u"], "d_u"), last], "d_u_column")
    fresh = op("Mul", [fresh, op("Unsqueeze", ["B", one], "B_row")], "fresh")
    op("Add", [kept, fresh], "h_next")
    seen = op("Mul", ["h_next", op("Unsqueeze", ["C", one], "C_row")], "seen")
    op("ReduceSum", [seen, last], "y", keepdims=0)

    def value(label, *dims):
        return helper.make_tensor_value_info(label, b.real, ["batch", *dims])

    channels, states = ("d", "u"), ("B", "C")
    inputs = [value("h", g.inner, g.state)]
    inputs += [value(label, g.inner) for label in channels]
    inputs += [value(label, g.state) for label in states]
    outputs = [value("h_next", g.inner, g.state), value("y", g.inner)]
    return helper.make_graph(nodes, f"{name}/step", inputs, outputs)


def scan(b, channels, name, layer):
    """`channels`: d, u, B and C, [batch, sequence, their size]."""
    g = b.g
    log = b.weight(f"{name}.A_log", g.inner, g.state)
    b.op("Neg", [b.op("Exp", [log], f"{name}/A_exp")], f"{name}/A")
    shape = ["batch", g.inner, g.state]
    past = b.input(f"past_state_{layer}", b.real, shape)
    present = b.output(f"present_state_{layer}", shape)
    node = helper.make_node(
        "Scan",
        [past, *channels],
        [present, f"{name}/y"],
        name=f"/{name}/scan",
        body=step(b, name),
        num_scan_inputs=4,
        scan_input_axes=[1] * 4,
        scan_output_axes=[1],
    )
    b.nodes.append(node)
    return f"{name}/y"


def convolution(b, x, name, layer):
    """Depthwise over the token and those before it; [batch, sequence, inner] in and out."""
    g = b.g
    kept = g.conv - 1
    lines = b.op("Transpose", [x], f"{name}/channels", perm=[0, 2, 1])
    past = b.input(f"past_conv_{layer}", b.real, ["batch", g.inner, kept])
    lines = b.op("Concat", [past, lines], f"{name}/padded", axis=2)
    last = (b.integers("conv_kept", -kept), b.integers("far", 2**31 - 1))
    present = b.output(f"present_conv_{layer}", ["batch", g.inner, kept])
    b.cut(lines, present, last, b.integers("last_axis", -1), f"{name}/{present}")
    kernel = b.weight(f"{name}.weight", g.inner, 1, g.conv)
    inputs = [lines, kernel, b.weight(f"{name}.bias", g.inner)]
    mixed = b.op("Conv", inputs, f"{name}/conv", group=g.inner, kernel_shape=[g.conv])
    return b.op("Transpose", [mixed], f"{name}/tokens", perm=[0, 2, 1])


def parts(b, x, name, labels, sizes):
    """What lies side by side in the last axis of x."""
    axis, first = b.integers("last_axis", -1), 0
    cut = []
    for label, size in zip(labels, sizes):
        bounds = [b.integers(f"bound_{n}", n) for n in (first, first + size)]
        cut.append(b.cut(x, f"{name}/{label}", bounds, axis))
        first += size
    return cut


def mixer(b, x, name, layer):
    g = b.g
    both = b.linear(x, f"{name}/in_proj", g.hidden, 2 * g.inner)
    u, gate = parts(b, both, name, ("inner", "gate"), (g.inner, g.inner))
    u = activation(b, convolution(b, u, f"{name}/conv1d", layer), f"{name}/u")
    chosen = b.linear(u, f"{name}/x_proj", g.inner, g.dt_rank + 2 * g.state)
    d, *states = parts(b, chosen, name, ("d_low", "B", "C"), (g.dt_rank, g.state, g.state))
    d = b.linear(d, f"{name}/dt_proj", g.dt_rank, g.inner, True)
    d = b.op("Softplus", [d], f"{name}/d")
    y = scan(b, [d, u, *states], name, layer)
    around = b.op("Mul", [u, b.weight(f"{name}.D", g.inner)], f"{name}/around")
    y = b.op("Add", [y, around], f"{name}/with_around")
    y = b.op("Mul", [y, activation(b, gate, f"{name}/gate")], f"{name}/gated")
    return b.linear(y, f"{name}/out_proj", g.inner, g.hidden)
