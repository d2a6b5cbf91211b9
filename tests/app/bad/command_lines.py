"""Command lines that can't be meant."""

from bad.case import ROOT, Case

NET = f"{ROOT}/models/squeezenet1_1_op13.onnx"
COST = f"--hw 8x8 {NET}"

CASES = [
    Case(
        "no machine",
        NET,
        {},
        """
        accsim: error: --hw: name a machine, e.g. --hw 64x64
    """,
    ),
    Case(
        "no model",
        "--hw 8x8",
        {},
        """
        accsim: error: model: name an ONNX model file (see accsim --help)
    """,
    ),
    Case(
        "a model that isn't there",
        "--hw 8x8 gone.onnx",
        {},
        """
        accsim: error: gone.onnx: can't open the file (No such file or directory); check the path
        and permissions
    """,
    ),
    Case(
        "a misspelt option",
        f"{COST} --jsn x",
        {},
        """
        accsim: error: --jsn isn't known to accsim; did you mean --json? (see accsim --help)
    """,
    ),
    Case(
        "a misspelt command",
        "inspct x.onnx",
        {},
        """
        accsim: error: inspct isn't known to accsim; did you mean the command inspect? (see accsim
        --help)
    """,
    ),
    Case(
        "a misspelt subcommand",
        "sweep shwo",
        {},
        """
        accsim: error: shwo: no such file; did you mean the command show?
    """,
    ),
    Case(
        "an option without its value",
        f"{COST} --json",
        {},
        """
        accsim: error: --json: 1 required TARGET missing (see accsim --help)
    """,
    ),
    Case(
        "an output without a name",
        f"{COST} --json=",
        {},
        """
        accsim: error: --json: 1 required TARGET missing (see accsim --help)
    """,
    ),
    Case(
        "a folder as output",
        f"{COST} -q --json .",
        {},
        """
        accsim: error: .: is a folder; name a file in it instead
    """,
    ),
    Case(
        "a folder that isn't there",
        f"{COST} -q --json gone/x.json",
        {},
        """
        accsim: error: gone/x.json: can't create a file in the folder 'gone/': No such file or
        directory
    """,
    ),
    Case(
        "one target twice",
        f"{COST} --json x --csv ./x",
        {},
        """
        accsim: error: --csv: names the same target as --json
    """,
    ),
    Case(
        "standard output twice",
        f"{COST} --json - --csv -",
        {},
        """
        accsim: error: --csv: names the same target as --json
    """,
    ),
    Case(
        "an output over its input",
        "hw check x.yaml --json x.yaml",
        {"x.yaml": "a: 1\n"},
        """
        accsim: error: --json isn't known to accsim hw check; it is an option of accsim, accsim
        shapes, accsim verify, accsim program, accsim run, accsim diff, accsim inspect, accsim sweep
        show, accsim compare, accsim advise, accsim validate (see accsim hw check --help)
    """,
    ),
    Case(
        "a report over its model",
        "inspect n.onnx --json n.onnx",
        {"n.onnx": "x"},
        """
        accsim: error: --json: 'n.onnx' is read (model) and would be overwritten; name another file
    """,
    ),
    Case(
        "a binding without a number",
        f"{COST} --bind n",
        {},
        """
        accsim: error: --bind: 'n' is not NAME=N with N a whole number
    """,
    ),
    Case(
        "a binding of a text",
        f"{COST} --bind n=many",
        {},
        """
        accsim: error: --bind: 'n=many' is not NAME=N with N a whole number
    """,
    ),
    Case(
        "a binding below 0",
        f"{COST} --bind n=-1",
        {},
        """
        accsim: error: --bind: 'n=-1' is not NAME=N with N a whole number
    """,
    ),
    Case(
        "a binding twice",
        f"{COST} --bind n=1 --bind n=2",
        {},
        """
        accsim: error: --bind: 'n' is given twice
    """,
    ),
    Case(
        "a binding of all that is left to nothing",
        f"{COST} --bind *=0",
        {},
        f"""
        accsim: error: {ROOT}/models/squeezenet1_1_op13.onnx: '*' is bound to 0; sizes below 1 are
        bound by name
    """,
    ),
    Case(
        "a binding of what isn't there",
        f"{COST} --bind nothing=1",
        {},
        f"""
        accsim: error: {ROOT}/models/squeezenet1_1_op13.onnx: no symbol 'nothing' to bind: every
        input shape is fixed
    """,
    ),
    Case(
        "a shape of what isn't there",
        f"{COST} --input-shape nothing=1x2",
        {},
        f"""
        accsim: error: {ROOT}/models/squeezenet1_1_op13.onnx: no input 'nothing' to give a shape to;
        the model has input
    """,
    ),
    Case(
        "a shape that is none",
        f"{COST} --input-shape input=1xx3",
        {},
        """
        accsim: error: --input-shape: 'input=1xx3' is not NAME=DIMS, e.g. input=1x3x224x224
    """,
    ),
    Case(
        "a shape of another rank",
        f"{COST} --input-shape input=5",
        {},
        f"""
        accsim: error: {ROOT}/models/squeezenet1_1_op13.onnx: node '/features/features.0/Conv' (op
        Conv): Conv: the input needs a batch, a channel and at least one spatial dim
    """,
    ),
    Case(
        "a size that nobody asks for",
        f"{COST} --assume fire=3",
        {},
        f"""
        accsim: error: {ROOT}/models/squeezenet1_1_op13.onnx: --assume names 'fire', but the model
        has no size that only a run decides
    """,
    ),
    Case(
        "a branch that is none",
        f"{COST} --branch i=maybe",
        {},
        """
        accsim: error: --branch: 'i=maybe' is not NODE=then or NODE=else
    """,
    ),
    Case(
        "a part that isn't there",
        f"{COST} --from nothing",
        {},
        f"""
        accsim: error: {ROOT}/models/squeezenet1_1_op13.onnx: --from: 'nothing' is no node of the
        model, nor a tensor that one writes; accsim shapes lists the tensors, --all the nodes
    """,
    ),
    Case(
        "a dataflow that is none",
        f"{COST} --dataflow sideways",
        {},
        """
        accsim: error: --dataflow: 'sideways' is not a dataflow; use weight_stationary (ws),
        input_stationary (is) or output_stationary (os)
    """,
    ),
    Case(
        "a mapping that is none",
        f"{COST} --mapping =z9",
        {},
        """
        accsim: error: --mapping: 'z9' is not a mapping token; use ws|is|os, LINESxPIXELS, nOUTPUTS,
        kCHANNELS, gGROUPS, sOUTPUTS, mnk|nmk, im2col, bFEATURESxWEIGHTS,
        reread, e.g. "conv*=ws 7x56 n64 k256 mnk"
    """,
    ),
    Case(
        "a mapping that a machine has no use for, in a network of many products",
        f"{COST} --mapping b1x1",
        {},
        """
        accsim: error: --mapping: 'b1x1' pins banks or their weights, which only an engine of dot
        products has
    """,
    ),
    Case(
        "an objective that is none",
        f"{COST} --objective speed",
        {},
        """
        accsim: error: --objective: speed not in {cycles,energy,edp,traffic} (see accsim --help)
    """,
    ),
    Case(
        "a slack that is none",
        f"{COST} --slack lots",
        {},
        """
        accsim: error: --slack: 'lots' is not 0 or a percentage up to 100%, as 1%
    """,
    ),
    Case(
        "a grouping that is none",
        f"{COST} --by colour",
        {},
        """
        accsim: error: --by: 'colour' is not module, module:DEPTH with a depth of 1 or more, op or
        fate
    """,
    ),
    Case(
        "a layer that isn't there",
        f"{COST} --dump-program nothing",
        {},
        """
        accsim: error: --dump-program: no layer that runs a program matches 'nothing'; the report's
        first column lists their names
    """,
    ),
    Case(
        "programs and a report",
        f"{COST} --dump-program * --json x",
        {},
        """
        accsim: error: --dump-program: prints programs and no report: ask for --json, --csv, --html,
        --trace, --annotate, --by and --all in a run of their own
    """,
    ),
    Case(
        "programs and groups",
        f"{COST} --dump-program * --by op",
        {},
        """
        accsim: error: --dump-program: prints programs and no report: ask for --json, --csv, --html,
        --trace, --annotate, --by and --all in a run of their own
    """,
    ),
    Case(
        "programs and all layers",
        f"{COST} --dump-program * --all",
        {},
        """
        accsim: error: --dump-program: prints programs and no report: ask for --json, --csv, --html,
        --trace, --annotate, --by and --all in a run of their own
    """,
    ),
    Case(
        "a product that is none",
        "verify --hw 8x8 --gemm 8x8",
        {},
        """
        accsim: error: --gemm: '8x8' is not MxKxN, e.g. 100x200x300
    """,
    ),
    Case(
        "nothing to verify",
        "verify --hw 8x8",
        {},
        """
        accsim: error: verify: name a model, or --gemm, --conv or --random (and not both)
    """,
    ),
    Case(
        "a seed that is none",
        f"run {NET} --weights random:x",
        {},
        """
        accsim: error: --weights: 'random:x' is not random:SEED
    """,
    ),
    Case(
        "values of no input",
        f"run {NET} --input nothing=random:1",
        {},
        """
        accsim: error: --input: the model has no input 'nothing'; its inputs are: input
    """,
    ),
    Case(
        "values that are none",
        f"run {NET} --input input",
        {},
        """
        accsim: error: --input: 'input' is not NAME=FILE.npy, NAME=FILE.bin or NAME=random:SEED
    """,
    ),
    Case(
        "values from a device",
        f"run {NET} --weights random:1 --input input=/dev/zero",
        {},
        """
        accsim: error: /dev/zero: is not a regular file; name a .npy file, or one of raw elements
    """,
    ),
    Case(
        "a dump without a folder",
        f"run {NET} --weights random:1 --dump all",
        {},
        """
        accsim: error: --dump: needs a folder to write to: --output DIR
    """,
    ),
    Case(
        "no weights",
        f"run {NET}",
        {},
        f"""
        accsim: error: {ROOT}/models/squeezenet1_1_op13.onnx: tensor 'features.0.weight': its
        elements should be in 'weights.bin', which isn't there or too short; use --weights
        random:SEED to draw weights
    """,
    ),
    Case(
        "threads that are none",
        f"run {NET} --threads 0",
        {},
        """
        accsim: error: --threads: Value 0 not in range 1 to 256 (see accsim run --help)
    """,
    ),
    Case(
        "a tile that is none",
        f"tile {NET} -o t.onnx --tile 8",
        {},
        """
        accsim: error: --tile: '8' is not MxKxN, e.g. 64x64x64
    """,
    ),
    Case(
        "two reports that aren't there",
        "compare a.json b.json",
        {},
        """
        accsim: error: a.json: can't be read: No such file or directory
        accsim: error: b.json: can't be read: No such file or directory
    """,
    ),
    Case(
        "one report",
        "compare a.json",
        {"a.json": "{}"},
        """
        accsim: error: input: name two reports, or a model and machines with --hw
    """,
    ),
    Case(
        "reports that are none",
        "compare a.json b.json",
        {"a.json": "{}", "b.json": "[1"},
        """
        accsim: error: a.json: has no "schema"; accsim.report/1 is what accsim --json writes
        accsim: error: b.json: is not JSON: parse error at line 1, column 3: syntax error while
        parsing array - unexpected end of input; expected ']'
    """,
    ),
    Case(
        "folders without a dump",
        "diff . .",
        {},
        """
        accsim: error: ./manifest.json: can't be opened; name a folder made by accsim run --output
        DIR --dump all
        accsim: error: ./manifest.json: can't be opened; name a folder made by accsim run --output
        DIR --dump all
    """,
    ),
    Case(
        "a store that isn't there",
        "sweep show gone.sqlite",
        {},
        """
        accsim: error: gone.sqlite: no such store; accsim sweep SPEC makes one
    """,
    ),
    Case(
        "a store that is none",
        "sweep show s.sqlite",
        {"s.sqlite": "nothing"},
        """
        accsim: error: s.sqlite: is text, not a store of a sweep; if it is a spec, this makes its
        store: accsim sweep s.sqlite
    """,
    ),
    Case(
        "a store that begins as none",
        "sweep show s.sqlite",
        {"s.sqlite": "\1nothing"},
        """
        accsim: error: s.sqlite: is no intact store (file is not a database); move it away, or name
        another store
    """,
    ),
    Case(
        "a store instead of a spec",
        "sweep it's.sqlite",
        {"it's.sqlite": "SQLite format 3\0" + "\1" * 2**24},
        """
        accsim: error: it's.sqlite: is a store of a sweep, not its spec; to look at it: accsim
        sweep show 'it'\\''s.sqlite'
    """,
    ),
    Case(
        "a store instead of a spec for shards",
        "sweep submit s.sqlite --nodes 2 --dry-run",
        {"s.sqlite": "SQLite format 3\0"},
        """
        accsim: error: s.sqlite: is a store of a sweep, not its spec; to look at it: accsim sweep
        show s.sqlite
    """,
    ),
    Case(
        "a spec instead of a shard",
        "sweep merge out.sqlite spec.yaml",
        {"spec.yaml": "base: 8x8\n"},
        """
        accsim: error: spec.yaml: is text, not a store of a sweep; if it is a spec, this makes its
        store: accsim sweep spec.yaml
    """,
    ),
    Case(
        "a store over its shard",
        "sweep merge s.sqlite s.sqlite",
        {"s.sqlite": ""},
        """
        accsim: error: out: 's.sqlite' is read (shards) and would be overwritten; name another file
    """,
    ),
    Case(
        "a colour that is none",
        f"{COST} --color pink",
        {},
        """
        accsim: error: --color: pink not in {auto,always,never} (see accsim --help)
    """,
    ),
]
