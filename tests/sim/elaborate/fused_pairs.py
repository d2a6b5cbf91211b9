"""Pairs of networks: a fused operator of a runtime, and the operators that it stands for."""

import numpy as np
from small_graph import (
    F,
    SmallGraph,
    cut,
    gelu,
    layer_norm,
    nchw,
    nhwc,
    real,
    reshape,
    rms_norm,
    rng,
    silu,
    tanh_gelu,
)  # fmt: skip

PAIRS = {}
B, S, H = 1, 64, 128


def pair(inputs, opset=22, tolerance=1e-3):
    """Registers a class with `fused` and `spelled`, which add to a graph and give its outputs."""

    def register(of):
        PAIRS[of.__name__] = (of, inputs, opset, tolerance)
        return of

    return register


def models(name):
    """(the two models, their inputs, the tolerance of values)."""
    of, inputs, opset, tolerance = PAIRS[name]
    made = []
    for build in (of.fused, of.spelled):
        g = SmallGraph(inputs)
        made.append(g.model(build(g), opset))
    return made, inputs, tolerance


W, BIAS = real(H, 4 * H), real(4 * H)
GAIN, SHIFT, OUT_BIAS, SQUARE = real(H), real(H), real(H), real(H, H)
ROWS = {"x": real(B, S, H)}
TWO = {"x": real(B, S, H), "r": real(B, S, H)}


@pair(ROWS)
class BiasGelu:
    def fused(g):
        return g.ms("BiasGelu", [g("MatMul", ["x", W]), BIAS])

    def spelled(g):
        return gelu(g, g("Add", [g("MatMul", ["x", W]), BIAS]))


@pair(ROWS)
class FastGelu:
    def fused(g):
        return g.ms("FastGelu", [g("MatMul", ["x", W]), BIAS])

    def spelled(g):
        return tanh_gelu(g, g("Add", [g("MatMul", ["x", W]), BIAS]))


@pair(ROWS)
class GemmFastGelu:
    def fused(g):
        return g.ms("GemmFastGelu", ["x", W, BIAS])

    spelled = FastGelu.spelled


@pair(ROWS)
class BiasSplitGelu:
    def fused(g):
        return g.ms("BiasSplitGelu", ["x", OUT_BIAS])

    def spelled(g):
        left, right = g("Split", [g("Add", ["x", OUT_BIAS])], 2, axis=-1, num_outputs=2)
        return g("Mul", [left, gelu(g, right)])


@pair(TWO)
class SkipLayerNormalization:
    def fused(g):
        inputs = [g("MatMul", ["x", SQUARE]), "r", GAIN, SHIFT, OUT_BIAS]
        y, total = g.ms("SkipLayerNormalization", inputs, [0, 3], epsilon=1e-5)
        return g("Add", [g("MatMul", [y, SQUARE]), total])

    def spelled(g):
        total = g("Add", [g("Add", [g("MatMul", ["x", SQUARE]), OUT_BIAS]), "r"])
        return g("Add", [g("MatMul", [layer_norm(g, total, GAIN, SHIFT, 1e-5), SQUARE]), total])


@pair(TWO)
class SkipFirst:
    """The product is the skip: its bias belongs to it."""

    def fused(g):
        inputs = ["r", g("MatMul", ["x", SQUARE]), GAIN, SHIFT, OUT_BIAS]
        return g.ms("SkipLayerNormalization", inputs, epsilon=1e-5)

    def spelled(g):
        total = g("Add", [g("Add", [g("MatMul", ["x", SQUARE]), OUT_BIAS]), "r"])
        return g("LayerNormalization", [total, GAIN, SHIFT], axis=-1, epsilon=1e-5)


@pair(TWO)
class SkipSimplifiedLayerNormalization:
    def fused(g):
        y, total = g.ms("SkipSimplifiedLayerNormalization", ["x", "r", GAIN], [0, 3], epsilon=1e-5)
        return g("Add", [g("MatMul", [y, SQUARE]), total])

    def spelled(g):
        total = g("Add", ["x", "r"])
        return g("Add", [g("MatMul", [rms_norm(g, total, GAIN), SQUARE]), total])


WORDS, PLACES, SEGMENTS = real(500, H), real(S, H), real(2, H)


@pair(
    {
        "ids": rng.integers(0, 500, (B, S)).astype(np.int32),
        "segments": rng.integers(0, 2, (B, S)).astype(np.int32),
    }
)
class EmbedLayerNormalization:
    def fused(g):
        inputs = ["ids", "segments", WORDS, PLACES, SEGMENTS, GAIN, SHIFT]
        return g.ms("EmbedLayerNormalization", inputs, [0], epsilon=1e-12)

    def spelled(g):
        words = g("Gather", [WORDS, "ids"])
        places = g("Gather", [PLACES, np.arange(S)[None]])
        segments = g("Gather", [SEGMENTS, "segments"])
        total = g("Add", [g("Add", [words, places]), segments])
        return g("LayerNormalization", [total, GAIN, SHIFT], axis=-1, epsilon=1e-12)


@pair({"x": real(2, 8, 32, 32), "m": real(2, 1, 1, 32)})
class BiasSoftmax:
    def fused(g):
        return g.ms("BiasSoftmax", ["x", "m"], axis=3, is_inner_broadcast=1)

    def spelled(g):
        return g("Softmax", [g("Add", ["x", "m"])], axis=-1)


C = 64
CHANNELS = real(C), real(C), real(C)
IMAGE = {"x": real(1, C, 16, 16), "z": real(1, C, 16, 16)}
TAPS, TAP_BIAS = real(C, C, 3, 3), real(C)
PADS = [1, 1, 1, 1]


@pair({"x": real(1, 16, 16, C), "r": real(1, 16, 16, C)})
class SkipGroupNorm:
    def fused(g):
        gain, shift, bias = CHANNELS
        return g.ms("SkipGroupNorm", ["x", gain, shift, "r", bias], groups=8, epsilon=1e-5,
                    activation=1, channels_last=1)  # fmt: skip

    def spelled(g):
        gain, shift, bias = CHANNELS
        total = nchw(g, g("Add", [g("Add", ["x", bias]), "r"]))
        y = g("GroupNormalization", [total, gain, shift], num_groups=8, epsilon=1e-5)
        return nhwc(g, silu(g, y))


@pair(IMAGE)
class FusedConv:
    def fused(g):
        return g.ms("FusedConv", ["x", TAPS, TAP_BIAS, "z"], activation="Relu", pads=PADS,
                    kernel_shape=[3, 3])  # fmt: skip

    def spelled(g):
        return g("Relu", [g("Add", [g("Conv", ["x", TAPS, TAP_BIAS], pads=PADS), "z"])])


def activated(name, parameters, **attributes):
    """FusedConv with an activation, of an operator with such attributes or inputs."""

    class Activated:
        def fused(g):
            given = {"activation_params": parameters} if parameters else {}
            return g.ms("FusedConv", ["x", TAPS], activation=name, pads=PADS, **given)

        def spelled(g):
            y = g("Conv", ["x", TAPS], pads=PADS)
            bounds = [F(p) for p in parameters] if name == "Clip" else []
            return g(name, [y, *bounds], **attributes)

    Activated.__name__ = f"FusedConv{name}"
    pair({"x": IMAGE["x"]})(Activated)


activated("LeakyRelu", [0.1], alpha=0.1)
activated("Sigmoid", [])
activated("Tanh", [])
activated("Clip", [0.0, 6.0])
activated("HardSigmoid", [0.2, 0.5], alpha=0.2, beta=0.5)


@pair({"x": real(1, 16, 16, C), "z": real(1, 16, 16, C)})
class NhwcFusedConv:
    def fused(g):
        return g.ms("NhwcFusedConv", ["x", TAPS, TAP_BIAS, "z"], activation="Relu", pads=PADS)

    def spelled(g):
        x, z = nchw(g, "x"), nchw(g, "z")
        y = g("Conv", [x, TAPS, TAP_BIAS], pads=PADS)
        return nhwc(g, g("Relu", [g("Add", [y, z])]))


@pair({"x": real(S, H)})
class FusedGemm:
    def fused(g):
        return g.ms("FusedGemm", ["x", SQUARE, GAIN], activation="LeakyRelu", activation_alpha=0.2)

    def spelled(g):
        return g("LeakyRelu", [g("Gemm", ["x", SQUARE, GAIN])], alpha=0.2)


@pair({"x": real(B, S, 2 * H)})
class SwiGLU:
    def fused(g):
        return g.ms("SwiGLU", ["x"])

    def spelled(g):
        gate, up = g("Split", ["x"], 2, axis=-1, num_outputs=2)
        return g("Mul", [silu(g, gate), up])


@pair(TWO, opset=28)
class SwiGLUOfOnnx:
    def fused(g):
        return g("SwiGLU", ["x", "r"])

    def spelled(g):
        return g("Mul", [silu(g, "x"), "r"])


HEAD_GAIN = real(32)


@pair(TWO)
class GatedRMSNorm:
    def fused(g):
        return g.ms("GatedRMSNorm", ["x", HEAD_GAIN, "r"])

    def spelled(g):
        y = rms_norm(g, reshape(g, "x", B, S, H // 32, 32), HEAD_GAIN)
        return g("Mul", [reshape(g, y, B, S, H), silu(g, "r")])


CAUSAL, CAUSAL_BIAS = real(C, 1, 4), real(C)


def causal(length, name):
    class Causal:
        def fused(g):
            inputs = ["x", CAUSAL, CAUSAL_BIAS, "past"]
            return g.ms("CausalConvWithState", inputs, 2, activation="silu")

        def spelled(g):
            joined = g("Concat", ["past", "x"], axis=2)
            y = silu(g, g("Conv", [joined, CAUSAL, CAUSAL_BIAS], group=C))
            return [y, cut(g, joined, 2, length, length + 3)]

    Causal.__name__ = name
    pair({"x": real(1, C, length), "past": real(1, C, 3)})(Causal)


causal(1, "CausalConvOfOneToken")
causal(48, "CausalConvOfMany")

N, D = 4, 32
STATE = {
    **{k: real(1, 1, N * D) for k in ("q", "k", "v")},
    "s": real(1, N, D, D),
    "decay": -np.abs(real(1, 1, N)),
    "beta": np.abs(real(1, 1, N)),
}


def delta_step(g, q, k, v, s, decay, beta):
    """One token of the gated delta rule: its output per head, and the new state."""
    s = g("Mul", [s, g("Exp", [reshape(g, decay, 1, N, 1, 1)])])
    known = g("MatMul", [reshape(g, k, 1, N, 1, D), s])
    rest = g("Sub", [reshape(g, v, 1, N, 1, D), known])
    rest = g("Mul", [rest, reshape(g, beta, 1, N, 1, 1)])
    s = g("Add", [s, g("Mul", [reshape(g, k, 1, N, D, 1), rest])])
    read = g("MatMul", [reshape(g, q, 1, N, 1, D), s])
    return g("Mul", [read, F(D**-0.5)]), s


@pair(STATE)
class LinearAttention:
    def fused(g):
        inputs = ["q", "k", "v", "s", "decay", "beta"]
        return g.ms("LinearAttention", inputs, 2, q_num_heads=N, kv_num_heads=N)

    def spelled(g):
        y, s = delta_step(g, "q", "k", "v", "s", "decay", "beta")
        return [reshape(g, y, 1, 1, N * D), s]


@pair(
    {
        **{k: real(1, N, D) for k in ("q", "k", "v")},
        "s": real(1, N, D, D),
        "decay": -np.abs(real(1, N)),
        "beta": np.abs(real(1, N)),
    }
)
class GatedDeltaNet:
    def fused(g):
        return g.ms("GatedDeltaNet", ["q", "k", "v", "", "decay", "beta", "s"], 2)

    def spelled(g):
        state = g("Transpose", ["s"], perm=[0, 1, 3, 2])
        y, s = delta_step(g, "q", "k", "v", state, "decay", "beta")
        return [reshape(g, y, 1, N, D), g("Transpose", [s], perm=[0, 1, 3, 2])]


RATES = real(16), -np.abs(real(16))


@pair({"a": real(B, S, 16), "b": real(B, S, 16)})
class LinearAttentionGate:
    def fused(g):
        return g.ms("LinearAttentionGate", ["a", *RATES, "b"], 2)

    def spelled(g):
        decay = g("Mul", [g("Softplus", [g("Add", ["a", RATES[0]])]), RATES[1]])
        return [decay, g("Sigmoid", ["b"])]


NF4 = np.array(
    [-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
     -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
     0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941,
     0.7229568362236023, 1.0]
)  # fmt: skip
BYTES, LARGEST = rng.integers(0, 256, H * H // 2).astype(np.uint8), np.abs(real(H * H // 64))


@pair({"x": real(S, H)})
class MatMulBnb4:
    def fused(g):
        return g.ms("MatMulBnb4", ["x", BYTES, LARGEST], K=H, N=H, block_size=64, quant_type=1)

    def spelled(g):
        codes = np.stack([BYTES >> 4, BYTES & 15], 1).reshape(-1)
        weights = (NF4[codes] * np.repeat(LARGEST, 64)).reshape(H, H).T
        return g("MatMul", ["x", weights.astype(F)])
