"""Mamba 2's scan in chunks: within one, what a token sees of another is a product of its C and the
other's B, as scores of attention are; between chunks, the state decays by all of one."""

from chunks import order, prelude, split, to_end, totals, within
from scan import Step, scan


def between(b, name, sizes):
    """The graph of one chunk: y = h, what it starts with; h' = exp(sum) h + what it adds."""
    one_step = Step(b, name)
    whole = one_step.op("Unsqueeze", ["whole", b.integers("axes_(2, 3)", 2, 3)], "whole_matrix")
    kept = one_step.op("Mul", ["h", whole], "kept")
    one_step.op("Add", [kept, "new"], "h_next")
    one_step.op("Identity", ["h"], "y")
    state = [sizes.heads, sizes.head, sizes.state]
    return one_step.graph(state, (("new", state), ("whole", [sizes.heads])), state)


def states(b, x, sums, rows, name, layer):
    """Of the beginnings of chunks, [batch, chunks, groups, state, heads of a group x head]."""
    sizes = b.g.plan[layer].mixer
    width = sizes.inner // sizes.groups
    rest, whole = to_end(b, sums, f"{name}/decay")
    rest = b.op("Unsqueeze", [rest, b.integers("axis_4", 4)], f"{name}/decay/row")
    x = b.op("Mul", [order(b, x, f"{name}/x/columns", 0, 1, 3, 4, 5, 2), rest], f"{name}/x/decayed")
    x = b.op(
        "Reshape", [x, b.integers("group_columns", 0, 0, sizes.groups, width, -1)], f"{name}/x/wide"
    )
    new = b.op("MatMul", [x, rows], f"{name}/new")
    dims = (sizes.heads, sizes.head, sizes.state)
    new = b.op("Reshape", [new, b.integers("state_dims", 0, 0, *dims)], f"{name}/new/heads")
    whole = b.op("Reshape", [whole, b.integers("whole_dims", 0, 0, sizes.heads)], f"{name}/whole")
    starts = scan(b, [new, whole], name, layer, list(dims), between(b, name, sizes))
    shape = b.integers("group_states", 0, 0, sizes.groups, width, sizes.state)
    starts = b.op("Reshape", [starts, shape], f"{name}/starts")
    return order(b, starts, f"{name}/starts_t", 0, 1, 2, 4, 3)


def chunked(b, tokens, name, layer, sizes):
    """y of all tokens, [batch, sequence, heads, head], of d, x, B and C."""
    prelude(b)
    d, x, rows, columns = tokens
    share = sizes.heads // sizes.groups
    heads, last = (sizes.groups, share), b.integers("last_axis", -1)
    x = b.op("Mul", [x, b.op("Unsqueeze", [d, last], f"{name}/d/column")], f"{name}/x/d")
    x = split(b, x, f"{name}/x", *heads, sizes.head)
    rows, columns = (
        order(b, split(b, part, part, sizes.groups, sizes.state), f"{part}/groups", 0, 1, 3, 2, 4)
        for part in (rows, columns)
    )
    decay = b.op("Mul", [d, f"{name}/A"], f"{name}/d_A")
    decay = order(b, split(b, decay, f"{name}/d_A", *heads), f"{name}/d_A/heads", 0, 1, 3, 4, 2)
    sums = totals(b, decay, f"{name}/d_A")
    scores = b.op(
        "MatMul", [columns, order(b, rows, f"{name}/B_t", 0, 1, 2, 4, 3)], f"{name}/scores"
    )
    scores = b.op("Unsqueeze", [scores, b.integers("axis_3", 3)], f"{name}/scores/group")
    weights = b.op("Mul", [scores, within(b, sums, f"{name}/d_A")], f"{name}/weights")
    inside = order(b, x, f"{name}/x/in_chunks", 0, 1, 3, 4, 2, 5)
    inside = b.op("MatMul", [weights, inside], f"{name}/inside")
    starts = states(b, x, sums, rows, name, layer)
    before = b.op("MatMul", [columns, starts], f"{name}/before")
    shape = b.integers("before_dims", 0, 0, sizes.groups, -1, share, sizes.head)
    before = b.op("Reshape", [before, shape], f"{name}/before/split")
    before = order(b, before, f"{name}/before/heads", 0, 1, 2, 4, 3, 5)
    passed = b.op("Exp", [sums], f"{name}/passed")
    passed = b.op("Unsqueeze", [passed, last], f"{name}/passed/column")
    before = b.op("Mul", [before, passed], f"{name}/before/decayed")
    y = b.op("Add", [inside, before], f"{name}/y/heads")
    y = order(b, y, f"{name}/y/tokens", 0, 1, 4, 2, 3, 5)
    shape = b.integers("sequence_heads", 0, -1, sizes.heads, sizes.head)
    return b.op("Reshape", [y, shape], f"{name}/y_all")
