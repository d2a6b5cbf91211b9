#!/usr/bin/python3
"""Do single operators give what ONNX Runtime gives? kernels_test.py ACCSIM

For operators whose definition is long (interpolation, sampling, fused and quantised ones) a second
implementation says more than a formula. Exit code 77 without node, npm, numpy or python3-onnx.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "sim" / "ref"))

try:
    import numpy as np
    from networks_test import install
    from one_node import Case, close
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

MS = "com.microsoft"
rng = np.random.default_rng(5)


def real(*shape):
    return rng.uniform(-2, 2, shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def u8(*shape):
    return rng.integers(0, 256, shape).astype(np.uint8)


def i8(*shape):
    return rng.integers(-128, 128, shape).astype(np.int8)


def f(value):
    return np.array(value, np.float32)


def zero(value, kind=np.uint8):
    return np.array(value, kind)


def interpolation():
    x = real(1, 2, 7, 9)
    for mode in ("linear", "cubic", "nearest"):
        for way in ("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"):
            for size in ((5, 4), (13, 18)):
                yield Case(
                    "Resize",
                    18,
                    [x, None, None, ints(*size)],
                    axes=[2, 3],
                    mode=mode,
                    coordinate_transformation_mode=way,
                    name=f"Resize {mode} {way} {size}",
                )
    for size in ((3, 4), (5, 9)):
        for mode in ("linear", "cubic"):
            yield Case(
                "Resize",
                18,
                [x, None, None, ints(1, 2, *size)],
                mode=mode,
                antialias=1,
                name=f"Resize antialias {mode} {size}",
            )
    yield Case(
        "Resize",
        18,
        [x, None, None, ints(5, 4)],
        axes=[2, 3],
        mode="cubic",
        exclude_outside=1,
        cubic_coeff_a=-0.5,
        name="Resize exclude_outside",
    )
    roi = np.array([0, 0, 0.1, 0.2, 1, 1, 0.8, 0.9], np.float32)
    for mode in ("linear", "nearest"):
        for scales in ((1, 1, 2, 2), (1, 1, 1.5, 0.5)):
            yield Case(
                "Resize",
                13,
                [x, roi, np.array(scales, np.float32)],
                mode=mode,
                coordinate_transformation_mode="tf_crop_and_resize",
                name=f"Resize tf_crop_and_resize {mode} {scales}",
            )
    for policy in ("not_larger", "not_smaller"):
        yield Case(
            "Resize",
            18,
            [x, None, None, ints(12, 12)],
            axes=[2, 3],
            mode="linear",
            keep_aspect_ratio_policy=policy,
            name=f"Resize {policy}",
        )
    grid = (rng.uniform(-1.2, 1.2, (1, 4, 5, 2))).astype(np.float32)
    for mode in ("linear", "cubic", "nearest"):
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                yield Case(
                    "GridSample",
                    20,
                    [x, grid],
                    mode=mode,
                    padding_mode=padding,
                    align_corners=align,
                    name=f"GridSample {mode} {padding} {align}",
                )
    for align in (0, 1):
        yield Case("AffineGrid", 20, [real(2, 2, 3), ints(2, 3, 4, 5)], align_corners=align)
        yield Case("AffineGrid", 20, [real(1, 3, 4), ints(1, 3, 2, 4, 5)], align_corners=align)
    rois = np.array([[0, 0, 5, 4], [1, 2, 8, 6]], np.float32)
    for mode in ("half_pixel", "output_half_pixel"):
        for ratio in (0, 2):
            yield Case(
                "RoiAlign",
                16,
                [x, rois, ints(0, 0)],
                output_height=3,
                output_width=2,
                sampling_ratio=ratio,
                spatial_scale=0.9,
                coordinate_transformation_mode=mode,
                name=f"RoiAlign {mode} {ratio}",
            )
    rois = np.array([[0, 0, 0, 5, 4], [0, 1, 2, 8, 6]], np.float32)
    yield Case("MaxRoiPool", 13, [x, rois], pooled_shape=[3, 2], spatial_scale=0.8)


def windows():
    x = real(2, 3, 11, 9)
    for op in ("AveragePool", "MaxPool", "LpPool"):
        for more in (
            {},
            {"ceil_mode": 1},
            {"dilations": [2, 1]},
            {"auto_pad": "SAME_UPPER"},
            {"auto_pad": "SAME_LOWER"},
            {"pads": [1, 0, 1, 1]},
        ):
            if op == "LpPool" and "ceil_mode" in more:
                continue
            yield Case(
                op, 19, [x], kernel_shape=[3, 2], strides=[2, 2], name=f"{op} {more}", **more
            )
    yield Case(
        "AveragePool",
        19,
        [x],
        kernel_shape=[3, 3],
        strides=[2, 2],
        pads=[1, 1, 1, 1],
        count_include_pad=1,
        name="AveragePool include pad",
    )
    yield Case("MaxPool", 12, [x], 2, kernel_shape=[3, 2], strides=[2, 2], name="MaxPool indices")
    yield Case("Conv", 11, [x, real(4, 3, 3, 2), real(4)], pads=[1, 0, 2, 1], dilations=[2, 1])
    yield Case("Conv", 11, [real(1, 6, 8, 8), real(12, 1, 3, 3)], group=6, strides=[3, 2])
    yield Case("Conv", 11, [real(1, 4, 9), real(6, 2, 3)], group=2, auto_pad="SAME_LOWER")
    yield Case("Conv", 11, [real(1, 2, 4, 5, 6), real(3, 2, 2, 3, 2)], pads=[1, 0, 1, 0, 1, 0])
    for more in (
        {},
        {"strides": [2, 3]},
        {"strides": [2, 2], "output_padding": [1, 1]},
        {"pads": [1, 0, 0, 1]},
        {"dilations": [2, 2]},
        {"strides": [2, 2], "group": 3},
    ):
        w = real(3, 2 if "group" not in more else 1, 3, 3)
        yield Case(
            "ConvTranspose",
            11,
            [x, w, real(2 if "group" not in more else 3)],
            name=f"ConvTranspose {more}",
            **more,
        )
    yield Case("Col2Im", 18, [real(2, 3 * 6, 12), ints(5, 5), ints(2, 3)])
    yield Case("CenterCropPad", 18, [real(5, 4), ints(2, 7)])
    for mode in ("constant", "edge", "reflect", "wrap"):
        for pads in ((-1, 2, 1, -2), (2, -3, -1, 3), (-2, 3, -1, 3)):
            yield Case(
                "Pad",
                19,
                [real(2, 5, 7), ints(*pads), f(0.5), ints(1, 2)],
                mode=mode,
                name=f"Pad {mode} {pads}",
            )


def sequences():
    x = real(5, 2, 3)
    for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
        for direction, n in (("forward", 1), ("reverse", 1), ("bidirectional", 2)):
            w, r, b = real(n, gates * 4, 3), real(n, gates * 4, 4), real(n, gates * 8)
            yield Case(
                op,
                14,
                [x, w, r, b],
                2,
                hidden_size=4,
                direction=direction,
                name=f"{op} {direction}",
            )
            h = real(n, 2, 4)
            case = Case(
                op,
                14,
                [x, w, r, b, np.array([3, 5], np.int32), h],
                2,
                hidden_size=4,
                direction=direction,
                name=f"{op} {direction} lengths",
            )
            yield case
    n, w, r, b = 1, real(1, 12, 3), real(1, 12, 4), real(1, 24)
    yield Case("GRU", 14, [x, w, r, b], 2, hidden_size=4, linear_before_reset=1)
    w, r, b = real(1, 16, 3), real(1, 16, 4), real(1, 32)
    yield Case(
        "LSTM",
        14,
        [x, w, r, b, None, real(1, 2, 4), real(1, 2, 4), real(1, 12)],
        3,
        hidden_size=4,
        clip=0.8,
        name="LSTM peepholes, clip",
    )
    for more in ([], [None, real(1, 2, 4), real(1, 2, 4), real(1, 12)]):
        name = f"LSTM input_forget, {len(more)} more inputs"
        yield Case("LSTM", 14, [x, w, r, b, *more], 3, hidden_size=4, input_forget=1, name=name)


def signals():
    x = real(2, 10, 1)
    yield Case("DFT", 20, [x, None, np.array(1, np.int64)])
    yield Case("DFT", 20, [x, np.array(16, np.int64), np.array(1, np.int64)], onesided=1)
    yield Case("DFT", 20, [real(2, 10, 2), None, np.array(1, np.int64)], inverse=1)
    yield Case(
        "STFT", 17, [real(1, 32, 1), np.array(8, np.int64), np.hanning(16).astype(np.float32)]
    )
    for op in ("HannWindow", "HammingWindow", "BlackmanWindow"):
        yield Case(op, 17, [np.array(9, np.int64)])
        yield Case(op, 17, [np.array(9, np.int64)], periodic=0)
    yield Case(
        "MelWeightMatrix",
        17,
        [np.array(8, np.int64), np.array(64, np.int64), np.array(8192, np.int64), f(0), f(4096)],
    )


def algebra():
    yield Case("Einsum", 12, [real(2, 3, 4), real(2, 4, 5)], equation="bij,bjk->bik")
    yield Case("Einsum", 12, [real(3, 4), real(4), real(3, 2)], equation="ij,j,ik->k")
    yield Case("Einsum", 12, [real(2, 3, 3)], equation="...ii->...i")
    yield Case(
        "Gemm", 13, [real(4, 3), real(5, 4), real(3, 1)], transA=1, transB=1, alpha=0.5, beta=2.0
    )
    yield Case("MatMul", 13, [real(2, 1, 3, 4), real(5, 4, 2)])
    yield Case("MatMul", 13, [real(4), real(3, 4, 2)])
    a, b = (rng.integers(-(2**40), 2**40, shape) for shape in ((2, 3, 4), (2, 4, 5)))
    yield Case("MatMul", 13, [a, b], name="MatMul int64")
    yield Case("Einsum", 12, [a, b], equation="bij,bjk->bik", name="Einsum int64")
    yield Case("MatMulInteger", 10, [u8(4, 5), u8(5, 3), zero(7), zero(3)])
    yield Case("Det", 11, [real(2, 3, 3)])
    yield Case("TopK", 11, [real(3, 6), ints(4)], 2, axis=1)
    yield Case("CumSum", 14, [real(3, 4), np.array(1, np.int64)], exclusive=1, reverse=1)
    yield Case("Trilu", 14, [real(3, 5), np.array(1, np.int64)], upper=0)
    yield Case("LRN", 13, [real(2, 6, 3, 3)], size=5, alpha=0.1)
    yield Case("Softmax", 11, [real(2, 3, 4)], axis=1)
    yield Case("LogSoftmax", 13, [real(2, 3, 4)], axis=1)
    yield Case("InstanceNormalization", 13, [real(2, 3, 4), real(3), real(3)])
    yield Case("LpNormalization", 13, [real(2, 3, 4)], axis=1, p=1)
    yield Case("MeanVarianceNormalization", 13, [real(2, 3, 4, 4)])


def quantised():
    # Without VNNI the runtime adds pairs of uint8 x int8 products in 16 bits and saturates: weights
    # of 7 bits stay clear of that.
    x, w = u8(1, 3, 6, 6), i8(4, 3, 3, 3) // 2
    scales = [
        f(0.02),
        zero(120),
        w,
        np.abs(real(4)) / 50 + f(0.001),
        np.zeros(4, np.int8),
        f(0.3),
        zero(100),
    ]
    bias = rng.integers(-500, 500, 4).astype(np.int32)
    yield Case("QLinearConv", 10, [x, *scales, bias], pads=[1, 1, 1, 1])
    yield Case("ConvInteger", 10, [x, u8(4, 3, 3, 3), zero(120), zero(9)])
    yield Case(
        "QLinearMatMul",
        10,
        [u8(4, 5), f(0.02), zero(99), u8(5, 3), f(0.01), zero(140), f(0.05), zero(110)],
    )
    v = real(3, 4) * 40
    yield Case("QuantizeLinear", 13, [v, f(0.3), zero(5, np.int8)])
    yield Case("DynamicQuantizeLinear", 11, [v], 3)
    a, b = u8(2, 3), u8(1, 3)
    for op in ("QLinearAdd", "QLinearMul"):
        yield Case(op, 13, [a, f(0.1), zero(9), b, f(0.2), zero(120), f(0.4), zero(50)], domain=MS)
    yield Case("QLinearSigmoid", 13, [a, f(0.05), zero(120), f(0.004), zero(0)], domain=MS)
    yield Case(
        "QLinearLeakyRelu", 13, [a, f(0.05), zero(120), f(0.03), zero(20)], domain=MS, alpha=0.2
    )
    chosen = [rng.integers(0, 2, (2, 1)).astype(np.bool_), a, f(0.1), zero(9), b, f(0.2), zero(120)]
    yield Case("QLinearWhere", 13, [*chosen, f(0.4), zero(50)], domain=MS)
    yield Case(
        "QLinearConcat",
        13,
        [f(0.1), zero(7), a, f(0.1), zero(7), b, f(0.2), zero(120)],
        domain=MS,
        axis=0,
    )
    yield Case(
        "QLinearGlobalAveragePool",
        13,
        [u8(1, 3, 4, 4), f(0.1), zero(9), f(0.05), zero(20)],
        domain=MS,
        channels_last=0,
    )
    yield Case(
        "QLinearAveragePool",
        13,
        [u8(1, 3, 6, 6), f(0.1), zero(9), f(0.11), zero(3)],
        domain=MS,
        kernel_shape=[2, 2],
        strides=[2, 2],
    )

    gemm = [u8(3, 5), f(0.02), zero(99), u8(5, 4), f(0.01), zero(140)]
    counts = rng.integers(-300, 300, 4).astype(np.int32)
    yield Case("QGemm", 13, [*gemm, counts, f(0.05), zero(110)], domain=MS, alpha=1.0)
    gemm[0], gemm[3] = u8(5, 3), u8(4, 5)
    yield Case(
        "QGemm",
        13,
        [*gemm, counts],
        domain=MS,
        alpha=0.5,
        transA=1,
        transB=1,
        name="QGemm turned, to floats",
    )
    softmax = [u8(3, 7), f(0.05), zero(120), f(1 / 256), zero(0)]
    case = Case("QLinearSoftmax", 13, softmax, domain=MS, axis=-1)
    case.attributes["opset"] = 13
    yield case


def fused():
    x = real(2, 3, 8)
    yield Case("Gelu", 13, [x], domain=MS)
    yield Case("BiasGelu", 13, [x, real(8)], domain=MS)
    yield Case("FastGelu", 13, [x, real(8)], domain=MS)
    yield Case("QuickGelu", 13, [x], domain=MS)
    yield Case(
        "SkipLayerNormalization",
        13,
        [x, real(2, 3, 8), real(8), real(8), real(8)],
        [0, 3],
        domain=MS,
    )
    yield Case(
        "SkipSimplifiedLayerNormalization", 13, [x, real(2, 3, 8), real(8)], [0, 3], domain=MS
    )
    yield Case(
        "FusedMatMul", 13, [real(2, 4, 3), real(2, 5, 4)], domain=MS, transA=1, transB=1, alpha=0.5
    )
    yield Case(
        "FusedConv",
        13,
        [real(1, 3, 6, 6), real(4, 3, 3, 3), real(4)],
        domain=MS,
        activation="LeakyRelu",
        activation_params=[0.2],
    )
    yield Case("FusedGemm", 13, [real(3, 4), real(4, 5), real(5)], domain=MS, activation="Relu")
    for interleaved in (0, 1):
        yield Case(
            "RotaryEmbedding",
            13,
            [real(1, 2, 3, 8), np.array([[0, 4, 2]], np.int64), real(6, 4), real(6, 4)],
            domain=MS,
            interleaved=interleaved,
        )


def fused_attention():
    q, k, v = real(2, 3, 8), real(2, 5, 8), real(2, 5, 8)
    bias = real(24)
    yield Case("MultiHeadAttention", 13, [q, k, v], domain=MS, num_heads=2)
    yield Case(
        "MultiHeadAttention",
        13,
        [q, k, v, bias, None, real(1, 2, 3, 5)],
        domain=MS,
        num_heads=2,
        name="MultiHeadAttention biases",
    )
    yield Case(
        "MultiHeadAttention",
        13,
        [q, k, v, None, None, None, real(2, 2, 4, 4), real(2, 2, 4, 4)],
        3,
        domain=MS,
        num_heads=2,
        name="MultiHeadAttention past",
    )
    yield Case("Attention", 13, [real(2, 4, 6), real(6, 24), bias], domain=MS, num_heads=2)
    yield Case(
        "Attention",
        13,
        [real(2, 4, 6), real(6, 24), bias],
        domain=MS,
        num_heads=2,
        unidirectional=1,
        name="Attention unidirectional",
    )
    for mask in ([3, 2], [4, 3, 1, 0]):
        yield Case(
            "Attention",
            13,
            [real(2, 4, 6), real(6, 24), bias, np.array(mask, np.int32)],
            domain=MS,
            num_heads=2,
            name=f"Attention of keys up to {mask[:2]} from {mask[2:] or 0}",
        )
    cos, sin = real(8, 8), real(8, 8)
    for length, past, rotary in ((3, 0, 0), (1, 4, 0), (3, 0, 1), (1, 4, 1)):
        total = length + past
        cache = [real(2, 2, past, 16), real(2, 2, past, 16)] if past else [None, None]
        yield Case(
            "GroupQueryAttention",
            13,
            [
                real(2, length, 64),
                real(2, length, 32),
                real(2, length, 32),
                *cache,
                np.array([total - 1] * 2, np.int32),
                np.array(total, np.int32),
                *([cos, sin] if rotary else []),
            ],
            3,
            domain=MS,
            num_heads=4,
            kv_num_heads=2,
            do_rotary=rotary,
            name=f"GroupQueryAttention {length} after {past}, {rotary}",
        )


def masks_and_pasts():
    """Attentions with masks of every query's own, pasts and packed operands."""
    for before in (0, 4):
        mask = rng.integers(0, 2, (2, 3, 3 + before)).astype(np.int32)
        past = real(2, 2, 2, before, 4) if before else None
        for given in (mask, mask[:, 0], None):
            yield Case(
                "Attention",
                13,
                [real(2, 3, 6), real(6, 24), real(24), given, past],
                2,
                domain=MS,
                num_heads=2,
                name=f"Attention after {before}, mask of rank {0 if given is None else given.ndim}",
            )
    for length, before in ((7, 0), (1, 9)):
        total = length + before
        cache = [real(2, 2, before, 16), real(2, 2, before, 16)] if before else [None, None]
        ends = [np.array([total - 1] * 2, np.int32), np.array(total, np.int32)]
        apart = [real(2, length, 64), real(2, length, 32), real(2, length, 32), *cache, *ends]
        packed = [real(2, length, 128), None, None, *cache, *ends]
        # Windows are in kernels_numpy_test.py: 1.22 has a key more in them than later versions.
        for name, inputs, more in (
            ("packed", packed, {}),
            ("smooth", apart, {"smooth_softmax": 1}),
            ("rotated", [*packed, real(16, 8), real(16, 8)], {"do_rotary": 1}),
        ):
            yield Case(
                "GroupQueryAttention",
                13,
                inputs,
                3,
                domain=MS,
                num_heads=4,
                kv_num_heads=2,
                name=f"GroupQueryAttention {name} {length} after {before}",
                **more,
            )


def fused_products():
    yield Case(
        "MatMulIntegerToFloat",
        13,
        [u8(3, 4), u8(4, 5), f(0.1), np.abs(real(5)), zero(9), u8(5), real(5)],
        domain=MS,
    )
    yield Case(
        "DynamicQuantizeMatMul", 13, [real(3, 4), u8(4, 5), f(0.1), zero(120), real(5)], domain=MS
    )
    for bits, size in ((4, 16),):
        yield Case(
            "MatMulNBits",
            13,
            [real(3, 40), u8(5, 3, size // 2), np.abs(real(15))],
            domain=MS,
            K=40,
            N=5,
            bits=bits,
            block_size=size,
        )
        yield Case(
            "MatMulNBits",
            13,
            [real(3, 40), u8(5, 3, size // 2), np.abs(real(15)), u8(10)],
            domain=MS,
            K=40,
            N=5,
            bits=bits,
            block_size=size,
            name="MatMulNBits zero points",
        )
    yield Case(
        "MatMulNBits",
        13,
        [real(3, 64), u8(6, 2, 16), np.abs(real(12)), None, rng.integers(0, 2, 64, np.int32)],
        domain=MS,
        K=64,
        N=6,
        bits=4,
        block_size=32,
        name="MatMulNBits groups",
    )
    ids = rng.integers(0, 7, (2, 4)).astype(np.int32)
    yield Case(
        "EmbedLayerNormalization",
        13,
        [ids, ids % 2, real(7, 6), real(9, 6), real(2, 6), real(6), real(6)],
        2,
        domain=MS,
    )


def spelled_out():
    """Operators that are computed as those that they stand for."""
    x = real(3, 8)
    for kind in (0, 1):
        yield Case(
            "MatMulBnb4",
            13,
            [real(2, 32), u8(64), np.abs(real(8))],
            domain=MS,
            K=32,
            N=4,
            block_size=16,
            quant_type=kind,
        )
    for metric in ("euclidean", "sqeuclidean"):
        yield Case("CDist", 13, [x, real(5, 8)], domain=MS, metric=metric)
    yield Case("Trilu", 13, [real(2, 5, 5), np.array(1)], domain=MS, upper=0)
    yield Case("GatherND", 13, [real(4, 5, 2), np.array([[0, 1], [2, 3]])], domain=MS)
    yield Case("Pad", 13, [x, ints(1, 0, 0, 2), np.array([0.5], np.float32)], domain=MS)
    yield Case("TransposeMatMul", 13, [real(8, 3), real(8, 4)], domain=MS, transA=1)
    yield Case(
        "GridSample", 13, [real(1, 2, 5, 5), real(1, 3, 4, 2)], domain=MS, padding_mode="border"
    )
    yield Case(
        "QLinearConv",
        13,
        [u8(1, 6, 6, 4), *small_scales(), u8(5, 4, 3, 3), *small_scales(), *small_scales()],
        domain=MS,
        channels_last=1,
    )


def small_scales():
    """A scale and a zero point."""
    return np.array(0.05, np.float32), np.array(128, np.uint8)


def by_onnxruntime(cases, folders):
    """What run.js says of each case, all in one process of node."""
    lines = []
    for case, folder in zip(cases, folders):
        (folder / "theirs").mkdir()
        given = [
            f"x{i}={folder}/x{i}.npy"
            for i, v in enumerate(case.inputs)
            if v is not None and case.fed(i)
        ]
        lines.append(json.dumps([f"{folder}/model.onnx", f"{folder}/theirs", *given]))
    done = subprocess.run(
        ["node", HERE / "run.js", "--list"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=False,
    )
    said = [json.loads(line) for line in done.stdout.splitlines()]
    if done.returncode != 0 or len(said) != len(cases):
        raise SystemExit(f"FAILED: {len(said)} of {len(cases)} answers: {done.stderr[:2000]}")
    return said


def difference(case, folder, ours, said):
    """What is wrong with a case that both have run; "" when nothing is."""
    if isinstance(ours, str):
        return f"refused: {ours.strip()}"
    if "error" in said:
        return f"not run by ONNX Runtime: {said['error'].strip()[:300]}"
    wrong = "" if said["outputs"] else "ONNX Runtime gives no outputs"
    for i, name in enumerate(said["outputs"]):
        theirs = np.load(folder / "theirs" / f"{i}.npy")
        if theirs.dtype in (np.uint8, np.int8) and case.op.startswith("QLinear"):
            # Where a product lands half way between two steps the runtimes may round either way.
            far = np.abs(theirs.astype(int) - ours[name].astype(int))
            wrong += "" if far.max() <= 1 and (far > 0).mean() < 0.25 else f"{far.max()} steps off"
        else:
            wrong += close(theirs, ours[name], atol=1e-5)
    return wrong


def main():
    install()
    cases = [
        case
        for family in (
            interpolation,
            windows,
            sequences,
            signals,
            algebra,
            quantised,
            fused,
            fused_attention,
            masks_and_pasts,
            fused_products,
            spelled_out,
        )
        for case in family()
    ]
    failed = 0
    accsim = str(pathlib.Path(sys.argv[1]).resolve())
    cases = [case for case in cases if len(sys.argv) < 3 or sys.argv[2] in case.name]
    with tempfile.TemporaryDirectory() as name:
        folders = [pathlib.Path(name) / str(i) for i in range(len(cases))]
        for folder in folders:
            folder.mkdir()
        ours = [case.run(accsim, folder) for case, folder in zip(cases, folders)]
        said = by_onnxruntime(cases, folders)
        for compared in zip(cases, folders, ours, said):
            if wrong := difference(*compared):
                failed += 1
                print(f"WRONG {compared[0].name}: {wrong}", flush=True)
    print(f"{len(cases)} cases, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
