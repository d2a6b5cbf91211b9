#!/usr/bin/python3
"""Prints the tables of models/README.md: of files from what accsim says of each, of language models
from their geometries.

Usage: table.py ACCSIM [--check | --update]; --check compares with the README instead and exits 1 if
one differs, --update writes them into it."""

import json
import pathlib
import subprocess
import sys

MODELS = pathlib.Path(__file__).resolve().parent
CONFIG = MODELS.parent / "configs" / "64x64.yaml"
README = MODELS / "README.md"
sys.dont_write_bytecode = True
sys.path.insert(0, str(MODELS / "exporter"))

import geometry  # noqa: E402


def origin(path):
    if path.parent.name == "onnx-light":
        return "ONNX light models"
    plain = ("bert", "gpt2", "llama")
    return "PyTorch, exporter/networks.py" if path.name.startswith(plain) else "torchvision"


def row(accsim, path):
    done = subprocess.run(
        [accsim, "--hw", str(CONFIG), str(path), "--bind", "*=1", "--json", "-"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(done.stderr)
    report = json.loads(done.stdout)
    model, totals = report["model"], report["totals"]
    return (
        f"| {path.relative_to(MODELS)} | {origin(path)} | {model['opset']} | {model['nodes']:,} "
        f"| {totals['params']:,} | {totals['macs']:,} | {', '.join(model['bindings'])} |"
    )


def table(accsim):
    files = sorted(MODELS.glob("*.onnx")) + sorted(MODELS.glob("onnx-light/*.onnx"))
    return "\n".join(
        [
            "| file | origin | opset | nodes | parameters | MACs | symbolic dims (as 1) |",
            "|---|---|---|---|---|---|---|",
            *(row(accsim, f) for f in files),
        ]
    )


def words(size):
    """What a model has that a Llama hasn't."""
    windows = [window for window in size.windows if window]
    found = {
        f"{size.experts_per_token} of {size.experts} experts": size.experts,
        f"window {max(windows, default=0):,} in {len(windows)} layers": windows,
        "LayerNorm": size.norm == "layer",
        "norms of queries and keys": size.qk_norm,
        "norms after both parts": size.norms_after,
        "parallel parts": size.parallel,
        "one product for Q, K, V": size.fused,
        "biases": size.mlp_bias,
        f"{size.rotary_share:.0%} of a head turns": size.rotary_share < 1,
        "learned positions": size.positions == "learned",
        {"silu": "SiLU", "gelu": "GELU", "gelu_tanh": "GELU by tanh"}[size.activation]: (
            size.activation != "silu"
        ),
        "no gate": not size.gated,
        f"scan of {size.inner:,} x {size.state} states": size.state,
        "tied": size.tied,
    }
    return ", ".join(word for word, has in found.items() if has)


def decoder_row(name):
    size = geometry.find(name)[1]
    window = max(size.windows, default=0)
    past = 4095 if size.positions != "learned" else min(4095, size.max_positions - 1)
    later = size.macs(1, past, past_window=min(past, window - 1) if window else past)
    heads = "" if size.state else f"{size.heads} ({size.kv_heads}) x {size.head}"
    ffn = "" if size.state else f"{size.ffn:,}"
    return (
        f"| {name} | {size.layers} | {size.hidden:,} | {heads} | {ffn} | {size.vocab:,} "
        f"| {words(size)} | {size.params():,} | {size.macs(1):,} | {later:,} |"
    )


def decoder_table(_):
    return "\n".join(
        [
            "| name | layers | hidden | heads (KV) x size | feed-forward | vocabulary | has "
            "| parameters | MACs of a first token | behind 4,095 |",
            "|---|---|---|---|---|---|---|---|---|---|",
            *map(decoder_row, sorted(geometry.named())),
        ]
    )


TABLES = {"table": table, "decoders": decoder_table}


def marks(name):
    return f"<!-- {name}:begin (models/table.py; a test compares) -->", f"<!-- {name}:end -->"


def put(text, name, wanted):
    """The README's text with another table in place of one."""
    begin, end = marks(name)
    before, rest = text.split(begin)
    return f"{before}{begin}\n{wanted}\n{end}{rest.split(end)[1]}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    made = {name: make(sys.argv[1]) for name, make in TABLES.items()}
    stated = README.read_text()
    wanted = stated
    for name, text in made.items():
        wanted = put(wanted, name, text)
    if "--update" in sys.argv:
        README.write_text(wanted)
    elif "--check" not in sys.argv:
        print("\n\n".join(made.values()))
    elif stated != wanted:
        print(f"models/README.md has other tables than:\n{made}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
