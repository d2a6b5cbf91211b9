"""Answers of accsim that are a document: the JSON of the command line, and text for people."""

from __future__ import annotations

import json
from typing import Any


class Section:
    """An object of a document: its members are attributes and items."""

    def __init__(self, members: dict[str, Any]) -> None:
        self._members = members

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_members" or name not in self._members:
            raise AttributeError(f"no member {name!r}")
        return _wrapped(self._members[name])

    def __getitem__(self, name: str) -> Any:
        return _wrapped(self._members[name])

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._members]

    def to_dict(self) -> dict[str, Any]:
        """The members as plain dicts, lists, numbers and words."""
        return dict(self._members)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Section) and self._members == other._members

    def __hash__(self) -> int:
        return hash(json.dumps(self._members))

    def __repr__(self) -> str:
        return json.dumps(self._members, indent=1)


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Section(value)
    if isinstance(value, list):
        return [_wrapped(item) for item in value]
    return value


class Document(Section):
    """A document: attributes are its JSON's members; repr() is its text. Pickles, compares."""

    def __init__(self, text: str, shown: str) -> None:
        super().__init__(json.loads(text))
        self._text = text
        self._shown = shown

    def to_json(self) -> str:
        """The JSON, byte for byte what the command line writes."""
        return self._text

    def __repr__(self) -> str:
        return self._shown


class Inspection(Document):
    """Parameters, MACs, operators, traffic and memory of a network (accsim.inspect/1)."""


class Advice(Document):
    """What moving each field of a machine would bring (accsim.advise/1)."""


class Difference(Document):
    """Two folders of dumped tensors compared, layer by layer (accsim.diff/1)."""


class Verification(Document):
    """Programs run on RTL, golden and timing model (accsim.verify/1)."""

    passed: bool

    def __init__(self, text: str, shown: str, passed: bool) -> None:
        super().__init__(text, shown)
        self.passed = passed


class Comparison(Document):
    """Where the difference of two runs' cycles comes from (accsim.compare/1)."""

    def waterfall(self) -> list[dict[str, Any]]:
        """Cycles by cause: cause, a, b, difference, nanoseconds. The differences add up exactly to
        that of the runs' cycles."""
        rows: list[dict[str, Any]] = self.to_dict()["comparisons"][0]["waterfall"]
        return rows

    @property
    def difference(self) -> int:
        """Cycles of B less those of A."""
        cycles: int = self.to_dict()["comparisons"][0]["difference"]
        return cycles
