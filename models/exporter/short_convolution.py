"""A short convolution between two gates, as a mixer of its own."""

from causal import convolution


def short_convolution(b, x, name, layer):
    sizes = b.g.plan[layer].mixer
    wide = b.linear(x, f"{name}/in_proj", sizes.hidden, 3 * sizes.hidden, sizes.bias)
    before, after, x = b.parts(wide, name, ("before", "after", "x"), (sizes.hidden,) * 3)
    x = b.op("Mul", [before, x], f"{name}/gated")
    x = convolution(b, x, f"{name}/conv", layer, sizes.hidden, sizes.kernel, sizes.bias)
    x = b.op("Mul", [after, x], f"{name}/mixed")
    return b.linear(x, f"{name}/out_proj", sizes.hidden, sizes.hidden, sizes.bias)
