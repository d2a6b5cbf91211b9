"""The shell of the programs of this package that run alone, as accsim starts them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import NoReturn


def run_alone(work: Callable[..., None], refusal: type[Exception]) -> NoReturn:
    """Calls `work`, which needs torch, with the words of the command line. Exit code 0: it's done;
    65: a `refusal` says why it isn't, and is printed; 69: this Python has no torch, and which it is
    is printed."""
    del sys.path[0]  # this folder, whose modules aren't anybody else's
    try:
        import_module("torch")
    except ImportError:
        print(sys.executable)
        sys.exit(69)
    try:
        work(*sys.argv[1:])
    except refusal as error:
        print(error)
        sys.exit(65)
    sys.exit(0)
