"""Functions of accsim that take several steps of the C++ part."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Unpack

from . import _core
from ._core import Machine, Model, Report, Store
from ._documents import Advice, Comparison, Difference, Inspection, Verification
from ._errors import Error
from ._options import AdviseOptions, CostOptions, LoadOptions, RunOptions
from ._program import program

PathLike = str | os.PathLike[str]
ModelLike = Model | str | os.PathLike[str] | bytes
MachineLike = Machine | str | os.PathLike[str] | dict[str, Any]
_MOST_SEED = 2**64 - 1


def inspect(
    model: ModelLike,
    *,
    macs: str = "pure",
    traffic: str = "activations",
    in_place: bool = False,
    reorder: bool = False,
    **options: Unpack[LoadOptions],
) -> Inspection:
    """Parameters, MACs, operators, bandwidth and activation memory, as `accsim inspect` has them.

    macs: what counts as one: pure, bias or all. traffic: what reads are: activations or all.
    in_place: elementwise nodes overwrite inputs that nobody else reads. reorder: also look for an
    order of the nodes that needs less memory. options: those of Model.load().
    """
    read = Model.load(model, **options)
    return Inspection(*_core._inspect(read, macs, traffic, in_place, reorder))


def compare(a: Report | PathLike, b: Report | PathLike) -> Comparison:
    """Where the difference of two runs' cycles comes from: Reports, or paths of their JSON."""
    return Comparison(*_core._compare(a, b))


def advise(model: ModelLike, hw: MachineLike, **options: Unpack[AdviseOptions]) -> Advice:
    """What 10 % and a doubling of each field of a machine would bring, by costing it.

    options: those of cost(), max_programs aside.
    """
    return Advice(*_core._advise(model, hw, **options))


def _in_range(option: str, value: float, least: float, most: float) -> None:
    """An Error unless least <= value <= most; NaN isn't."""
    if not least <= value <= most:
        upper = "" if most == float("inf") else f" to {most}"
        raise Error(f"{option}: {value} is not a number from {least}{upper}")


def diff(a: PathLike, b: PathLike, *, atol: float = 1e-5, rtol: float = 1e-3) -> Difference:
    """Compares two folders of dumped tensors, layer by layer, as `accsim diff` does."""
    for option, value in (("--atol", atol), ("--rtol", rtol)):
        _in_range(option, value, 0, float("inf"))
    return Difference(*_core._diff(a, b, atol, rtol))


def _axis(name: str, axis: Any) -> Any:
    """An axis as a sweep spec has it. A list of values is of the field that the axis is named for;
    "array" stands for rows and columns."""
    if not isinstance(axis, Sequence) or isinstance(axis, str):
        return axis
    values = list(axis)
    if name == "array":
        return {"fields": {"array.rows": values, "array.cols": values}}
    return {"field": name, "values": values}


def _axis_name(name: str) -> str:
    return name.replace(".", "_")


def _sweep_model(model: Any) -> dict[str, Any]:
    entry = dict(model) if isinstance(model, Mapping) else {"file": model}
    file = entry["file"]
    if isinstance(file, Model):
        if not file.file:
            raise Error("sweep: a model of bytes has no file to sweep; give a path")
        if file._beyond_sweeps:
            raise Error(
                f"sweep: a model that was loaded with {', '.join(file._beyond_sweeps)} can't be "
                "swept, a sweep reads its file again with bind, allow_unsupported and limits "
                "alone; cost() it on each machine"
            )
        entry.setdefault("bind", file.bindings)
        if file._allows_unsupported:
            entry.setdefault("allow_unsupported", True)
        entry = {**file.limits, **entry}
        file = file.file
    entry["file"] = os.path.abspath(os.fspath(file))
    if not entry.get("bind"):
        entry.pop("bind", None)
    return entry


def sweep(
    hw: MachineLike,
    *,
    axes: Mapping[str, Any],
    models: Sequence[Any],
    objectives: Sequence[str] = ("cycles", "energy"),
    store: PathLike | None = None,
    threads: int = 0,
    **keys: Any,
) -> Store:
    """Costs networks on every machine of a design space and gives the store of results.

    axes: by name, either the values of the field of that name ({"dram.latency": [50, 100]};
    "array": rows and columns), or an axis as docs/sweep-spec.md has it. models: paths, Models, or
    dicts with file, weight, bind, max_nodes and the others of a spec. Other keys are those of a
    spec: constraints, strategy, count, seed, effort, objective, slack, layers. store: SQLite file
    that is kept, and gone on with when it is there; by default one that goes with the Store.
    threads: 0 is all cores.
    """
    with contextlib.ExitStack() as kept_until_done:
        folder = kept_until_done.enter_context(tempfile.TemporaryDirectory(prefix="accsim-"))
        machine = os.path.join(folder, "machine.yaml")
        with open(machine, "w", encoding="utf-8") as file:
            file.write(Machine.load(hw).to_yaml())
        spec = {
            "base": machine,
            "axes": {_axis_name(name): _axis(name, axis) for name, axis in axes.items()},
            "models": [_sweep_model(model) for model in models],
            "objectives": list(objectives),
            **keys,
        }
        path = os.path.join(folder, "sweep.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(spec, file, indent=1)
        kept = os.path.join(folder, "sweep.sqlite") if store is None else os.fspath(store)
        found = _core._sweep(path, kept, threads)
        if store is None:
            weakref.finalize(found, kept_until_done.pop_all().close)
        return found


def run(
    model: PathLike,
    inputs: Mapping[str, Any] | None = None,
    *,
    dump: str | None = None,
    output: PathLike | None = None,
    weights: int | None = None,
    int8: bool = False,
    hw: MachineLike | None = None,
    layerwise: bool = False,
    threads: int = 1,
    **options: Unpack[RunOptions],
) -> dict[str, Any]:
    """Computes a network with the reference executor; gives numpy arrays by output name.

    inputs: by name, a numpy array, the path of a .npy file, or an int, the seed of random values;
    those not named are drawn with seed 0. output: a folder for a .npy an output. dump: all, an
    operator type or a glob of layer names, whose tensors go into the folder, for diff(). weights:
    the seed of weights that the file doesn't have. int8: products run quantised on the bit-exact
    machine hw, 64x64 unless named; layerwise: each reads the float run's values. options: bind,
    input_shapes, key_blocks, max_nodes, max_graph_mib and max_rank, as cost() has them;
    max_memory_mib: MiB that all arrays may take at a time.
    """
    if isinstance(model, bytes):
        raise Error("run: a model of bytes has no folder for its weights; give a path")
    if dump and output is None:
        raise Error("--dump: needs a folder to write to: --output DIR")
    if output is not None and not os.fspath(output):
        raise Error("--output: '' is no folder")
    if not int8 and (layerwise or hw is not None):
        raise Error("--hw, --layerwise: are for --int8")
    _in_range("--threads", threads, 1, 256)
    if weights is not None:
        _in_range("--weights", weights, 0, _MOST_SEED)
    files: dict[str, str] = {}
    seeds: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="accsim-") as folder:
        for place, (name, value) in enumerate((inputs or {}).items()):
            if isinstance(value, int) and not isinstance(value, bool):
                _in_range(f"--input {name}", value, 0, _MOST_SEED)
                seeds[name] = value
            elif isinstance(value, (str, os.PathLike)):
                files[name] = os.fspath(value)
            else:
                files[name] = os.path.join(folder, f"{place}.npy")
                numpy = import_module("numpy")
                numpy.save(files[name], numpy.asarray(value, order="C"))
        return _core._run(
            model,
            files,
            seeds,
            weights,
            "" if output is None else os.fspath(output),
            dump or "",
            threads,
            int8,
            layerwise,
            dict(options),
            "64x64" if hw is None else hw,
        )


def verify(
    model: PathLike | None,
    hw: MachineLike,
    *,
    gemm: str | Sequence[str] = (),
    random: int = 0,
    seed: int = 1,
    layers: bool = False,
    max_cycles: int | None = None,
    jobs: int = 1,
    cache: PathLike | None = None,
    **options: Unpack[CostOptions],
) -> Verification:
    """Runs tile programs on Verilated RTL and compares values and cycles: `accsim verify`.

    model: a path, or None with gemm ("64x64x64") or random (a count). All of a model is one
    program; with layers its products are verified one by one, max_cycles cuts them. The first call
    for a machine builds its core, which takes a while and needs Verilator and a C++ compiler.
    options: those of cost().
    """
    arguments = [program(), "verify", "--json", "-", "--seed", str(seed), "--jobs", str(jobs)]
    for product in [gemm] if isinstance(gemm, str) else gemm:
        arguments += ["--gemm", product]
    arguments += _core._option_words(**options)
    if random:
        arguments += ["--random", str(random)]
    if layers:
        arguments.append("--layers")
    if max_cycles is not None:
        arguments += ["--max-cycles", str(max_cycles)]
    if cache is not None:
        arguments += ["--cache", os.fspath(cache)]
    if model is not None:
        arguments.append(os.fspath(model))
    with tempfile.TemporaryDirectory(prefix="accsim-") as folder:
        if isinstance(hw, (str, os.PathLike)):
            machine = os.fspath(hw)
        else:
            machine = os.path.join(folder, "machine.yaml")
            with open(machine, "w", encoding="utf-8") as file:
                file.write(Machine.load(hw).to_yaml())
        done = subprocess.run(
            [*arguments, "--hw", machine], capture_output=True, text=True, check=False
        )
    if done.returncode == 3 and done.stdout:  # no core could be built, and the rows say why
        raise Error([row["error"].strip() for row in json.loads(done.stdout)["rows"]])
    if done.returncode not in (0, 1) or not done.stdout:
        causes = [
            line.removeprefix("accsim: error: ")
            for line in done.stderr.splitlines()
            if line.startswith("accsim: error: ")
        ]
        raise Error(causes or done.stderr.splitlines() or ["accsim verify ended without a word"])
    rows = json.loads(done.stdout)["rows"]
    shown = [
        f"{row['name']}: {row['rtl_cycles']} cycles on RTL, {row['model_cycles']} by the model, "
        f"{'values equal' if row['bit_exact'] else row['first_difference'] or row['error']}"
        for row in rows
    ]
    return Verification(done.stdout, "\n".join(shown), done.returncode == 0)
