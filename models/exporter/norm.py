"""Norms over the last axis: RMSNorm as exporters spell it out, or LayerNormalization."""


def unit(b, x, name):
    """x over the root of its mean square."""
    square = b.op("Mul", [x, x], f"{name}/square")
    mean = b.mean(square, f"{name}/mean")
    safe = b.op("Add", [mean, b.number("epsilon", b.g.epsilon)], f"{name}/safe")
    root = b.op("Sqrt", [safe], f"{name}/root")
    return b.op("Div", [x, root], f"{name}/unit")


def norm(b, x, name, width=0):
    """Of the hidden size, or of `width`."""
    width = width or b.g.hidden
    if b.g.norm == "layer":
        scale, shift = b.weight(f"{name}.weight", width), b.weight(f"{name}.bias", width)
        inputs = [x, scale, shift]
        return b.op("LayerNormalization", inputs, f"{name}/out", axis=-1, epsilon=b.g.epsilon)
    return b.op("Mul", [unit(b, x, name), b.weight(f"{name}.weight", width)], f"{name}/out")
