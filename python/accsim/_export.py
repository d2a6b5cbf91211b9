"""PyTorch's exporter of TorchScript, for modules and for files.

Runs alone too, as the program accsim starts it, and needs torch only: python3 _export.py FILE.pt
OUTPUT.onnx SHAPE... Exit codes are those of _alone.py."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

_DEDUPLICATE = "_jit_pass_onnx_deduplicate_initializers"


class ExportError(Exception):
    """What torch doesn't export, and why."""


@contextlib.contextmanager
def _replaced(torch: Any, passes: dict[str, Callable[..., Any]]) -> Iterator[None]:
    """Passes of the exporter are these; those that this torch lacks aren't added."""
    core = torch._C
    saved = {name: getattr(core, name) for name in passes if hasattr(core, name)}
    try:
        for name in saved:
            setattr(core, name, passes[name])
        yield
    finally:
        for name, function in saved.items():
            setattr(core, name, function)


def _weightless(torch: Any) -> contextlib.AbstractContextManager[None]:
    """The exporter's passes that would look at weights don't: on the meta device there are none."""
    infer = getattr(torch._C, "_jit_pass_onnx_graph_shape_type_inference", None)
    return _replaced(
        torch,
        {
            _DEDUPLICATE: lambda graph, params, training: params,
            "_jit_pass_onnx_graph_shape_type_inference": lambda graph, params, version: (
                infer(graph, {}, version) if infer else None
            ),
        },
    )


def _equal_ones_apart(torch: Any) -> contextlib.AbstractContextManager[None]:
    """Only one tensor under two names is stored once. Out of training the exporter stores equal
    ones once, too: all gains and variances of a network that wasn't trained, say."""
    found: Any = getattr(torch._C, _DEDUPLICATE, None)
    return _replaced(
        torch,
        {_DEDUPLICATE: lambda graph, params, training: found(graph, params, True)},
    )


def export_module(module: Any, inputs: tuple[Any, ...], path: str, weights: bool) -> None:
    """Writes a module as ONNX for inputs like these, with or without its weights."""
    torch = import_module("torch")
    options: dict[str, Any] = {"opset_version": 17 if hasattr(torch, "export") else 15}
    if "dynamo" in torch.onnx.export.__code__.co_varnames:
        options["dynamo"] = False  # the exporter whose nodes carry the modules' paths
    with warnings.catch_warnings(), contextlib.ExitStack() as stack:
        warnings.simplefilter("ignore")
        stack.enter_context(_equal_ones_apart(torch) if weights else _weightless(torch))
        try:
            torch.onnx.export(
                module,
                inputs,
                path,
                export_params=weights,
                training=torch.onnx.TrainingMode.PRESERVE,  # BatchNorm stays a layer of its own
                do_constant_folding=False,
                **options,
            )
        except Exception as error:
            raise ExportError(f"torch.onnx: can't export the module: {error}") from error


def load_script(path: str) -> Any:
    """The module of a TorchScript file, on the cpu."""
    torch = import_module("torch")
    try:
        return torch.jit.load(path, map_location="cpu")
    except Exception as error:
        raise ExportError(
            f"torch can't read it as TorchScript: {error}; a checkpoint holds weights without what "
            "is computed with them: export the module that they belong to, "
            'torch.onnx.export(module.eval(), (torch.zeros(1, 3, 224, 224),), "model.onnx")'
        ) from error


def _example(shape: str) -> Any:
    """A tensor of "1x3x224x224" (float32), or "1x128:int64"."""
    torch = import_module("torch")
    dims, _, kind = shape.partition(":")
    try:
        sizes = [int(dim) for dim in dims.split("x")]
        return torch.zeros(sizes, dtype=getattr(torch, kind or "float32"))
    except (ValueError, AttributeError, RuntimeError, TypeError) as error:
        raise ExportError(f"'{shape}' is no shape, e.g. 1x3x224x224 or 1x128:int64") from error


def export_file(path: str, shapes: Sequence[str], onnx: str) -> None:
    """Writes a TorchScript file as ONNX, for inputs of these shapes ("1x3x224x224")."""
    inputs = tuple(_example(shape) for shape in shapes)
    export_module(load_script(path).eval(), inputs, onnx, weights=True)


def _export(path: str, onnx: str, *shapes: str) -> None:
    export_file(path, shapes, onnx)


if __name__ == "__main__":
    import_module("_alone").run_alone(_export, ExportError)
