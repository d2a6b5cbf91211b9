#!/usr/bin/python3
"""Sizes that a file leaves open, in all commands that read models. Usage: sizes_test.py ACCSIM."""

import json
import pathlib
import re
import tempfile
import unittest

from program import ROOT, run
from wire import INT64, graph, model, node, tensor, value

# What a message has to copy: a shape, or bindings by name.
SHAPE = re.compile(r"--input-shape (\S+)")
BINDING = re.compile(r"--bind ([^\s']+)")
OUTPUTS, CHANNELS = 4, 3


def detector(*dims):
    """A convolution of 3 x 3, and four poolings that halve its lines and columns."""
    nodes = [node("Conv", ["x", "w"], ["c0"], "conv", pads=[1, 1, 1, 1])]
    for i in range(4):
        halve = {"kernel_shape": [2, 2], "strides": [2, 2]}
        nodes.append(node("MaxPool", [f"c{i}"], [f"c{i + 1}"], f"pool{i}", **halve))
    weights = [tensor("w", [OUTPUTS, CHANNELS, 3, 3], dtype=1)]
    return model(graph(nodes, [value("x", list(dims))], [value("c4")], weights))


def decoder():
    """One head's attention over a cache of keys, for tokens of an embedding of 8."""
    nodes = [
        node("Gather", ["table", "ids"], ["q"], "embed"),
        node("Concat", ["past", "q"], ["k"], "cache", axis=1),
        node("Concat", ["past_v", "q"], ["v"], "cache_v", axis=1),
        node("Transpose", ["k"], ["kt"], "turn", perm=[0, 2, 1]),
        node("MatMul", ["q", "kt"], ["s"], "scores"),
        node("Softmax", ["s"], ["p"], "softmax"),
        node("MatMul", ["p", "v"], ["y"], "values"),
    ]
    inputs = [
        value("ids", ["batch", "tokens"], INT64),
        value("past", ["batch", "length", 8]),
        value("past_v", ["batch", "length", 8]),
    ]
    return model(graph(nodes, inputs, [value("y")], [tensor("table", [100, 8], dtype=1)]))


def macs(height, width):
    return OUTPUTS * CHANNELS * 9 * height * width


class SizesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)
        self.named = self.write("named.onnx", detector("n", CHANNELS, "height", "width"))
        self.unnamed = self.write("unnamed.onnx", detector("", CHANNELS, "?", "?"))

    def write(self, name, content):
        path = self.dir / name
        path.write_bytes(content)
        return path

    def asked(self, *words, lines=1):
        """The message of a command that lacks sizes."""
        done = run(*words, cwd=self.dir)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        said = done.stderr.splitlines()
        self.assertEqual(len(said), lines, done.stderr)
        for line in said:
            self.assertTrue(line.startswith("accsim: error: "), line)
        self.assertIn("nobody gave", done.stderr)
        self.assertIn("--bind '*=N'", done.stderr)
        return done.stderr

    def good(self, *words):
        done = run(*words, cwd=self.dir)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def macs(self, path, *words):
        report = json.loads(self.good("--hw", "8x8", path, "-q", "--json", "-", *words))
        return report["totals"]["macs"], report["model"]

    def options(self, said):
        """The ways to give the sizes that a message has."""
        shapes = [word for s in SHAPE.findall(said) for word in ("--input-shape", s)]
        bindings = [word for s in BINDING.findall(said) for word in ("--bind", s)]
        return [words for words in (shapes, bindings) if words]

    def test_do_all_commands_ask_for_the_same(self):
        net, out = self.named, self.dir / "out.onnx"
        commands = {
            "cost": ("--hw", "8x8", net),
            "inspect": ("inspect", net),
            "shapes": ("shapes", net),
            "run": ("run", net, "--weights", "random:1"),
            "tile": ("tile", net, "-o", out, "--conv", "im2col", "--tile", "4096x64x64"),
            "compare": ("compare", "--hw", "8x8", "--hw", "16x16", net),
            "advise": ("advise", "--hw", "8x8", net, "--effort", "rule"),
            "verify": ("verify", "--hw", "8x8", net),
            "serve": ("serve", net),
        }
        texts = {name: self.asked(*words) for name, words in commands.items()}
        self.assertEqual(len(set(texts.values())), 1, texts)
        text = texts["cost"]
        self.assertIn("height, width of input 'x' (n x 3 x height x width)", text)
        self.assertIn("224, 320, 640 fit", text)
        self.assertFalse(out.exists())
        ways = self.options(text)
        self.assertEqual(len(ways), 2)
        for name, words in commands.items():
            for sizes in ways if name not in ("verify", "serve") else []:
                with self.subTest(name, sizes=sizes):
                    self.good(*words, *sizes)

    def test_is_a_report_of_the_sizes_that_are_given(self):
        for path in (self.named, self.unnamed):
            for way in self.options(self.asked("--hw", "8x8", path)):
                self.assertEqual(self.macs(path, *way)[0], macs(224, 224))
            found, about = self.macs(path, "--input-shape", f"x=1x{CHANNELS}x48x192")
            self.assertEqual(found, macs(48, 192))
            self.assertEqual(sorted(about["bindings"].values()), [1, 48, 192])
        found, about = self.macs(self.unnamed, "--bind", "x_dim2=32", "--bind", "x_dim3=64")
        self.assertEqual((found, about["defaulted"]), (macs(32, 64), ["x_dim0"]))

    def test_does_the_star_give_all_that_is_left(self):
        found, about = self.macs(self.named, "--bind", "*=32", "--bind", "n=2")
        self.assertEqual(found, 2 * macs(32, 32))
        self.assertEqual(about["bindings"], {"height": 32, "n": 2, "width": 32})
        self.assertEqual(about["defaulted"], [])
        self.assertEqual(self.macs(self.unnamed, "--bind", "*=16")[0], 16 * macs(16, 16))
        self.good("compare", "--hw", "8x8", "--bind", "*=32", self.named, self.unnamed)
        fixed = ROOT / "models" / "squeezenet1_1_op13.onnx"
        self.good("inspect", fixed, "--bind", "*=32")
        self.good("compare", "--hw", "8x8", "--bind", "*=32", self.named, fixed, "--effort", "rule")

    def test_is_a_shape_that_contradicts_itself_still_refused(self):
        path = self.write("square.onnx", detector("n", CHANNELS, "side", "side"))
        done = run("--hw", "8x8", path, "--input-shape", f"x=1x{CHANNELS}x48x192")
        self.assertEqual(done.returncode, 2)
        self.assertIn("given 192 for 'side', which is 48 elsewhere", done.stderr)
        text = self.asked("--hw", "8x8", path)
        self.assertIn("give --input-shape x=1x3x224x224 or --bind side=224 (", text)

    def test_do_tokens_come_one_by_one_behind_a_cache(self):
        path = self.write("decoder.onnx", decoder())
        text = self.asked("--hw", "8x8", path)
        self.assertIn("tokens of input 'ids' (batch x tokens), length of input 'past'", text)
        self.assertIn("--bind tokens=1 --bind length=127 ", text)
        for way in self.options(text):
            # Scores and values, of the cache's keys and the new one.
            self.assertEqual(self.macs(path, *way)[0], 2 * (127 + 1) * 8)
        text = self.asked("--hw", "8x8", path, "--bind", "length=0")
        self.assertIn("give --input-shape ids=1x1 or --bind tokens=1 (", text)

    def test_does_a_sweep_say_which_model_lacks_them(self):
        spec = self.dir / "spec.yaml"

        def sweep(bind):
            spec.write_text(
                f"base: {ROOT}/configs/8x8.yaml\n"
                "axes: {w: {field: buffers.weight.kib, values: [64]}}\n"
                f"models:\n- {{file: unnamed.onnx, bind: {{'*': 16}}}}\n"
                f"- {{file: named.onnx{bind}}}\n"
            )
            return ("sweep", spec, "--store", self.dir / "s.sqlite")

        text = self.asked(*sweep(""), lines=2)
        self.assertIn("spec.yaml:5:3: this model can't be used; --bind NAME=N is bind:", text)
        self.assertIn("named.onnx: nobody gave height, width", text)
        self.assertIn("n of named.onnx is 1", self.good(*sweep(", bind: {height: 32, width: 32}")))


if __name__ == "__main__":
    unittest.main()
