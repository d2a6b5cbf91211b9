#!/usr/bin/python3
"""Objects compiled for an instruction set share no code with others. Usage: this NM OBJECT...

When two objects define one inline function, the linker keeps one of them: if that is the one made
for AVX-512, a processor without it stops at an illegal instruction, and if not, the product is
slow. So each object in sim/ref/eigen/ compiles Eigen under a name of its own; here, by `nm`, no
function that one of them offers for merging may be offered by another, or have a name outside its
own namespace.
"""

import os
import re
import subprocess
import sys
import tempfile

# What the linker merges: weak and unique symbols. DW.ref.* are data, pointers of exceptions.
MERGED = re.compile(r"^[0-9a-f]* *([VWuvw]) (?!DW\.ref\.)(\S+)$")


def merged(nm, path):
    """Names of the mergeable symbols that an object defines."""
    text = subprocess.run(
        [nm, "--defined-only", path], check=True, capture_output=True, text=True
    ).stdout
    return {match[2] for match in map(MERGED.match, text.splitlines()) if match}


def problems(nm, objects):
    found, seen = [], {}
    for path in objects:
        own = "Eigen" + os.path.basename(path).split(".")[0].capitalize()
        for name in sorted(merged(nm, path)):
            if own not in name:
                found.append(f"{path}: {name} isn't in namespace {own}")
            if name in seen:
                found.append(f"{name} is defined in {seen[name]} and in {path}")
            seen[name] = path
    return found


def planted(nm):
    """The check sees the shared functions of two objects without names of their own."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, f"{name}.o") for name in ("one", "two")]
        for path in paths:
            subprocess.run(
                ["c++", "-x", "c++", "-O0", "-c", "-o", path, "-"],
                check=True,
                text=True,
                input="inline int shared() { return 1; }\nint (*p)() = shared;\n",
            )
        return problems(nm, paths)


def main():
    nm, *objects = sys.argv[1:]
    if len(objects) < 3:
        print("isa_symbols_test: fewer than three objects were given", file=sys.stderr)
        return 1
    if len(planted(nm)) != 3:  # two of an unknown namespace, one of them twice
        print("isa_symbols_test: a planted double definition isn't seen", file=sys.stderr)
        return 1
    found = problems(nm, objects)
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
