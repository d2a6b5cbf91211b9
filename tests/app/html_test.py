#!/usr/bin/python3
"""Pages that the program writes: one file, its own data, nothing from outside.

Usage: html_test.py ACCSIM [unittest arguments].
"""

import base64
import hashlib
import json
import pathlib
import re
import shlex
import tempfile
import unittest

from program import ROOT, run

MACHINE = ROOT / "configs/64x64.yaml"
RESNET50 = ROOT / "models/resnet50_op17.onnx"


def data_of(html):
    return json.loads(re.search(r'id="data"[^>]*>(.*?)</script>', html, re.DOTALL)[1])


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name)

    def page(self, *args):
        target = self.dir / "page.html"
        result = run(*args, "-q", "--html", target)
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        return target.read_text()

    def test_is_the_data_the_json_report(self):
        html = self.page("--hw", MACHINE, RESNET50, "--json", self.dir / "r.json")
        self.assertEqual(data_of(html)["report"], json.loads((self.dir / "r.json").read_text()))
        self.assertEqual(
            data_of(html)["machine_yaml"], run("hw", "print", MACHINE).stdout, "the machine whole"
        )

    def test_is_a_page_of_resnet50_below_two_megabytes(self):
        self.assertLess(len(self.page("--hw", MACHINE, RESNET50).encode()), 2_000_000)

    def test_does_nothing_come_from_outside(self):
        html = self.page("--hw", MACHINE, RESNET50)
        head = html[: html.index("<style>")]
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', head)[1]
        self.assertIn("default-src 'none'", policy)
        self.assertIn("connect-src 'none'", policy)
        script = re.search(r"</script>\n<script>(.*)</script>\n</body>", html, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        self.assertIn(f"script-src 'sha256-{digest}'", policy)
        self.assertNotRegex(html, r"<(link|img|iframe|base)\b")
        self.assertNotRegex(html, r"<script[^>]+src=")

    def test_does_its_command_line_make_it_again(self):
        target = self.dir / "a b.html"
        result = run("--hw", MACHINE, RESNET50, "-q", "--html", target)
        self.assertEqual(result.returncode, 0, result.stderr)
        first = target.read_bytes()
        words = shlex.split(data_of(first.decode())["command"])
        self.assertEqual(words[0], "accsim")
        target.unlink()
        result = run(*words[1:])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(target.read_bytes(), first)

    def test_goes_a_page_to_standard_output(self):
        result = run("--hw", MACHINE, RESNET50, "--html", "-")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith("<!DOCTYPE html>"))
        self.assertTrue(result.stdout.endswith("</html>\n"))

    def machine(self, *edits):
        """MACHINE with each `old` of its text as `new`."""
        text = MACHINE.read_text()
        for old, new in edits:
            text, found = re.subn(old, new, text)
            self.assertGreater(found, 0, old)
        target = self.dir / f"m{len(list(self.dir.iterdir()))}.yaml"
        target.write_text(text)
        return target

    def test_do_report_page_and_verify_say_the_same_of_a_machine_without_a_core(self):
        floats = (
            (r"(activation|weight): int8", r"\1: float16"),
            ("accumulator: int32", "accumulator: float32"),
        )
        bus = (r"\n  model: ideal.*", r"\g<0>\n  bus: shared")
        kept = (r"\n    kib: 2048\n", r"\g<0>    weights: kept\n")
        wide = (r"(\n  output:.*\n(?:    .*\n)*?    width: )\d+", r"\g<1>1024")
        model = ROOT / "models/squeezenet1_1_op13.onnx"
        for machine, word, sentence in (
            (self.machine(*floats), "other types than the core's", "int8 x int8 -> int32 only"),
            (self.machine(*floats, bus, kept), "other types than the core's", "int32 only"),
            (ROOT / "configs/64x64-ddr4.yaml", "banked DRAM", "dram.model: ideal"),
            (self.machine(bus), "a DRAM whose reads and writes share a bus", "dram.bus: separate"),
            (self.machine(bus, kept), "a DRAM whose reads and writes share a bus", "dram.bus"),
            (self.machine(kept), "weights that stay from run to run", "shared.weights: read"),
            (self.machine(wide), "no core of this machine", "buffers.output.width is 1024"),
        ):
            with self.subTest(word=word, sentence=sentence):
                data = data_of(self.page("--hw", machine, model))
                words = {layer["unverifiable"] for layer in data["report"]["layers"]} - {""}
                self.assertEqual(words, {word})
                self.assertIn(sentence, data["core_reason"])
                verified = run("verify", "--hw", machine, "--gemm", "3x4x5")
                self.assertEqual(verified.returncode, 2)
                self.assertIn(f"{machine}: {data['core_reason']}", verified.stderr)
        self.assertEqual(data_of(self.page("--hw", MACHINE, model))["core_reason"], "")


if __name__ == "__main__":
    unittest.main()
