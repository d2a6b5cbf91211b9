"""PyTorch modules: exported to ONNX by torch itself, costed and computed by accsim.

torch is imported when one of these functions is called."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from . import _api, _core
from ._core import Machine, Model, Report
from ._errors import Error
from ._export import ExportError, export_module, load_script

MachineLike = Machine | str | os.PathLike[str] | dict[str, Any]


def _torch() -> Any:
    try:
        return import_module("torch")
    except ImportError as error:
        raise Error(
            "torch: isn't installed for this Python; pip install torch, or Debian's python3-torch"
        ) from error


def _as_tuple(inputs: Any) -> tuple[Any, ...]:
    return tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,)


def _tensors(module: Any) -> dict[str, Any]:
    """Parameters and buffers by name."""
    return {**dict(module.named_parameters()), **dict(module.named_buffers())}


@contextlib.contextmanager
def _exporting(name: str = "") -> Iterator[None]:
    """What torch doesn't export is an Error, about `name`."""
    try:
        yield
    except ExportError as error:
        raise Error(f"{name}: {error}" if name else str(error)) from error


@contextlib.contextmanager
def _evaluating(module: Any) -> Iterator[None]:
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
    export: Any = getattr(_torch(), "export", None)
    if not hasattr(export, "unflatten"):
        raise Error(f"torch.export: programs need torch 2.2, this is {_torch().__version__}")
    return export.unflatten(program)


def _program_file(path: str) -> Any:
    export: Any = getattr(_torch(), "export", None)
    if not hasattr(export, "load"):
        raise Error(f"{path}: torch.export's files need torch 2.2, this is {_torch().__version__}")
    try:
        return export.load(path)
    except Exception as error:
        raise Error(f"{path}: torch can't read it as an exported program: {error}") from error


def _module_and_inputs(module: Any, example_inputs: Any) -> tuple[Any, tuple[Any, ...]]:
    """What is to be exported, of all that load_torch() takes, and for which inputs."""
    torch = _torch()
    if isinstance(module, (str, os.PathLike)):
        path = os.fspath(module)
        if path.endswith(".pt2"):
            module = _program_file(path)
        else:
            with _exporting(path):
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
    return module, _as_tuple(example_inputs)


def load_torch(
    module: Any,
    example_inputs: Any,
    *,
    name: str = "module",
    allow_unsupported: bool = False,
    key_blocks: int | str | None = None,
    max_nodes: int | None = None,
    max_graph_mib: int | None = None,
    max_rank: int | None = None,
) -> Model:
    """A PyTorch module as a Model: nn.Module, TorchScript, a program of torch.export (torch 2.2 and
    later), or the path of a .pt or .pt2 file.

    example_inputs: a tensor or a tuple of them, on the module's device; they fix the shapes. None
    for a program of torch.export: those that it was exported with.
    Weights are never written, so modules on the meta device (without any) cost as well. Layers are
    called by the paths of their modules. key_blocks: attention in blocks of so many keys, as cost()
    has it. max_nodes, max_graph_mib, max_rank: what it may become at most; None: as the command
    line's options have it.
    """
    if isinstance(module, (str, os.PathLike)):
        name = os.fspath(module)
    module, inputs = _module_and_inputs(module, example_inputs)
    tensors = _tensors(module)
    meta = any(t.device.type == "meta" for t in tensors.values())
    with tempfile.TemporaryDirectory(prefix="accsim-") as folder:
        path = os.path.join(folder, "module.onnx")
        with _evaluating(module), _exporting():
            export_module(module, inputs, path, weights=False)
        model = _core._load_module(
            path,
            set(tensors),
            name,
            allow_unsupported=allow_unsupported,
            key_blocks=key_blocks,
            max_nodes=max_nodes,
            max_graph_mib=max_graph_mib,
            max_rank=max_rank,
        )
        if meta:
            _check_complete(module, model, _core._stored_names(model))
    return model


def cost_torch(
    module: Any,
    example_inputs: Any,
    hw: MachineLike,
    *,
    allow_unsupported: bool = False,
    dataflow: str | None = None,
    mapping: str | list[str] | None = None,
    objective: str = "cycles",
    slack: str = "1%",
    effort: str = "search",
    key_blocks: int | str | None = None,
    max_nodes: int | None = None,
    max_graph_mib: int | None = None,
    max_rank: int | None = None,
    max_programs: int | None = None,
) -> Report:
    """Costs a PyTorch module on a machine; options as cost() has them.

    module: nn.Module (on any device, meta too), TorchScript, a program of torch.export, or the
    path of a .pt or .pt2 file. example_inputs: a tensor or a tuple of them; they fix the shapes.
    None for a program of torch.export: those that it was exported with.
    """
    model = load_torch(
        module,
        example_inputs,
        allow_unsupported=allow_unsupported,
        key_blocks=key_blocks,
        max_nodes=max_nodes,
        max_graph_mib=max_graph_mib,
        max_rank=max_rank,
    )
    return _core.cost(
        model,
        hw,
        dataflow=dataflow,
        mapping=mapping,
        objective=objective,
        slack=slack,
        effort=effort,
        max_programs=max_programs,
    )


def _activations(module: Any, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """PyTorch's own outputs of every module that gives one tensor, by path."""
    torch = _torch()
    out: dict[str, Any] = {}
    hooks = []
    for path, child in module.named_modules():

        def keep(_module: Any, _args: Any, result: Any, path: str = path) -> None:
            if torch.is_tensor(result):
                out[path] = result.detach().cpu().numpy()

        hooks.append(child.register_forward_hook(keep))
    try:
        with torch.no_grad():
            module(*inputs)
    finally:
        for hook in hooks:
            hook.remove()
    return out


def _layers(folder: str) -> list[dict[str, Any]]:
    """The layers of a dump that have an output."""
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        layers: list[dict[str, Any]] = json.load(file)["layers"]
    return [layer for layer in layers if layer["outputs"]]


def _outputs(folder: str) -> dict[str, dict[str, Any]]:
    """The dumped tensor that each module gives, by path: that of the module's last node."""
    layers = _layers(folder)
    found: dict[str, dict[str, Any]] = {}
    for path, layer in zip(_core._module_paths([layer["name"] for layer in layers]), layers):
        found[path] = layer["outputs"][0]
        if "/" in path:
            found[path.rpartition("/")[0]] = layer["outputs"][0]
    return found


def _int8_files(folder: str) -> dict[str, str]:
    """Files of what products gave in int8, by tensor: activations are part of their program."""
    return {
        layer["outputs"][0]["name"]: os.path.join(folder, layer["outputs"][0]["file"])
        for layer in _layers(folder)
        if layer["computed"] == "int8"
    }


def _error(numpy: Any, file: str, theirs: Any) -> float | None:
    """Largest difference over the largest value; None of a tensor of another size."""
    ours = numpy.load(file)
    if ours.size != theirs.size:
        return None
    scale = float(numpy.max(numpy.abs(theirs), initial=0.0)) or 1.0
    return float(numpy.max(numpy.abs(ours.reshape(theirs.shape) - theirs), initial=0.0)) / scale


def golden(
    module: Any,
    inputs: Any,
    *,
    hw: MachineLike = "64x64",
    int8: bool = True,
    layerwise: bool = True,
) -> list[dict[str, Any]]:
    """Runs a module in PyTorch and in accsim and compares the layers' activations.

    A row a module whose last node gives its output: layer, shape, float_error and int8_error, the
    largest difference over PyTorch's largest value, of the reference executor in float and of the
    products run in int8 on the bit-exact machine hw, each with what is folded into its program (so
    a Conv's int8_error stands at the activation behind it). layerwise: each int8 layer reads the
    float run's values, so that errors don't add up.
    """
    _torch()
    numpy = import_module("numpy")
    given = _as_tuple(inputs)
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(prefix="accsim-") as folder:
        path = os.path.join(folder, "module.onnx")
        with _evaluating(module):
            with _exporting():
                export_module(module, given, path, weights=True)
            theirs = _activations(module, given)
        names: Sequence[str] = list(Model.load(path).inputs)
        arrays: Mapping[str, Any] = {n: v.detach().cpu().numpy() for n, v in zip(names, given)}
        float_dump, int8_dump = os.path.join(folder, "f"), os.path.join(folder, "q")
        _api.run(path, arrays, dump="all", output=float_dump)
        floats, quantised = _outputs(float_dump), dict[str, str]()
        if int8:
            _api.run(
                path,
                arrays,
                dump="all",
                output=int8_dump,
                int8=True,
                hw=hw,
                layerwise=layerwise,
            )
            quantised = _int8_files(int8_dump)
        for layer, expected in theirs.items():
            if layer not in floats:
                continue
            row: dict[str, Any] = {"layer": layer, "shape": tuple(expected.shape)}
            tensor = floats[layer]
            file = os.path.join(float_dump, tensor["file"])
            row["float_error"] = _error(numpy, file, expected)
            if tensor["name"] in quantised:
                row["int8_error"] = _error(numpy, quantised[tensor["name"]], expected)
            if row["float_error"] is not None:
                rows.append(row)
    return rows
