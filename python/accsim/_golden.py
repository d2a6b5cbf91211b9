"""PyTorch's values of a module against accsim's, call by call.

A module that is exported while its calls are watched gives what each of them gave: the exporter
itself says which tensor of the graph that is, whatever its name. A copy is taken at once, before
the next module can write over it."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from . import _api, _core
from ._core import Machine, Model
from ._errors import Error
from ._export import export_module
from ._torch import as_tuple, evaluating, exporting, get_torch

MachineLike = Machine | str | os.PathLike[str] | dict[str, Any]


@dataclass(frozen=True)
class Call:
    """What a call of a module gave: `layer` is its path, "" the network's; counted from 1."""

    layer: str
    call: int
    output: int
    value: Any  # a numpy array


class Golden(list[dict[str, Any]]):
    """Rows of golden(), in the order of the calls, with the tolerances that they are held to. str()
    is a table of them."""

    def __init__(
        self, rows: Sequence[dict[str, Any]], tolerance: float, int8_tolerance: float | None
    ) -> None:
        super().__init__(rows)
        self.tolerance = tolerance
        self.int8_tolerance = int8_tolerance

    @property
    def passed(self) -> bool:
        """Are all errors within their tolerance? Not of no rows."""
        return bool(self) and not self.failed

    @property
    def failed(self) -> list[dict[str, Any]]:
        """The rows that aren't."""
        return [row for row in self if not row["passed"]]

    def __str__(self) -> str:
        head = ("layer", "call", "node", "shape", "float error", "int8 error", "")
        lines = [head, *(_words(row) for row in self)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        table = [
            "  ".join(
                word.rjust(width) if i in (1, 4, 5) else word.ljust(width)
                for i, (word, width) in enumerate(zip(line, widths))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([*table, "", self._sum()])

    __repr__ = __str__

    def _sum(self) -> str:
        parts = [f"{len(self) - len(self.failed)} of {len(self)} pass"]
        for key, limit in (("float", self.tolerance), ("int8", self.int8_tolerance)):
            errors = [row[f"{key}_error"] for row in self if f"{key}_error" in row]
            if errors:
                held = "not held to a limit" if limit is None else f"at most {limit:g} is right"
                parts.append(f"{key} error up to {max(errors):.2g} ({held})")
        return "; ".join(parts)


def _words(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        (row["layer"] or "(network)") + (f"[{row['output']}]" if row["output"] else ""),
        str(row["call"]),
        row["node"],
        "x".join(map(str, row["shape"])),
        f"{row['float_error']:.2g}",
        f"{row['int8_error']:.2g}" if "int8_error" in row else "",
        "" if row["passed"] else "FAILED",
    )


def _tensors(value: Any) -> Iterator[Any]:
    """Real tensors in what a module takes or gives, in order."""
    torch = get_torch()
    left = [value]
    while left:
        one = left.pop()
        if torch.is_tensor(one) and not one.is_complex() and one.layout == torch.strided:
            yield one
        elif isinstance(one, Mapping):
            left.extend(reversed(list(one.values())))
        elif isinstance(one, (tuple, list)):
            left.extend(reversed(one))


def _array(tensor: Any) -> Any:
    """A copy of its numbers; numpy has no bfloat16."""
    torch = get_torch()
    copy = tensor.detach().clone().cpu()
    return (copy.float() if copy.dtype == torch.bfloat16 else copy).numpy()


class _Watch:
    """The calls of a module and of all below it. Where `gives`, it gives what they gave."""

    def __init__(self, gives: bool) -> None:
        self.calls: list[Call] = []
        self._gives = gives
        self._copies: list[Any] = []
        self._counts: Counter[str] = Counter()

    def begin(self, *_: Any) -> None:
        self.calls.clear()
        self._copies.clear()
        self._counts.clear()

    def keep(self, path: str, result: Any) -> Any:
        self._counts[path] += 1
        for output, tensor in enumerate(_tensors(result)):
            self.calls.append(Call(path, self._counts[path], output, _array(tensor)))
            self._copies.append(tensor.clone())
        return tuple(self._copies) if self._gives and not path else None


@contextlib.contextmanager
def _watched(module: Any, gives: bool) -> Iterator[_Watch]:
    watch = _Watch(gives)
    hooks = [module.register_forward_pre_hook(watch.begin)]
    for path, child in module.named_modules():

        def keep(_module: Any, _args: Any, result: Any, path: str = path) -> Any:
            return watch.keep(path, result)

        hooks.append(child.register_forward_hook(keep))
    try:
        yield watch
    finally:
        for hook in hooks:
            hook.remove()


def export_calls(module: Any, inputs: Any, path: str) -> list[Call]:
    """Writes a module as ONNX that gives what each call of a module gave; these, in that order."""
    torch = get_torch()
    given = as_tuple(inputs)
    # What is within TorchScript calls no hook, and is exported as it is, not by a run.
    script = isinstance(module, torch.jit.ScriptModule)
    with evaluating(module), exporting(), _watched(module, gives=not script) as watch:
        export_module(module, given, path, weights=True)
        if script:
            with torch.no_grad():
                module(*given)
    return watch.calls


def _error(numpy: Any, ours: Any, theirs: Any) -> float:
    """Largest difference over the largest value; infinite of another shape, or where only one of
    them is no number."""
    if ours.shape != theirs.shape:
        return float("inf")
    a, b = (numpy.asarray(v, dtype=numpy.float64) for v in (ours, theirs))
    same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
    with numpy.errstate(invalid="ignore"):
        apart = numpy.where(same, 0.0, numpy.abs(a - b))
    worst = float(numpy.max(numpy.where(numpy.isnan(apart), numpy.inf, apart), initial=0.0))
    finite = numpy.abs(b[numpy.isfinite(b)])
    return worst / (float(numpy.max(finite, initial=0.0)) or 1.0)


class _Int8:
    """What products give in int8 in the graph as the module has it: activations are part of their
    programs, so that not each call has a tensor of its own."""

    def __init__(self, path: str, arrays: Sequence[Any], folder: str, **options: Any) -> None:
        names = list(Model.load(path).inputs)
        _api.run(path, dict(zip(names, arrays)), dump="all", output=folder, int8=True, **options)
        made, _ = _core._made(Model.load(path))
        self._tensors = dict(made)
        with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
            layers = json.load(file)["layers"]
        self._files = {
            layer["outputs"][0]["name"]: os.path.join(folder, layer["outputs"][0]["file"])
            for layer in layers
            if layer["computed"] == "int8" and layer["outputs"]
        }

    def file(self, node: str) -> str | None:
        """Of the first result of a node; None: it has no file of its own."""
        names = self._tensors.get(node)
        return self._files.get(names[0]) if names else None


def compare_calls(
    path: str,
    calls: Sequence[Call],
    arrays: Sequence[Any],
    *,
    tolerance: float,
    int8_tolerance: float | None = None,
    int8: _Int8 | None = None,
) -> Golden:
    """Runs what export_calls() wrote, on these inputs, and compares. Needs no torch."""
    numpy = import_module("numpy")
    model = Model.load(path)
    made, given = _core._made(model)
    if len(given) != len(calls):
        raise Error(
            f"torch.onnx: the graph gives {len(given)} tensors where the module's calls gave "
            f"{len(calls)}: this torch exports it otherwise than it runs it"
        )
    if len(model.inputs) != len(arrays):
        raise Error(
            f"inputs: {len(arrays)} tensors, where the exported graph has {len(model.inputs)} "
            f"inputs ({', '.join(model.inputs)}); give those that the module reads"
        )
    values = _api.run(path, dict(zip(model.inputs, arrays)))
    makers = {tensor: node for node, tensors in made for tensor in tensors}
    rows: list[dict[str, Any]] = []
    for call, name in zip(calls, given):
        row: dict[str, Any] = {"layer": call.layer, "call": call.call, "output": call.output}
        row["shape"] = tuple(call.value.shape)
        row["node"] = makers.get(name, "")
        row["float_error"] = _error(numpy, values[name], call.value)
        file = int8.file(row["node"]) if int8 else None
        quantised = numpy.load(file) if file else None
        if quantised is not None and quantised.size == call.value.size:
            row["int8_error"] = _error(numpy, quantised.reshape(call.value.shape), call.value)
        row["passed"] = row["float_error"] <= tolerance and (
            int8_tolerance is None or row.get("int8_error", 0.0) <= int8_tolerance
        )
        rows.append(row)
    return Golden(rows, tolerance, int8_tolerance)


def golden(
    module: Any,
    inputs: Any,
    *,
    hw: MachineLike = "64x64",
    int8: bool = True,
    layerwise: bool = True,
    tolerance: float = 1e-4,
    int8_tolerance: float | None = None,
) -> Golden:
    """Runs a module in PyTorch and in accsim and compares what its modules give, call by call.

    A row a tensor that a call of a module gave, in the order in which they end: layer (the path of
    the module, "" of the network), call (from 1), output (its place in a tuple), shape, node (the
    graph's, which makes it), float_error and int8_error, the largest difference over PyTorch's
    largest value, and passed. float_error is of the reference executor in float. int8_error is of
    the products run in int8 on the bit-exact machine hw, each with what is folded into its program:
    a Conv's stands at the activation behind it, and other rows have none.

    tolerance, int8_tolerance: errors up to this pass; int8_tolerance None: int8 errors are shown
    only. Float arithmetic in another order errs by about 1e-6. layerwise: each int8 layer reads the
    float run's values, so that errors don't add up. The result's `passed` says whether all rows
    did, str() is a table.
    """
    for name, limit in (("tolerance", tolerance), ("int8_tolerance", int8_tolerance)):
        if limit is not None and not 0 <= limit < float("inf"):
            raise Error(f"{name}: {limit} is not a number from 0")
    given = as_tuple(inputs)
    with tempfile.TemporaryDirectory(prefix="accsim-") as folder:
        calls_file, plain = (os.path.join(folder, name) for name in ("calls.onnx", "module.onnx"))
        calls = export_calls(module, given, calls_file)
        if not calls:
            raise Error("module: no call gives a tensor that could be compared")
        arrays = [_array(tensor) for tensor in _tensors(given)]
        products = None
        if int8:
            with evaluating(module), exporting():
                export_module(module, given, plain, weights=True)
            dump = os.path.join(folder, "int8")
            products = _Int8(plain, arrays, dump, hw=hw, layerwise=layerwise)
        return compare_calls(
            calls_file,
            calls,
            arrays,
            tolerance=tolerance,
            int8_tolerance=int8_tolerance,
            int8=products,
        )
