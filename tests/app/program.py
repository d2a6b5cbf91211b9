"""The program under test. Tests beside this file are called `NAME_test.py ACCSIM [unittest
arguments]`; importing this takes the program's path off the command line."""

import functools
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

if len(sys.argv) < 2:
    sys.exit(sys.modules["__main__"].__doc__)
ACCSIM = pathlib.Path(sys.argv.pop(1)).resolve()


@functools.cache
def slowdown():
    """What sanitizers make of processor time, at most: 1 for a program without."""
    words = ACCSIM.read_bytes()
    return 20 if b"__tsan_init" in words or b"__asan_init" in words else 1


def patience():
    """Seconds after which a command of a test hangs."""
    return 280 * slowdown()


def run(*args, **options):
    """accsim with these arguments; both streams as text. A hang is TimeoutExpired, which fails the
    test. `options` go to subprocess.run."""
    kept = {"capture_output": True, "text": True, "timeout": patience()}
    return subprocess.run([str(ACCSIM), *map(str, args)], check=False, **{**kept, **options})
