#!/usr/bin/python3
"""Does scripts/generate_rtl_layout read a package as it is meant, and see a stale header?"""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "generate_rtl_layout"
loader = importlib.machinery.SourceFileLoader("generate_rtl_layout", str(SCRIPT))
loader_spec = importlib.util.spec_from_loader("generate_rtl_layout", loader)
generator = importlib.util.module_from_spec(loader_spec)
loader.exec_module(generator)

PACKAGE = """
package p;
  parameter int unsigned Lines = 3;  // a comment; with a semicolon
  typedef logic [31:0] word_t;
  typedef enum logic [1:0] {
    RedOne = 2'd0,
    BlueOne = 2'd2
  } colour_e;
  typedef struct packed {
    logic [27:0] unused;
    colour_e     colour;
    logic        late_one;
    logic        first;
  } some_flags_t;
  typedef struct packed {
    word_t             last;
    word_t [Lines-1:0] line_end;
    some_flags_t       flags;
  } some_cmd_t;
endpackage
"""


class LayoutTest(unittest.TestCase):
    def check(self, package, header):
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            files = {
                "--package": package,
                "--header": header,
                "--fields": generator.field_header(package),
                "--page": generator.page(package),
            }
            words = []
            for option, content in files.items():
                (place / option).write_text(content)
                words += [option, place / option]
            return subprocess.run(
                [sys.executable, SCRIPT, "--check", *words],
                check=False,
                stderr=subprocess.PIPE,
            ).returncode

    def test_the_last_field_is_lowest(self):
        package = generator.Package(PACKAGE)
        self.assertEqual(
            package.structs["some_flags_t"],
            [("first", 0, 1), ("late_one", 1, 1), ("colour", 2, 2), ("unused", 4, 28)],
        )
        self.assertEqual(
            package.structs["some_cmd_t"],
            [("flags", 0, 32), ("line_end", 32, 96), ("last", 128, 32)],
        )

    def test_the_header_names_words_bits_and_values(self):
        text = generator.header(PACKAGE)
        for line in (
            "inline constexpr uint32_t kLines = 3;",
            "inline constexpr uint32_t kBlueOne = 2;",
            "inline constexpr uint32_t kLateOne = 1u << 1;",
            "inline constexpr uint32_t kColourShift = 2;",
            "inline constexpr size_t kLineEnd = 1;  ///< and the next 2",
            "inline constexpr size_t kLast = 4;",
            "inline constexpr size_t kWords = 5;",
        ):
            self.assertIn(line + "\n", text)

    def test_the_hash_is_fnv_1a(self):  # the values that its authors give
        self.assertEqual(generator.package_hash(""), 0xCBF29CE484222325)
        self.assertEqual(generator.package_hash("foobar"), 0x85944171F73967E8)
        self.assertEqual(generator.package_hash(" foo // x\n\tbar\n"), 0x85944171F73967E8)

    def test_latencies_lay_nothing_out(self):
        slow = "parameter int unsigned ALatency  = 4;  // of a sum\n"
        self.assertEqual(generator.layout_hash("foo" + slow + "bar"), 0x85944171F73967E8)
        self.assertNotEqual(generator.package_hash("foo" + slow + "bar"), 0x85944171F73967E8)
        for other in ("parameter int unsigned Levels = 4;", "parameter int unsigned ALatency = B;"):
            self.assertNotEqual(generator.layout_hash("foo" + other + "bar"), 0x85944171F73967E8)

    def test_a_stale_header_is_seen(self):
        good = generator.header(PACKAGE)
        self.assertEqual(self.check(PACKAGE, good), 0)
        swapped = (
            PACKAGE.replace("late_one", "x").replace("first", "late_one").replace("x;", "first;")
        )
        self.assertNotEqual(swapped, PACKAGE)
        self.assertEqual(self.check(swapped, good), 1)

    def test_fields_have_their_bits_by_path(self):
        package = """package p;
  typedef struct packed { logic [29:0] unused; logic b; logic a; } dma_flags_t;
  typedef struct packed { word_t [1:0] stride; word_t run; dma_flags_t flags; } dma_cmd_t;
  typedef logic [31:0] word_t;
endpackage
"""
        text = generator.field_header(package)
        for line in (
            '{"flags.a", 0, 1, 1, false},',
            '{"flags.b", 1, 1, 1, false},',
            '{"run", 32, 32, 1, false},',
            '{"stride", 64, 32, 2, true},',
        ):
            self.assertIn(line + "\n", text)
        self.assertIn("| `flags.b` | 0, bit 1 |  |  |\n", generator.page(package))
        self.assertIn("| `stride`[2] | 2 .. 3 | yes |  |\n", generator.page(package))

    def test_widths_are_those_of_the_formats(self):
        numbers = {
            "number_format.h": '{FormatId::int4, "int4", signed_integer, 4, 0},\n'
            '{FormatId::int16, "int16", signed_integer, 16, 0},\n',
            "core_formats.h": "FormatId kOperand = FormatId::int16;  ///< all\n"
            "FormatId kPacked = FormatId::int4;  ///< weights\n",
        }
        package = (
            "  // Bits of the core's numbers: from somewhere.\n"
            "  parameter int unsigned OperandBits = 8;\n\n"
            "  typedef logic signed [2*OperandBits+1-3:0] sum_t;\n"
            "  typedef struct packed { sum_t sum; } some_cmd_t;\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            for name, content in numbers.items():
                pathlib.Path(folder, name).write_text(content)
            made = generator.with_widths(package, pathlib.Path(folder))
        for line in ("OperandBits     = 16;  // int16: all\n", "PackedBits      = 4;   // int4: w"):
            self.assertEqual(made.count("  parameter int unsigned " + line), 1, made)
        self.assertEqual(generator.Package(made).widths["sum_t"], 31)

    def test_what_it_cannot_read_is_an_error(self):
        for find, replace in (
            ("word_t             last", "real last"),
            ("2'd2", "2'b10"),
            ("Lines-1", "Lines/2"),
            ("struct", "union"),
        ):
            bad = PACKAGE.replace(find, replace)
            self.assertNotEqual(bad, PACKAGE)
            self.assertRaises(generator.PackageError, generator.header, bad)


if __name__ == "__main__":
    unittest.main()
