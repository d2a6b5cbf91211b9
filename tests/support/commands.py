"""Commands that tests of what is built and installed run."""

import pathlib
import re
import shutil
import subprocess


def run(*command, **options):
    """A command without input; both streams as text. A hang is TimeoutExpired, which fails the
    test. `options` go to subprocess.run."""
    return subprocess.run(
        [str(word) for word in command],
        check=False,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=1500,
        **options,
    )


def unity(build):
    """How many files at once a build folder compiles, as CMake's variables: another build with the
    same ones is what a compiler cache knows already."""
    cache = (build / "CMakeCache.txt").read_text()
    return dict(re.findall(r"^(CMAKE_UNITY_BUILD\w*):\w+=(.*)$", cache, re.M))


def give_runtime(build, cache):
    """Puts what a build folder has of Verilator's own code, compiled, into a new cache of cores: it
    belongs to the tool, whosever core is built. What isn't there is compiled."""
    cache.mkdir(parents=True)
    for file in pathlib.Path(build).glob("verilated/runtime-*.o*"):
        if file.is_file():
            shutil.copy2(file, cache)
