#!/usr/bin/env python3
"""Writes numpy_cases.json: one-node cases whose outputs NumPy computes.

Run it after adding a case; the test reads the JSON, so that it needs no Python. The format is
described in json_case.h.
"""

import json
import math
import pathlib

import numpy as np

NUMBERS = {
    "float32": 1,
    "uint8": 2,
    "int8": 3,
    "uint16": 4,
    "int16": 5,
    "int32": 6,
    "int64": 7,
    "bool": 9,
    "float16": 10,
    "float64": 11,
    "uint32": 12,
    "uint64": 13,
}
rng = np.random.default_rng(7)
cases = []


def element(v):
    if isinstance(v, float):
        return None if math.isnan(v) else v if math.isfinite(v) else ("inf" if v > 0 else "-inf")
    return int(v)


def tensor(a):
    if a is None:
        return None
    a = np.asarray(a)
    flat = a.view(np.int64) if a.dtype == np.uint64 else a
    return {
        "dtype": NUMBERS[a.dtype.name],
        "dims": list(a.shape),
        "data": [element(v) for v in flat.ravel().tolist()],
    }


def attribute(v):
    if isinstance(v, np.ndarray):
        return {"t": tensor(v)}
    if isinstance(v, list):
        return {"fs": v} if v and isinstance(v[0], float) else {"is": v}
    return {"s": v} if isinstance(v, str) else {"f": v} if isinstance(v, float) else {"i": v}


def case(op, opset, inputs, outputs, **attrs):
    if not isinstance(outputs, list):
        outputs = [outputs]
    cases.append(
        {
            "name": f"{op}_{opset}_{len(cases)}",
            "op": op,
            "opset": opset,
            "attrs": {k: attribute(v) for k, v in attrs.items()},
            "inputs": [tensor(i) for i in inputs],
            "outputs": [tensor(o) for o in outputs],
        }
    )


def i64(*v):
    return np.array(v, np.int64)


def scalar(v, t=np.int64):
    return np.array(v, t)


def reals(*shape, t=np.float32):
    return (rng.random(shape) * 4 - 2).astype(t)


def whole(*shape, t=np.int64, low=-9, high=10):
    return rng.integers(low, high, shape).astype(t)


def elementwise():
    old = np.seterr(all="ignore")
    for t in (np.int32, np.int64, np.int8, np.uint8, np.uint64, np.float32, np.float64, np.float16):
        low = 0 if np.dtype(t).kind == "u" else -9
        a, b = whole(2, 1, 3, t=t, low=low), whole(4, 1, t=t, low=low)
        if np.dtype(t).kind == "f":
            a, b = reals(2, 1, 3, t=t), reals(4, 1, t=t)
        for op, f in (("Add", np.add), ("Sub", np.subtract), ("Mul", np.multiply)):
            case(op, 14, [a, b], f(a, b))
        for op, f in (("Equal", np.equal), ("Less", np.less), ("Greater", np.greater)):
            case(op, 13, [a, b], f(a, b))
        for op, f in (("LessOrEqual", np.less_equal), ("GreaterOrEqual", np.greater_equal)):
            case(op, 16, [a, b], f(a, b))
        for op, f in (("Max", np.maximum), ("Min", np.minimum)):
            case(op, 13, [a, b, a], f(f(a, b), a))
        case("Sum", 13, [a, b], a + b)
        nonzero = np.where(b == 0, np.array(1, t), b)
        if np.dtype(t).kind == "f":
            case("Div", 14, [a, b], a / b)
            case("Mod", 13, [a, nonzero], np.fmod(a, nonzero), fmod=1)
        else:
            quotient = np.array([int(x / y) for x, y in np.broadcast(a, nonzero)], t)
            case("Div", 14, [a, nonzero], quotient.reshape((a + b).shape))
            case("Mod", 13, [a, nonzero], np.mod(a, nonzero))
            case("Mod", 13, [a, nonzero], np.fmod(a, nonzero), fmod=1)
            for op, f in (
                ("BitwiseAnd", np.bitwise_and),
                ("BitwiseOr", np.bitwise_or),
                ("BitwiseXor", np.bitwise_xor),
            ):
                case(op, 18, [a, b], f(a, b))
            case("BitwiseNot", 18, [a], ~a)
        if low:
            case("Neg", 13, [a], -a)
            case("Sign", 13, [a], np.sign(a))
            case("Relu", 14, [a], np.maximum(a, np.array(0, t)))
        case("Abs", 13, [a], np.abs(a))
        case("Clip", 13, [a, scalar(2, t), scalar(5, t)], np.clip(a, 2, 5).astype(t))
        case("Where", 16, [a > 1, a, b], np.where(a > 1, a, b))
        for to in (np.int8, np.uint8, np.int32, np.int64, np.float32, np.float16, bool):
            if not (np.dtype(t).kind == "f" and np.dtype(to).kind == "u"):
                case("Cast", 13, [a], a.astype(to), to=NUMBERS[np.dtype(to).name])
            case("CastLike", 19, [np.abs(a), np.zeros(1, to)], np.abs(a).astype(to))
    big = np.array([2**31 - 1, -(2**31)], np.int32)
    case("Add", 14, [big, big], big + big)
    case("Mul", 14, [big, big], big * big)
    huge = np.array([2**63 - 1, -(2**63)], np.int64)
    case("Sub", 14, [huge, huge[::-1].copy()], huge - huge[::-1])
    case("Cast", 13, [np.array([2**40 + 5, -1], np.int64)], np.array([5, -1], np.int32), to=6)
    case(
        "Cast",
        13,
        [np.array([16777217, 2**62 + 1], np.int64)],
        np.array([16777217, 2**62 + 1], np.int64).astype(np.float32),
        to=1,
    )
    case(
        "Cast",
        13,
        [np.float32([65519, 65520, 1e-8, 3e-8, 6e-5, 1.0009766])],
        np.float32([65519, 65520, 1e-8, 3e-8, 6e-5, 1.0009766]).astype(np.float16),
        to=10,
    )
    huge = np.array([2**63 + 5, 7], np.uint64)
    case("Div", 14, [huge, np.array(2, np.uint64)], huge // np.uint64(2))
    case("Less", 13, [huge, np.array(9, np.uint64)], huge < np.uint64(9))
    case("Cast", 13, [huge], huge.astype(np.float64), to=11)
    x = np.abs(reals(5)) + np.float32(0.1)
    for op, f in (
        ("Sqrt", np.sqrt),
        ("Exp", np.exp),
        ("Log", np.log),
        ("Sin", np.sin),
        ("Cos", np.cos),
        ("Tan", np.tan),
        ("Tanh", np.tanh),
        ("Sinh", np.sinh),
        ("Atan", np.arctan),
        ("Reciprocal", np.reciprocal),
        ("Sigmoid", lambda v: 1 / (1 + np.exp(-v))),
    ):
        case(op, 13, [x], f(x))
    y = np.float32([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 1.2])
    for op, f in (("Round", np.round), ("Floor", np.floor), ("Ceil", np.ceil)):
        case(op, 13, [y], f(y))
    odd = np.float32([np.nan, np.inf, -np.inf, 1])
    case("IsNaN", 20, [odd], np.isnan(odd))
    case("IsInf", 20, [odd], np.isinf(odd))
    case("IsInf", 20, [odd], np.isposinf(odd), detect_negative=0)
    case("Max", 13, [odd, np.zeros(1, np.float32)], np.maximum(odd, np.float32(0)))
    case("Clip", 6, [y], np.clip(y, np.float32(-1), np.float32(1)), min=-1.0, max=1.0)
    case("Clip", 13, [y, None, scalar(1, np.float32)], np.minimum(y, np.float32(1)))
    case("Clip", 13, [y, scalar(0, np.float32)], np.maximum(y, np.float32(0)))
    case("Mean", 13, [x, y[:5]], (x + y[:5]) / np.float32(2))
    case("Pow", 15, [i64(2, -3, 5), i64(10, 3, 0)], i64(1024, -27, 1))
    case("Pow", 15, [x, i64(2)], x * x)
    case("Pow", 15, [np.int32([7, 2]), np.float32([0.5, 3])], np.int32([2, 8]))
    case(
        "BitShift", 11, [np.uint8([200, 3]), np.uint8([1, 9])], np.uint8([144, 0]), direction="LEFT"
    )
    case(
        "BitShift", 11, [np.uint64([2**63]), np.uint64([3])], np.uint64([2**60]), direction="RIGHT"
    )
    p, q = np.array([True, False, True]), np.array([[True], [False]])
    for op, f in (("And", np.logical_and), ("Or", np.logical_or), ("Xor", np.logical_xor)):
        case(op, 7, [p, q], f(p, q))
    case("Not", 1, [p], ~p)
    case("PRelu", 16, [y, np.float32([0.5])], np.where(y < 0, y * np.float32(0.5), y))
    case("Identity", 16, [y], y)
    case("Dropout", 13, [y], [y, np.ones(7, bool)])
    case("Dropout", 7, [y], [y, np.ones(7, np.float32)][:1])
    np.seterr(**old)


def shapes():
    a = reals(2, 3, 4)
    case("Shape", 13, [a], i64(2, 3, 4))
    case("Shape", 15, [a], i64(3), start=1, end=-1)
    case("Shape", 15, [a], i64(), start=5)
    case("Shape", 19, [a], i64(3, 4), start=-2)
    case("Size", 13, [a], scalar(24))
    for wanted in ([4, 6], [-1, 2], [0, 0, 2, 2], [0, -1], [24], [1, 24, 1]):
        dims = [a.shape[i] if d == 0 else d for i, d in enumerate(wanted)]
        case("Reshape", 13, [a, i64(*wanted)], a.reshape(dims))
    case("Reshape", 1, [a], a.reshape(6, 4), shape=[6, -1])
    case(
        "Reshape",
        14,
        [np.zeros((0, 3), np.float32), i64(3, 0)],
        np.zeros((3, 0), np.float32),
        allowzero=1,
    )
    case("Reshape", 13, [reals(1), i64()], cases[-1] and scalar(0, np.float32))
    cases[-1]["outputs"][0]["data"] = cases[-1]["inputs"][0]["data"]
    for axis in (-2, 0, 1, 3):
        head = int(np.prod(a.shape[:axis])) if axis else 1
        case("Flatten", 13, [a], a.reshape(head, -1), axis=axis)
    b = reals(1, 3, 1, 2)
    case("Squeeze", 1, [b], b.squeeze(2), axes=[2])
    case("Squeeze", 11, [b], b.squeeze((0, 2)), axes=[-2, 0])
    case("Squeeze", 13, [b, i64(0)], b.squeeze(0))
    case("Squeeze", 13, [b], b.squeeze())
    case("Unsqueeze", 11, [a], a[None, :, :, :, None], axes=[0, -1])
    case("Unsqueeze", 13, [a, i64(3, 1)], a[:, None, :, None, :])
    case("Constant", 13, [], a, value=a)
    case("Constant", 13, [], scalar(5), value_int=5)
    case("Constant", 13, [], i64(5, 6), value_ints=[5, 6])
    case("Constant", 13, [], scalar(0.5, np.float32), value_float=0.5)
    case("Constant", 13, [], np.float32([0.5, 2]), value_floats=[0.5, 2.0])
    case("ConstantOfShape", 9, [i64(2, 2)], np.zeros((2, 2), np.float32))
    case("ConstantOfShape", 9, [i64(3)], i64(7, 7, 7), value=i64(7))
    case("ConstantOfShape", 20, [i64()], scalar(1, bool), value=np.array([True]))
    for start, stop, step in ((0, 5, 1), (10, 0, -3), (3, 3, 1), (0, -5, 2), (-7, 7, 4)):
        case(
            "Range",
            11,
            [scalar(start), scalar(stop), scalar(step)],
            np.arange(start, stop, step, np.int64),
        )
    case(
        "Range",
        11,
        [scalar(0, np.float32), scalar(1, np.float32), scalar(0.25, np.float32)],
        np.arange(0, 1, 0.25, np.float32),
    )
    case("EyeLike", 9, [whole(3, 4, t=np.int32)], np.eye(3, 4, 1, np.int32), k=1)
    case("EyeLike", 9, [whole(3, 2)], np.eye(3, 2, -1, np.float32), k=-1, dtype=1)


def moves():
    a = reals(4, 5, 3)
    for axis in (0, 1, -1):
        case("Concat", 13, [a, a], np.concatenate([a, a], axis), axis=axis)
    case("Concat", 13, [i64(1), i64(), i64(2, 3)], i64(1, 2, 3), axis=0)
    case("Slice", 1, [a], a[1:3, :, -2:], axes=[0, 2], starts=[1, -2], ends=[3, 99])
    for starts, ends, axes, steps, index in (
        ([1], [3], [0], None, np.s_[1:3]),
        ([0, -1], [-1, -99], [1, 0], [2, -1], np.s_[::-1, 0:-1:2]),
        ([3, 9], [-99, 9], [0, 1], [-2, 1], np.s_[3::-2, 9:9]),
        ([-(2**63)], [2**63 - 1], [2], [2**62], np.s_[:, :, :1]),
        ([4, 2], [0, 0], [1, 2], [-3, -2], np.s_[:, 4:0:-3, 2:0:-2]),
    ):
        inputs = [a, i64(*starts), i64(*ends), i64(*axes)]
        case("Slice", 13, inputs + ([i64(*steps)] if steps else []), a[index])
    case("Slice", 10, [a, i64(1, 1), i64(3, 2)], a[1:3, 1:2])
    case("Slice", 13, [a, i64(1), i64(4), None, i64(2)], a[1:4:2])
    case("Split", 2, [a], np.split(a, 2, 0), axis=0)
    case("Split", 11, [a], np.split(a, [2, 3], -2), axis=-2, split=[2, 1, 2])
    case("Split", 13, [a, i64(1, 4)], np.split(a, [1], 1), axis=1)
    case("Split", 18, [a], np.split(a, [2, 4], 1), axis=1, num_outputs=3)
    for perm in ([2, 0, 1], [1, 0, 2], [0, 2, 1]):
        case("Transpose", 13, [a], a.transpose(perm), perm=perm)
    case("Transpose", 13, [a], a.T)
    b = whole(4, 5, 3)
    index = np.array([[0, -1], [2, 1]], np.int64)
    for axis in (0, 1, -1):
        case("Gather", 13, [b, index], np.take(b, index, axis), axis=axis)
        along = rng.integers(-3, 3, (2, 5, 3) if axis == 0 else (4, 2, 3))
        data = b[:, :, :] if axis == 0 else b
        if axis == -1:
            along = rng.integers(-3, 3, (4, 5, 2))
        case("GatherElements", 13, [data, along], np.take_along_axis(data, along, axis), axis=axis)
    case("Gather", 13, [b, scalar(1)], b[1])
    tuples = np.array([[0, 1], [-1, -2]], np.int64)
    case("GatherND", 13, [b, tuples], b[[0, -1], [1, -2]])
    case("GatherND", 13, [b, tuples[:, :, None][:, :1]], b[[0, -1]][:, None])
    batch = np.array([[1], [0], [-1], [4]], np.int64)
    case("GatherND", 13, [b, batch], b[range(4), [1, 0, -1, 4]], batch_dims=1)
    updates = whole(2, 3)
    for reduction, f in (
        ("none", None),
        ("add", np.add),
        ("mul", np.multiply),
        ("max", np.maximum),
        ("min", np.minimum),
    ):
        out = b.copy()
        at = ([0, 3], [1, 2])
        out[at] = f(out[at], updates) if f else updates
        case(
            "ScatterND",
            18,
            [b, np.array([[0, 1], [3, -3]], np.int64), updates],
            out,
            reduction=reduction,
        )
        row, where = whole(6), i64(4, 1, -1)
        got, new = row.copy(), whole(3)
        got[where] = f(got[where], new) if f else new
        case("ScatterElements", 18, [row, where, new], got, reduction=reduction)
    out = b.copy()
    out[0, index[0, 0], 0] = 77
    case("Scatter", 9, [b, index[:1, :1, None], np.int64([[[77]]])], out, axis=1)
    case(
        "Pad",
        2,
        [a],
        np.pad(a, ((1, 0), (0, 2), (0, 1)), constant_values=1.5),
        pads=[1, 0, 0, 0, 2, 1],
        value=1.5,
    )
    case("Pad", 13, [b, i64(1, 0, 0, 0, 2, 1)], np.pad(b, ((1, 0), (0, 2), (0, 1))))
    case(
        "Pad",
        18,
        [b, i64(1, 2), scalar(9), i64(-1)],
        np.pad(b, ((0, 0), (0, 0), (1, 2)), constant_values=9),
    )
    case("Pad", 13, [b, i64(-1, 0, 0, 0, -2, 1)], np.pad(b[1:, :-2], ((0, 0), (0, 0), (0, 1))))
    for mode in ("edge", "reflect", "wrap"):
        case(
            "Pad",
            19,
            [b, i64(2, 0, 1, 1, 3, 2)],
            np.pad(b, ((2, 1), (0, 3), (1, 2)), mode),
            mode=mode,
        )
    case("Tile", 13, [b, i64(1, 2, 3)], np.tile(b, (1, 2, 3)))
    case("Expand", 13, [b[:, :1], i64(2, 1, 5, 1)], np.broadcast_to(b[:, :1], (2, 4, 5, 3)))
    for k in (-1, 0, 2):
        case("Trilu", 14, [b, scalar(k)], np.triu(b, k))
        case("Trilu", 14, [b, scalar(k)], np.tril(b, k), upper=0)
    c = whole(3, 4, low=0, high=2)
    case("NonZero", 13, [c], np.array(np.nonzero(c), np.int64))
    case("Compress", 11, [b, np.array([True, False, True])], b[:, [0, 2]], axis=1)
    case("Compress", 11, [b, np.array([False, True, True])], b.ravel()[1:3])
    hot = np.float32([[2, 5, 2], [5, 2, 2]])
    case(
        "OneHot",
        11,
        [i64(1, -3), scalar(3), np.float32([2, 5])],
        np.float32([[2, 5, 2], [5, 2, 2]]),
    )
    case("OneHot", 11, [i64(1, -3), i64(3), np.float32([2, 5])], hot.T.copy(), axis=0)
    u, first, inverse, count = np.unique(i64(3, 1, 3, 2), True, True, True)
    case("Unique", 11, [i64(3, 1, 3, 2)], [u, first, inverse, count])
    case(
        "Unique",
        11,
        [i64(3, 1, 3, 2)],
        [i64(3, 1, 2), i64(0, 1, 3), i64(0, 1, 0, 2), i64(2, 1, 1)],
        sorted=0,
    )
    rows = np.int64([[2, 1], [1, 1], [2, 1]])
    u, first, inverse, count = np.unique(rows, True, True, True, axis=0)
    case("Unique", 11, [rows], [u, first, inverse.ravel(), count], axis=0)


def reductions():
    a = whole(2, 3, 4, t=np.float32)  # sums of whole numbers don't depend on their order
    functions = {
        "ReduceSum": np.sum,
        "ReduceProd": np.prod,
        "ReduceMax": np.max,
        "ReduceMin": np.min,
        "ReduceMean": np.mean,
        "ReduceL1": lambda v, **k: np.sum(np.abs(v), **k),
        "ReduceSumSquare": lambda v, **k: np.sum(v * v, **k),
    }
    for op, f in functions.items():
        case(op, 7, [a], f(a, axis=(0, 2), keepdims=True), axes=[0, 2])
        case(op, 11, [a], f(a, axis=-1), axes=[-1], keepdims=0)
        case(op, 18, [a, i64(1, -3)], f(a, axis=(1, 0), keepdims=True))
        case(op, 18, [a], f(a, axis=(0, 1, 2), keepdims=True))
        case(op, 18, [np.float32(3), i64()], np.float32(9 if op == "ReduceSumSquare" else 3))
    case("ReduceSum", 13, [a, i64(1)], a.sum(1), keepdims=0)
    case("ReduceMax", 18, [a, i64()], a, noop_with_empty_axes=1)
    b = whole(3, 4, t=np.int32)
    case("ReduceSum", 13, [b, i64(0)], b.sum(0, keepdims=True).astype(np.int32))
    for axis in (0, 1, -1):
        case("ArgMax", 13, [b], b.argmax(axis), axis=axis, keepdims=0)
        case(
            "ArgMin",
            13,
            [b],
            b.argmin(axis)[(slice(None),) * (axis % 2) + (None,)],
            axis=axis,
            keepdims=1,
        )
        flip = b.shape[axis] - 1 - np.flip(b, axis).argmax(axis)
        case("ArgMax", 13, [b], flip, axis=axis, keepdims=0, select_last_index=1)
        order = np.argsort(-b, axis, kind="stable")
        top = np.take(order, range(2), axis)
        case("TopK", 11, [b, i64(2)], [np.take_along_axis(b, top, axis), top], axis=axis)
        order = np.argsort(b, axis, kind="stable")
        top = np.take(order, range(3), axis)
        case("TopK", 24, [b, i64(3)], [np.take_along_axis(b, top, axis), top], axis=axis, largest=0)
        case("CumSum", 14, [b, scalar(axis)], b.cumsum(axis).astype(np.int32))
        case("CumProd", 26, [b, scalar(axis)], b.cumprod(axis).astype(np.int32))
        back = np.flip(np.flip(b, axis).cumsum(axis), axis).astype(np.int32)
        case("CumSum", 14, [b, scalar(axis)], back, reverse=1)
        case("CumSum", 14, [b, scalar(axis)], (b.cumsum(axis) - b).astype(np.int32), exclusive=1)
    case("TopK", 1, [a], [np.sort(a)[..., ::-1][..., :1], np.argmax(a, -1)[..., None]], k=1)


elementwise()
shapes()
moves()
reductions()
out = pathlib.Path(__file__).with_name("numpy_cases.json")
out.write_text("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
print(f"{len(cases)} cases in {out.stat().st_size} bytes")
