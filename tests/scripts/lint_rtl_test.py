#!/usr/bin/python3
"""Does scripts/lint_rtl find what is wrong with the files of rtl/? Copies, good and bad."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class LintRtlTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.rtl = pathlib.Path(folder.name) / "rtl"
        shutil.copytree(ROOT / "rtl", self.rtl)

    def problems(self):
        done = subprocess.run(
            [sys.executable, ROOT / "scripts/lint_rtl", "--rtl", self.rtl, "--files"],
            check=False,
            stdout=subprocess.PIPE,
            text=True,
        )
        lines = done.stdout.splitlines()
        self.assertEqual(done.returncode, 0 if lines == ["lint: the files are clean"] else 1)
        return lines

    def edit(self, name, find, replace):
        text = (self.rtl / name).read_text()
        self.assertIn(find, text)
        (self.rtl / name).write_text(text.replace(find, replace, 1))

    def add_row(self, name):
        self.edit("README.md", "| `skew` |", f"| `skew`, `{name}` |")

    def test_the_tree_is_clean(self):
        self.assertEqual(self.problems(), ["lint: the files are clean"])

    def test_a_file_that_is_not_listed(self):
        (self.rtl / "spare.sv").write_text("module spare; endmodule\n")
        self.add_row("spare")
        self.assertEqual(self.problems(), ["accsim.f: spare.sv is not listed and there"])

    def test_a_module_without_a_row_and_a_row_without_a_module(self):
        self.edit("README.md", "| `skew` |", "| `spare` |")
        self.assertEqual(
            self.problems(),
            [
                "README.md: the table of modules lacks skew",
                "README.md: the table of modules has spare, and there is no spare.sv",
            ],
        )

    def test_a_listed_file_that_is_not_there(self):
        self.edit("accsim_sva.f", "skew_sva.sv\n", "skew_sva.sv\nspare_sva.sv\n")
        self.assertEqual(self.problems(), ["accsim_sva.f: spare_sva.sv is listed and not there"])

    def test_a_module_with_state_and_no_assertions(self):
        (self.rtl / "skew_sva.sv").unlink()
        self.edit("accsim_sva.f", "skew_sva.sv\n", "")
        self.assertEqual(self.problems(), ["skew.sv: has state and no skew_sva.sv"])

    def test_a_new_module_with_state_and_no_assertions(self):
        self.edit("accsim.f", "skew.sv\n", "skew.sv\nspare.sv\n")
        self.add_row("spare")
        for block in (
            "always_ff @(posedge clk_i) q_o <= d_i;",
            "always @(posedge clk_i) q_o <= d_i;",
            "always_latch if (clk_i) q_o = d_i;",
        ):
            (self.rtl / "spare.sv").write_text(
                f"module spare (input logic clk_i, d_i, output logic q_o);\n  {block}\nendmodule\n"
            )
            self.assertEqual(self.problems(), ["spare.sv: has state and no spare_sva.sv"])

    def test_a_new_module_without_state_needs_no_assertions(self):
        self.edit("accsim.f", "skew.sv\n", "skew.sv\nspare.sv\n")
        self.add_row("spare")
        (self.rtl / "spare.sv").write_text(
            "module spare (input logic d_i, output logic q_o);\n"
            "  always_comb q_o = !d_i;  // always that\nendmodule\n"
        )
        self.assertEqual(self.problems(), ["lint: the files are clean"])

    def test_a_second_module_in_a_file(self):
        self.edit("skew.sv", "endmodule", "endmodule\nmodule spare;\nendmodule")
        self.assertEqual(self.problems(), ["skew.sv: holds skew, spare, not skew alone"])

    def test_assertions_that_are_not_bound(self):
        self.edit("skew_sva.sv", "bind skew ", "// bind skew ")
        self.assertEqual(self.problems(), ["skew_sva.sv: doesn't bind skew_sva to skew"])

    def test_a_checker_that_asserts_nothing(self):
        text = (self.rtl / "pe_os_sva.sv").read_text()
        (self.rtl / "pe_os_sva.sv").write_text(
            "\n".join(line for line in text.splitlines() if "`ASSERT" not in line)
        )
        self.assertEqual(self.problems(), ["pe_os_sva.sv: asserts nothing"])

    def test_an_assertion_in_a_module(self):
        self.edit("skew.sv", "endmodule", "  initial assert (Lanes > 0);\nendmodule")
        self.assertEqual(self.problems(), ["skew.sv: assertions belong into skew_sva.sv"])

    def test_a_long_module(self):
        self.edit("skew.sv", "endmodule", "\n" * 300 + "endmodule")
        said = r"^skew\.sv: \d+ lines; at most 300, so move a part into a module$"
        self.assertRegex(self.problems()[0], said)


if __name__ == "__main__":
    unittest.main()
