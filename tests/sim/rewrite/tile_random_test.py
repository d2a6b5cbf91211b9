#!/usr/bin/python3
"""Does a cut network compute what the network computes? tile_random_test.py ACCSIM [COUNT] [SEED]

COUNT random products and convolutions (default 1,000), each cut with its own tile, run before and
after in ONNX Runtime and in accsim's reference executor: within 1e-6 of the output's range. The
written models must pass ONNX's checker and have exactly the MatMuls that the formula gives. Cases
of one opset share a model, so that few processes do. Exit code 77 without node, npm, numpy or
python3-onnx.
"""

import collections
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ORT = HERE.parents[1] / "onnxruntime"
sys.path.insert(0, str(ORT))
MOST = 1e-6

try:
    import numpy as np
    import onnx
    from cases import cases
    from networks_test import install
    from onnx import helper
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)


def merged(group):
    """One model of the group's nodes, names numbered; (model, {input: array})."""
    nodes, inputs, outputs, weights, fed = [], [], [], [], {}
    for i, case in enumerate(group):
        graph = case.model().graph
        for node in graph.node:
            node.name = f"case{i}"
            node.input[:] = [f"{n}{i}" for n in node.input]
            node.output[:] = [f"{n}{i}" for n in node.output]
            nodes.append(node)
        for values, out in (
            (graph.input, inputs),
            (graph.output, outputs),
            (graph.initializer, weights),
        ):
            for value in values:
                value.name = f"{value.name}{i}"
                out.append(value)
        fed.update({f"{n}{i}": v for n, v in case.fed().items()})
    graph = helper.make_graph(nodes, "cases", inputs, outputs, weights)
    return helper.make_model(
        graph, ir_version=group[0].ir, opset_imports=[helper.make_opsetid("", group[0].opset)]
    ), fed


def run(command):
    done = subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(
            f"FAILED: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}"[:4000]
        )
    return done.stdout


def by_onnxruntime(model, given, folder):
    folder.mkdir()
    names = json.loads(run(["node", ORT / "run.js", model, folder, *given]))["outputs"]
    return {name: np.load(folder / f"{i}.npy") for i, name in enumerate(names)}


def by_accsim(accsim, model, given, folder):
    run(
        [
            accsim,
            "run",
            model,
            "--output",
            folder,
            *(f for text in given for f in ("--input", text)),
        ]
    )
    return {path.stem: np.load(path) for path in folder.glob("y*.npy")}


def check_structure(model, group):
    """Names, shapes and MatMuls of a cut model: its own inference must find no contradiction."""
    onnx.checker.check_model(model)
    onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    names = [node.name for node in model.graph.node]
    if len(set(names)) != len(names):
        raise SystemExit("FAILED: two nodes have one name")
    stated = {v.name for v in [*model.graph.value_info, *model.graph.output]}
    shapes = {
        v.name: [d.dim_value for d in v.type.tensor_type.shape.dim]
        for v in [*model.graph.value_info, *model.graph.input]
    }
    shapes.update({t.name: list(t.dims) for t in model.graph.initializer})
    found = collections.defaultdict(list)
    for node in model.graph.node:
        for output in node.output:
            if node.op_type != "Constant" and output not in stated:
                raise SystemExit(f"FAILED: no value_info of {output}")
        if node.op_type == "MatMul":
            a, b = (shapes[n] for n in node.input)
            batch = int(np.prod(np.broadcast_shapes(a[:-2], b[:-2]), dtype=np.int64))
            found[node.name.split("/")[0]].append((batch, a[-2], a[-1], b[-1]))
    for i, case in enumerate(group):
        tiles = found[f"case{i}"]
        macs = sum(batch * m * k * n for batch, m, k, n in tiles)
        too_large = [t for t in tiles if any(size > most for size, most in zip(t[1:], case.tile))]
        if len(tiles) != case.products() or macs != case.macs() or too_large:
            raise SystemExit(
                f"FAILED: {case}: {len(tiles)} MatMuls of {macs} MACs, not "
                f"{case.products()} of {case.macs()}; too large: {too_large[:3]}"
            )


def compare(what, before, after, group):
    """Number of wrong outputs, largest error of a range."""
    wrong, worst = 0, 0.0
    for i, case in enumerate(group):
        a, b = before[f"y{i}"], after[f"y{i}"]
        if a.shape != b.shape:
            raise SystemExit(f"FAILED: {what}: {case}: shape {b.shape}, not {a.shape}")
        extent = max(float(a.max() - a.min()), float(np.abs(a).max()), 1e-3)
        error = float(np.abs(a.astype(np.float64) - b).max()) / extent
        worst = max(worst, error)
        if not error <= MOST:
            wrong += 1
            print(f"WRONG {what}: {case}: {error:.2e} of the range", flush=True)
    return wrong, worst


def check_group(accsim, group, folder, has_run):
    model, fed = merged(group)
    onnx.checker.check_model(model)
    before, after = folder / "before.onnx", folder / "after.onnx"
    before.write_bytes(model.SerializeToString())
    after.write_bytes(before.read_bytes())
    cut = folder / "cut.onnx"
    for i, case in enumerate(group):
        run(
            [
                accsim,
                "tile",
                after,
                "-o",
                cut,
                "--layers",
                f"case{i}",
                "--conv",
                "im2col",
                "--edge",
                case.edge,
                "--tile",
                "x".join(map(str, case.tile)),
            ]
        )
        cut.replace(after)
    check_structure(onnx.load(after), group)
    given = []
    for name, values in fed.items():
        np.save(folder / f"{name}.npy", values)
        given.append(f"{name}={folder}/{name}.npy")
    theirs = by_onnxruntime(before, given, folder / "ort_before")
    results = [compare("ONNX Runtime", theirs, by_onnxruntime(after, given, folder / "ort"), group)]
    if has_run:
        ours = by_accsim(accsim, after, given, folder / "ours")
        results.append(
            compare(
                "reference executor", by_accsim(accsim, before, given, folder / "b"), ours, group
            )
        )
    return results


def main():
    accsim = pathlib.Path(sys.argv[1]).resolve()
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    install()
    help_text = subprocess.run(
        [accsim, "--help"], capture_output=True, text=True, check=False
    ).stdout
    has_run = any(line.split()[:1] == ["run"] for line in help_text.splitlines())
    groups = collections.defaultdict(list)
    for case in cases(count, seed):
        groups[case.opset, case.ir].append(case)
    wrong, worst = 0, 0.0
    for (opset, ir), group in sorted(groups.items()):
        with tempfile.TemporaryDirectory() as folder:
            results = check_group(accsim, group, pathlib.Path(folder), has_run)
        wrong += sum(bad for bad, _ in results)
        worst = max([worst, *(error for _, error in results)])
        print(
            f"opset {opset:2} IR {ir}: {len(group)} cases, largest error so far {worst:.2e}",
            flush=True,
        )
    print(f"{count} cases, {wrong} wrong, {'' if has_run else 'not '}run by the reference executor")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
