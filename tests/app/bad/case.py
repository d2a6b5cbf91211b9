"""A case of the gallery of bad inputs: a command in a folder with some files, and what it says."""

import pathlib
import typing

ROOT = pathlib.Path(__file__).resolve().parents[3]
SMALL = (ROOT / "configs" / "8x8.yaml").read_text()


class Case(typing.NamedTuple):
    """`files` by name: text or bytes. `says`: all of standard error, however its lines are broken;
    every command ends with exit code `code` and prints nothing else."""

    name: str
    command: str
    files: dict
    says: str
    code: int = 2


def small(*changes):
    """configs/8x8.yaml with texts of it replaced: old, new, old, new, ..."""
    text = SMALL
    for old, new in zip(changes[::2], changes[1::2]):
        assert old in text, old
        text = text.replace(old, new, 1)
    return text
