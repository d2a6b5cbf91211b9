"""Pairs as in fused_pairs.py of operators on integers, and of operators that only others name."""

import numpy as np
from fused_pairs import BIAS, B, C, D, H, N, S, W, pair
from small_graph import F, cut, gelu, ints, nchw, nhwc, real, reshape, rng

ZERO, NO_OFFSET = np.array(128, np.uint8), np.array(0, np.int8)
TAPS = rng.integers(-127, 128, (C, C, 3, 3)).astype(np.int8)
SUMS = rng.integers(-500, 500, C).astype(np.int32)


def conv(g, x, **attributes):
    inputs = [x, F(0.02), ZERO, TAPS, F(0.01), NO_OFFSET, F(0.3), ZERO, SUMS]
    return g("QLinearConv", inputs, pads=[1, 1, 1, 1], **attributes)


def codes(*shape):
    return rng.integers(0, 256, shape).astype(np.uint8)


@pair({"x": codes(1, 16, 16, C)}, tolerance=1)
class QLinearConvChannelsLast:
    """With a sum of integers between convolutions, which stands where their pixels lie."""

    def fused(g):
        last = {"domain": "com.microsoft", "channels_last": 1}
        y = conv(g, "x", **last)
        z = conv(g, y, **last)
        total = g.ms("QLinearAdd", [y, F(0.3), ZERO, z, F(0.3), ZERO, F(0.5), ZERO])
        return conv(g, total, **last)

    def spelled(g):
        y = conv(g, nchw(g, "x"))
        z = conv(g, y)
        total = g.ms("QLinearAdd", [y, F(0.3), ZERO, z, F(0.3), ZERO, F(0.5), ZERO])
        return nhwc(g, conv(g, total))


@pair({"x": codes(1, C, 16, 16)}, tolerance=1)
class QLinearReduceMean:
    def fused(g):
        inputs = [conv(g, "x"), F(0.3), ZERO, F(0.1), ZERO]
        return g.ms("QLinearReduceMean", inputs, axes=[2, 3], keepdims=1)

    def spelled(g):
        reals = g("DequantizeLinear", [conv(g, "x"), F(0.3), ZERO])
        mean = g("ReduceMean", [reals, ints(2, 3)], keepdims=1)
        return g("QuantizeLinear", [mean, F(0.1), ZERO])


@pair({"x": real(1, 16, 16, C)})
class ImagesLast:
    """Work on pixels whose channels come last, between convolutions."""

    def fused(g):
        taps = TAPS.astype(F) * F(0.01)
        y = nhwc(g, g("Conv", [nchw(g, "x"), taps], pads=[1, 1, 1, 1]))
        z = nhwc(g, g("Conv", [nchw(g, gelu(g, y)), taps], pads=[1, 1, 1, 1]))
        return nhwc(g, g("Conv", [nchw(g, g("Add", [y, z])), taps], pads=[1, 1, 1, 1]))

    def spelled(g):
        taps = TAPS.astype(F) * F(0.01)
        y = g("Conv", [nchw(g, "x"), taps], pads=[1, 1, 1, 1])
        z = g("Conv", [gelu(g, y), taps], pads=[1, 1, 1, 1])
        return nhwc(g, g("Conv", [g("Add", [y, z]), taps], pads=[1, 1, 1, 1]))


@pair({"a": real(32, 64), "b": real(48, 64)}, tolerance=1e-2)
class CDist:
    def fused(g):
        return g.ms("CDist", ["a", "b"], metric="sqeuclidean")

    def spelled(g):
        product = g("MatMul", ["a", g("Transpose", ["b"], perm=[1, 0])])
        total = g("Add", [g("Mul", [product, F(-2)]), g("ReduceSumSquare", ["a", ints(1)])])
        row = g("Transpose", [g("ReduceSumSquare", ["b", ints(1)])], perm=[1, 0])
        return g("Max", [g("Add", [total, row]), F(0)])


@pair({"x": real(B, S, H), "r": real(B, S, H)})
class BiasDropout:
    def fused(g):
        return g.ms("BiasDropout", ["x", BIAS[:H], "r"])

    def spelled(g):
        return g("Add", [g("Add", ["x", BIAS[:H]]), "r"])


@pair({"x": real(B, S, H)})
class RouterGateUpProj:
    def fused(g):
        return g.ms("RouterGateUpProj", ["x", W[:, : 16 + 2 * H]], 2, router_size=16)

    def spelled(g):
        y = g("MatMul", ["x", W[:, : 16 + 2 * H]])
        router, gate, up = g("Split", [y, ints(16, H, H)], 3, axis=-1)
        return [router, g("Mul", [g("Mul", [gate, g("Sigmoid", [gate])]), up])]


OFFSETS = np.array([[0, 4, 5, 8], [9, 10, 11, 1], [2, 3, 6, 7]], np.int32)
LENGTHS = np.array([0, 1, 3, 7], np.int32)


def attention(g, q, k, v, tokens):
    def heads(x, *perm):
        return g("Transpose", [reshape(g, x, 1, tokens, N, D)], perm=list(perm))

    scores = g("MatMul", [heads(q, 0, 2, 1, 3), heads(k, 0, 2, 3, 1)])
    weights = g("Softmax", [g("Mul", [scores, F(D**-0.5)])], axis=-1)
    out = g("MatMul", [weights, heads(v, 0, 2, 1, 3)])
    return reshape(g, g("Transpose", [out], perm=[0, 2, 1, 3]), tokens, N * D)


@pair({k: real(7, N * D) for k in "qkv"})
class PackedMultiHeadAttention:
    """Sequences of 1, 2 and 4 tokens; the places of tokens and of padding as in the schema."""

    values_only = True

    def fused(g):
        inputs = ["q", "k", "v", "", OFFSETS, LENGTHS]
        return g.ms("PackedMultiHeadAttention", inputs, num_heads=N)

    def spelled(g):
        outs = [
            attention(g, *(cut(g, x, 0, a, b) for x in "qkv"), b - a)
            for a, b in zip(LENGTHS, LENGTHS[1:])
        ]
        return g("Concat", outs, axis=0)
