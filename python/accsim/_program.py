"""The command `accsim` of the package: the bundled program takes this process's place.

`--example SHAPE`, which only this command has, lets the model be a TorchScript file: torch exports
it for inputs of these shapes, and the program takes the export."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from ._errors import Error


def program() -> str:
    """Path of the bundled program."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "accsim")


def _examples(words: list[str]) -> tuple[list[str], list[str]]:
    """Shapes given by --example, and the other words."""
    shapes: list[str] = []
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        if word == "--example":
            shapes.append(next(rest, ""))
        elif word.startswith("--example="):
            shapes.append(word.partition("=")[2])
        else:
            others.append(word)
    return shapes, others


def _run_torch_file(shapes: list[str], words: list[str]) -> int:
    """The program's answer for the TorchScript file among the words."""
    files = [word for word in words if word.endswith((".pt", ".pth"))]
    if len(files) != 1:
        raise Error("--example: is for one TorchScript file, a word that ends in .pt")
    from ._torch import export_file

    with tempfile.TemporaryDirectory(prefix="accsim-") as folder:
        stem = os.path.splitext(os.path.basename(files[0]))[0]
        exported = os.path.join(folder, stem + ".onnx")
        export_file(files[0], shapes, exported)
        done = [exported if word == files[0] else word for word in words]
        return subprocess.run([program(), *done], check=False).returncode


def main() -> None:
    """Becomes the program, with this process's arguments."""
    shapes, words = _examples(sys.argv[1:])
    if shapes:
        try:
            sys.exit(_run_torch_file(shapes, words))
        except Error as error:
            for cause in error.causes:
                print(f"accsim: error: {cause}", file=sys.stderr)
            sys.exit(2)
    path = program()
    os.execv(path, [path, *words])


if __name__ == "__main__":
    main()
