#!/usr/bin/python3
"""Does a SystemVerilog bench work with accsim_dpi.sv and libaccsim.so, Verilated by --binary?

Usage: dpi_test.py LIBACCSIM.SO VERILATOR [unittest arguments]."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "sim" / "abi" / "accsim_dpi.sv"
BENCH = pathlib.Path(__file__).resolve().parent / "dpi_bench.sv"
LIBRARY = VERILATOR = None  # set by main


class Dpi(unittest.TestCase):
    def good(self, *command, folder):
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=280, check=False
        )
        self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
        return done.stdout

    def test_does_a_bench_find_its_own_sums_and_a_planted_difference(self):
        library = LIBRARY.parent
        with tempfile.TemporaryDirectory() as folder:
            command = [VERILATOR, "--binary", "-Wall", "--top-module", "dpi_bench", "-O0"]
            command += ["-LDFLAGS", f"-L{library} -laccsim -Wl,-rpath,{library}"]
            self.good(*command, PACKAGE, BENCH, folder=folder)
            machine = f"+machine={ROOT / 'configs' / '8x8.yaml'}"
            printed = self.good("obj_dir/Vdpi_bench", machine, folder=folder)
        self.assertIn("row 5, column 3:", printed)
        self.assertRegex(printed, "found execute command 0.*: sums differ at row 5, column 3")
        self.assertIn("refused: m, k, n: '-1x1x1' is not MxKxN", printed)
        self.assertIn("all is as computed here", printed)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    LIBRARY, VERILATOR = (pathlib.Path(sys.argv.pop(1)).resolve() for _ in range(2))
    unittest.main()
