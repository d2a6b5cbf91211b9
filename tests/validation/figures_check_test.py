#!/usr/bin/python3
"""Does figures_test.py see what it must? Usage: figures_check_test.py."""

import unittest

import figures_test

TABLE = """### A source

| point | unit | measured | predicted | error | interval | decided by |
|---|---|---:|---:|---:|---:|---|
| MLP0 | TOPS | 12.30 | 11.32 | {} % | -20.1 % .. -6.5 % | `dram.latency` |
| CNN0 | TOPS | 86.00 | 40.00 | -52.0 % | -65.0 % .. -51.9 % |  |
"""


class Growth(unittest.TestCase):
    def test_are_errors_read_by_source_and_point(self):
        self.assertEqual(
            figures_test.errors(TABLE.format("-7.9") + "### B\n" + TABLE.format("+1,007.9")),
            {
                ("A source", "MLP0"): 1007.9,
                ("A source", "CNN0"): -52.0,
            },
        )

    def test_is_a_larger_error_seen_whatever_its_sign(self):
        for worse in ("-8.0", "+8.0", "+1,000.0"):
            found = figures_test.growth(TABLE.format("-7.9"), TABLE.format(worse))
            self.assertEqual(len(found), 1, worse)
            self.assertIn("the error of MLP0 of A source has grown", found[0])

    def test_is_a_smaller_error_fine(self):
        for better in ("-7.9", "+7.9", "0.0"):
            self.assertEqual(
                figures_test.growth(TABLE.format("-7.9"), TABLE.format(better)), [], better
            )

    def test_is_a_point_missed(self):
        gone = TABLE.format("-7.9").replace("| CNN0 |", "| CNN1 |")
        self.assertEqual(
            figures_test.growth(TABLE.format("-7.9"), gone), ["CNN0 of A source has gone"]
        )

    def test_are_groups_of_rows_seen(self):
        table = "### T\n| whole weights | 42 | {} % | -42.2 % | {} % | own_rnd |\n"
        old = table.format("42.8", "-88.5")
        self.assertEqual(
            figures_test.errors(old),
            {("T", "whole weights, mean"): 42.8, ("T", "whole weights, worst"): -88.5},
        )
        for mean, worst in (("43.0", "-88.5"), ("42.8", "+1,000.0")):
            self.assertEqual(len(figures_test.growth(old, table.format(mean, worst))), 1)

    def test_are_both_parts_of_the_page_written(self):
        page = "# Page\n"
        for name in figures_test.PARTS:
            page += "\n".join(("before", "old\n")).join(figures_test.marks(name))
        new = figures_test.parts("| source |\n\nUnfitted: 1.\n\n### A\n\n| row |\n")
        self.assertEqual(new["summary"], "| source |\n\nUnfitted: 1.\n")
        self.assertEqual(new["figures"], "### A\n\n| row |\n")
        made = figures_test.with_parts(page, new)
        self.assertEqual(figures_test.written(made), new)
        self.assertTrue(made.startswith("# Page\n"))


if __name__ == "__main__":
    unittest.main()
