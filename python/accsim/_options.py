"""Options of calls that read and cost networks, for type checkers. What they are says the table of
sim/cost/costing_options, which reads them all: help(accsim.cost)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict


class RunOptions(TypedDict, total=False):
    bind: dict[str, int] | None
    input_shapes: dict[str, Sequence[int]] | None
    key_blocks: int | str | None
    max_nodes: int | None
    max_graph_mib: int | None
    max_rank: int | None
    max_memory_mib: int | None


class LoadOptions(TypedDict, total=False):
    bind: dict[str, int] | None
    input_shapes: dict[str, Sequence[int]] | None
    assume: dict[str, int] | None
    value: dict[str, object] | None
    branch: dict[str, str] | None
    allow_unsupported: bool
    key_blocks: int | str | None
    max_nodes: int | None
    max_graph_mib: int | None
    max_rank: int | None


class AdviseOptions(LoadOptions, total=False):
    dataflow: str | None
    mapping: str | list[str] | None
    objective: str
    slack: str
    effort: str


class CostOptions(AdviseOptions, total=False):
    max_programs: int | None
