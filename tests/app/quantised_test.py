#!/usr/bin/python3
"""Do quantised networks cost what they save?

Usage: quantised_test.py ACCSIM. Exit code 77 (skipped) without python3-onnx.

Forms of shipped networks, as quantisers write them (tests/support/quantise.py), and files that ONNX
Runtime's quantiser wrote (tests/data/quantised, made by tests/quantiser/make_data.py), beside the
network of floats, nodes in the same order: no more cycles on a machine of int8, and the bytes of
the file's tensors.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import onnx
    from onnx import helper
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "support"), str(ROOT / "tests" / "quantiser")]

import quantise  # noqa: E402
import stored  # noqa: E402

FILES = ROOT / "tests" / "data" / "quantised"

ACCSIM = None  # set by main
FORMS = {
    "resnet18_op13": ["qdq", "qoperator"],
    "mobilenet_v2_op13": ["qdq", "qoperator"],
    "bert_base_op17": ["qdq", "dynamic"],
    "llama_tiny2_prefill64_op17": ["qdq", "dynamic"],
}


def cost(model):
    command = [ACCSIM, "--hw", str(ROOT / "configs/64x64.yaml"), str(model), "--json", "-", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def stored_bytes(model):
    """Of the initializers that nodes read, by type; those of shapes and positions left out."""
    read = {name for node in model.graph.node for name in node.input}
    sums = {}
    for tensor in model.graph.initializer:
        kind = np.dtype(helper.mapping.TENSOR_TYPE_TO_NP_TYPE[tensor.data_type])
        if tensor.name in read and kind != np.int64:
            count = int(np.prod(tensor.dims, dtype=np.int64))
            sums[kind.name] = sums.get(kind.name, 0) + count * kind.itemsize
    return sums


class QuantisedNetworks(unittest.TestCase):
    def check(self, name, form, folder):
        written = ROOT / "models" / f"{name}.onnx"
        path = pathlib.Path(folder) / f"{name}.{form}.onnx"
        model = quantise.quantise(onnx.load(written, load_external_data=False), form)
        onnx.save(model, path)
        ours, floats = cost(path), cost(written)
        self.assertLessEqual(ours["totals"]["cycles"], floats["totals"]["cycles"])
        self.assertEqual(ours["totals"]["macs"], floats["totals"]["macs"])
        self.assertEqual(ours["model"]["bytes_by_type"], stored_bytes(model))
        self.assertEqual(ours["model"]["weight_bytes"], sum(stored_bytes(model).values()))
        self.assertLess(ours["model"]["weight_bytes"], floats["model"]["weight_bytes"])

    def test_no_more_cycles_and_the_bytes_of_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, forms in FORMS.items():
                for form in forms:
                    with self.subTest(network=name, form=form):
                        self.check(name, form, folder)


def floats_of(path):
    """The network of floats that a file is a form of."""
    name = path.name.split(".")[0]
    shipped = ROOT / "models" / f"{name}.onnx"
    return shipped if shipped.is_file() else FILES / f"{name.rstrip('0123456789')}.float.onnx"


def in_order_of(quantised, floats):
    """The network of floats with its nodes in the order in which the quantiser left them: what runs
    beside what is a matter of that order. Nodes that have gone come behind the one before them."""
    places, by_result, last = {}, {}, 0
    for i, node in enumerate(quantised.graph.node):
        places[node.name.removesuffix("_quant")] = i
    nodes = list(floats.graph.node)
    keys = []
    for node in nodes:
        last = places.get(node.name, last)
        keys.append(last)
        by_result.update(dict.fromkeys(node.output, len(keys) - 1))
    done, order = set(), []

    def put(i):
        if i in done:
            return
        done.add(i)
        for name in nodes[i].input:
            if name in by_result:
                put(by_result[name])
        order.append(nodes[i])

    for i in sorted(range(len(nodes)), key=keys.__getitem__):
        put(i)
    ordered = onnx.ModelProto()
    ordered.CopyFrom(floats)
    del ordered.graph.node[:]
    ordered.graph.node.extend(order)
    return ordered


class QuantisersFiles(unittest.TestCase):
    def floats(self, path, folder):
        to = pathlib.Path(folder) / f"{path.name}.floats.onnx"
        models = [onnx.load(p, load_external_data=False) for p in (path, floats_of(path))]
        onnx.save(in_order_of(*models), to)
        return cost(to)

    def test_no_more_cycles_and_the_bytes_of_the_file(self):
        with tempfile.TemporaryDirectory() as folder:
            self.check(folder)

    def check(self, folder):
        paths = [p for p in sorted(FILES.glob("*.onnx")) if ".float." not in p.name]
        self.assertGreater(len(paths), 20)
        for path in paths:
            with self.subTest(path.name):
                ours, floats = cost(path), self.floats(path, folder)
                self.assertEqual(ours["unsupported"], [])
                self.assertLessEqual(ours["totals"]["cycles"], floats["totals"]["cycles"])
                self.assertEqual(ours["totals"]["macs"], floats["totals"]["macs"])
                kept = stored.by_width(ours["model"]["bytes_by_type"])
                self.assertEqual(kept, stored.bytes_by_width(path))
                self.assertEqual(ours["model"]["weight_bytes"], sum(kept.values()))
                self.assertLess(ours["model"]["weight_bytes"], floats["model"]["weight_bytes"])


if __name__ == "__main__":
    ACCSIM = sys.argv.pop(1)
    unittest.main()
