"""Models of one node, and what `accsim run` gives for them."""

import pathlib
import subprocess
import tempfile

import numpy as np
from onnx import TensorProto, helper

TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.float64): TensorProto.DOUBLE,
    np.dtype(np.float16): TensorProto.FLOAT16,
    np.dtype(np.int64): TensorProto.INT64,
    np.dtype(np.int32): TensorProto.INT32,
    np.dtype(np.uint64): TensorProto.UINT64,
    np.dtype(np.uint32): TensorProto.UINT32,
    np.dtype(np.int8): TensorProto.INT8,
    np.dtype(np.uint8): TensorProto.UINT8,
    np.dtype(np.bool_): TensorProto.BOOL,
}


class Case:
    """A node of `op` in `opset` of `domain`; inputs None are absent. Integer inputs of rank up to 1
    are stored as initializers, because shapes depend on them; the others are fed."""

    def __init__(self, op, opset, inputs, outputs=1, domain="", name=None, **attributes):
        self.op, self.opset, self.domain, self.name = op, opset, domain, name or op
        self.inputs = inputs
        self.outputs = [
            f"y{i}" if i in (range(outputs) if isinstance(outputs, int) else outputs) else ""
            for i in range(outputs if isinstance(outputs, int) else max(outputs) + 1)
        ]
        self.attributes = attributes

    def fed(self, i):
        v = self.inputs[i]
        return v is not None and not (v.dtype.kind in "iu" and v.ndim <= 1)

    def model(self):
        names = ["" if v is None else f"x{i}" for i, v in enumerate(self.inputs)]
        node = helper.make_node(self.op, names, self.outputs, domain=self.domain, **self.attributes)
        given, stored = [], []
        for i, v in enumerate(self.inputs):
            if v is None:
                continue
            if self.fed(i):
                given.append(helper.make_tensor_value_info(f"x{i}", TYPES[v.dtype], v.shape))
            else:
                stored.append(
                    helper.make_tensor(f"x{i}", TYPES[v.dtype], v.shape, v.tobytes(), raw=True)
                )
        outputs = [helper.make_empty_tensor_value_info(n) for n in self.outputs if n]
        graph = helper.make_graph([node], "one_node", given, outputs, stored)
        opsets = [helper.make_opsetid("", self.opset)]
        if self.domain:
            opsets.append(helper.make_opsetid(self.domain, 1))
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def write(self, folder):
        """Writes model and inputs; the --input values."""
        folder = pathlib.Path(folder)
        (folder / "model.onnx").write_bytes(self.model().SerializeToString())
        given = []
        for i, v in enumerate(self.inputs):
            if v is not None and self.fed(i):
                np.save(folder / f"x{i}.npy", v)
                given.append(f"x{i}={folder}/x{i}.npy")
        return given

    def run(self, accsim, folder):
        """{output name: array}, or the error's text."""
        given = self.write(folder)
        flags = [flag for text in given for flag in ("--input", text)]
        done = subprocess.run(
            [accsim, "run", f"{folder}/model.onnx", "--output", f"{folder}/ours", *flags],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            return done.stderr
        return {n: np.load(f"{folder}/ours/{n}.npy") for n in self.outputs if n}


def close(a, b, rtol=1e-3, atol=1e-6):
    """What differs between two arrays; "" when nothing does."""
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return f"shape {b.shape}, not {a.shape}"
    if a.dtype.kind in "iub":
        return "" if np.array_equal(a, b) else f"{int((a != b).sum())} of {a.size} differ"
    if np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True):
        return ""
    return f"differs by up to {np.nanmax(np.abs(a.astype(float) - b.astype(float))):.3g}"


def check(accsim, cases):
    """Runs (case, expected arrays) pairs; the number of failures."""
    failed = 0
    for case, expected in cases:
        with tempfile.TemporaryDirectory() as folder:
            got = case.run(accsim, folder)
        names = [n for n in case.outputs if n]
        wrong = (
            got
            if isinstance(got, str)
            else "".join(close(e, got[n]) for n, e in zip(names, expected))
        )
        if wrong:
            failed += 1
            print(f"WRONG {case.name}: {wrong}")
    print(f"{len(cases)} cases, {failed} wrong")
    return failed
