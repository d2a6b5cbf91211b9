#!/usr/bin/env python3
"""Does accsim read what ONNX Runtime's quantiser writes of whole networks?

    tests/quantiser/check.py [--accsim build/accsim] [--out out/quantiser] [NETWORK ...]

Networks of models/ get random weights and are quantised in every way that the quantiser knows for
them (forms.py). Of each: no more cycles than the network of floats takes, MACs that are its MACs,
the bytes of the file's tensors by type, and in a run what ONNX Runtime gives for the graph as it
stands: each node within one step of its result, and the network ("steps"), too, unless the
runtime's own results differ more ("own") where its optimiser has been at the graph, or last bits
of floats are others. The packages of requirements.txt go into an environment of their own in OUT
(0.4 GB), the files beside it (2 GB). A table goes to stdout; exit code 1 where something isn't so.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests" / "support"), str(ROOT / "tests" / "onnxruntime")]

import environment  # noqa: E402

STATIC = ["qdq", "qdq_u8", "qdq_16", "qdq_4", "qoperator", "qoperator_u8", "dynamic"]
BLOCKS = ["blocks4", "blocks8", "blocks4_rows"]
NETWORKS = {
    "resnet18_op13": STATIC,
    "resnet50_op17": STATIC,
    "mobilenet_v2_op13": STATIC,
    "bert_base_op17": ["qdq", "qoperator", "dynamic", "dynamic_u8", "blocks4"],
    "llama_tiny2_prefill64_op17": [*STATIC, "dynamic_u8", *BLOCKS],
    "gpt2_small_op17": ["dynamic", "blocks4_rows"],
}


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--accsim", default=ROOT / "build" / "accsim", type=pathlib.Path)
    parser.add_argument("--out", default=ROOT / "out" / "quantiser", type=pathlib.Path)
    parser.add_argument("networks", nargs="*", default=list(NETWORKS))
    return parser.parse_args()


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[:400])
    return done.stdout


def cost(accsim, model):
    return json.loads(run(accsim, "--hw", ROOT / "configs/64x64.yaml", model, "-q", "--json", "-"))


def check_costs(accsim, path, floats):
    """What isn't as it should be, and the cycles."""
    import stored

    report = cost(accsim, path)
    wrong = []
    if report["totals"]["cycles"] > floats["totals"]["cycles"]:
        wrong.append("more cycles")
    if report["totals"]["macs"] != floats["totals"]["macs"]:
        wrong.append(f"{report['totals']['macs']} MACs")
    kept = stored.bytes_by_width(path)
    if stored.by_width(report["model"]["bytes_by_type"]) != kept:
        wrong.append(f"bytes {report['model']['bytes_by_type']}, in the file {kept}")
    return wrong, report["totals"]["cycles"]


def check_values(accsim, path, folder):
    """Largest differences from ONNX Runtime's results, in steps of each result: of the network, of
    each node alone that reads what it reads there, and of the runtime's own results of what its
    optimiser makes of the network, or where last bits of floats are others."""
    import onnx
    import values
    import weights

    model = onnx.load(path)
    inputs = weights.inputs(model, {}, 2)
    theirs = values.runtime(path, inputs, plain=True)
    whole = values.furthest(model, values.accsim(accsim, path, inputs, folder), theirs)
    own = max(
        values.furthest(model, values.runtime(path, inputs, plain=False), theirs),
        values.furthest(model, values.disturbed(path, inputs, folder), theirs),
    )
    alone, given, wanted = values.nodes_alone(path, inputs, folder)
    nodes = values.furthest(onnx.load(alone), values.accsim(accsim, alone, given, folder), wanted)
    # Floats are no exact multiples of a step.
    return round(whole, 2), round(nodes, 2), round(own, 2)


def judge(accsim, source, form, path, floats):
    """A line of the table, and what is wrong."""
    import forms

    with tempfile.TemporaryDirectory() as folder:
        forms.quantise(source, form, path)
        wrong, cycles = check_costs(accsim, path, floats)
        whole, nodes, own = check_values(accsim, path, pathlib.Path(folder))
    wrong += ["nodes' values"] if nodes > 1 else []
    # What is a half in one order of sums isn't in another. Where such steps grow from layer to
    # layer the runtime differs from itself as much, and the nodes alone say what is right.
    wrong += ["values"] if whole > 1 >= own else []
    of_floats = 100 * cycles / floats["totals"]["cycles"]
    line = f"{cycles:>11,} {of_floats:7.1f} %{whole:9.2f}{nodes:9.2f}{own:9.2f}"
    return line, wrong


def main():
    options = read_options()
    environment.enter(HERE / "requirements.txt", options.out / "venv")
    import logging
    import warnings

    import weights

    logging.disable(logging.WARNING)
    warnings.filterwarnings("ignore")  # a mask of -inf has no scale
    failed = 0
    title = f"{'':6}{'network':28}{'form':14}"
    print(f"{title}{'cycles':>11}{'of floats':>10}{'steps':>9}{'node':>9}{'own':>9}")
    for name in options.networks:
        source = options.out / f"{name}.onnx"
        weights.fill(ROOT / "models" / f"{name}.onnx", source, 1)
        floats = cost(options.accsim, source)
        for form in NETWORKS[name]:
            path = options.out / f"{name}.{form}.onnx"
            line, wrong = judge(options.accsim, source, form, path, floats)
            path.unlink()
            failed += bool(wrong)
            mark = "WRONG" if wrong else "ok"
            print(f"{mark:6}{name:28}{form:14}{line}  {'; '.join(wrong)}", flush=True)
        source.unlink()
    print(f"{failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
