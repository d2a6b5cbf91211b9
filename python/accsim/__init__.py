"""accsim: what a neural network costs on a systolic-array accelerator.

    import accsim
    hw = accsim.Machine.load("64x64")
    report = accsim.cost("resnet50.onnx", hw, bind={"batch": 8})
    report.total.cycles, report.layers.to_pandas()

Everything is what the program `accsim` computes, by the same code. Input that can't be used raises
accsim.Error. Cycles are of the machine's clock, bytes are bytes, energy is in picojoules; each
field's unit and meaning are report.layers.units and .descriptions.
"""

from __future__ import annotations

from ._api import advise, compare, diff, inspect, run, sweep, verify
from ._chakra import write_chakra
from ._core import Latency, LatencyModel, Machine, Model, Report, Row, Store, Table, cost
from ._core import version as __version__
from ._documents import Advice, Comparison, Difference, Inspection, Verification
from ._errors import Error
from ._golden import Golden, golden
from ._serving import write_llmservingsim
from ._torch import cost_torch, load_torch

__all__ = [
    "Advice",
    "Comparison",
    "Difference",
    "Error",
    "Golden",
    "Inspection",
    "Latency",
    "LatencyModel",
    "Machine",
    "Model",
    "Report",
    "Row",
    "Store",
    "Table",
    "Verification",
    "__version__",
    "advise",
    "compare",
    "cost",
    "cost_torch",
    "diff",
    "golden",
    "inspect",
    "load_torch",
    "run",
    "sweep",
    "verify",
    "write_chakra",
    "write_llmservingsim",
]
