"""Specs of sweeps that can't be used."""

from wire import graph, model, node, value

from bad.case import SMALL, Case

SWEEP = "sweep spec.yaml"


def product(*dims):
    """x times 8 x 8."""
    return model(
        graph(
            [node("MatMul", ["x", "w"], ["y"])],
            [value("x", list(dims)), value("w", [8, 8])],
            [value("y")],
        )
    )


NET, OPEN = product("n", 8), product("n", "tokens", 8)
HEAD = "base: hw.yaml\nmodels: [{file: net.onnx}]\n"
AXES = "axes: {act: {field: buffers.activation.kib, values: [16, 32]}}\n"


def spec(text):
    return {"spec.yaml": text, "hw.yaml": SMALL, "net.onnx": NET}


def axis(text):
    return spec(HEAD + f"axes: {{a: {text}}}\n")


CASES = [
    Case(
        "no file",
        SWEEP,
        {},
        """
        accsim: error: spec.yaml: no such file; give the path of a sweep (YAML)
    """,
    ),
    Case(
        "an empty file",
        SWEEP,
        spec(""),
        """
        accsim: error: spec.yaml: the file is empty
    """,
    ),
    Case(
        "no map",
        SWEEP,
        spec("- 1\n"),
        """
        accsim: error: spec.yaml:1:1: the sweep must be a section with keys of base, bind, axes,
        constraints, models, objectives, strategy, seed, count, objective, slack, effort, layers,
        max_total_nodes
    """,
    ),
    Case(
        "a misspelt key",
        SWEEP,
        spec(HEAD + AXES.replace("axes", "axis")),
        """
        accsim: error: spec.yaml:3:1: the sweep has no key "axis"; did you mean "axes"? valid: base,
        bind, axes, constraints, models, objectives, strategy, seed, count, objective, slack,
        effort, layers, max_total_nodes
        accsim: error: spec.yaml:1:1: missing key "axes"; a sweep needs base, axes (or bind) and
        models
    """,
    ),
    Case(
        "no machine",
        SWEEP,
        spec("models: [{file: net.onnx}]\n" + AXES),
        """
        accsim: error: spec.yaml:1:1: missing key "base"; a sweep needs base, axes (or bind) and
        models
    """,
    ),
    Case(
        "a machine that isn't there",
        SWEEP,
        spec(HEAD.replace("hw.y", "gone.y") + AXES),
        """
        accsim: error: spec.yaml:1:1: base can't be used:
        accsim: error: gone.yaml: no such file; give the path of a machine description (YAML)
    """,
    ),
    Case(
        "no model",
        SWEEP,
        spec("base: hw.yaml\n" + AXES),
        """
        accsim: error: spec.yaml:1:1: missing key "models"; a sweep needs base, axes (or bind) and
        models
    """,
    ),
    Case(
        "a model that isn't there",
        SWEEP,
        spec(HEAD.replace("net", "gone") + AXES),
        """
        accsim: error: spec.yaml:2:10: this model can't be used:
        accsim: error: gone.onnx: can't open the file (No such file or directory); check the path
        and permissions
    """,
    ),
    Case(
        "a model whose sizes nobody gave",
        SWEEP,
        {**spec(HEAD + AXES), "net.onnx": OPEN},
        """
        accsim: error: spec.yaml:2:10: this model can't be used; --bind NAME=N is bind: {NAME: N}
        beside its file:
        accsim: error: net.onnx: nobody gave tokens of input 'x' (n x tokens x 8), and only a batch,
        a first axis, is 1 unasked: give --input-shape x=1x128x8 or --bind tokens=128 (these fit;
        --bind '*=N' gives all that is left)
    """,
    ),
    Case(
        "a model without a file",
        SWEEP,
        spec("base: hw.yaml\nmodels: [{weight: 2}]\n" + AXES),
        """
        accsim: error: spec.yaml:2:10: a model needs file, the path of an ONNX file
    """,
    ),
    Case(
        "a weight below 0",
        SWEEP,
        spec("base: hw.yaml\nmodels: [{file: net.onnx, weight: -1}]\n" + AXES),
        """
        accsim: error: spec.yaml:2:35: weight is -1; it must be a whole number of 1..1000000
    """,
    ),
    Case(
        "no axes",
        SWEEP,
        spec(HEAD),
        """
        accsim: error: spec.yaml:1:1: missing key "axes"; a sweep needs base, axes (or bind) and
        models
    """,
    ),
    Case(
        "an axis of nothing",
        SWEEP,
        axis("{}"),
        """
        accsim: error: spec.yaml:3:8: axis a: needs either field (one path) or fields (paths with
        expressions or lists)
    """,
    ),
    Case(
        "an axis without values",
        SWEEP,
        axis("{field: array.rows}"),
        """
        accsim: error: spec.yaml:3:8: axis a: needs one of values, range and powers_of_two
    """,
    ),
    Case(
        "an axis of no values",
        SWEEP,
        axis("{field: array.rows, values: []}"),
        """
        accsim: error: spec.yaml:3:31: axis a: has no values; give at least one
    """,
    ),
    Case(
        "an axis of a field that is none",
        SWEEP,
        axis("{field: array.row, values: [8]}"),
        """
        accsim: error: spec.yaml:3:12: axis a: "array.row" is no field of a machine (did you mean
        "array.rows"?); accsim hw fields lists them
    """,
    ),
    Case(
        "a value out of range",
        SWEEP,
        axis("{field: array.rows, values: [8, 0]}"),
        """
        accsim: error: spec.yaml:3:31: axis a: array.rows is 0, out of range; it must be 1..1024
    """,
    ),
    Case(
        "a value that is none",
        SWEEP,
        axis("{field: array.rows, values: [8, many]}"),
        """
        accsim: error: spec.yaml:3:43: a value of axis a is "many"; it must be a number
    """,
    ),
    Case(
        "a value twice",
        SWEEP,
        axis("{field: array.rows, values: [8, 8]}"),
        """
        accsim: error: spec.yaml:3:31: axis a: 8 and 8 make the same machine; remove one
    """,
    ),
    Case(
        "a range without an end",
        SWEEP,
        axis("{field: array.rows, range: {from: 1, step: 1}}"),
        """
        accsim: error: spec.yaml:3:31: axis a: range needs numbers from, to and step
    """,
    ),
    Case(
        "a range that goes back",
        SWEEP,
        axis("{field: array.rows, range: {from: 9, to: 1, step: 1}}"),
        """
        accsim: error: spec.yaml:3:31: axis a: range is empty: from must not be above to, and step
        be above 0
    """,
    ),
    Case(
        "a range of too many steps",
        SWEEP,
        axis("{field: array.rows, range: {from: 1, to: 1000000, step: 1}}"),
        """
        accsim: error: spec.yaml:3:31: axis a: has 1000000 values, more than 10000; take a larger
        step
    """,
    ),
    Case(
        "an expression that is none",
        SWEEP,
        axis("{values: [8], fields: {array.rows: a +}}"),
        """
        accsim: error: spec.yaml:3:46: axis a: "a +": column 4: a number or a name is missing at the
        end; only the axis's own name may occur
    """,
    ),
    Case(
        "an expression of what isn't there",
        SWEEP,
        axis("{values: [8], fields: {array.rows: b}}"),
        """
        accsim: error: spec.yaml:3:46: axis a: "b": column 1: "b" is no known name; only the axis's
        own name may occur
    """,
    ),
    Case(
        "a field set twice",
        SWEEP,
        spec(
            HEAD + "axes:\n  a: {field: array.rows, values: [8]}\n"
            "  b: {field: array.rows, values: [4]}\n"
        ),
        """
        accsim: error: spec.yaml:5:3: array.rows is set by the axes a and b; link them into one
    """,
    ),
    Case(
        "an axis with the name of a column",
        SWEEP,
        spec(HEAD + "axes: {cycles: {field: array.rows, values: [8]}}\n"),
        """
        accsim: error: spec.yaml:3:8: "cycles" can't name an axis: use lower-case letters, digits
        and _, and no name of a field or of a column of the store
    """,
    ),
    Case(
        "a strategy that is none",
        SWEEP,
        spec(HEAD + AXES + "strategy: guess\n"),
        """
        accsim: error: spec.yaml:4:11: strategy is "guess"; valid: grid, random, pareto
    """,
    ),
    Case(
        "a random sweep without a count",
        SWEEP,
        spec(HEAD + AXES + "strategy: random\n"),
        """
        accsim: error: spec.yaml:1:1: strategy random needs count, the number of points
    """,
    ),
    Case(
        "an objective that is none",
        SWEEP,
        spec(HEAD + AXES + "objectives: [beauty]\n"),
        """
        accsim: error: spec.yaml:4:14: "beauty" is no objective; valid: cycles, time, energy, edp,
        area, sram, traffic
    """,
    ),
    Case(
        "an effort that is none",
        SWEEP,
        spec(HEAD + AXES + "effort: some\n"),
        """
        accsim: error: spec.yaml:4:9: effort: some not in {search,rule}
    """,
    ),
    Case(
        "a constraint that is none",
        SWEEP,
        spec(HEAD + AXES + "constraints: [act <]\n"),
        """
        accsim: error: spec.yaml:4:15: "act <": column 6: a number or a name is missing at the end
    """,
    ),
    Case(
        "constraints that leave nothing",
        SWEEP,
        spec(HEAD + AXES + "constraints: [act > 99]\n"),
        """
        accsim: error: spec.yaml: no point of 2 satisfies the constraints (act > 99); they
        contradict one another or the axes' values
    """,
    ),
    Case(
        "a size that no model has",
        SWEEP,
        spec(HEAD + AXES + "bind: {m: [1, 2]}\n"),
        """
        accsim: error: spec.yaml:4:8: m is no symbol of any model, and no size of their bind goes by
        it
    """,
    ),
    Case(
        "a shard that is none",
        SWEEP + " --shard 3/2",
        spec(HEAD + AXES),
        """
        accsim: error: --shard: '3/2' is not i/n with 1 <= i <= n, e.g. 3/8
    """,
    ),
    Case(
        "a store that is none",
        SWEEP + " --store s.sqlite",
        {**spec(HEAD + AXES), "s.sqlite": "nothing at all\n" * 99},
        """
        accsim: error: s.sqlite: is no intact store (file is not a database); move it away, or name
        another store
    """,
    ),
    Case(
        "a store over the spec",
        SWEEP + " --store spec.yaml",
        spec(HEAD + AXES),
        """
        accsim: error: --store: 'spec.yaml' is read (spec) and would be overwritten; name another
        file
    """,
    ),
]
