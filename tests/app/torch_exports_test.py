#!/usr/bin/python3
"""Does accsim read what the newest PyTorch exports? tests/data/torch has files of its exporter
(dynamo) without weights; make.py there says how they were made. MACs are counted by hand here.

Usage: torch_exports_test.py ACCSIM [unittest arguments]"""

import json
import unittest

from program import ROOT, run

FILES = ROOT / "tests" / "data" / "torch"


def conv(pixels, inner, outer, kernel):
    return pixels * pixels * inner * outer * kernel * kernel


def resnet18():
    """The stem, four stages of two blocks, of which the last three halve the picture."""
    total = conv(112, 3, 64, 7) + 512 * 1000
    inner = 64
    for stage, outer in enumerate((64, 128, 256, 512)):
        pixels = 56 >> stage
        total += conv(pixels, inner, outer, 3) + 3 * conv(pixels, outer, outer, 3)
        total += conv(pixels, inner, outer, 1) if inner != outer else 0
        inner = outer
    return total


def llama(layers=2, tokens=16, width=256, heads=8, kv_heads=2, hidden=688, words=1000):
    size = width // heads
    products = 2 * width * width + 2 * width * kv_heads * size + 3 * width * hidden
    attention = 2 * heads * tokens * tokens * size
    return layers * (tokens * products + attention) + tokens * width * words


def encoder(layers=2, tokens=32, width=128, hidden=512, classes=10):
    products = 4 * width * width + 2 * width * hidden
    return layers * (tokens * products + 2 * tokens * tokens * width) + width * classes


class TorchExportsTest(unittest.TestCase):
    def report(self, name, *options):
        done = run("--hw", "64x64", FILES / f"{name}.onnx", "-q", "--json", "-", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_are_the_networks_what_they_are_in_pytorch(self):
        for name, macs in (("resnet18", resnet18()), ("llama", llama()), ("encoder", encoder())):
            with self.subTest(name):
                report = self.report(name)
                self.assertEqual(report["totals"]["macs"], macs)
                self.assertEqual(report["unsupported"], [])
                self.assertGreaterEqual(report["model"]["opset"], 18)  # of the new exporter

    def test_are_resnet_18s_products_those_of_the_old_exporter(self):
        """There BatchNorms are layers of their own, which fold; the new one folds them itself. It
        has a shortcut's product before the other branch, to whose last product the sum then goes:
        shortcuts' products have theirs in the old one's order only."""
        shortcuts = [conv(56 >> s, 32 << s, 64 << s, 1) for s in (1, 2, 3)]
        old = run("--hw", "64x64", ROOT / "models/resnet18_bn_op13.onnx", "-q", "--json", "-")
        cycles = [
            [
                layer["alone_cycles"]
                for layer in report["layers"]
                if layer["macs"] > 0 and layer["macs"] not in shortcuts
            ]
            for report in (self.report("resnet18"), json.loads(old.stdout))
        ]
        self.assertEqual(len(cycles[0]), 18)
        self.assertEqual(*map(sorted, cycles))


if __name__ == "__main__":
    unittest.main()
