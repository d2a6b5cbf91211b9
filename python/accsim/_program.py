"""The command `accsim` of the package: the bundled program takes this process's place.

Models that are TorchScript files (--example) are exported by this Python, unless another is named.
"""

from __future__ import annotations

import os
import sys


def program() -> str:
    """Path of the bundled program."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "accsim")


def _with_python(words: list[str]) -> list[str]:
    """The words, with --python before the first --example."""
    for place, word in enumerate(words):
        if word == "--" or word.partition("=")[0] == "--python":
            break
        if word.partition("=")[0] == "--example":
            return [*words[:place], "--python", sys.executable, *words[place:]]
    return words


def main() -> None:
    """Becomes the program, with this process's arguments."""
    path = program()
    os.execv(path, [path, *_with_python(sys.argv[1:])])


if __name__ == "__main__":
    main()
