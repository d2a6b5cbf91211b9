#!/usr/bin/env python3
"""Do scripts/check_rtl's tools find what they are there to find? The core, good and bad."""

import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import unittest
import unittest.mock

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parents[2]
loader = importlib.machinery.SourceFileLoader("check_rtl", str(ROOT / "scripts" / "check_rtl"))
loader_spec = importlib.util.spec_from_loader("check_rtl", loader)
checker = importlib.util.module_from_spec(loader_spec)
loader.exec_module(checker)

SMALL = [
    "Rows=2",
    "Cols=3",
    "ActSlotBytes=64",
    "WgtSlotBytes=64",
    "ParSlotBytes=64",
    "OutSlotBytes=64",
    "AccRows=4",
    "OutPort=2",
]


class CheckRtlTest(unittest.TestCase):
    def said(self, check, file=None, find=None, replace=None):
        """What a tool says of a small core with a fault in one file."""
        with tempfile.TemporaryDirectory() as folder:
            rtl = pathlib.Path(folder) / "rtl"
            shutil.copytree(ROOT / "rtl", rtl)
            if file:
                text = (rtl / file).read_text()
                self.assertEqual(text.count(find), 1, f"{file}: {find}")
                (rtl / file).write_text(text.replace(find, replace))
            return check(rtl, SMALL)

    def test_the_core_is_clean(self):
        self.assertEqual(self.said(checker.slang), "")
        self.assertEqual(self.said(checker.yosys), "")

    def test_slang_sees_a_parameter_in_the_short_form(self):
        said = self.said(
            checker.slang, "execute_unit.sv", "array_ws #(.Rows(Rows), ", "array_ws #(.Rows, "
        )
        self.assertIn("error: expected '('", said)

    def test_slang_sees_a_width_that_does_not_fit(self):
        said = self.said(checker.slang, "token_counter.sv", "count_q != '0", "count_q")
        self.assertIn("-Wwidth-trunc", said)

    def test_slang_sees_two_processes_that_write_one_register(self):
        said = self.said(
            checker.slang,
            "cmd_issue.sv",
            "endmodule",
            "  always_ff @(posedge clk_i) valid_q <= 1'b0;\nendmodule",
        )
        self.assertIn("error:", said)

    def test_is_a_core_read_again_unless_the_same_one_was_clean(self):
        comment = ("cmd_issue.sv", "endmodule", "endmodule  // another")
        with (
            tempfile.TemporaryDirectory() as folder,
            unittest.mock.patch.object(checker, "YOSYS_CACHE", pathlib.Path(folder)),
            unittest.mock.patch.object(checker, "run_yosys", return_value=(0, "")) as read,
        ):
            for times, change in ((1, ()), (1, ()), (2, comment), (2, comment), (2, ())):
                self.assertEqual(self.said(checker.yosys, *change), "")
                self.assertEqual(read.call_count, times)
            checker.yosys(ROOT / "rtl", [*SMALL, "ActSlots=3"])
            self.assertEqual(read.call_count, 3)
            read.return_value = (1, "ERROR: no")
            for times in (4, 5):
                self.assertEqual(checker.yosys(ROOT / "rtl", ["Rows=3"]), "ERROR: no")
                self.assertEqual(read.call_count, times)

    def test_yosys_sees_a_latch(self):
        said = self.said(
            checker.yosys,
            "cmd_issue.sv",
            "endmodule",
            "  logic kept;\n  always_latch if (enable_i) kept = next_i;\nendmodule",
        )
        self.assertIn("selection is not empty", said.lower())

    def test_yosys_sees_a_value_that_is_not_always_assigned(self):
        said = self.said(
            checker.yosys,
            "load_unit.sv",
            "        base   = out_base;\n        select = 4'b1000;\n",
            "        base   = out_base;\n",
        )
        self.assertRegex(said, "latch|found logic loop")

    def test_yosys_sees_a_loop(self):
        said = self.said(
            checker.yosys,
            "cmd_issue.sv",
            "assign active_o = start_o || started_q;",
            "assign active_o = start_o || started_q && !active_o;",
        )
        self.assertIn("found logic loop", said)

    def test_may_yosys_start_twice_at_once_where_its_machine_code_is_damaged(self):
        self.assertEqual(checker.run_yosys(["-V"], ROOT)[0], 0)  # it is kept now
        codes = []

        def run():
            codes.append(checker.run_yosys(["-p", "help"], ROOT)[0])

        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(checker.YOSYS_CACHE, folder, dirs_exist_ok=True)
            for file in (f for f in pathlib.Path(folder).rglob("*") if f.is_file()):
                os.truncate(file, file.stat().st_size // 2)
            with unittest.mock.patch.object(checker, "YOSYS_CACHE", pathlib.Path(folder)):
                threads = [threading.Thread(target=run) for _ in range(2)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
        self.assertEqual(codes, [0, 0])

    def test_slang_sees_an_illegal_parameter(self):
        said = self.said(
            checker.slang,
            "core_tokens.sv",
            ".Slots(AccSlots)) u_acc",
            ".Slots(0)) u_acc",
        )
        self.assertIn("there is at least one token", said)


if __name__ == "__main__":
    if checker.missing("slang") or checker.missing("yosys"):
        print("skipped: slang or Yosys is missing (scripts/setup)", file=sys.stderr)
        sys.exit(checker.SKIPPED)
    unittest.main()
