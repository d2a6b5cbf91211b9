#!/usr/bin/python3
"""Layers rolled up by module, operator and fate: do groups add up, and are modules found?

Usage: roll_up_test.py ACCSIM [unittest arguments]. Exit code 77 (skipped) without python3-onnx.
"""

import csv
import io
import json
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from program import ROOT, run

try:
    import onnx
except ImportError:
    print("skipped: python3-onnx isn't installed", file=sys.stderr)
    sys.exit(77)

NETWORKS = (
    "resnet50_op17",
    "googlenet_op17",
    "bert_base_op17",
    "gpt2_small_op17",
    "mobilenet_v2_op13",
    "squeezenet1_1_op13",
)
SUMS = ("cycles", "macs", "params", "dram_read_bytes", "dram_write_bytes", "compute_cycles")
NODE_NOTES = 9  # the field of NodeProto that holds metadata_props


def network(name):
    return ROOT / "models" / f"{name}.onnx"


def report(model, *arguments):
    result = run("--hw", "64x64", model, "--json", "-", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def entry(field, text):
    """A field of bytes as protobuf writes it."""
    data = text.encode() if isinstance(text, str) else text
    length, count = b"", len(data)
    while count >= 0x80:
        length += bytes([count & 0x7F | 0x80])
        count >>= 7
    return bytes([field << 3 | 2]) + length + bytes([count]) + data


def as_exported_today(model, folder):
    """The network with nodes named by numbers, their modules noted beside them.

    Python's onnx may be older than the field: it keeps what it doesn't know."""
    proto = onnx.load(model, load_external_data=False)
    for number, node in enumerate(proto.graph.node):
        scopes, before = [""], ""
        for scope in node.name.strip("/").split("/")[:-1]:
            # A member of a sequence repeats the sequence's name: ".../features/features.0".
            inner = before and scope.startswith(before + ".")
            own = scope[len(before) + 1 :] if inner else scope
            scopes.append(f"{scopes[-1]}.{own}".lstrip("."))
            before = scope
        node.name = f"node_{node.op_type}_{number}"
        notes = entry(1, "pkg.torch.onnx.name_scopes") + entry(2, repr([*scopes, node.name]))
        node.MergeFromString(entry(NODE_NOTES, notes))
    path = Path(folder) / "today.onnx"
    onnx.save(proto, path)
    return path


class RollUp(unittest.TestCase):
    def test_do_groups_add_up_to_the_totals(self):
        for name in NETWORKS:
            for by in ("module", "module:1", "module:2", "op", "fate"):
                with self.subTest(f"{name} by {by}"):
                    found = report(network(name), "--by", by)
                    self.assertEqual(found["grouped_by"], by)
                    for key in SUMS:
                        total = sum(group[key] for group in found["groups"])
                        self.assertEqual(total, found["totals"][key], key)
                    layers = sum(group["layers"] for group in found["groups"])
                    self.assertEqual(layers, len(found["layers"]))

    def test_are_groups_the_layers_that_say_so(self):
        found = report(network("resnet50_op17"), "--by", "module:1")
        cycles = Counter()
        for layer in found["layers"]:
            cycles[layer["module"].split(".")[0] or "(no module)"] += layer["cycles"]
        self.assertEqual({g["name"]: g["cycles"] for g in found["groups"]}, cycles)
        self.assertIn("layer3", cycles)

    def test_are_modules_those_that_are_noted_beside_nodes(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("resnet50_op17", "squeezenet1_1_op13"):
                named = report(network(name), "--by", "module")
                noted = report(as_exported_today(network(name), folder), "--by", "module")
                groups = [
                    [(g["name"], g["layers"], g["cycles"]) for g in found["groups"]]
                    for found in (named, noted)
                ]
                self.assertEqual(*groups)
                first = noted["layers"][0]
                self.assertEqual(first["name"], f"{first['module']}/node_{first['op_type']}_0")

    def test_are_table_and_csv_of_groups(self):
        model = network("squeezenet1_1_op13")
        text = run("--hw", "64x64", model, "--by", "op").stdout
        self.assertIn("\nConv (26)", text)
        self.assertNotIn("folded or views", text)
        rows = list(
            csv.DictReader(
                io.StringIO(run("--hw", "64x64", model, "--by", "op", "--csv", "-").stdout)
            )
        )
        groups = report(model, "--by", "op")["groups"]
        self.assertEqual(
            [(row["name"], int(row["layers"]), int(row["cycles"])) for row in rows],
            [(group["name"], group["layers"], group["cycles"]) for group in groups],
        )

    def test_is_another_word_refused(self):
        for by in ("layer", "module:0", "module:x", "op:1"):
            result = run("--hw", "64x64", network("squeezenet1_1_op13"), "--by", by)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"'{by}' is not module, module:DEPTH", result.stderr)


def inspection(model, *arguments):
    result = run("inspect", model, "-q", "--json", "-", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


class InspectRollUp(unittest.TestCase):
    def test_do_groups_add_up_to_the_totals(self):
        for name in NETWORKS:
            for by in ("module", "module:1", "module:2", "op"):
                with self.subTest(f"{name} by {by}"):
                    found = inspection(network(name), "--by", by)
                    self.assertEqual(found["grouped_by"], by)
                    groups = found["groups"]
                    for key in ("params", "macs"):
                        self.assertEqual(sum(g[key] for g in groups), found[key], key)
                    forward = sum(g["output_bytes"] for g in groups)
                    self.assertEqual(forward, found["sizes"]["forward_bytes"])
                    for key in ("read_bytes", "write_bytes"):
                        total = sum(g[key] for g in groups)
                        self.assertEqual(total, found["bandwidth"][key], key)
                    self.assertEqual(sum(g["nodes"] for g in groups), len(found["layers"]))

    def test_are_groups_the_layers_that_say_so(self):
        found = inspection(network("bert_base_op17"), "--by", "module:2")
        params, outputs = Counter(), Counter()
        for layer in found["layers"]:
            group = ".".join(layer["module"].split(".")[:2]) or "(no module)"
            params[group] += layer["params"]
            outputs[group] += layer["output_bytes"]
        self.assertEqual({g["name"]: g["params"] for g in found["groups"]}, params)
        self.assertEqual({g["name"]: g["output_bytes"] for g in found["groups"]}, outputs)

    def test_are_the_modules_of_resnet_18_of_their_sizes(self):
        """By the network's definition: two blocks of two 3 x 3 convolutions each in a layer."""
        found = inspection(network("resnet18_op13"), "--by", "module:1")
        params = {g["name"]: g["params"] for g in found["groups"]}
        macs = {g["name"]: g["macs"] for g in found["groups"]}
        channels, side = 64, 56
        for layer in range(1, 5):
            before = channels if layer == 1 else channels // 2
            weights = 9 * channels * (before + 3 * channels)
            down = 0 if layer == 1 else before * channels
            biases = (4 if layer == 1 else 5) * channels
            self.assertEqual(params[f"layer{layer}"], weights + down + biases)
            self.assertEqual(macs[f"layer{layer}"], (weights + down) * side * side)
            channels, side = 2 * channels, side // 2
        self.assertEqual(params["fc"], 512 * 1000 + 1000)

    def test_are_table_and_csv_of_groups(self):
        model = network("squeezenet1_1_op13")
        text = run("inspect", model, "--by", "op").stdout
        self.assertRegex(text, r"\nConv +26 +1,235,496 ")
        self.assertNotIn("/features/features.0/Conv  ", text.split("params  ")[0])
        shown = run("inspect", model, "--by", "op", "-q", "--csv", "-", "--sort", "macs").stdout
        rows = list(csv.DictReader(io.StringIO(shown)))
        self.assertEqual(rows[0]["name"], "Conv")
        groups = {g["name"]: g for g in inspection(model, "--by", "op")["groups"]}
        self.assertEqual(len(rows), len(groups))
        for row in rows:
            wanted = groups[row["name"]]
            self.assertEqual(list(row), list(wanted))
            self.assertEqual({k: str(v) for k, v in wanted.items()}, row)

    def test_is_another_word_refused(self):
        for by in ("layer", "module:0", "fate", "op:1"):
            result = run("inspect", network("squeezenet1_1_op13"), "--by", by)
            self.assertEqual((result.returncode, result.stdout), (2, ""))
            self.assertIn(f"--by: '{by}' is not module, module:DEPTH", result.stderr)

    def test_is_the_pass_as_torchinfo_counts_it(self):
        """Twice float32 outputs of the modules with parameters, by the networks' definitions."""
        alexnet = 64 * 55**2 + 192 * 27**2 + (384 + 256 + 256) * 13**2 + 2 * 4096 + 1000
        convolutions = 64 * 112**2 + 4 * 64 * 56**2
        for channels, side in ((128, 28), (256, 14), (512, 7)):
            convolutions += 5 * channels * side**2
        for name, outputs in (
            ("alexnet_op13", alexnet),
            ("resnet18_bn_op13", 2 * convolutions + 1000),  # a BatchNorm behind each
            ("resnet18_op13", convolutions + 1000),
        ):
            sizes = inspection(network(name))["sizes"]
            self.assertEqual(sizes["forward_backward_bytes"], 2 * 4 * outputs, name)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
