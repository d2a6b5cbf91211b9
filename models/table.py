#!/usr/bin/python3
"""Prints the table of models/README.md from what accsim says of each file.

Usage: table.py ACCSIM [--check]; --check compares with the README instead and exits 1 if it
differs."""

import json
import pathlib
import subprocess
import sys

MODELS = pathlib.Path(__file__).resolve().parent
CONFIG = MODELS.parent / "configs" / "64x64.yaml"
BEGIN, END = "<!-- table:begin (models/table.py; a test compares) -->", "<!-- table:end -->"


def origin(path):
    if path.parent.name == "onnx-light":
        return "ONNX light models"
    plain = ("bert", "gpt2", "llama")
    return "PyTorch, exporter/networks.py" if path.name.startswith(plain) else "torchvision"


def row(accsim, path):
    done = subprocess.run(
        [accsim, "--hw", str(CONFIG), str(path), "--json", "-"],
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
        f"| {totals['params']:,} | {totals['macs']:,} | {', '.join(model['defaulted'])} |"
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


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    text = table(sys.argv[1])
    if "--check" not in sys.argv:
        print(text)
        return 0
    stated = (MODELS / "README.md").read_text().split(BEGIN)[1].split(END)[0].strip()
    if stated != text:
        print(f"models/README.md has another table than:\n{text}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
