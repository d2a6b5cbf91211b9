"""accsim.h in Python, by ctypes: its functions as the header declares them, and a run of it."""

import ctypes
import pathlib
import re

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "sim" / "abi" / "accsim.h"
TYPES = {
    "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "double": ctypes.c_double,
    "const char*": ctypes.c_char_p,
}
OUTPUTS = {
    "int32_t*": ctypes.c_int32,
    "int64_t*": ctypes.c_int64,
    "double*": ctypes.c_double,
    "const char**": ctypes.c_char_p,
    "accsim_machine**": ctypes.c_void_p,
    "accsim_run**": ctypes.c_void_p,
}


def prototypes():
    """{function: (what it returns, [(type, name)])} of the header."""
    out = {}
    for returns, name, inside in re.findall(
        r"^ACCSIM_EXPORT (\w+|const char\*) (accsim_\w+)\(([^)]*)\);", HEADER.read_text(), re.M
    ):
        inside = " ".join(inside.split())
        parts = [] if inside == "void" else inside.split(", ")
        out[name] = (returns, [re.fullmatch(r"(.*[ *])(\w+)", part).groups() for part in parts])
    return {n: (r, [(t.strip(), p) for t, p in ps]) for n, (r, ps) in out.items()}


def constants():
    """{ACCSIM_NAME: number} of the header's enumerations."""
    found = re.findall(r"^  (ACCSIM_\w+) = (-?\d+)", HEADER.read_text(), re.M)
    return {name: int(number) for name, number in found}


class Refused(Exception):
    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code, self.text = code, text


class Library:
    """Functions of the library. call() gives what they put out, and raises what isn't ACCSIM_OK."""

    def __init__(self, path):
        self.c = ctypes.CDLL(str(path))
        self.prototypes = prototypes()
        for name, (returns, parameters) in self.prototypes.items():
            function = getattr(self.c, name)
            function.restype = TYPES.get(returns)
            function.argtypes = [TYPES.get(t, ctypes.c_void_p) for t, _ in parameters]

    def message(self):
        return self.c.accsim_message().decode()

    def call(self, name, *given):
        """Parameters that put one number, text or handle out aren't given."""
        given, arguments, outputs = list(given), [], []
        for kind, parameter in self.prototypes[name][1]:
            if kind in OUTPUTS and parameter != "to":
                outputs.append(OUTPUTS[kind]())
                arguments.append(ctypes.byref(outputs[-1]))
            else:
                value = given.pop(0)
                arguments.append(value.encode() if isinstance(value, str) else value)
        code = getattr(self.c, name)(*arguments)
        if self.prototypes[name][0] == "int32_t" and code != 0:
            raise Refused(code, self.message())
        values = [o.value.decode() if isinstance(o.value, bytes) else o.value for o in outputs]
        return values[0] if len(values) == 1 else tuple(values)


class Run:
    """A run and the machine that it was opened on."""

    def __init__(self, library, handle):
        self.library, self.handle = library, handle
        self.code = constants()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.c.accsim_close(self.handle)

    def call(self, name, *given):
        return self.library.call(f"accsim_{name}", self.handle, *given)

    def number(self, name):
        return self.call("command_number", name)

    def kind(self):
        return self.call("command_kind")

    def commands(self, kind="ANY"):
        """Goes from command to command of the kind to the end."""
        while True:
            try:
                self.call("next", self.code[f"ACCSIM_{kind}"])
            except Refused as end:
                if end.code != self.code["ACCSIM_END"]:
                    raise
                return
            yield self.kind()

    def values(self, matrix):
        matrix = self.code[f"ACCSIM_{matrix}"]
        out = np.zeros(self.call("shape", matrix), np.int32)
        self.call("values", matrix, out.size, out.ctypes.data)
        return out

    def check(self, matrix, mine):
        mine = np.ascontiguousarray(mine, np.int32)
        self.call("check", self.code[f"ACCSIM_{matrix}"], mine.size, mine.ctypes.data)

    def tensors(self):
        """{name: (number, bytes)}"""
        found = [self.call("tensor", i) for i in range(self.call("tensors"))]
        return {name: (i, size) for i, (name, size) in enumerate(found)}

    def read(self, name):
        number, size = self.tensors()[name]
        out = np.zeros(size, np.uint8)
        self.call("read", number, 0, size, out.ctypes.data)
        return out

    def write(self, name, values):
        data = np.ascontiguousarray(values)
        self.call("write", self.tensors()[name][0], 0, data.nbytes, data.ctypes.data)
