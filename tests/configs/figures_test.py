#!/usr/bin/python3
"""Are the reference figures in configs/README.md what accsim says now?

Usage: figures_test.py ACCSIM [--update]. --update writes them. What stands behind them for
comparison (ONNXim's cycles, the least that the array needs) is nobody's output and stays.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "configs" / "README.md"
MACHINE = ROOT / "configs" / "64x64.yaml"

# The row's first cell and the model file; None: a product that `accsim gemm` writes.
ROWS = [
    ("one 1024 x 1024 x 1024 int8 product", None),
    ("ResNet-18, batch 1", ROOT / "models" / "resnet18_op13.onnx"),
    ("ResNet-50, batch 1", ROOT / "models" / "resnet50_op17.onnx"),
]


def cycles(accsim, model):
    with tempfile.TemporaryDirectory() as folder:
        if model is None:
            model = pathlib.Path(folder) / "product.onnx"
            subprocess.run(
                [accsim, "gemm", "1024x1024x1024", "-o", model],
                check=True,
                stdout=subprocess.DEVNULL,
            )
        done = subprocess.run(
            [accsim, "--hw", MACHINE, model, "--json", "-"],
            check=True,
            capture_output=True,
            text=True,
        )
    return json.loads(done.stdout)["totals"]["cycles"]


def with_figure(text, name, figure):
    """The text with another figure in the row's second cell. Exactly one row has the name."""
    row = re.compile(rf"^(\| {re.escape(name)} \| )[\d,]+( \|)", re.M)
    text, found = row.subn(rf"\g<1>{figure:,}\g<2>", text)
    if found != 1:
        sys.exit(f"FAILED: configs/README.md has {found} rows '{name}'")
    return text


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--update"]):
        sys.exit(__doc__)
    accsim = pathlib.Path(sys.argv[1]).resolve()
    old = new = README.read_text()
    for name, model in ROWS:
        new = with_figure(new, name, cycles(accsim, model))
    if new == old:
        return 0
    if sys.argv[2:]:
        README.write_text(new)
        return 0
    for before, now in zip(old.splitlines(), new.splitlines()):
        if before != now:
            print(f"FAILED: configs/README.md says\n  {before}\naccsim says\n  {now}")
    print("after a change of the model run:\n  tests/configs/figures_test.py build/accsim --update")
    return 1


if __name__ == "__main__":
    sys.exit(main())
