"""Feed-forwards, and the functions of one element in them."""

import statistics


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


def largest(b, x, name, share):
    """x less a bound that about `share` of its elements (of a normal distribution) are under, or 0
    where that is negative."""
    mean = b.mean(x, f"{name}/sparse/mean")
    away = b.op("Sub", [x, mean], f"{name}/sparse/away")
    square = b.op("Mul", [away, away], f"{name}/sparse/square")
    spread = b.op("Sqrt", [b.mean(square, f"{name}/sparse/variance")], f"{name}/sparse/spread")
    factor = statistics.NormalDist().inv_cdf(share)
    over = b.scaled(spread, f"{name}/sparse/over", factor)
    bound = b.op("Add", [mean, over], f"{name}/sparse/bound")
    return b.op("Relu", [b.op("Sub", [x, bound], f"{name}/sparse/rest")], f"{name}/sparse")


def gate_and_up(b, x, name, sizes):
    """Two products, or the halves of one."""
    hidden, ffn, bias = sizes.hidden, sizes.ffn, sizes.bias
    if sizes.fused:
        both = b.linear(x, f"{name}/gate_up_proj", hidden, 2 * ffn, bias)
        gate, up = b.parts(both, name, ("gate", "up"), (ffn, ffn))
        return activation(b, gate, name), up
    gate = b.linear(x, f"{name}/gate_proj", hidden, ffn, bias)
    gate = largest(b, gate, name, sizes.sparsity) if sizes.sparsity else gate
    gate = activation(b, gate, name)
    return gate, b.linear(x, f"{name}/up_proj", hidden, ffn, bias)


def feed_forward(b, x, name, sizes):
    if sizes.gated:
        gate, up = gate_and_up(b, x, name, sizes)
        inner = b.op("Mul", [gate, up], f"{name}/gated")
    else:
        up = b.linear(x, f"{name}/up_proj", sizes.hidden, sizes.ffn, sizes.bias)
        inner = activation(b, up, name)
    return b.linear(inner, f"{name}/down_proj", sizes.ffn, sizes.hidden, sizes.bias)
