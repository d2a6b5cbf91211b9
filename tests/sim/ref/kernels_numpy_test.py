#!/usr/bin/python3
"""Do kernels of operators since opset 18 give what NumPy gives? kernels_numpy_test.py ACCSIM

Expected values are formulas of the operators' definitions, written here.
"""

import math
import sys
import tempfile

try:
    import numpy as np
    from one_node import Case, check
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

rng = np.random.default_rng(1)
INF = np.float32(np.inf)


def real(*shape):
    return rng.uniform(-2, 2, shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


erf = np.vectorize(math.erf)


# ---- activations and normalisations
# ----------------------------------------------------------------


def activations():
    x = real(3, 4, 5)
    yield Case("Gelu", 20, [x]), [0.5 * x * (1 + erf(x / math.sqrt(2)))]
    tanh = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    yield Case("Gelu", 20, [x], approximate="tanh"), [0.5 * x * (1 + tanh)]
    bias, skip = real(5), real(3, 4, 5)
    yield Case("BiasAdd", 17, [x, bias, skip], domain="com.microsoft"), [x + bias + skip]
    wide, bias = real(2, 3, 8), real(8)
    left, right = np.split(wide + bias, 2, -1)
    yield (
        Case("BiasSplitGelu", 17, [wide, bias], domain="com.microsoft"),
        [left * 0.5 * right * (1 + erf(right / math.sqrt(2)))],
    )
    yield Case("Mish", 18, [x]), [x * np.tanh(np.log1p(np.exp(x)))]
    yield Case("Swish", 24, [x], alpha=1.5), [x / (1 + np.exp(-1.5 * x))]
    yield Case("SwiGLU", 28, [x, x + 1], alpha=1.5), [x / (1 + np.exp(-1.5 * x)) * (x + 1)]
    yield Case("SwiGLU", 28, [x, 2 * x]), [2 * x * x / (1 + np.exp(-x))]
    yield Case("HardSwish", 22, [x]), [x * np.clip(x / 6 + 0.5, 0, 1)]
    yield Case("Celu", 12, [x], alpha=2.0), [np.maximum(x, 0) + np.minimum(0, 2 * np.expm1(x / 2))]
    # What isn't a number stays that.
    none = np.array([np.nan, 1, np.nan], np.float32)
    for op in ("HardSigmoid", "HardSwish", "Celu", "Elu", "Relu", "LeakyRelu", "Softplus", "Clip"):
        yield Case(op, 14, [none]), [np.array([np.nan, VALUE_AT_1.get(op, 1), np.nan], np.float32)]
    # Bounds that aren't given are those of the type.
    for opset in (7, 13):
        for real_type in (np.float32, np.float16):
            ends = np.array([np.inf, 1, -np.inf], real_type)
            most = np.finfo(real_type).max
            yield Case("Clip", opset, [ends]), [np.array([most, 1, -most], real_type)]


# Of operators that don't leave 1 as it is.
VALUE_AT_1 = {"HardSigmoid": 0.7, "HardSwish": 2 / 3, "Softplus": math.log(1 + math.e)}


def norms():
    x = real(2, 6, 3, 4)

    def grouped(scale, bias, per_channel):
        g = x.reshape(2, 3, -1)
        n = (g - g.mean(-1, keepdims=True)) / np.sqrt(g.var(-1, keepdims=True) + 1e-3)
        if not per_channel:
            return (n * scale[:, None] + bias[:, None]).reshape(x.shape)
        return n.reshape(x.shape) * scale[:, None, None] + bias[:, None, None]

    for opset, size in ((18, 3), (21, 6)):
        s, b = real(size), real(size)
        yield (
            Case("GroupNormalization", opset, [x, s, b], num_groups=3, epsilon=1e-3),
            [grouped(s, b, opset == 21)],
        )
    s = real(3, 4)
    rms = x / np.sqrt((x**2).mean((2, 3), keepdims=True) + 1e-5) * s
    yield Case("RMSNormalization", 23, [x, s], axis=2), [rms]
    s, b = real(4), real(4)
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    n = (x - mean) / np.sqrt(var + 1e-5)
    yield (Case("LayerNormalization", 17, [x, s, b], 3), [n * s + b, mean, 1 / np.sqrt(var + 1e-5)])


# ---- attention
# -------------------------------------------------------------------------------------


def attention(q, k, v, scale=None, bias=0, softcap=0, stage=3):
    """Scores of every head, softmax, product; also the stage that is asked for."""
    groups = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, groups, 1), np.repeat(v, groups, 1)
    scores = q @ k.swapaxes(-1, -2) * (scale or 1 / math.sqrt(q.shape[-1]))
    capped = np.tanh(scores / softcap) * softcap if softcap else scores
    biased = capped + bias
    p = softmax(biased)
    return p @ v, [scores, capped, biased, p][stage]


def causal(n, total, past=0):
    i, j = np.arange(n)[:, None], np.arange(total)[None, :]
    return np.where(j <= i + past, 0, -INF)


def attentions():
    q, k, v = real(2, 4, 3, 8), real(2, 2, 5, 8), real(2, 2, 5, 6)
    yield Case("Attention", 23, [q, k, v], name="GQA"), [attention(q, k, v)[0]]
    yield (
        Case("Attention", 23, [q, k, v], name="causal", is_causal=1),
        [attention(q, k, v, bias=causal(3, 5))[0]],
    )
    mask = real(3, 5)
    yield (
        Case("Attention", 23, [q, k, v, mask], name="float mask", scale=0.3),
        [attention(q, k, v, scale=0.3, bias=mask)[0]],
    )
    keep = rng.uniform(size=(2, 1, 3, 5)) < 0.7
    keep[..., 0] = True
    yield (
        Case("Attention", 23, [q, k, v, keep], name="boolean mask"),
        [attention(q, k, v, bias=np.where(keep, 0, -INF))[0]],
    )
    for mode, stage in ((0, 0), (1, 1), (2, 2), (3, 3)):
        out, kept = attention(q, k, v, bias=mask, softcap=2.0, stage=stage)
        yield (
            Case(
                "Attention",
                24,
                [q, k, v, mask],
                [0, 3],
                name=f"softcap, output mode {mode}",
                softcap=2.0,
                qk_matmul_output_mode=mode,
            ),
            [out, kept],
        )
    past_k, past_v = real(2, 2, 4, 8), real(2, 2, 4, 6)
    all_k, all_v = np.concatenate([past_k, k], 2), np.concatenate([past_v, v], 2)
    yield (
        Case("Attention", 23, [q, k, v, None, past_k, past_v], 3, name="past", is_causal=1),
        [attention(q, all_k, all_v, bias=causal(3, 9, 4))[0], all_k, all_v],
    )

    def join(x):
        return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)

    yield (
        Case(
            "Attention", 23, [join(q), join(k), join(v)], name="3-D", q_num_heads=4, kv_num_heads=2
        ),
        [join(attention(q, k, v)[0])],
    )
    valid = np.array([[4], [5]])
    pad = np.where(np.arange(5)[None] < valid, 0, -INF)[:, None, None]
    yield (
        Case(
            "Attention",
            24,
            [q, k, v, None, None, None, valid[:, 0].astype(np.int64)],
            name="padded keys",
        ),
        [attention(q, k, v, bias=pad)[0]],
    )


def masked_attentions():
    """Queries that see a window of keys, and those that see none and give zeros."""
    q, k, v = real(2, 2, 4, 8), real(2, 2, 6, 8), real(2, 2, 6, 8)
    i, j = np.arange(4)[:, None], np.arange(6)[None]
    for left, right, is_causal in ((1, -1, 0), (-1, 2, 0), (1, 1, 0), (2, -1, 1)):
        open_ = np.ones((4, 6), bool)
        if left >= 0:
            open_ &= j >= i - left
        if right >= 0 or is_causal:
            open_ &= j <= i + max(right, 0) * (not is_causal)
        yield (
            Case(
                "Attention",
                25,
                [q, k, v],
                name=f"window {left} {right} {is_causal}",
                left_window_size=left,
                right_window_size=right,
                is_causal=is_causal,
            ),
            [attention(q, k, v, bias=np.where(open_, 0, -INF))[0]],
        )
    keep = np.ones((4, 6), bool)
    keep[2] = False
    some = keep.copy()
    some[2, 0] = True  # any: the row becomes zeros below
    out, p = attention(q, k, v, bias=np.where(some, 0, -INF))
    out[:, :, 2], p[:, :, 2] = 0, 0
    yield (
        Case(
            "Attention",
            24,
            [q, k, v, keep],
            [0, 3],
            name="a query without keys",
            qk_matmul_output_mode=3,
        ),
        [out, p],
    )
    valid = np.array([1, 6], np.int64)
    open_ = (j[None] < valid[:, None, None]) & (j <= i + (valid[:, None, None] - 4))
    none = ~open_.any(-1)
    bias = np.where(open_ | none[..., None], 0, -INF)[:, None]
    out = np.where(none[:, None, :, None], 0, attention(q, k, v, bias=bias)[0])
    yield (
        Case(
            "Attention",
            24,
            [q, k, v, None, None, None, valid],
            is_causal=1,
            name="fewer keys than queries",
        ),
        [out],
    )


def rotate(x, cos, sin, interleaved, dim):
    """x: batch, heads, length, size; cos and sin: batch, length, dim / 2."""
    cos, sin = cos[:, None], sin[:, None]
    part, rest = x[..., :dim], x[..., dim:]
    a, b = (part[..., 0::2], part[..., 1::2]) if interleaved else np.split(part, 2, -1)
    r, i = a * cos - b * sin, a * sin + b * cos
    both = np.stack([r, i], -1).reshape(part.shape) if interleaved else np.concatenate([r, i], -1)
    return np.concatenate([both, rest], -1)


def rotations():
    x, ids = real(2, 3, 4, 8), rng.integers(0, 10, (2, 4)).astype(np.int64)
    for interleaved in (0, 1):
        for dim in (0, 4):
            width = dim or 8
            cos, sin = real(10, width // 2), real(10, width // 2)
            expected = rotate(x, cos[ids], sin[ids], interleaved, width)
            more = {"rotary_embedding_dim": dim, "num_heads": 3} if dim else {}
            yield (
                Case("RotaryEmbedding", 23, [x, cos, sin, ids], interleaved=interleaved, **more),
                [expected],
            )
            if not dim:
                flat = x.transpose(0, 2, 1, 3).reshape(2, 4, 24)
                yield (
                    Case(
                        "RotaryEmbedding",
                        23,
                        [flat, cos, sin, ids],
                        name="3-D rotary",
                        num_heads=3,
                        interleaved=interleaved,
                    ),
                    [expected.transpose(0, 2, 1, 3).reshape(2, 4, 24)],
                )
    cos, sin = real(2, 4, 4), real(2, 4, 4)
    yield Case("RotaryEmbedding", 23, [x, cos, sin]), [rotate(x, cos, sin, 0, 8)]


def linear_attention(q, k, v, decay, beta, state):
    """Gated delta rule, one head's step after the other."""
    batch, steps, heads, dk = k.shape
    out = np.zeros(v.shape)
    state = state.astype(np.float64).copy()
    for b in range(batch):
        for t in range(steps):
            for h in range(heads):
                s = state[b, h] * np.exp(decay[b, t, h])
                s = s + np.outer(k[b, t, h], beta[b, t, h] * (v[b, t, h] - k[b, t, h] @ s))
                state[b, h] = s
                out[b, t, h] = q[b, t, h] @ s / math.sqrt(dk)
    return out, state


def recurrent_attention():
    q, k, v = real(2, 5, 2, 4) / 2, real(2, 5, 2, 4) / 2, real(2, 5, 2, 3)
    decay, beta, state = -np.abs(real(2, 5, 2)), np.abs(real(2, 5, 2)) / 2, real(2, 2, 4, 3)
    out, after = linear_attention(q, k, v, decay, beta, state)
    flat = [x.reshape(2, 5, -1) for x in (q, k, v)]
    yield (
        Case("LinearAttention", 27, [*flat, state, decay, beta], 2, q_num_heads=2, kv_num_heads=2),
        [out.reshape(2, 5, -1), after],
    )
    x, w, b, past = real(2, 3, 6), real(3, 1, 4), real(3), real(2, 3, 3)
    line = np.concatenate([past, x], 2)
    conv = np.stack([(line[:, :, i : i + 4] * w[:, 0]).sum(-1) for i in range(6)], -1) + b[:, None]
    yield (
        Case("CausalConvWithState", 27, [x, w, b, past], 2, activation="silu"),
        [conv / (1 + np.exp(-conv)), line[:, :, -3:]],
    )


def with_sink(scores, sink):
    """Softmax of rows that have one score more, which isn't kept."""
    wide = np.concatenate([scores, np.broadcast_to(sink, (*scores.shape[:-1], 1))], -1)
    return softmax(wide)[..., :-1]


def grouped_query():
    """com.microsoft's, by the text of its definition: 4 query heads of 16 share 2 of keys."""

    def flat(x):
        return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)

    def case(q, k, v, past, more, name, **attributes):
        """Its node with tensors as they lie in the file, and what `attributes` make of them."""
        total = attributes.pop("total", q.shape[2] + (past[0].shape[2] if past else 0))
        packed = attributes.pop("packed", False)
        new = [flat(x) for x in (q, k, v)]
        inputs = [np.concatenate(new, -1), None, None] if packed else new
        inputs += past or [None, None]
        inputs += [np.full(len(q), total - 1, np.int32), np.array([total], np.int32)]
        inputs += [more.get(i) for i in range(7, max(more, default=6) + 1)]
        heads = {"num_heads": 4, "kv_num_heads": 2, "domain": "com.microsoft"}
        return Case("GroupQueryAttention", 17, inputs, 3, name=name, **heads, **attributes)

    for length, before in ((7, 0), (1, 9), (3, 5), (1, 2)):
        q, k, v = real(2, 4, length, 16), real(2, 2, length, 16), real(2, 2, length, 16)
        past = [real(2, 2, before, 16), real(2, 2, before, 16)] if before else None
        all_k = np.concatenate([past[0], k], 2) if past else k
        all_v = np.concatenate([past[1], v], 2) if past else v
        total = length + before
        own, key = np.arange(length)[:, None] + before, np.arange(total)[None]
        seen = np.where(key <= own, 0, -INF)

        def expected(bias, sink=None, q=q, all_k=all_k, all_v=all_v):
            wide_k, wide_v = np.repeat(all_k, 2, 1), np.repeat(all_v, 2, 1)
            scores = q @ wide_k.swapaxes(-1, -2) / 4 + bias
            p = softmax(scores) if sink is None else with_sink(scores, sink)
            return [flat(p @ wide_v), all_k, all_v]

        at = f"{length} after {before}"
        yield case(q, k, v, past, {}, f"packed {at}", packed=True), expected(seen)
        window = np.where(key > own - 3, seen, -INF)
        yield case(q, k, v, past, {}, f"window {at}", local_window_size=3), expected(window)
        room = 6  # of a cache that keeps the last keys, in its first rows
        kept, last = (n if n <= room else 3 + (n - 3) % (room - 2) for n in (before, total))
        rest = [real(2, 2, room - kept, 16) for _ in range(2)]
        caches = [
            np.concatenate([x[:, :, before - kept : before], y], 2)
            for x, y in zip((all_k, all_v), rest)
        ]
        after = [
            np.concatenate([x[:, :, total - last :], y[:, :, last:]], 2)
            for x, y in zip((all_k, all_v), caches)
        ]
        slides = {"sliding_window_cache": 1, "local_window_size": 3, "total": total}
        yield case(q, k, v, caches, {}, f"slides {at}", **slides), [expected(window)[0], *after]
        yield case(q, k, v, past, {}, f"all {at}", causal=0), expected(0)
        yield case(q, k, v, past, {}, f"smooth {at}", smooth_softmax=1), expected(seen, 0)
        sink, bias = real(4), real(1, 4, length, total)
        yield (
            case(q, k, v, past, {10: bias, 11: sink}, f"sink {at}", local_window_size=2),
            expected(np.where(key > own - 2, seen, -INF) + bias, sink[:, None, None]),
        )
        gains = real(16), real(16)

        def norm(x, gain):
            return x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5) * gain

        normed = norm(k, gains[1]).astype(np.float32)
        yield (
            case(q, k, v, past, {14: gains[0], 15: gains[1]}, f"norms {at}", qk_norm_epsilon=1e-5),
            expected(
                seen,
                q=norm(q, gains[0]),
                all_k=np.concatenate([past[0], normed], 2) if past else normed,
            ),
        )


def quantised_caches():
    """com.microsoft's GroupQueryAttention over caches of 8 and of 4 bits; ONNX Runtime's CPU gives
    the same."""

    def unpacked(cache, bits):
        if bits == 8:
            return cache.astype(np.float32)
        pairs = np.stack([cache & 15, cache >> 4], -1).astype(np.float32) - 8
        return pairs.reshape(*cache.shape[:-1], 2 * cache.shape[-1])

    def packed(numbers, bits):
        if bits == 8:
            return numbers.astype(np.int8)
        pairs = (numbers + 8).astype(np.uint8).reshape(*numbers.shape[:-1], -1, 2)
        return pairs[..., 0] | pairs[..., 1] << 4

    def flat(x):
        return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], -1)

    for bits, kind, length, before in (
        (8, "PER_TENSOR", 1, 4),
        (8, "PER_CHANNEL", 3, 5),
        (4, "PER_TENSOR", 3, 4),
        (4, "PER_CHANNEL", 1, 6),
        (4, "PER_CHANNEL", 5, 0),
    ):
        q, k, v = real(2, 4, length, 8), real(2, 2, length, 8), real(2, 2, length, 8)
        most = 2 ** (bits - 1) - 1
        shape = (1,) if kind == "PER_TENSOR" else (2, 1, 8)
        scales = [(rng.uniform(1, 3, shape) / most).astype(np.float32) for _ in "kv"]
        width, stored = (8, np.int8) if bits == 8 else (4, np.uint8)
        ends = np.iinfo(stored)
        past = [
            rng.integers(ends.min, ends.max + 1, (2, 2, before, width)).astype(stored) for _ in "kv"
        ]
        new = [
            np.clip(np.rint(x / s), -most - 1, most) for x, s in zip((k, v), scales, strict=True)
        ]
        both = [np.concatenate([unpacked(p, bits), n], 2) for p, n in zip(past, new, strict=True)]
        wide_k, wide_v = (np.repeat(b * s, 2, 1) for b, s in zip(both, scales, strict=True))
        total = length + before
        scores = q @ wide_k.swapaxes(-1, -2) / math.sqrt(8) + causal(length, total, before)
        ends_at = [np.full(2, total - 1, np.int32), np.array([total], np.int32)]
        yield (
            Case(
                "GroupQueryAttention",
                17,
                [flat(q), flat(k), flat(v), *(past if before else [None, None]), *ends_at]
                + [None] * 5
                + scales,
                3,
                domain="com.microsoft",
                name=f"cache of {bits} bits {kind} {length} after {before}",
                num_heads=4,
                kv_num_heads=2,
                k_quant_type=kind,
                v_quant_type=kind,
                kv_cache_bit_width=bits,
            ),
            [flat(softmax(scores) @ wide_v), *(packed(b, bits) for b in both)],
        )


def decoding():
    """com.microsoft's DecoderMaskedMultiHeadAttention: one token, over a buffer with room for more
    keys or over a past of just its length; ONNX Runtime's CPU, which has the former, gives the
    same."""
    for shares, more in ((1, ()), (1, ("mask", "scores", "bias")), (0, ("mask",)), (0, ("bias",))):
        past, room = 5, 9 if shares else 5
        q, k, v = real(2, 1, 12), real(2, 1, 12), real(2, 1, 12)
        old = [real(2, 3, room, 4) for _ in "kv"]
        mask = rng.integers(0, 2, (2, past + 1)).astype(np.int32)
        mask[:, 0] = 1
        scores, bias = real(1, 3, 1, past + 1), real(36)
        new = [
            (x + b if "bias" in more else x).reshape(2, 1, 3, 4).transpose(0, 2, 1, 3)
            for x, b in zip((q, k, v), np.split(bias, 3), strict=True)
        ]
        both = [np.concatenate([o[:, :, :past], n], 2) for o, n in zip(old, new[1:], strict=True)]
        added = np.zeros((1, 1, 1, past + 1), np.float32)
        if "mask" in more:
            added = added + np.where(mask == 0, -1e4, 0)[:, None, None]
        if "scores" in more:
            added = added + scores
        out = attention(new[0], *both, bias=added)[0]
        present = [
            np.concatenate([b, o[:, :, past + 1 :]], 2) for b, o in zip(both, old, strict=True)
        ]
        inputs = [q, k, v, mask if "mask" in more else None, scores if "scores" in more else None]
        inputs += [*old, np.array([past], np.int32), None, None, bias if "bias" in more else None]
        yield (
            Case(
                "DecoderMaskedMultiHeadAttention",
                17,
                inputs,
                3,
                domain="com.microsoft",
                name=f"decoder {shares} {more}",
                num_heads=3,
                past_present_share_buffer=shares,
            ),
            [out.transpose(0, 2, 1, 3).reshape(2, 1, 12), *present],
        )


def projected_attention():
    """com.microsoft's Attention with a past, and masks of every query's own."""
    for before in (0, 4):
        x, w, b = real(2, 3, 6), real(6, 24), real(24)
        past = real(2, 2, 2, before, 4) if before else None
        total = before + 3
        q, k, v = (
            part.reshape(2, 3, 2, 4).transpose(0, 2, 1, 3) for part in np.split(x @ w + b, 3, -1)
        )
        if before:
            k, v = np.concatenate([past[0], k], 2), np.concatenate([past[1], v], 2)
        each = rng.integers(0, 2, (2, 3, total)).astype(np.int32)
        each[..., 0] = 1
        square = rng.integers(0, 2, (2, 1, 9, 9)).astype(np.int32)
        square[..., 0] = 1
        masks = {
            "no mask": (None, 0),
            "keys": (each[:, 0], np.where(each[:, :1] == 0, -1e4, 0)[:, None]),
            "keys of queries": (each, np.where(each == 0, -1e4, 0)[:, None]),
            "all positions": (square, np.where(square[:, :, before:total, :total] == 0, -1e4, 0)),
        }
        for name, (mask, bias) in masks.items():
            for alone in (0, 1):
                hidden = causal(3, total, before) if alone else 0
                out = attention(q, k, v, bias=bias + hidden)[0]
                yield (
                    Case(
                        "Attention",
                        17,
                        [x, w, b, mask, past],
                        2,
                        domain="com.microsoft",
                        name=f"Attention {name} after {before}, {alone}",
                        num_heads=2,
                        unidirectional=alone,
                    ),
                    [out.transpose(0, 2, 1, 3).reshape(2, 3, 8), np.stack([k, v])],
                )


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def mixed(x, router, layers, k, between, normalised):
    """Tokens by the k experts that the router gives most; layers are weights with biases."""
    tokens = x.reshape(-1, x.shape[-1])
    out = np.zeros_like(tokens)
    for t, weights in enumerate(softmax(router)):
        best = np.argsort(-weights, kind="stable")[:k]
        share = weights[best] / (weights[best].sum() if normalised else 1)
        for expert, part in zip(best, share, strict=True):
            made = [w[expert] @ tokens[t] + b[expert] for w, b in (layers[0], *layers[2:])]
            w, b = layers[1]
            out[t] += part * (w[expert] @ between(*made) + b[expert])
    return out.reshape(x.shape)


def experts():
    """com.microsoft's MoE. ONNX Runtime's CPU has it without weights apart for gates."""

    def swiglu(gate, value, alpha=1.0, beta=0.0, limit=math.inf):
        gate, value = np.minimum(gate, limit), np.clip(value, -limit, limit)
        return gate * sigmoid(alpha * gate) * (value + beta)

    def gelu(a):
        return 0.5 * a * (1 + np.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))

    def silu(a, gate=1):
        return a * sigmoid(a) * gate

    bounded = {"activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 0.7}
    ways = [
        ("relu", {}, lambda a: np.maximum(a, 0)),
        ("gelu", {}, gelu),
        ("silu", {}, silu),
        ("identity", {}, lambda a: a),
        ("silu", {"gates": True}, silu),
        ("swiglu", {"gates": True}, swiglu),
        ("swiglu", {"swiglu_fusion": 1}, lambda a: swiglu(a[0::2], a[1::2])),
        ("swiglu", {"swiglu_fusion": 2}, lambda a: swiglu(*np.split(a, 2))),
        (
            "swiglu",
            {"swiglu_fusion": 1, **bounded},
            lambda a: swiglu(a[0::2], a[1::2], 1.702, 1.0, np.float32(0.7)),
        ),
    ]
    for i, (name, settings, between) in enumerate(ways):
        settings = dict(settings)
        gates = settings.pop("gates", False)
        first = 12 if "swiglu_fusion" in settings else 6
        sizes = [(4, first, 5), (4, 5, 6)] + [(4, 6, 5)] * gates
        biased, k = i % 2 == 0, 1 + i % 4
        layers = [(real(*size), real(*size[:2]) * biased) for size in sizes]
        x, router = real(2, 3, 5), real(6, 4)
        inputs = [part for w, b in layers for part in (w, b if biased else None)]
        yield (
            Case(
                "MoE",
                17,
                [x, router, *inputs],
                domain="com.microsoft",
                name=f"MoE {name} {settings} gates {gates}",
                k=k,
                activation_type=name,
                normalize_routing_weights=i % 3 % 2,
                **settings,
            ),
            [mixed(x, router, layers, k, between, i % 3 % 2)],
        )
    # Of equal experts the first are taken.
    layers = [(real(4, 6, 5), real(4, 6)), (real(4, 5, 6), real(4, 5))]
    router = np.array([[0, 0, 0, 0], [1, 2, 1, 1], [0, 1, 0, 1]], np.float32)
    x = real(3, 5)
    relu = ways[0][2]
    yield (
        Case("MoE", 17, [x, router, *layers[0], *layers[1]], domain="com.microsoft", k=2),
        [mixed(x, router, layers, 2, relu, False)],
    )


def whole_numbers():
    """Products of integers wrap as NumPy's do."""
    for kind in (np.int64, np.uint64, np.int32, np.uint32):
        least, most = (0 if kind in (np.uint64, np.uint32) else -9), np.iinfo(kind).max // 3
        a, b = (rng.integers(least, most, shape).astype(kind) for shape in ((2, 3, 40), (40, 5)))
        yield Case("MatMul", 13, [a, b], name=f"MatMul {kind.__name__}"), [a @ b]
        c = rng.integers(least, most, (2, 5, 40)).astype(kind)
        yield (
            Case("Einsum", 12, [a, c], equation="bik,bjk->bij", name=f"Einsum {kind.__name__}"),
            [np.einsum("bik,bjk->bij", a, c)],
        )
        yield Case("Einsum", 12, [a], equation="bik->k"), [np.einsum("bik->k", a)]
        three = [a[:, :, :4], b[:4, :], c[:, :, :4]]
        yield (
            Case("Einsum", 12, three, equation="bik,kj,bjk->bi", name="Einsum of three"),
            [np.einsum("bik,kj,bjk->bi", *three)],
        )


def grouped_weights():
    """MatMulNBits whose numbers have the scale, and zero point, of a group that g_idx names."""
    a, scale = real(3, 64), np.abs(real(6, 2))
    packed = rng.integers(0, 256, (6, 2, 16)).astype(np.uint8)
    codes = np.stack([packed & 15, packed >> 4], -1).reshape(6, 64).astype(float)
    group = rng.integers(0, 2, 64).astype(np.int32)
    sizes = {"K": 64, "N": 6, "bits": 4, "block_size": 32, "domain": "com.microsoft"}
    zero = real(6, 2)
    for points, shift in ((None, 8), (zero.reshape(-1), zero[:, group])):
        inputs = [a, packed, scale.reshape(-1), points, group]
        weights = (codes - shift) * scale[:, group]
        yield Case("MatMulNBits", 17, inputs, name="groups", **sizes), [a @ weights.T]


def fake_quantised():
    """QONNX's and FINN's operators by their own definitions, com.microsoft's mean of integers."""
    x = real(2, 3, 4) * 3
    scale, shift = np.abs(real(3, 1)) + 0.1, np.array(1, np.float32)
    ways = {"ROUND": np.rint, "CEIL": np.ceil, "FLOOR": np.floor, "ROUND_TO_ZERO": np.trunc}
    for way, to_grid in ways.items():
        for signed, narrow in ((1, 0), (1, 1), (0, 0), (0, 1)):
            low = -8 + narrow if signed else 0
            high = 7 if signed else 15 - narrow
            grid = to_grid(np.clip(x / scale + shift, low, high))
            bits = np.array(4, np.float32)
            yield (
                Case(
                    "Quant",
                    17,
                    [x, scale, shift, bits],
                    domain="qonnx.custom_op.general",
                    name=f"Quant {way} {signed} {narrow}",
                    rounding_mode=way,
                    signed=signed,
                    narrow=narrow,
                ),
                [(grid - shift) * scale],
            )
    v, steps = real(2, 3, 4, 4), np.sort(real(3, 7), 1)
    reached = (v[..., None] >= steps[:, None, None]).sum(-1)
    finn = {"domain": "finn.custom_op.general", "out_dtype": "INT4"}
    yield (
        Case("MultiThreshold", 17, [v, steps], out_scale=2.0, out_bias=-8.0, **finn),
        [reached * 2.0 - 8],
    )
    pixels = v.transpose(0, 2, 3, 1).copy()
    yield (
        Case("MultiThreshold", 17, [pixels, steps], data_layout="NHWC", **finn),
        [reached.transpose(0, 2, 3, 1).astype(np.float32)],
    )
    codes = rng.integers(0, 256, (2, 4, 5)).astype(np.uint8)
    small, zero, wide, mid = (
        np.array(0.1, np.float32),
        np.array(9, np.uint8),
        np.array(0.07, np.float32),
        np.array(20, np.uint8),
    )
    mean = ((codes - 9.0) * small).mean((0, 2), keepdims=True)
    yield (
        Case(
            "QLinearReduceMean",
            17,
            [codes, small, zero, wide, mid],
            domain="com.microsoft",
            axes=[0, -1],
        ),
        [np.clip(np.rint(mean / wide) + 20, 0, 255).astype(np.uint8)],
    )


def grouped_norms():
    """com.microsoft's group norms, channels last or not."""
    x, skip, bias, gain, shift = real(2, 5, 6, 8), real(2, 8), real(8), real(8), real(8)
    for last in (1, 0):
        for silu in (0, 1):

            def turned(v, last=last):
                return v if last else v.transpose(0, 3, 1, 2)

            def norm(v, silu=silu):
                g = v.reshape(2, 30, 4, 2)
                mean, var = g.mean((1, 3), keepdims=True), g.var((1, 3), keepdims=True)
                n = ((g - mean) / np.sqrt(var + 1e-4)).reshape(v.shape) * gain + shift
                return n / (1 + np.exp(-n)) if silu else n

            more = {"groups": 4, "channels_last": last, "activation": silu, "epsilon": 1e-4}
            inputs = [np.ascontiguousarray(turned(x)), gain, shift]
            yield (
                Case("GroupNorm", 17, inputs, domain="com.microsoft", **more),
                [turned(norm(x))],
            )
            both = x + skip[:, None, None] + bias
            yield (
                Case("SkipGroupNorm", 17, [*inputs, skip, bias], 2, domain="com.microsoft", **more),
                [turned(norm(both)), turned(both)],
            )


# ---- reductions and movement
# -----------------------------------------------------------------------


def reductions():
    x = real(3, 4, 5)
    for op, f in {
        "ReduceSum": np.sum,
        "ReduceMean": np.mean,
        "ReduceMax": np.max,
        "ReduceMin": np.min,
        "ReduceProd": np.prod,
        "ReduceL1": lambda v, **k: np.abs(v).sum(**k),
        "ReduceL2": lambda v, **k: np.sqrt((v**2).sum(**k)),
        "ReduceSumSquare": lambda v, **k: (v**2).sum(**k),
        "ReduceLogSumExp": lambda v, **k: np.log(np.exp(v).sum(**k)),
    }.items():
        yield (Case(op, 18, [x, ints(0, -1)]), [f(x, axis=(0, 2), keepdims=True)])
        yield (Case(op, 18, [x, ints(1)], keepdims=0), [f(x, axis=1)])
    yield Case("ReduceMean", 18, [x], noop_with_empty_axes=1, name="no reduction"), [x]
    yield (
        Case("ReduceMax", 20, [x > 0, ints(1)], keepdims=0, name="ReduceMax bool"),
        [(x > 0).max(1)],
    )


def remainders():
    x = np.array([-8, 4, -1], np.int32)
    # Shifts beyond the width, and negative ones, leave copies of the sign.
    for dtype in (np.int8, np.int32, np.int64):
        a, b = x.astype(dtype)[None], np.array([[1, 100, -1]], dtype)
        yield (
            Case("BitShift", 28, [a, b], direction="RIGHT", name=f"BitShift right {dtype}"),
            [np.array([[-4, 0, -1]], dtype)],
        )
        yield (
            Case("BitShift", 28, [a, b], direction="LEFT", name=f"BitShift left {dtype}"),
            [np.array([[-16, 0, 0]], dtype)],
        )
    a, b = real(4, 5) * 9, real(4, 5)
    b[0, :2], a[0, :2], b[1, 0] = INF, (-1, 1), 0
    with np.errstate(invalid="ignore"):
        yield Case("Mod", 28, [a, b], name="Mod of reals"), [np.mod(a, b)]
        yield Case("Mod", 28, [a, b], fmod=1, name="Mod of reals, fmod"), [np.fmod(a, b)]
    yield (Case("BitCast", 26, [a > 0], to=2, name="BitCast of bool"), [(a > 0).astype(np.uint8)])
    h = real(3, 7).astype(np.float16)
    e = np.exp(h - h.max(-1, keepdims=True))
    yield Case("Softmax", 13, [h], name="Softmax float16"), [e / e.sum(-1, keepdims=True)]


def movement():
    x = real(2, 3, 4, 6)
    cut = x.reshape(2, 3, 2, 2, 3, 2)
    for mode, order in (("DCR", (0, 3, 5, 1, 2, 4)), ("CRD", (0, 1, 3, 5, 2, 4))):
        yield (
            Case("SpaceToDepth", 28, [x], blocksize=2, mode=mode, name=f"SpaceToDepth {mode}"),
            [cut.transpose(order).reshape(2, 12, 2, 3)],
        )
    x = real(7, 3)
    yield Case("Split", 18, [x], 3, num_outputs=3), [x[:3], x[3:6], x[6:]]
    y = real(4, 5)
    yield (
        Case("Pad", 19, [y, ints(2, 3), None, ints(1)], name="Pad wrap", mode="wrap"),
        [np.pad(y, ((0, 0), (2, 3)), mode="wrap")],
    )
    yield (
        Case("Pad", 18, [y, ints(1, 0, 2, 1), np.array(7, np.float32)]),
        [np.pad(y, ((1, 2), (0, 1)), constant_values=7)],
    )
    yield (
        Case("Pad", 18, [y, ints(-1, 2), None, ints(-2)], name="Pad negative", mode="edge"),
        [np.pad(y[1:], ((0, 2), (0, 0)), mode="edge")],
    )
    yield (
        Case("CenterCropPad", 18, [real(5, 4) * 0 + y[0, 0], ints(3, 6)]),
        [np.pad(np.full((3, 4), y[0, 0], np.float32), ((0, 0), (1, 1)))],
    )
    cache, update = real(2, 6, 3), real(2, 2, 3)
    after = cache.copy()
    for b, at in enumerate((1, 5)):
        for n in range(2):
            after[b, (at + n) % 6] = update[b, n]
    yield (Case("TensorScatter", 24, [cache, update, ints(1, 5)], mode="circular", axis=1), [after])
    blocks = real(1, 2 * 4, 4)
    image = np.zeros((1, 2, 4, 4), np.float32)
    for c in range(2):
        for t in range(4):
            for w in range(4):
                image[0, c, w // 2 * 2 + t // 2, w % 2 * 2 + t % 2] += blocks[0, c * 4 + t, w]
    yield Case("Col2Im", 18, [blocks, ints(4, 4), ints(2, 2)], strides=[2, 2]), [image]


# ---- interpolation
# ---------------------------------------------------------------------------------


def triangle(x):
    return max(0.0, 1 - abs(x))


def cubic(x, a=-0.75):
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def filter_matrix(n_in, n_out, scale, f, antialias, symmetric=False):
    """Rows of weights of every input element, half-pixel coordinates, edges repeated."""
    m = np.zeros((n_out, n_in))
    stretch = min(scale, 1.0) if antialias else 1.0
    for o in range(n_out):
        x = (o + 0.5) / scale - 0.5
        if symmetric:
            x += n_in / 2 * (1 - n_out / (n_in * scale))
        reach = int(math.ceil(2 / stretch)) + 2
        taps = range(math.floor(x) - reach, math.floor(x) + reach + 1)
        weights = [f((t - x) * stretch) for t in taps]
        for t, w in zip(taps, weights):
            m[o, min(max(t, 0), n_in - 1)] += w / (sum(weights) if antialias else 1)
    return m


def resizes():
    x = real(1, 2, 9, 7)
    for mode, f in (("linear", triangle), ("cubic", cubic)):
        for antialias in (0, 1):
            h = filter_matrix(9, 5, 5 / 9, f, antialias)
            w = filter_matrix(7, 4, 4 / 7, f, antialias)
            yield (
                Case(
                    "Resize",
                    18,
                    [x, None, None, ints(5, 4)],
                    name=f"Resize {mode} {antialias}",
                    axes=[2, 3],
                    mode=mode,
                    antialias=antialias,
                ),
                [np.einsum("oh,nchw,pw->ncop", h, x, w)],
            )
    scales = np.array([0.6, 1.7], np.float32)
    h = filter_matrix(9, 5, float(scales[0]), triangle, 0, True)
    w = filter_matrix(7, 11, float(scales[1]), triangle, 0, True)
    case = Case(
        "Resize",
        19,
        [x, None, scales],
        name="Resize half_pixel_symmetric",
        axes=[2, 3],
        mode="linear",
        coordinate_transformation_mode="half_pixel_symmetric",
    )
    case.fed = lambda i: i == 0
    yield case, [np.einsum("oh,nchw,pw->ncop", h, x, w)]
    # Aspect ratio kept: 6 x 14 asked, not larger is 6/9 of both; 6 x 4.67 -> 5.
    h, w = filter_matrix(9, 6, 6 / 9, triangle, 0), filter_matrix(7, 5, 6 / 9, triangle, 0)
    yield (
        Case(
            "Resize",
            18,
            [x, None, None, ints(6, 14)],
            name="Resize not_larger",
            axes=[2, 3],
            mode="linear",
            keep_aspect_ratio_policy="not_larger",
        ),
        [np.einsum("oh,nchw,pw->ncop", h, x, w)],
    )
    rows = [math.floor((o + 0.5) / 2) for o in range(18)]
    yield (
        Case("Resize", 18, [x, None, None, ints(18)], name="Resize nearest", axes=[2]),
        [x[:, :, rows]],
    )


def bilinear(image, y, x):
    """Of a 2-D image with zeros all around."""
    total = 0.0
    for i in (math.floor(y), math.floor(y) + 1):
        for j in (math.floor(x), math.floor(x) + 1):
            if 0 <= i < image.shape[0] and 0 <= j < image.shape[1]:
                total += image[i, j] * (1 - abs(y - i)) * (1 - abs(x - j))
    return total


def deformed():
    x, w, b = real(1, 4, 5, 6), real(2, 4, 3, 3), real(2)
    offset, mask = real(1, 2 * 9 * 2, 3, 4) / 2, np.abs(real(1, 2 * 9, 3, 4))
    out = np.zeros((1, 2, 3, 4))
    shift = offset.reshape(2, 9, 2, 3, 4)
    for o, r, c in np.ndindex(2, 3, 4):
        for channel, k in np.ndindex(4, 9):
            g = channel // 2
            y, at = r + k // 3 + shift[g, k, 0, r, c], c + k % 3 + shift[g, k, 1, r, c]
            out[0, o, r, c] += (
                w[o, channel, k // 3, k % 3]
                * bilinear(x[0, channel], y, at)
                * mask.reshape(2, 9, 3, 4)[g, k, r, c]
            )
        out[0, o, r, c] += b[o]
    yield Case("DeformConv", 19, [x, w, offset, b, mask], offset_group=2), [out]


def roi_sample(image, y, x):
    """The weighted neighbours of a point; those of one more than an element outside are one 0."""
    height, width = image.shape
    if not (-1 <= y <= height and -1 <= x <= width):
        return [0.0]
    y, x = min(max(y, 0), height - 1), min(max(x, 0), width - 1)
    low, left = int(y), int(x)
    high, right = min(low + 1, height - 1), min(left + 1, width - 1)
    fy, fx = y - low, x - left
    return [
        (1 - fy) * (1 - fx) * image[low, left],
        (1 - fy) * fx * image[low, right],
        fy * (1 - fx) * image[high, left],
        fy * fx * image[high, right],
    ]


def roi_aligned(x, rois, images, size, ratio, scale, mode, half):
    out = np.zeros((len(rois), x.shape[1], *size))
    for r, (x0, y0, x1, y1) in enumerate(np.asarray(rois, np.float64) * scale):
        sides = [y1 - y0, x1 - x0] if half else [max(y1 - y0, 1), max(x1 - x0, 1)]
        bins = [side / n for side, n in zip(sides, size)]
        counts = [ratio or min(max(math.ceil(side), 1), 1024) for side in bins]
        start = np.array([y0, x0]) - (0.5 if half else 0)
        for c, by, bx in np.ndindex(x.shape[1], *size):
            points = [
                roi_sample(
                    x[images[r], c],
                    start[0] + (by + (iy + 0.5) / counts[0]) * bins[0],
                    start[1] + (bx + (ix + 0.5) / counts[1]) * bins[1],
                )
                for iy, ix in np.ndindex(*counts)
            ]
            if mode == "avg":
                out[r, c, by, bx] = sum(map(sum, points)) / len(points)
            else:
                out[r, c, by, bx] = max(map(max, points))
    return out


def regions():
    """Inside, across the border, beyond it, turned round, far too large and of no size."""
    x, images = real(2, 2, 6, 7), ints(0, 1, 1, 0, 1, 0)
    rois = np.array(
        [[0.5, 1, 4, 5], [-3, -2, 3, 9], [9, 9, 14, 20], [5, 4, 1, 1], [-9, -40, 30, 50], [2] * 4],
        np.float32,
    )
    for mode in ("avg", "max"):
        for ratio in (0, 1, 3):
            for half in (False, True):
                size, scale = (3, 2), float(np.float32(0.75))
                yield (
                    Case(
                        "RoiAlign",
                        16,
                        [x, rois, images],
                        mode=mode,
                        sampling_ratio=ratio,
                        output_height=size[0],
                        output_width=size[1],
                        spatial_scale=scale,
                        coordinate_transformation_mode="half_pixel"
                        if half
                        else "output_half_pixel",
                        name=f"RoiAlign {mode} {ratio} {half}",
                    ),
                    [roi_aligned(x, rois, images, size, ratio, scale, mode, half)],
                )


def others():
    a, b = rng.integers(0, 99, (3, 4)), rng.integers(0, 99, (3, 4))
    yield Case("BitwiseAnd", 18, [a, b]), [a & b]
    yield Case("BitwiseXor", 18, [a, b]), [a ^ b]
    x = real(2, 8, 3)
    signal = x.transpose(0, 2, 1)[..., None].copy()
    spectrum = np.fft.rfft(signal[..., 0], axis=-1)
    yield (
        Case("DFT", 20, [signal, None, np.array(2, np.int64)], onesided=1),
        [np.stack([spectrum.real, spectrum.imag], -1)],
    )
    q, s = rng.integers(-128, 128, (4, 6)).astype(np.int8), np.abs(real(4, 3)) + 0.1
    yield (Case("DequantizeLinear", 21, [q, s], axis=1, block_size=2), [q * np.repeat(s, 2, 1)])
    v = real(4, 6) * 9
    blocks = np.repeat(s, 2, 1)
    yield (
        Case("QuantizeLinear", 21, [v, s, np.zeros((4, 3), np.int8)], axis=1, block_size=2),
        [np.clip(np.rint(v / blocks), -128, 127).astype(np.int8)],
    )


def refused(accsim):
    """What has no meaning that is known must be refused with its name, not computed as if it
    weren't there; the number of failures."""
    x, image = real(2, 3), real(1, 4, 6, 6)
    roi = [image, np.array([[0, 0, 3, 3]], np.float32), ints(0)]
    size = {"axes": [2, 3]}
    cases = [
        (Case("Relu", 13, [x], colour=3), "'colour'"),
        (Case("Relu", 99, [x]), "opset 99"),
        (Case("SpaceToDepth", 28, [image], blocksize=2, mode="RCD"), "'RCD'"),
        (Case("DepthToSpace", 13, [image], blocksize=2, mode="RCD"), "'RCD'"),
        (Case("Gelu", 20, [x], approximate="erf"), "'erf'"),
        (Case("RoiAlign", 16, roi, mode="min"), "'min'"),
        (Case("RoiAlign", 16, roi, coordinate_transformation_mode="pixel"), "'pixel'"),
        (Case("Resize", 18, [image, None, None, ints(9, 9)], nearest_mode="up", **size), "'up'"),
        (
            Case(
                "Resize",
                18,
                [image, None, None, ints(9, 9)],
                coordinate_transformation_mode="pixel",
                **size,
            ),
            "'pixel'",
        ),
        (
            Case("Attention", 24, [real(1, 2, 3, 4)] * 3, qk_matmul_output_mode=4),
            "qk_matmul_output_mode",
        ),
    ]
    failed = 0
    for case, word in cases:
        with tempfile.TemporaryDirectory() as folder:
            got = case.run(accsim, folder)
        if not isinstance(got, str) or word not in got:
            failed += 1
            print(f"NOT REFUSED {case.name} {case.attributes}: {got}")
    return failed


def main():
    x = real(2, 3)
    if check(sys.argv[1], [(Case("Neg", 13, [x], name="made wrong on purpose"), [x])]) != 1:
        raise SystemExit("the check can't fail")
    cases = [
        pair
        for family in (
            activations,
            norms,
            attentions,
            masked_attentions,
            rotations,
            recurrent_attention,
            grouped_query,
            quantised_caches,
            decoding,
            projected_attention,
            experts,
            whole_numbers,
            grouped_weights,
            fake_quantised,
            grouped_norms,
            reductions,
            remainders,
            movement,
            resizes,
            deformed,
            regions,
            others,
        )
        for pair in family()
    ]
    return 1 if check(sys.argv[1], cases) + refused(sys.argv[1]) else 0


if __name__ == "__main__":
    sys.exit(main())
