"""The gated delta rule in chunks of at most LONGEST tokens.

What a token learns depends on what earlier ones of its chunk learnt: a system of equations with
ones on its diagonal and X below. Its inverse is (1 - X)(1 + X^2)(1 + X^4)..., as a power of X of
the chunk's length is 0.
"""

from chunks import earlier, order, prelude, split, to_end, totals, within
from scan import Step, scan

LONGEST = 64
SQUARES = 5  # X^2 to X^32


def one_chunk(b, name, sizes):
    """The graph of one chunk: what is learnt where, what is seen, and the state behind it."""
    one_step = Step(b, name)
    op = one_step.op
    new = op("Sub", ["learnt", op("MatMul", ["asked", "h"], "known")], "new")
    before = op("MatMul", ["q", "h"], "before")
    op("Add", [before, op("MatMul", ["weights", new], "inside")], "y")
    kept = op(
        "Mul", ["h", op("Unsqueeze", ["whole", b.integers("last_axis", -1)], "decay")], "kept"
    )
    turned = op("Transpose", ["k"], "k_t", perm=[0, 1, 3, 2])
    op("Add", [kept, op("MatMul", [turned, new], "added")], "h_next")
    keys, values = [sizes.heads, "chunk", sizes.key], [sizes.heads, "chunk", sizes.value]
    tokens = (("learnt", values), ("asked", keys), ("q", keys), ("k", keys))
    tokens += (("weights", [sizes.heads, "chunk", "chunk"]), ("whole", [sizes.heads, 1]))
    return one_step.graph([sizes.heads, sizes.key, sizes.value], tokens, values)


def inverse(b, x, name):
    """S of the inverse 1 + S of 1 - X."""
    found, power = x, x
    for number in range(SQUARES):
        path = f"{name}/solve.{number}"
        power = b.op("MatMul", [power, power], f"{path}/square")
        both = b.op("MatMul", [found, power], f"{path}/product")
        both = b.op("Add", [both, power], f"{path}/more")
        found = b.op("Add", [found, both], f"{path}/sum")
    return found


def solved(b, system, x, name):
    """x and the product with S."""
    return b.op("Add", [x, b.op("MatMul", [system, x], f"{name}/seen")], f"{name}/solved")


def chunked(b, tokens, name, layer, sizes):
    """y of all tokens, [batch, sequence, heads, value], of q, k, v, logs of decays and beta."""
    prelude(b)
    last = b.integers("last_axis", -1)
    widths = (sizes.key, sizes.key, sizes.value)
    q, k, v = (
        order(
            b,
            split(b, x, f"{name}/{label}/all", sizes.heads, n),
            f"{name}/{label}/in_chunks",
            0,
            1,
            3,
            2,
            4,
        )
        for x, label, n in zip(tokens, "qkv", widths)
    )
    log, beta = (
        order(b, split(b, x, x, sizes.heads), f"{x}/in_chunks", 0, 1, 3, 2) for x in tokens[3:]
    )
    sums = totals(b, log, f"{name}/decay")
    beta = b.op("Unsqueeze", [beta, last], f"{name}/beta/column")
    weak_k = b.op("Mul", [k, beta], f"{name}/k/beta")
    weak_v = b.op("Mul", [v, beta], f"{name}/v/beta")
    turned = order(b, k, f"{name}/k_t", 0, 1, 2, 4, 3)
    decay = within(b, sums, f"{name}/decay")
    system = b.op(
        "Mul", [b.op("MatMul", [weak_k, turned], f"{name}/keys"), decay], f"{name}/keys/d"
    )
    system = b.op("Mul", [system, earlier(b)], f"{name}/keys/earlier")
    system = inverse(b, b.op("Neg", [system], f"{name}/keys/minus"), name)
    weights = b.op("MatMul", [q, turned], f"{name}/scores")
    weights = b.op("Mul", [weights, decay], f"{name}/weights")
    passed = b.op(
        "Unsqueeze", [b.op("Exp", [sums], f"{name}/passed"), last], f"{name}/passed/column"
    )
    asked = b.op("Mul", [weak_k, passed], f"{name}/asked")
    q = b.op("Mul", [q, passed], f"{name}/q/decayed")
    rest, whole = to_end(b, sums, f"{name}/decay")
    k = b.op(
        "Mul", [k, b.op("Unsqueeze", [rest, last], f"{name}/rest/column")], f"{name}/k/decayed"
    )
    learnt = solved(b, system, weak_v, f"{name}/v")
    asked = solved(b, system, asked, f"{name}/asked")
    dims = [sizes.heads, sizes.key, sizes.value]
    y = scan(b, [learnt, asked, q, k, weights, whole], name, layer, dims, one_chunk(b, name, sizes))
    y = order(b, y, f"{name}/y/tokens", 0, 1, 3, 2, 4)
    shape = b.integers("sequence_values", 0, -1, sizes.heads, sizes.value)
    return b.op("Reshape", [y, shape], f"{name}/y_all")
