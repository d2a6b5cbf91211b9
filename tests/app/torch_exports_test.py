#!/usr/bin/python3
"""Does accsim read what the newest PyTorch exports? tests/data/torch has files of its exporters
without weights; make.py there says how the first three were made, models/exporter/modern the
others. MACs are counted by hand here, or by PyTorch's FlopCounterMode (counted.json).

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

    def test_are_symbolic_sizes_bound(self):
        for tokens in (128, 64):
            report = self.report("hf_llama", "--bind", f"sequence={tokens}")
            self.assertEqual(report["totals"]["macs"], llama(tokens=tokens))

    def test_is_the_dearer_branch_of_torch_cond_taken_or_the_one_that_is_named(self):
        report = self.report("torch_cond")
        (assumed,) = report["model"]["assumed"]
        self.assertEqual((assumed["op_type"], assumed["branch"]), ("If", "then"))
        self.assertEqual(report["totals"]["macs"], 2 * 16 * 64 * 256)
        other = self.report("torch_cond", "--branch", f"{assumed['node']}=else")
        self.assertEqual(other["totals"]["macs"], 16 * 64 * 64)

    def test_are_detectors_costed_with_their_suppression(self):
        """Sizes that only a run knows are their bounds; PyTorch counted runs that reached them."""
        counted = json.loads((FILES / "counted.json").read_text())
        for name, macs in counted.items():
            with self.subTest(name):
                report = self.report(name)
                self.assertEqual(report["totals"]["macs"], macs)
                self.assertEqual(report["unsupported"], [])
                assumed = [a["op_type"] for a in report["model"]["assumed"]]
                self.assertIn("NonMaxSuppression", assumed)

    def test_do_fewer_proposals_make_a_detectors_head_cheaper(self):
        """Of at most 150 each goes through two products, 7 x 7 x 256 by 1,024 and 1,024 by 1,024,
        and of 91 classes one for the score and one for the four sides of a box."""
        of_one = 7 * 7 * 256 * 1024 + 1024 * 1024 + 1024 * 91 * 5
        name, node = "tv_fasterrcnn_mobilenet", "/module/rpn/NonZero"
        found = {
            size: self.report(name, "--assume", f"{node}={size}")["totals"]["macs"]
            for size in (10, 150)
        }
        self.assertEqual(found[150] - found[10], 140 * of_one)


if __name__ == "__main__":
    unittest.main()
