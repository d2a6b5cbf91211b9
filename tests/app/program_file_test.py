#!/usr/bin/python3
"""accsim program: are programs of a file timed as the main job times them, and is what is wrong
with a file said with its place? program_file_test.py ACCSIM

The tests of OnRtl build a Verilated core; without Verilator they are skipped.
"""

import json
import pathlib
import re
import shutil
import tempfile
import unittest

from program import ROOT, run

NETWORK = ROOT / "models" / "squeezenet1_1_op13.onnx"
MACHINE = ROOT / "configs" / "64x64.yaml"
SMALL = ROOT / "configs" / "8x8.yaml"

COPY = """program copy (weight_stationary)
  tensor %0 dram 4096 bytes 'from'
  tensor %1 dram 4096 bytes 'to'
  for piece0 < 8:
    load    wait_free output
    load    load output[0] <- %0[512*piece0], 512 bytes
    load    signal_full output
    store   wait_full output
    store   store %1[512*piece0] <- output[0], 512 bytes
    store   signal_free output
"""


class ProgramFileCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = pathlib.Path(folder.name) / "programs.txt"

    def write(self, text):
        self.file.write_text(text)

    def good(self, *words, hw=MACHINE):
        done = run("program", self.file, "--hw", hw, *words)
        said = re.sub("accsim: building the Verilated core .*\n", "", done.stderr)
        self.assertEqual((done.returncode, said), (0, ""))
        return done.stdout

    def refused(self, *parts, hw=SMALL):
        done = run("program", self.file, "--hw", hw)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        for part in parts:
            self.assertIn(part, done.stderr)

    def dump(self, network=NETWORK, hw=MACHINE, layers="*"):
        done = run("--hw", hw, network, "--dump-program", layers)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.write(done.stdout)
        return done.stdout


class ProgramFileTest(ProgramFileCase):
    def test_programs_of_a_network_take_the_cycles_that_the_dump_says(self):
        text = self.dump()
        said = re.findall(r"^ +# (\d+) cycles, (\d+) commands, (\d+) MACs$", text, re.M)
        report = json.loads(self.good("--json", "-"))
        found = [(p["cycles"], p["commands"], p["macs"]) for p in report["programs"]]
        self.assertEqual(found, [tuple(map(int, numbers)) for numbers in said])
        self.assertEqual(report["schema"], "accsim.program/1")
        self.assertGreater(len(found), 25)
        for p in report["programs"]:
            for queue in p["queues"].values():
                self.assertEqual(queue["busy"] + sum(queue["waits"].values()), queue["ends"])

    def test_a_copy_by_hand_takes_what_its_bytes_take(self):
        self.write(COPY)
        report = json.loads(self.good("--json", "-", hw=SMALL))["programs"][0]
        self.assertEqual(report["commands"], 16)
        self.assertEqual((report["dram_read_bytes"], report["dram_write_bytes"]), (4096, 4096))
        text = self.good(hw=SMALL)
        self.assertIn(f"{report['cycles']:,} cycles", text)
        self.assertRegex(text, r"load +\d")

    def test_the_trace_has_every_command(self):
        self.write(COPY + COPY.replace("program copy", "program again"))
        trace = json.loads(self.good("--trace", "-", hw=SMALL))
        events = [e for e in trace["traceEvents"] if e.get("ph") == "X"]
        self.assertEqual(sum(e.get("cat") == "layer" for e in events), 2)
        self.assertEqual(trace["otherData"]["layers"], 2)
        report = json.loads(self.good("--json", "-", hw=SMALL))["programs"]
        self.assertEqual(trace["otherData"]["cycles"], sum(p["cycles"] for p in report))

    def test_what_is_wrong_has_its_place(self):
        self.write(COPY.replace("<- %0", "<- %7"))
        self.refused("programs.txt:6:32: expected a number from 0 to 1")
        self.write(COPY.replace("    store   signal_free output\n", ""))
        self.refused("program copy", "piece<8", "a queue can use one slot at a time")
        self.write(COPY.replace("< 8:", "< 9:"))
        self.refused("program copy", "load")
        self.write("")
        self.refused("expected a program")

    def test_work_beyond_64_bits_is_refused(self):
        self.write(COPY.replace("512*piece0", "0").replace("< 8:", "< 4000000000000000:"))
        self.refused("2^50")


@unittest.skipUnless(shutil.which("verilator"), "verilator isn't installed")
class OnRtl(ProgramFileCase):
    def test_a_copy_by_hand_is_equal(self):
        self.write(COPY)
        self.assertIn("1 of 1 equal", self.good("--verify", hw=SMALL))

    def test_a_products_layer_is_equal(self):
        product = self.file.parent / "product.onnx"
        self.assertEqual(run("gemm", "20x30x12", "-o", product).returncode, 0)
        self.dump(product, SMALL)
        for seed in (1, 2):
            self.assertIn("1 of 1 equal", self.good("--verify", "--seed", seed, hw=SMALL))


if __name__ == "__main__":
    unittest.main()
