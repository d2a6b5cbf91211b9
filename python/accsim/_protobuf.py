"""The wire format of protocol buffers, as far as the package writes it."""

from __future__ import annotations

import os

Field = tuple[int, "int | str | bytes"]


def varint(value: int) -> bytes:
    """An unsigned 64-bit number, seven bits a byte, lowest first."""
    if not 0 <= value < 1 << 64:
        raise ValueError(f"{value} doesn't fit into 64 bits")
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def message(*fields: Field) -> bytes:
    """Fields by number: numbers as varints, texts and messages with their length before them.
    Negative numbers are those of int32 and int64 fields."""
    out = bytearray()
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value & (1 << 64) - 1)
        else:
            data = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return bytes(out)


def write_delimited(path: str | os.PathLike[str], messages: list[bytes]) -> None:
    """Writes a file of messages, each with its length before it."""
    with open(path, "wb") as file:
        for one in messages:
            file.write(varint(len(one)) + one)
