"""Tensors of a file that torch.save() wrote, as raw elements.

Runs alone, as the program accsim starts it, and needs torch only: python3 _tensors.py FILE FOLDER.
FOLDER gets the elements of each tensor, in files 0, 1 ..., and a file `list` with an entry
"TYPE DIM,DIM... NAME" for each, which ends in a zero byte. Exit codes are those of _alone.py."""

from __future__ import annotations

import ctypes
import pathlib
from collections.abc import Iterator
from importlib import import_module
from typing import Any


class TensorsError(Exception):
    """What a file holds that is no tensors."""


def load(path: str) -> Any:
    """What the file holds, on the cpu. Nothing that it holds is executed."""
    torch = import_module("torch")
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TensorsError(
            f"torch finds no tensors in it: {reason}; write them with torch.save(tensor, FILE), or "
            "a dict, list or tuple of tensors"
        ) from error


def tensors(held: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """(name, tensor) of what stands in dicts, lists and tuples; names are joined by dots."""
    torch = import_module("torch")
    if isinstance(held, torch.Tensor):
        yield name, held
    elif isinstance(held, dict):
        for key, value in held.items():
            yield from tensors(value, f"{name}.{key}" if name else str(key))
    elif isinstance(held, (list, tuple)):
        for place, value in enumerate(held):
            yield from tensors(value, f"{name}.{place}" if name else str(place))


def element_type(tensor: Any) -> str:
    """As accsim calls it: "float32", "float8e4m3fn"."""
    word = str(tensor.dtype).split(".")[-1]
    return word.replace("_", "") if word.startswith("float8") else word


def elements(tensor: Any) -> bytes:
    """Row-major; torch's own way to bytes goes by numpy, which needn't be there."""
    size = tensor.numel() * tensor.element_size()
    return ctypes.string_at(tensor.data_ptr(), size) if size else b""


def write(path: str, folder: str) -> None:
    """Writes the tensors of a file into a folder."""
    place = pathlib.Path(folder)
    entries = []
    for number, (name, tensor) in enumerate(tensors(load(path))):
        if tensor.is_quantized or tensor.is_complex():
            raise TensorsError(
                f"tensor '{name}' is {element_type(tensor)}, which isn't compared: save "
                "tensor.dequantize(), or torch.view_as_real(tensor)"
            )
        plain = tensor.detach().to_dense() if tensor.layout != _strided() else tensor.detach()
        plain = plain.resolve_neg().contiguous()
        (place / str(number)).write_bytes(elements(plain))
        dims = ",".join(str(dim) for dim in plain.shape)
        entries.append(f"{element_type(plain)} {dims} {name}\0")
    if not entries:
        raise TensorsError("it holds no tensors, in dicts, lists and tuples neither")
    (place / "list").write_bytes("".join(entries).encode())


def _strided() -> Any:
    return import_module("torch").strided


if __name__ == "__main__":
    import_module("_alone").run_alone(write, TensorsError)
