#!/usr/bin/python3
"""accsim --annotate OUT.onnx against the report, its input file, and ONNX's checker.

Usage: annotate_test.py ACCSIM [unittest arguments]. Exit code 77 (skipped) without python3-onnx.
Debian's python3-onnx is older than NodeProto.metadata_props, so a reader of protobuf's wire format
stands here, which shares nothing with accsim's.
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest

from program import ACCSIM, ROOT, run

try:
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

MACHINE = ROOT / "configs/64x64.yaml"
PREFIX = "accsim.cost."
GRAPH, NODE, NODE_PROPS, MODEL_PROPS = 7, 1, 9, 14  # field numbers of onnx.proto


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def encoded(value):
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes(out + bytes([value]))


def fields(data):
    """[(number, bytes of the value or None, all bytes of the field)]."""
    out, at = [], 0
    while at < len(data):
        start = at
        tag, at = varint(data, at)
        value = None
        if tag & 7 == 0:
            _, at = varint(data, at)
        elif tag & 7 == 2:
            size, at = varint(data, at)
            value = data[at : at + size]
            at += size
        else:
            at += {1: 8, 5: 4}[tag & 7]
        out.append((tag >> 3, value, data[start:at]))
    return out


def properties(message, number):
    """{key: value} of the notes in a message."""
    out = {}
    for found, value, _ in fields(message):
        if found != number:
            continue
        entry = {n: v.decode() for n, v, _ in fields(value)}
        if entry[1].startswith(PREFIX):
            assert entry[1] not in out, f"{entry[1]} is there twice"
            out[entry[1].removeprefix(PREFIX)] = entry[2]
    return out


def stripped(message, number):
    """A message's fields without the notes in its metadata_props."""
    for found, value, whole in fields(message):
        if found == number and fields(value)[0][1].startswith(PREFIX.encode()):
            continue
        yield found, value, whole


def field(number, value):
    return encoded(number << 3 | 2) + encoded(len(value)) + value


def without_notes(data):
    """The file as it was before notes were written into it."""
    out = b""
    for number, value, whole in stripped(data, MODEL_PROPS):
        if number == GRAPH:
            graph = b""
            for inner, node, all_of in fields(value):
                if inner == NODE:
                    all_of = field(NODE, b"".join(w for _, _, w in stripped(node, NODE_PROPS)))
                graph += all_of
            whole = field(GRAPH, graph)
        out += whole
    return out


class Annotated:
    """A model's notes: of the nodes, in the file's order, and of the model."""

    def __init__(self, data):
        graphs = [value for number, value, _ in fields(data) if number == GRAPH]
        self.nodes = [
            properties(value, NODE_PROPS)
            for graph in graphs
            for number, value, _ in fields(graph)
            if number == NODE
        ]
        self.model = properties(data, MODEL_PROPS)


def text(value):
    if isinstance(value, list):
        return "x".join(map(str, value))
    return str(value)


def weights(name, *shape):
    values = numpy.random.default_rng(1).standard_normal(shape).astype(numpy.float32)
    return numpy_helper.from_array(values, name)


def tensor(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


class AnnotateTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def annotate(self, model, *options, machine=MACHINE, output=None):
        """(bytes of the annotated model, the report)."""
        output = output or self.folder / "out.onnx"
        report = self.folder / "report.json"
        done = run("--hw", machine, model, "--annotate", output, "--json", report, "-q", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return output.read_bytes(), json.loads(report.read_text())

    def check_values(self, notes, row):
        """Notes say what the report's row says."""
        for key, value in notes.items():
            if key in ("machine", "machine_yaml", "command", "layers"):
                continue
            if isinstance(row[key], float):
                self.assertTrue(math.isclose(float(value), row[key], rel_tol=1e-15), key)
            else:
                self.assertEqual(value, text(row[key]), key)

    def save(self, graph, **kwargs):
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="test", **kwargs
        )
        model.ir_version = 7
        path = self.folder / "model.onnx"
        onnx.save(model, str(path))
        return path

    def test_figures_are_the_reports(self):
        for name in ("resnet18_bn_op13", "googlenet_op17", "bert_base_op17"):
            with self.subTest(model=name):
                path = ROOT / f"models/{name}.onnx"
                data, report = self.annotate(path)
                self.assertEqual(without_notes(data), path.read_bytes())
                model = onnx.load_from_string(data)
                notes = Annotated(data)
                self.assertEqual(len(notes.nodes), len(model.graph.node))
                rows = {row["name"]: row for row in report["layers"]}
                for i, (node, said) in enumerate(zip(model.graph.node, notes.nodes)):
                    row = rows[node.name or f"{node.op_type}_{i}"]
                    self.check_values(said, row)
                    self.assertEqual(said["fate"], row["fate"])
                    if row["cycles"] > 0:
                        for key in ("cycles", "dram_read_bytes", "bound", "energy_pj", "macs"):
                            self.assertIn(key, said)
                    else:
                        self.assertLessEqual(set(said), {"fate", "merged_into"})
                self.check_values(notes.model, report["totals"])
                for key in ("cycles", "energy_pj", "dram_read_bytes", "bound"):
                    self.assertIn(key, notes.model)
                self.assertEqual(notes.model["machine"], report["hw"]["name"])
                self.assertIn(f"--hw {MACHINE}", notes.model["command"])
                machine = self.folder / "machine.yaml"
                machine.write_text(notes.model["machine_yaml"])
                self.assertEqual(run("hw", "check", machine).returncode, 0)

    def test_nodes_carry_the_sum_of_the_blocks_of_their_keys(self):
        nodes = [
            helper.make_node("MatMul", ["q", "k"], ["s"], name="scores"),
            helper.make_node("Softmax", ["s"], ["p"], name="softmax", axis=-1),
            helper.make_node("MatMul", ["p", "v"], ["o"], name="mixed"),
        ]
        inputs = [tensor("q", 2, 16, 8), tensor("k", 2, 8, 64), tensor("v", 2, 64, 8)]
        graph = helper.make_graph(nodes, "g", inputs, [tensor("o", 2, 16, 8)])
        data, report = self.annotate(self.save(graph), "--key-blocks", "16")
        self.assertEqual(report["model"]["key_blocks"], 16)
        notes = Annotated(data)
        self.assertEqual(len(notes.nodes), len(nodes))
        for node, said in zip(nodes, notes.nodes):
            parts = [row for row in report["layers"] if row["part_of"] == node.name]
            self.assertGreaterEqual(len(parts), 4)
            self.assertEqual(int(said["layers"]), len(parts))
            self.assertEqual(int(said["cycles"]), sum(row["cycles"] for row in parts))

    def network(self):
        """A product and more, with weights and what is easy to lose."""
        nodes = [
            helper.make_node("MatMul", ["x", "w"], ["a"]),  # without a name
            helper.make_node("Add", ["a", "b"], ["y"], name="add", doc_string="kept"),
        ]
        graph = helper.make_graph(
            nodes,
            "g",
            [tensor("x", 8, 256)],
            [tensor("y", 8, 128)],
            [weights("w", 256, 128), weights("b", 128)],
        )
        return graph

    def test_only_metadata_changes(self):
        path = self.save(self.network())
        model = onnx.load(str(path))
        helper.set_model_props(model, {"mine": "stays", "accsim.costly": "too"})
        onnx.save(model, str(path))
        data, report = self.annotate(path)
        after = onnx.load_from_string(data)
        onnx.checker.check_model(after, full_check=True)
        self.assertEqual(without_notes(data), path.read_bytes())
        self.assertEqual(after.ir_version, 7)
        before = onnx.load(str(path))
        for old, new in zip(before.graph.initializer, after.graph.initializer):
            self.assertEqual(old.SerializeToString(), new.SerializeToString())
        kept = {p.key: p.value for p in after.metadata_props if not p.key.startswith(PREFIX)}
        self.assertEqual(kept, {"mine": "stays", "accsim.costly": "too"})
        self.assertEqual(Annotated(data).nodes[0]["cycles"], text(report["layers"][0]["cycles"]))

    def test_the_second_replaces_the_first(self):
        path = self.save(self.network())
        first, _ = self.annotate(path, machine=ROOT / "configs/8x8.yaml")
        again = self.folder / "again.onnx"
        again.write_bytes(first)
        second, _ = self.annotate(again)
        fresh, _ = self.annotate(path)
        self.assertEqual(Annotated(second).nodes, Annotated(fresh).nodes)
        self.assertNotEqual(Annotated(second).nodes, Annotated(first).nodes)
        self.assertEqual(without_notes(second), path.read_bytes())
        notes, other = Annotated(second).model, Annotated(fresh).model
        self.assertNotEqual(notes.pop("command"), other.pop("command"))
        self.assertEqual(notes, other)

    def test_callers_carry_the_sum_of_what_they_call(self):
        inner = helper.make_graph(
            [
                helper.make_node("MatMul", ["x", "w"], ["t"], name="product"),
                helper.make_node("Tanh", ["t"], ["then"], name="tanh"),
            ],
            "then",
            [],
            [tensor("then", 8, 128)],
        )
        other = helper.make_graph(
            [helper.make_node("Identity", ["b"], ["else"])], "else", [], [tensor("else", 8, 128)]
        )
        nodes = [
            helper.make_node("If", ["yes"], ["a"], name="if", then_branch=inner, else_branch=other),
            helper.make_node("Softmax", ["a"], ["y"], name="if/tanh2"),
        ]
        yes = numpy_helper.from_array(numpy.array(True), "yes")
        graph = helper.make_graph(
            nodes,
            "g",
            [tensor("x", 8, 256)],
            [tensor("y", 8, 128)],
            [weights("w", 256, 128), weights("b", 8, 128), yes],
        )
        data, report = self.annotate(self.save(graph))
        caller, last = Annotated(data).nodes
        inside = [row for row in report["layers"] if row["name"] != "if/tanh2"]
        self.assertGreaterEqual(len(inside), 2)
        for key in ("cycles", "macs", "dram_read_bytes", "dram_write_bytes", "params"):
            self.assertEqual(int(caller[key]), sum(row[key] for row in inside), key)
        self.assertEqual(int(caller["layers"]), len(inside))
        (row,) = [row for row in report["layers"] if row["name"] == "if/tanh2"]
        self.assertEqual(last["cycles"], text(row["cycles"]))
        self.assertNotIn("layers", last)

    def test_weights_in_other_files_stay_where_they_are(self):
        path = self.save(self.network())
        onnx.save(
            onnx.load(str(path)),
            str(path),
            save_as_external_data=True,
            location="w.bin",
            size_threshold=0,
            convert_attribute=False,
        )
        data, _ = self.annotate(path)
        self.assertEqual(without_notes(data), path.read_bytes())
        onnx.checker.check_model(str(self.folder / "out.onnx"))
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        done = run("--hw", MACHINE, path, "-q", "--annotate", elsewhere / "out.onnx")
        self.assertEqual(done.returncode, 2)
        self.assertIn("'w.bin'", done.stderr)
        self.assertIn("same folder", done.stderr)
        self.assertEqual(list(elsewhere.iterdir()), [])
        (self.folder / "w.bin").rename(elsewhere / "w.bin")
        done = run("--hw", MACHINE, path, "-q", "--annotate", elsewhere / "out.onnx")
        self.assertEqual(done.returncode, 0, "weights that aren't there can't be lost")
        (elsewhere / "w.bin").rename(self.folder / "w.bin")
        for target in (path, self.folder / "w.bin"):
            done = run("--hw", MACHINE, path, "-q", "--annotate", target)
            self.assertEqual(done.returncode, 2)
            self.assertIn("would be overwritten", done.stderr)

    def test_stdout_gets_the_model_alone(self):
        path = self.save(self.network())
        done = subprocess.run(
            [ACCSIM, "--hw", MACHINE, path, "--annotate", "-"], capture_output=True, check=True
        )
        self.assertEqual(without_notes(done.stdout), path.read_bytes())


if __name__ == "__main__":
    unittest.main()
