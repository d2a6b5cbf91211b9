"""A causal convolution of each channel over the token and those before it."""


def convolution(b, x, name, layer, channels, kernel, bias):
    """[batch, sequence, channels] in and out; those before are an input and an output."""
    kept = kernel - 1
    lines = b.op("Transpose", [x], f"{name}/channels", perm=[0, 2, 1])
    past = b.input(f"past_conv_{layer}", b.real, ["batch", channels, kept])
    lines = b.op("Concat", [past, lines], f"{name}/padded", axis=2)
    last = (b.integers("conv_kept", -kept), b.integers("far", 2**31 - 1))
    present = b.output(f"present_conv_{layer}", ["batch", channels, kept])
    b.cut(lines, present, last, b.integers("last_axis", -1), f"{name}/{present}")
    inputs = [lines, b.weight(f"{name}.weight", channels, 1, kernel)]
    inputs += [b.weight(f"{name}.bias", channels)] if bias else []
    mixed = b.op("Conv", inputs, f"{name}/conv", group=channels, kernel_shape=[kernel])
    return b.op("Transpose", [mixed], f"{name}/tokens", perm=[0, 2, 1])
