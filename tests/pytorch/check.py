#!/usr/bin/env python3
"""Does accsim compute what PyTorch computes, and count PyTorch's parameters, in every classifier of
torchvision, and in small transformers?

    PYTHONPATH=PACKAGE PYTHON tests/pytorch/check.py [--write] [--rest] [NETWORK ...]

PYTHON has what models/exporter/modern/mixed_requirements.txt and the file before it name, PACKAGE
is accsim's. Networks have random weights, and small pictures where they take them. Of each:
golden(), every call of every module in float, and products in int8 where it isn't too large; and
`inspect` of the file that the program makes of its TorchScript against the sum of numel(). Each
network is a process of its own. A table goes to stdout, and with --write to README.md, whose other
rows stay; --rest leaves out networks that have one. Exit code 1 where something isn't so, 77
without the packages.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "models" / "exporter" / "modern"))
BEGIN, END = "<!-- check.py: begin -->\n", "<!-- check.py: end -->\n"

# Pictures: small ones where the network and its exporter take them; what constructors are told.
SIZE = 64
SIZES = {"alexnet": 224, "inception_v3": 96, "maxvit_t": 224, "vit_h_14": 56}
SIZES |= {f"vgg{n}{bn}": 224 for n in (11, 13, 16, 19) for bn in ("", "_bn")}
OPTIONS = {
    "googlenet": {"init_weights": False, "aux_logits": False},
    "inception_v3": {"init_weights": False, "aux_logits": False},
    **{f"vit_{n}": {"image_size": SIZE} for n in ("b_16", "b_32", "l_16", "l_32")},
    "vit_h_14": {"image_size": 56},
}
TOLERANCE = 1e-4
MOST_INT8_MACS = 100_000_000


TRANSFORMERS = [
    *("hf_llama", "hf_qwen2", "hf_qwen3", "hf_gemma3", "hf_phi3", "hf_mistral", "hf_gptj"),
    *("hf_gpt_neox", "hf_falcon", "hf_stablelm", "hf_gpt2", "hf_bloom", "hf_opt"),
    *("hf_bert_small", "hf_t5_encoder", "hf_whisper_encoder", "hf_dinov2_small"),
]


def classifier(name):
    """A network of torchvision, and its input."""
    import torch
    from torchvision import models

    size = SIZES.get(name, SIZE)
    module = models.get_model(name, weights=None, **OPTIONS.get(name, {}))
    return module.eval(), (torch.randn(1, 3, size, size),)


def transformer(name):
    """A network of models/exporter/modern, and its inputs."""
    import mixed_one
    import torch

    torch.diff = mixed_one.difference
    torch.backends.mha.set_fastpath_enabled(False)
    network = mixed_one.network_of(name, "ts")
    return network.build().eval(), tuple(network.inputs())


def inspected(module, inputs):
    """What the file of its TorchScript has, as the program makes it; of the module itself where
    PyTorch doesn't export that."""
    import accsim
    import torch
    from accsim._export import ExportError, export_file, export_module

    with tempfile.TemporaryDirectory() as folder:
        script, onnx = f"{folder}/net.pt", f"{folder}/net.onnx"
        try:
            torch.jit.save(torch.jit.trace(module, inputs, check_trace=False), script)
            shapes = ["x".join(map(str, x.shape)) + f":{str(x.dtype)[6:]}" for x in inputs]
            export_file(script, shapes, onnx)
        except (ExportError, RuntimeError):
            export_module(module, inputs, onnx, weights=True)
        return accsim.inspect(onnx)


def measure(name):
    """The row of a network."""
    import accsim
    import torch

    torch.manual_seed(1)
    torch.set_num_threads(1)
    module, inputs = (transformer if name in TRANSFORMERS else classifier)(name)
    counted = inspected(module, inputs)
    int8 = counted.macs <= MOST_INT8_MACS
    rows = accsim.golden(module, inputs, int8=int8, tolerance=TOLERANCE)
    errors = [row["int8_error"] for row in rows if "int8_error" in row]
    buffers = [b for b in module.buffers() if b.is_floating_point()]
    return {
        "name": name,
        "input": "x".join(map(str, inputs[0].shape)),
        "calls": len(rows),
        "passed": len(rows) - len(rows.failed),
        "float_error": max(row["float_error"] for row in rows),
        "int8": len(errors),
        "int8_error": max(errors, default=None),
        "torch_params": sum(p.numel() for p in module.parameters()),
        "params": counted.params,
        "torch_buffers": sum(b.numel() for b in buffers),
        "buffers": counted.buffers,
        "failed": [row["layer"] for row in rows.failed][:3],
    }


def in_a_process(name):
    command = [sys.executable, __file__, "--one", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"name": name, "error": (done.stderr.strip().splitlines() or ["?"])[-1]}
    return json.loads(done.stdout.splitlines()[-1])


def is_right(row):
    """Do all calls pass, and are the parameters PyTorch's? Of some buffers the file doesn't say
    that they aren't trained, and not every buffer is read."""
    if "error" in row or row["failed"]:
        return False
    ours, theirs = row["params"] + row["buffers"], row["torch_params"] + row["torch_buffers"]
    return ours <= theirs and row["params"] >= row["torch_params"]


def line(row):
    if "error" in row:
        return f"| {row['name']} | {row['error']} |"
    int8 = f"{row['int8']} | {row['int8_error']:.2g}" if row["int8"] else "- | -"
    return (
        f"| {row['name']} | {row['input']} | {row['passed']} of {row['calls']} | "
        f"{row['float_error']:.1e} | {int8} | {row['torch_params']:,} | {row['params']:,} | "
        f"{row['torch_buffers']:,} | {row['buffers']:,} |"
    )


COLUMNS = ["network", "input", "calls right", "float error", "int8", "error"]
COLUMNS += ["PyTorch's parameters", "ours", "buffers", "ours"]
HEAD = f"| {' | '.join(COLUMNS)} |\n|---|{'---:|' * (len(COLUMNS) - 1)}\n"


def number(word):
    return int(word.replace(",", ""))


def parsed(text):
    """The row of a line of the table."""
    words = [word.strip() for word in text.strip().strip("|").split("|")]
    if len(words) < len(COLUMNS):
        return {"name": words[0], "error": words[1]}
    passed, calls = words[2].split(" of ")
    int8 = words[4] != "-"
    return {
        "name": words[0],
        "input": words[1],
        "calls": number(calls),
        "passed": number(passed),
        "float_error": float(words[3]),
        "int8": number(words[4]) if int8 else 0,
        "int8_error": float(words[5]) if int8 else None,
        **dict(
            zip(
                ("torch_params", "params", "torch_buffers", "buffers"),
                map(number, words[6:]),
                strict=True,
            )
        ),
        "failed": [] if passed == calls else ["?"],
    }


def written():
    """Rows of README.md."""
    table = (HERE / "README.md").read_text().partition(BEGIN)[2].partition(END)[0]
    return [parsed(text) for text in table.split(HEAD)[-1].splitlines() if text.startswith("|")]


def versions(*packages):
    return ", ".join(f"{p.__name__} {p.__version__.partition('+')[0]}" for p in packages)


def write(measured, order, made_with):
    path = HERE / "README.md"
    text = path.read_text()
    known = {row["name"]: row for row in [*written(), *measured]}
    rows = [known[name] for name in order if name in known]
    table = HEAD + "".join(line(row) + "\n" for row in rows)
    good = sum(map(is_right, rows))
    calls = sum(row.get("calls", 0) for row in rows)
    right = sum(row.get("passed", 0) for row in rows)
    exact = sum(row.get("params") == row.get("torch_params", -1) for row in rows)
    found = (
        f"{made_with}: {right:,} of {calls:,} calls are right, in {len(rows)} networks; {good} of "
        f"these are right in all. {exact} have PyTorch's parameters exactly.\n\n"
    )
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    path.write_text(before + BEGIN + found + table + END + after)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table to README.md")
    parser.add_argument("--rest", action="store_true", help="only what README.md has no row of")
    parser.add_argument("--jobs", type=int, default=1, help="networks at a time")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    parser.add_argument("networks", nargs="*")
    args = parser.parse_args()
    try:
        import torch
        import torchvision
    except ImportError as error:
        print(f"skipped: {error}")
        return 77
    if args.one:
        print(json.dumps(measure(args.one)))
        return 0
    rows = []
    classifiers = torchvision.models.list_models(module=torchvision.models)
    order = [*classifiers, *TRANSFORMERS]
    known = {row["name"] for row in written()} if args.rest else set()
    names = args.networks or [name for name in order if name not in known]
    with ThreadPoolExecutor(args.jobs) as pool:
        for row in pool.map(in_a_process, names):
            rows.append(row)
            print(line(row), "" if is_right(row) else f"WRONG {row.get('failed')}", flush=True)
            if args.write:
                write(rows, order, versions(torch, torchvision))
    return 0 if all(map(is_right, rows)) else 1


if __name__ == "__main__":
    sys.exit(main())
