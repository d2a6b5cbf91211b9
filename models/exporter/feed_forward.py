"""Feed-forwards, and the functions of one element in them."""


def silu(b, x, name):
    return b.op("Mul", [x, b.op("Sigmoid", [x], f"{name}/sigmoid")], f"{name}/silu")


def gelu(b, x, name):
    """By the error function."""
    scaled = b.op("Div", [x, b.number("sqrt_2", 2**0.5)], f"{name}/gelu/scaled")
    erf = b.op("Erf", [scaled], f"{name}/gelu/erf")
    share = b.op("Add", [erf, b.number("one", 1.0)], f"{name}/gelu/share")
    double = b.op("Mul", [x, share], f"{name}/gelu/double")
    return b.op("Mul", [double, b.number("one_half", 0.5)], f"{name}/gelu/out")


def gelu_tanh(b, x, name):
    """By the hyperbolic tangent of a cubic."""
    square = b.op("Mul", [x, x], f"{name}/gelu/square")
    cube = b.op("Mul", [square, x], f"{name}/gelu/cube")
    small = b.op("Mul", [cube, b.number("gelu_cubic", 0.044715)], f"{name}/gelu/small")
    inner = b.op("Add", [x, small], f"{name}/gelu/inner")
    inner = b.op("Mul", [inner, b.number("gelu_scale", 0.7978845608)], f"{name}/gelu/scaled")
    tanh = b.op("Tanh", [inner], f"{name}/gelu/tanh")
    share = b.op("Add", [tanh, b.number("one", 1.0)], f"{name}/gelu/share")
    half = b.op("Mul", [x, b.number("one_half", 0.5)], f"{name}/gelu/half")
    return b.op("Mul", [half, share], f"{name}/gelu/out")


ACTIVATIONS = {"silu": silu, "gelu": gelu, "gelu_tanh": gelu_tanh}


def activation(b, x, name):
    return ACTIVATIONS[b.g.activation](b, x, name)


def gate_and_up(b, x, name):
    """Two products, or the halves of one."""
    g = b.g
    if not g.fused:
        gate = b.linear(x, f"{name}/gate_proj", g.hidden, g.ffn, g.mlp_bias)
        gate = activation(b, gate, name)
        return gate, b.linear(x, f"{name}/up_proj", g.hidden, g.ffn, g.mlp_bias)
    both = b.linear(x, f"{name}/gate_up_proj", g.hidden, 2 * g.ffn, g.mlp_bias)
    axis, zero = b.integers("last_axis", -1), b.integers("zero", 0)
    half, end = b.integers("ffn_size", g.ffn), b.integers("ffn_size_2", 2 * g.ffn)
    gate = b.cut(both, f"{name}/gate", (zero, half), axis)
    return activation(b, gate, name), b.cut(both, f"{name}/up", (half, end), axis)


def feed_forward(b, x, name):
    g = b.g
    if g.gated:
        gate, up = gate_and_up(b, x, name)
        inner = b.op("Mul", [gate, up], f"{name}/gated")
    else:
        up = b.linear(x, f"{name}/up_proj", g.hidden, g.ffn, g.mlp_bias)
        inner = activation(b, up, name)
    return b.linear(inner, f"{name}/down_proj", g.ffn, g.hidden, g.mlp_bias)
