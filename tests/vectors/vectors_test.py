#!/usr/bin/python3
"""`accsim vectors`: 200 random products and convolutions and 20 layers of networks are recomputed
by vectors_reader.py, which knows docs/vectors.md alone; their cycles are those of `accsim verify`,
which runs the RTL. Usage: vectors_test.py ACCSIM [--quick]."""

import json
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import jsonschema
import vectors_reader as reader

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACCSIM = None
MACHINE, LARGE = "configs/8x8.yaml", "configs/64x64.yaml"
PAGE = reader.descriptor_page((ROOT / "docs" / "descriptors.md").read_text())
PRODUCTS = 200
AT_ONCE = 25  # of a call
# Networks that differ in kind, and how many of their layers; operators that the reader knows.
MODELS = {
    "squeezenet1_1_op13.onnx": 8,
    "llama_tiny2_prefill64_op17.onnx": 6,
    "mobilenet_v2_op13.onnx": 8,
}
KNOWN = ("Conv", "MatMul", "Gemm", "Add", "MaxPool")


def accsim(*words, code=0):
    done = subprocess.run(
        [ACCSIM, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


def random_words(draw):
    """A product, or a convolution, as the command line has them."""
    if draw.random() < 0.5:
        return "--gemm", "x".join(str(draw.randint(1, most)) for most in (40, 60, 30))
    groups = draw.choice([1, 1, 2, 4])
    channels, outputs = groups * draw.randint(1, 8), groups * draw.randint(1, 8)
    kernel, stride, dilation = draw.randint(1, 3), draw.randint(1, 2), draw.randint(1, 2)
    height, width = draw.randint(5, 12), draw.randint(5, 12)
    sizes = (1, channels, height, width, outputs, kernel, draw.randint(1, 3))
    numbers = (*sizes, stride, draw.randint(0, 2), dilation, groups)
    return "--conv", ",".join(map(str, numbers))


class Vectors(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        schema = json.loads(accsim("schema", "vectors").stdout)
        self.schema = jsonschema.Draft7Validator(schema)
        self.lines = {
            name: jsonschema.Draft7Validator({**schema["$defs"][name], "$defs": schema["$defs"]})
            for name in ("command", "tile", "post")
        }

    def check(self, path):
        """Recomputes a folder; its number of commands."""
        folder = reader.Folder(path)
        self.schema.validate(folder.manifest)
        reader.hex_equals_npy(folder)
        reader.words_equal_fields(folder, PAGE)
        return reader.Machine(folder).run()

    def test_are_random_products_what_their_page_says(self):
        draw = random.Random(42)
        for dataflow in ("ws", "is", "os"):
            count = PRODUCTS // 3 + (PRODUCTS % 3 if dataflow == "ws" else 0)
            words = [random_words(draw) for _ in range(count)]
            for first in range(0, count, AT_ONCE):
                some = words[first : first + AT_ONCE]
                self.products([w for pair in some for w in pair], dataflow, len(some))

    def products(self, words, dataflow, count):
        out = self.place / f"{dataflow}-{words[1]}"
        options = ["--hw", MACHINE, "--dataflow", dataflow, *words]
        accsim("vectors", *options, "-o", out)
        rtl = json.loads(accsim("verify", *options, "--json", "-").stdout)
        folders = sorted(p for p in out.iterdir() if p.is_dir()) if count > 1 else [out]
        self.assertEqual(len(folders), len(rtl["rows"]))
        for folder, program in zip(folders, rtl["rows"], strict=True):
            with self.subTest(folder=folder.name, program=program["name"]):
                commands = self.check(folder)
                self.assertEqual(commands, program["commands"])
                manifest = json.loads((folder / "manifest.json").read_text())
                self.assertEqual(manifest["cycles"], program["rtl_cycles"])

    def test_are_layers_of_networks(self):
        """Each is cut out of its network: golden runs what stands before it."""
        done = 0
        for model, count in MODELS.items():
            model = f"models/{model}"
            report = json.loads(accsim("--hw", LARGE, model, "--json", "-").stdout)
            own = [r["name"] for r in report["layers"] if r["cycles"] and r["op_type"] in KNOWN]
            for name in random.Random(count).sample(own, count):
                with self.subTest(model=model, layer=name):
                    self.layer(model, name)
                    done += 1
        self.assertGreaterEqual(done, 20)

    def layer(self, model, layer):
        out = self.place / "layer"
        options = ["--hw", LARGE, model, "--random-numbers"]
        accsim("vectors", *options, "--layer", layer, "-o", out)
        words = [*options, "--resume-at", layer, "--until", layer, "--json", "-"]
        (row,) = json.loads(accsim("verify", *words).stdout)["rows"]
        self.assertEqual(self.check(out), row["commands"])
        manifest = json.loads((out / "manifest.json").read_text())
        self.assertEqual(manifest["cycles"], row["rtl_cycles"])


if __name__ == "__main__":
    ACCSIM = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
