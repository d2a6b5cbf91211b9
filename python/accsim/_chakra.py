"""Reports as execution traces of Chakra, which ASTRA-sim runs."""

from __future__ import annotations

import os

from ._core import Report
from ._protobuf import message, varint, write_delimited

# Numbers of the fields of MLCommons Chakra's et_def.proto (package mlc-chakra, version 1.0.0),
# whose compiled schema reads the files back in tests/python/adapters_test.py.
_SCHEMA = "1.0.0"  # GlobalMetadata.version
_VERSION = 1
_ID, _NAME, _TYPE, _DATA_DEPS, _START, _DURATION, _ATTR = 1, 2, 3, 5, 6, 7, 10
_ATTR_NAME, _INT64, _UINT64, _BOOL, _STRING = 1, 9, 13, 27, 29
_COMP_NODE = 4


def _stated(*fields: tuple[int, int]) -> list[tuple[int, int]]:
    """Fields but for those of 0, which isn't written."""
    return [field for field in fields if field[1]]


def _attribute(name: str, kind: int, value: int | str) -> tuple[int, bytes]:
    return _ATTR, message((_ATTR_NAME, name), (kind, value))


def write_chakra(report: Report, path: str | os.PathLike[str]) -> int:
    """Writes a report as a Chakra execution trace and gives the number of nodes.

    A COMP_NODE for each layer that takes time, in the order in which the machine runs them, each
    after the one before: data_deps is that node. start_time_micros and duration_micros are whole
    microseconds as the format has them; ends are rounded, not durations, so that these add up to
    the network's time. Attributes: num_ops (int64) two for a multiply-accumulate; tensor_size
    (uint64) bytes of DRAM read and written; is_cpu_op false; cycles (uint64) and op_type for who
    wants them exactly. ASTRA-sim looks for a file a processor, PREFIX.0.et, PREFIX.1.et, and so on.
    """
    micros_a_cycle = 1e6 * report.total.seconds / report.total.cycles if report.total.cycles else 0
    messages = [message((_VERSION, _SCHEMA))]
    cycles = 0
    for index in range(len(report.layers)):
        layer = report.layer(index)
        if not layer.cycles:
            continue
        start = round(cycles * micros_a_cycle)
        cycles += layer.cycles
        node = len(messages) - 1
        messages.append(
            message(
                *_stated((_ID, node)),
                (_NAME, layer.name),
                (_TYPE, _COMP_NODE),
                *([(_DATA_DEPS, varint(node - 1))] if node else []),
                *_stated((_START, start), (_DURATION, round(cycles * micros_a_cycle) - start)),
                _attribute("is_cpu_op", _BOOL, False),
                _attribute("num_ops", _INT64, 2 * layer.macs),
                _attribute("tensor_size", _UINT64, layer.dram_read_bytes + layer.dram_write_bytes),
                _attribute("cycles", _UINT64, layer.cycles),
                _attribute("op_type", _STRING, layer.op_type),
            )
        )
    write_delimited(path, messages)
    return len(messages) - 1
