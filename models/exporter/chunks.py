"""Scans of a prompt in chunks: products within a chunk, and a Scan over chunks between them.

`sequence` is `chunks` x `chunk`. The input `chunk_mask`, [chunk, chunk], is 0 where a token (row)
sees another (column) of its chunk, and a large negative number elsewhere.
"""


def prelude(b):
    """The mask, and `chunk_length`, which dims of others are made of."""
    b.input("chunk_mask", b.real, ["chunk", "chunk"])
    if "chunk_length" not in b.made:
        b.made.add("chunk_length")
        b.op("Shape", ["chunk_mask"], "chunk_length", start=0, end=1)


def earlier(b):
    """1 where a token sees an earlier one of its chunk, and 0 elsewhere, [chunk, chunk]."""
    if "chunk_earlier" not in b.made:
        b.made.add("chunk_earlier")
        seen = b.op("Exp", ["chunk_mask"], "chunk_seen")
        b.op("Trilu", [seen, b.scalar("below", -1, "int64")], "chunk_earlier", upper=0)
    return "chunk_earlier"


def split(b, x, name, *dims):
    """[batch, sequence, ...] -> [batch, chunks, chunk, *dims]."""
    shape = f"chunked_{'x'.join(map(str, dims))}"
    if shape not in b.made:
        b.made.add(shape)
        first = b.integers("chunks_shape", 0, -1)
        parts = [first, "chunk_length"]
        parts += [b.integers(f"dims_{'x'.join(map(str, dims))}", *dims)] if dims else []
        b.op("Concat", parts, shape, axis=0)
    return b.op("Reshape", [x, shape], f"{name}/chunks")


def order(b, x, name, *perm):
    return b.op("Transpose", [x], name, perm=list(perm))


def within(b, sums, name):
    """exp of the sums of what lies between two tokens of a chunk: [..., chunk] -> [..., chunk,
    chunk]; 0 where a token doesn't see another."""
    row = b.op("Unsqueeze", [sums, b.integers("last_axis", -1)], f"{name}/row")
    column = b.op("Unsqueeze", [sums, b.integers("axis_before_last", -2)], f"{name}/column")
    between = b.op("Sub", [row, column], f"{name}/between")
    between = b.op("Add", [between, "chunk_mask"], f"{name}/between/masked")
    return b.op("Exp", [between], f"{name}/within")


def to_end(b, sums, name):
    """(exp of what follows a token in its chunk, exp of the whole chunk [..., 1])."""
    bounds = (b.integers("minus_1", -1), b.integers("far", 2**31 - 1))
    last = b.cut(sums, f"{name}/sum", bounds, b.integers("last_axis", -1))
    rest = b.op("Sub", [last, sums], f"{name}/rest")
    whole = b.op("Exp", [last], f"{name}/whole")
    return b.op("Exp", [rest], f"{name}/to_end"), whole


def totals(b, x, name):
    """Sums of the last axis up to each element."""
    return b.op("CumSum", [x, b.scalar("last_axis_scalar", -1, "int64")], f"{name}/sums")
