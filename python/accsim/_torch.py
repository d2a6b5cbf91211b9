"""PyTorch modules: exported to ONNX by torch itself, costed by accsim.

torch is imported when one of these functions is called."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from importlib import import_module
from typing import Any, Unpack, cast

from . import _core
from ._core import Machine, Model, Report
from ._errors import Error
from ._export import ExportError, export_module, load_script
from ._options import CostOptions, LoadOptions

MachineLike = Machine | str | os.PathLike[str] | dict[str, Any]


def get_torch() -> Any:
    try:
        return import_module("torch")
    except ImportError as error:
        raise Error(
            "torch: isn't installed for this Python; pip install torch, or Debian's python3-torch"
        ) from error


def as_tuple(inputs: Any) -> tuple[Any, ...]:
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)


def _tensors(module: Any) -> dict[str, Any]:
    """Parameters and buffers by name."""
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


@contextlib.contextmanager
def exporting(name: str = "") -> Iterator[None]:
    """What torch doesn't export is an Error, about `name`."""
    try:
        yield
    except ExportError as error:
        raise Error(f"{name}: {error}" if name else str(error)) from error


@contextlib.contextmanager
def evaluating(module: Any) -> Iterator[None]:
    """The module in evaluation mode, and afterwards as it was."""
    was_training = module.training
    module.eval()
    try:
        yield
    finally:
        module.train(was_training)


def _check_complete(module: Any, model: Model, exported: set[str]) -> None:
    """Tracing on the meta device loses operators that some versions of torch don't trace there."""
    lost = [name for name, _ in module.named_parameters() if name not in exported]
    if lost:
        raise Error(
            f"torch.onnx: {len(lost)} parameters aren't in the exported graph, {lost[0]} among "
            "them: this torch doesn't trace their operators on the meta device; use the cpu"
        )


def _exported(program: Any) -> Any:
    """The modules of a torch.export program, under their paths."""
    export: Any = getattr(get_torch(), "export", None)
    if not hasattr(export, "unflatten"):
        raise Error(f"torch.export: programs need torch 2.2, this is {get_torch().__version__}")
    return export.unflatten(program)


def _program_file(path: str) -> Any:
    export: Any = getattr(get_torch(), "export", None)
    if not hasattr(export, "load"):
        version = get_torch().__version__
        raise Error(f"{path}: torch.export's files need torch 2.2, this is {version}")
    try:
        return export.load(path)
    except Exception as error:
        raise Error(f"{path}: torch can't read it as an exported program: {error}") from error


def _module_and_inputs(module: Any, example_inputs: Any) -> tuple[Any, tuple[Any, ...]]:
    """What is to be exported, of all that load_torch() takes, and for which inputs."""
    torch = get_torch()
    if isinstance(module, (str, os.PathLike)):
        path = os.fspath(module)
        if path.endswith(".pt2"):
            module = _program_file(path)
        else:
            with exporting(path):
                module = load_script(path)
    program = getattr(getattr(torch, "export", None), "ExportedProgram", None)
    if program is not None and isinstance(module, program):
        if example_inputs is None:
            args, named = module.example_inputs
            example_inputs = (*args, named) if named else args
        module = _exported(module)
    elif not isinstance(module, torch.nn.Module):
        raise Error(
            f"module: {type(module).__name__} is neither an nn.Module, TorchScript nor a program "
            f"of torch.export{'' if program else f', which torch {torch.__version__} lacks'}"
        )
    if example_inputs is None:
        raise Error("example_inputs: only programs of torch.export bring their own")
    return module, as_tuple(example_inputs)


def load_torch(
    module: Any,
    example_inputs: Any,
    *,
    name: str = "module",
    **options: Unpack[LoadOptions],
) -> Model:
    """A PyTorch module as a Model: nn.Module, TorchScript, a program of torch.export (torch 2.2 and
    later), or the path of a .pt or .pt2 file.

    example_inputs: a tensor or a tuple of them, on the module's device; they fix the shapes. None
    for a program of torch.export: those that it was exported with.
    Weights are never written, so modules on the meta device (without any) cost as well. Layers are
    called by the paths of their modules. options: those of Model.load().
    """
    if isinstance(module, (str, os.PathLike)):
        name = os.fspath(module)
    module, inputs = _module_and_inputs(module, example_inputs)
    tensors = _tensors(module)
    meta = any(t.device.type == "meta" for t in tensors.values())
    with tempfile.TemporaryDirectory(prefix="accsim-") as folder:
        path = os.path.join(folder, "module.onnx")
        with evaluating(module), exporting():
            export_module(module, inputs, path, weights=False)
        model = _core._load_module(path, set(tensors), name, **options)
        if meta:
            _check_complete(module, model, _core._stored_names(model))
    return model


def cost_torch(
    module: Any, example_inputs: Any, hw: MachineLike, **options: Unpack[CostOptions]
) -> Report:
    """Costs a PyTorch module on a machine; options as cost() has them.

    module: nn.Module (on any device, meta too), TorchScript, a program of torch.export, or the
    path of a .pt or .pt2 file. example_inputs: a tensor or a tuple of them; they fix the shapes.
    None for a program of torch.export: those that it was exported with.
    """
    given = cast("dict[str, Any]", options)
    read_with = {key: given.pop(key) for key in LoadOptions.__annotations__ if key in given}
    return _core.cost(load_torch(module, example_inputs, **read_with), hw, **given)
