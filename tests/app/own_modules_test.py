#!/usr/bin/python3
"""Modules of one's own in the core, as docs/verify.md has them: `accsim verify --replace`,
`--source` and `--cycles report`.

Usage: own_modules_test.py ACCSIM [unittest arguments]. Exit code 77 (skipped) without verilator.
"""

import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from program import ROOT, patience, run

SMALL = ROOT / "configs" / "8x8.yaml"
RTL = ROOT / "rtl"

# An array whose sums leave a cycle later.
LATE_ARRAY = """
module {name} #(
  parameter int unsigned Rows = 8,
  parameter int unsigned Cols = 8,
  parameter bit OneProcess = 1'b0{parameters}
) (
  {ports}
  output logic [Cols-1:0][31:0] sum_o
);
  logic [Cols-1:0][31:0] sum;
  {name}_now #(.Rows(Rows), .Cols(Cols), .OneProcess(OneProcess){passed}) u_now (
    .sum_o(sum), .*);
  always_ff @(posedge clk_i) sum_o <= sum;
endmodule
"""
WS_PORTS = """input logic clk_i, by_column_i,
  input logic [Rows*8-1:0] stream_i,
  input logic swap_i, write_i,
  input logic [FillRows*Cols*8-1:0] write_row_i,
  input logic [Rows*8-1:0] write_column_i,"""
WS_PARAMETERS = ",\n  parameter int unsigned FillRows = 1"
OS_PORTS = """input logic clk_i, rst_ni,
  input logic [Rows*8-1:0] pixel_i,
  input logic valid_i,
  input logic [IndexBits-1:0] index_i,
  input logic [Cols*8-1:0] weight_i,
  input logic clear_i, capture_i, shift_i,"""
OS_PARAMETERS = ",\n  localparam int unsigned IndexBits = $clog2(Rows + 1)"

# A lane whose sums come a cycle later; zero point and limits come late enough by themselves.
LATE_LANE = """
module post_lane (
  input  logic               clk_i,
  input  logic [4:0]         valid_i,
  input  logic [31:0]        sum_i, bias_i,
  input  logic signed [31:0] multiplier_i,
  input  logic [5:0]         shift_i,
  input  logic               add_i,
  input  logic signed [15:0] zero_i, low_i, high_i,
  output logic [15:0]        value_o
);
  logic [4:0]  valid_q = '0;
  logic [31:0] sum_q, bias_q, multiplier_q;
  logic [5:0]  shift_q;
  logic        add_q;
  always_ff @(posedge clk_i) begin
    valid_q <= valid_i;
    add_q   <= add_i;
    {sum_q, bias_q, multiplier_q, shift_q} <= {sum_i, bias_i, multiplier_i, shift_i};
  end
  post_lane_now u_now (
    .clk_i, .valid_i(valid_q), .sum_i(sum_q), .bias_i(bias_q), .multiplier_i(multiplier_q),
    .shift_i(shift_q), .add_i(add_q), .zero_i, .low_i, .high_i, .value_o);
endmodule
"""
# A queue whose command starts a cycle after it may, at the earliest.
SLOW_ISSUE = """
module cmd_issue (
  input  logic clk_i, rst_ni, enable_i, next_i, ready_i, done_i,
  output logic load_o, start_o, active_o
);
  logic waited_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) waited_q <= 1'b0;
    else         waited_q <= ready_i && !load_o;
  end
  cmd_issue_now u_now (.ready_i(ready_i && waited_q), .*);
endmodule
"""
LATENCIES = {"ArrayLatency": (4, 5), "PostLatency": (8, 9)}


def renamed(module):
    """The text of a module of rtl/ under the name MODULE_now."""
    text = (RTL / f"{module}.sv").read_text()
    assert len(re.findall(rf"^module {module}\b", text, re.M)) == 1
    return re.sub(rf"^module {module}\b", f"module {module}_now", text, flags=re.M)


def late_array(name):
    ports, parameters, passed = (
        (WS_PORTS, WS_PARAMETERS, ", .FillRows(FillRows)")
        if name == "array_ws"
        else (OS_PORTS, OS_PARAMETERS, "")
    )
    return renamed(name) + LATE_ARRAY.format(
        name=name, ports=ports, parameters=parameters, passed=passed
    )


def late_package():
    text = (RTL / "accsim_pkg.sv").read_text()
    for name, (before, after) in LATENCIES.items():
        text, count = re.subn(rf"({name}\s*=\s*){before};", rf"\g<1>{after};", text)
        assert count == 1, name
    return text


class OwnModules(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = pathlib.Path(folder.name) / "my rtl"
        self.dir.mkdir()

    def write(self, name, text):
        path = self.dir / name
        path.write_text(text)
        return path

    def late_files(self, array):
        """Package, lane and array with a register more each."""
        return [
            self.write("accsim_pkg.sv", late_package()),
            self.write("post_lane.sv", renamed("post_lane") + LATE_LANE),
            self.write(f"{array}.sv", late_array(array)),
        ]

    def verify(self, *args, code=0):
        """(text, report) of a run whose cores are kept in a folder of the test."""
        path = self.dir / "report.json"
        cache = self.dir / "cache"
        done = run(
            *("verify", "--hw", SMALL, "--cache", cache, "--json", path, *args),
            timeout=10 * patience(),  # a core is built
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout, json.loads(path.read_text())

    def refused(self, *args):
        """What is said of options that can't be used; no core is built for it."""
        cache = self.dir / "cache"
        done = run("verify", "--hw", SMALL, "--gemm", "8x8x8", "--cache", cache, *args)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertFalse(cache.exists())
        return done.stderr

    def test_a_tree_of_other_latencies(self):
        for folder in ("rtl", "hw/cosim"):
            shutil.copytree(ROOT / folder, self.dir / folder)
        for file in self.late_files("array_ws"):
            file.rename(self.dir / "rtl" / file.name)
        tree = ("--source", self.dir, "--dataflow", "ws")
        # Gemms and posts whose results come a cycle later each; the last of both decide.
        text, report = self.verify("--gemm", "8x8x8", *tree, "--cycles", "report")
        (row,) = report["rows"]
        self.assertTrue(row["passed"] and row["bit_exact"])
        self.assertFalse(row["cycles_equal"])
        self.assertEqual((report["cycles"], row["difference"]), ("report", 2))
        self.assertAlmostEqual(row["difference_percent"], 100 * 2 / row["model_cycles"], places=9)
        late = row["other_cycles"]
        tiles = late["queues"]["post"]
        self.assertEqual(late["queues"], {"execute": tiles, "post": tiles, "store": tiles})
        self.assertEqual(late["commands"], 3 * tiles)
        self.assertRegex(late["first"], r"^execute command 0\b.* finishes in cycle \d+, model \d+$")
        finish, model = map(int, re.findall(r"cycle (\d+), model (\d+)", late["first"])[0])
        self.assertEqual(finish, model + 1)
        said = " ".join(text.split())
        self.assertIn(
            f"other cycles: {3 * tiles} of {row['commands']} commands ({tiles} execute, {tiles} "
            f"post, {tiles} store), total +2 (",
            said,
        )
        self.assertIn("1 of 1 equal in values; cycles are reported", said)
        # All commands, with residuals, tables, groups, slots that come to be free later.
        _, report = self.verify("--random", 60, *tree, "--cycles", "report")
        self.assertEqual((report["passed"], report["failed"]), (60, 0))
        self.assertTrue(any(row["difference"] for row in report["rows"]))
        # Where cycles have to be equal, such a tree is none of this program.
        done = run("verify", "--hw", SMALL, "--gemm", "8x8x8", *tree)
        self.assertEqual(done.returncode, 3)
        self.assertIn("has other latencies than the one", done.stderr)
        self.assertIn("--cycles report", done.stderr)

    def test_files_of_other_latencies(self):
        files = self.late_files("array_os")
        words = [word for file in files for word in ("--replace", file)]
        own = ("--dataflow", "os", "--cycles", "report", *words)
        _, report = self.verify("--gemm", "8x8x8", *own)
        (row,) = report["rows"]
        self.assertEqual((row["passed"], row["difference"]), (True, 2))
        # Gemms and drains are as late as the array is.
        queues = row["other_cycles"]["queues"]
        tiles = queues["post"]
        self.assertEqual(queues, {"execute": 2 * tiles, "post": tiles, "store": tiles})
        _, report = self.verify("--random", 40, *own)
        self.assertEqual((report["passed"], report["failed"]), (40, 0))

    def test_a_slower_module_with_a_handshake_needs_nothing_else(self):
        issue = self.write("cmd_issue.sv", renamed("cmd_issue") + SLOW_ISSUE)
        own = ("--dataflow", "os", "--replace", issue)
        _, report = self.verify("--random", 40, *own, "--cycles", "report")
        self.assertEqual((report["passed"], report["failed"]), (40, 0))
        self.assertTrue(any(row["difference"] > 0 for row in report["rows"]))
        # The same core, where cycles have to be equal.
        text, report = self.verify("--gemm", "8x8x8", *own, code=1)
        (row,) = report["rows"]
        self.assertEqual((row["passed"], row["bit_exact"]), (False, True))
        self.assertEqual(row["first_difference"], row["other_cycles"]["first"])
        self.assertIn("0 of 1 equal", text)

    def test_a_wrong_value_fails_whatever_the_cycles_are(self):
        wrong = LATE_LANE.replace(
            ".sum_i(sum_q)", ".sum_i(sum_q ^ (32'(sum_q[4:0] == 5'd5) << 20))"
        )
        self.assertNotEqual(wrong, LATE_LANE)
        files = self.late_files("array_ws")
        self.write("post_lane.sv", renamed("post_lane") + wrong)
        words = [word for file in files for word in ("--replace", file)]
        text, report = self.verify(
            "--gemm", "40x3x40", "--dataflow", "ws", "--cycles", "report", *words, code=1
        )
        (row,) = report["rows"]
        self.assertFalse(row["passed"] or row["bit_exact"])
        self.assertRegex(row["first_difference"], r"^store command \d+.*: byte \d+ of 'out' is ")
        self.assertIn("0 of 1 equal", text)

    def test_equal_modules_are_equal_in_cycles_and_their_assertions_run(self):
        # The same lane in other words: checked as the core's own is, to the cycle.
        lane = self.write("post_lane.sv", "// Mine.\n" + (RTL / "post_lane.sv").read_text())
        _, report = self.verify("--gemm", "20x30x40", "--replace", lane)
        self.assertEqual((report["cycles"], report["rows"][0]["cycles_equal"]), ("equal", True))
        # A lane that forgets its last value while nothing comes: no value that is used changes.
        text = (RTL / "post_lane.sv").read_text()
        kept = "    if (valid_i[4]) begin\n"
        self.assertEqual(text.count(kept), 1)
        self.write("post_lane.sv", text.replace(kept, "    value_q <= '0;\n" + kept))
        self.verify("--gemm", "20x30x40", "--replace", lane)
        waves = ("--trace", self.dir / "x.fst", "--trace-signals", self.dir / "x.sucl")
        said, report = self.verify(
            "--gemm", "20x30x40", "--replace", lane, "--assertions", *waves, code=1
        )
        self.assertRegex(
            report["rows"][0]["error"], r"fails the assertion at .*post_lane_sva\.sv:\d+"
        )
        self.assertEqual(len(list((self.dir / "cache").glob("*/core.so"))), 3, said)
        # What ends so is looked at most.
        shown = (self.dir / "x.sucl").read_text().splitlines()
        self.assertIn("variable_add TOP.accsim_core.retire_post_o", shown)

    def test_a_package_of_another_layout_is_refused(self):
        text = (RTL / "accsim_pkg.sv").read_text()
        swapped = text.replace(
            "    word_t              run;\n    word_t              slot_offset;\n",
            "    word_t              slot_offset;\n    word_t              run;\n",
        )
        self.assertNotEqual(swapped, text)
        package = self.write("accsim_pkg.sv", swapped)
        done = run(
            "verify",
            "--hw",
            SMALL,
            "--gemm",
            "8x8x8",
            "--cycles",
            "report",
            "--cache",
            self.dir / "cache",
            "--replace",
            package,
        )
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertIn(f"{package} isn't the one that this program was built with", done.stderr)

    def test_a_module_that_is_connected_otherwise_is_refused(self):
        text = (RTL / "array_ws.sv").read_text()
        for find, put, reason in (
            ("input  logic                   swap_i,\n", "", "it has no port 'swap_i' (input)"),
            (
                "output sum_t [Cols-1:0]        sum_o",
                "input sum_t [Cols-1:0] sum_o",
                "port 'sum_o' is input; the core's is output",
            ),
            ("swap_i,", "swap_i, extra_i,", "the core has no port 'extra_i' (input)"),
            (
                "parameter int unsigned Cols = 8,",
                "localparam int unsigned Cols = 8,",
                "it has no parameter 'Cols'",
            ),
            (
                "OneProcess = 1'b0",
                "OneProcess = 1'b0,\n  parameter int Depth",
                "the core sets no parameter 'Depth': give it a default",
            ),
            ("module array_ws\n", "module my_array\n", "there is no module 'array_ws' in it"),
            (
                "input  logic                   clk_i,",
                "`ifdef A\ninput logic clk_i,\n`endif",
                "has a word of the preprocessor",
            ),
        ):
            with self.subTest(reason=reason):
                self.assertIn(find, text)
                file = self.write("array_ws.sv", text.replace(find, put, 1))
                said = self.refused("--replace", file)
                self.assertIn(f"{file}: ", said)
                self.assertIn(reason, said)

    def test_a_file_that_replaces_nothing_is_refused(self):
        other = self.dir / "other"
        other.mkdir()
        (other / "pe_ws.sv").write_text((RTL / "pe_ws.sv").read_text())
        for name, text, more, reason in (
            ("aray_ws.sv", "", (), "did you mean array_ws.sv?"),
            ("pe_ws.v", "", (), "no file of rtl/ has this name"),
            ("pe_ws_sva.sv", "", (), "with --assertions only"),
            (
                "pe_ws.sv",
                (RTL / "pe_ws.sv").read_text(),
                ("--replace", other / "pe_ws.sv"),
                "another file of this name",
            ),
        ):
            with self.subTest(name=name):
                file = self.write(name, text)
                said = self.refused("--replace", file, *more)
                self.assertIn(name, said)
                self.assertIn(reason, said)
        said = self.refused("--replace", self.dir / "absent" / "pe_ws.sv")
        self.assertIn("absent", said)

    def test_a_module_that_is_not_in_this_core_is_said(self):
        for name in ("array_os", "pe_ws"):
            with self.subTest(name=name):
                file = self.write(f"{name}.sv", (RTL / f"{name}.sv").read_text())
                done = run(
                    "verify",
                    "--hw",
                    SMALL,
                    "--gemm",
                    "8x8x8",
                    "--dataflow",
                    "ws",
                    "--cache",
                    self.dir / "cache",
                    "--replace",
                    file,
                )
                self.assertEqual(done.returncode, 3, done.stdout)
                self.assertIn(
                    f"{file}: the core of this machine and dataflow has no such module", done.stderr
                )

    def test_ports_of_another_width_are_named(self):
        text = (RTL / "post_lane.sv").read_text()
        port = "logic [5:0]            shift_i"
        self.assertIn(port, text)
        file = self.write("post_lane.sv", text.replace(port, port.replace("[5:0]", "[4:0]")))
        done = run(
            "verify",
            "--hw",
            SMALL,
            "--gemm",
            "8x8x8",
            "--cache",
            self.dir / "cache",
            "--replace",
            file,
        )
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertRegex(
            " ".join(done.stderr.split()),
            r"a replaced module's port has another width: post_unit\.sv:\d+:\d+: Input "
            r"port connection 'shift_i' expects 5 bits",
        )


if __name__ == "__main__":
    if not shutil.which("verilator"):
        print("skipped: there is no verilator", file=sys.stderr)
        sys.exit(77)
    unittest.main()
