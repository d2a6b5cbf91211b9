#!/usr/bin/python3
"""Does a part of a network compute what the network computes there? parts_test.py ACCSIM

`accsim cut` writes single layers and runs of layers of whole networks, drawn at random and named by
node or by tensor. ONNX's checker must take each. ONNX Runtime runs the network, which gives the
tensors that cross the cut, and then the part on these. Both must agree within 1e-6 of each output's
range. Exit code 77 without node, npm, numpy or python3-onnx.
"""

import json
import random
import subprocess
import sys

try:
    import numpy as np
    import onnx
    import weights
    from networks_test import HERE, MODELS, check_each, run, saved_inputs
    from onnx import helper
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

MOST = 1e-6
PARTS = 8  # of a network, half of them single layers
NETWORKS = [
    ("squeezenet1_1_op13.onnx", {}),
    ("googlenet_bn_op13.onnx", {}),
    ("mobilenet_v2_dynbatch_op17.onnx", {"batch": 2}),
    ("llama_tiny2_prefill64_op17.onnx", {}),
    ("llama_tiny2_decode_dyn_op17.onnx", {"past": 24}),
]


def behind(graph, first):
    """Numbers of the nodes that depend on node `first`, by the order in which they stand."""
    known, found = set(graph.node[first].output), []
    for i, node in enumerate(graph.node):
        if i > first and known.intersection(node.input):
            known.update(node.output)
            found.append(i)
    return found


def drawn_parts(graph, rng):
    """Pairs of words for --from and --until."""
    names = [node.name for node in graph.node]
    own = [i for i, node in enumerate(graph.node) if node.op_type != "Constant"]
    for count in range(PARTS):
        first = last = rng.choice(own)
        if count % 2 and (later := behind(graph, first)):
            last = rng.choice(later[:20])
        words = []
        for i in (first, last):
            by_name = names[i] and names.count(names[i]) == 1 and rng.random() < 0.5
            words.append(names[i] if by_name else graph.node[i].output[0])
        yield words


def cut(accsim, whole, words, bindings, path):
    flags = [flag for name, n in bindings.items() for flag in ("--bind", f"{name}={n}")]
    run([accsim, "cut", whole, "--from", words[0], "--until", words[1], "-o", path, *flags])
    model = onnx.load(str(path))
    onnx.checker.check_model(model, full_check=True)
    return model


def free_inputs(model):
    stored = {t.name for t in model.graph.initializer}
    return [v.name for v in model.graph.input if v.name not in stored]


def by_onnxruntime(jobs):
    """Runs (model, folder, {name: file}); their output names."""
    lines = []
    for model, folder, given in jobs:
        folder.mkdir()
        words = [model, folder, "--plain", *(f"{name}={file}" for name, file in given.items())]
        lines.append(json.dumps([str(word) for word in words]))
    done = subprocess.run(
        ["node", HERE / "run.js", "--list"],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    for job, answer in zip(jobs, answers, strict=True):
        if "error" in answer:
            raise SystemExit(f"FAILED: {job[0]}: {answer['error']}")
    return [answer["outputs"] for answer in answers]


def check(accsim, network, bindings, folder):
    """How many parts and outputs, and the worst error of a range."""
    whole = folder / "whole.onnx"
    model = weights.fill(MODELS / network, whole, 1)
    parts = [
        cut(accsim, whole, words, bindings, folder / f"part{i}.onnx")
        for i, words in enumerate(drawn_parts(model.graph, random.Random(network)))
    ]
    given = saved_inputs(model, bindings, folder)
    wanted = {n for p in parts for n in [*free_inputs(p), *(v.name for v in p.graph.output)]}
    wanted -= set(given) | {v.name for v in model.graph.output}
    model.graph.output.extend(helper.make_empty_tensor_value_info(n) for n in sorted(wanted))
    onnx.save(model, str(folder / "watched.onnx"))
    (names,) = by_onnxruntime([(folder / "watched.onnx", folder / "whole", given)])
    files = given | {name: folder / "whole" / f"{i}.npy" for i, name in enumerate(names)}
    jobs = [
        (folder / f"part{i}.onnx", folder / f"part{i}", {n: files[n] for n in free_inputs(p)})
        for i, p in enumerate(parts)
    ]
    worst, outputs = 0, 0
    for (path, results, _), names in zip(jobs, by_onnxruntime(jobs), strict=True):
        for i, name in enumerate(names):
            a, b = np.load(files[name]), np.load(results / f"{i}.npy")
            if a.shape != b.shape or a.dtype != b.dtype:
                raise SystemExit(f"FAILED: {network} {path}: {name}: {b.shape}, not {a.shape}")
            extent = max(float(np.abs(a.astype(float)).max(initial=0)), 1e-30)
            error = float(np.abs(a.astype(float) - b.astype(float)).max(initial=0)) / extent
            worst, outputs = max(worst, error), outputs + 1
    return f"{len(parts):3} parts, {outputs:3} outputs", worst, "the largest"


if __name__ == "__main__":
    sys.exit(check_each(NETWORKS, check, MOST))
