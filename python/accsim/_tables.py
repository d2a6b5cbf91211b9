"""Tables for other packages, each imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import Table


def to_arrow(table: Table) -> Any:
    """A pyarrow.Table of the table's own memory."""
    return import_module("pyarrow").table(table)


def to_polars(table: Table) -> Any:
    """A polars.DataFrame of the table's own memory."""
    return import_module("polars").DataFrame(table)


def to_pandas(table: Table) -> Any:
    """A pandas.DataFrame: columns of numbers as numpy has them, words and shapes as objects."""
    pandas = import_module("pandas")
    columns: dict[str, Any] = {}
    for name in table.columns:
        try:
            columns[name] = table.to_numpy(name)
        except TypeError:
            columns[name] = pandas.Series(table[name], dtype=object)
    return pandas.DataFrame(columns, copy=False)
