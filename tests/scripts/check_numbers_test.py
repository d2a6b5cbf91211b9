#!/usr/bin/python3
"""Does scripts/check_numbers find what it is there to find? Feeds it small trees."""

import sys
import unittest

sys.dont_write_bytecode = True

from planted import ROOT, PlantedTree, load_script  # noqa: E402

checker = load_script("check_numbers")

GOOD = {
    "hw/numbers/number_format.h": '{FormatId::int8, "int8", 8},\n{FormatId::float16, "float16"},\n'
    "constexpr bool fits_byte() const { return bits <= 8; }\n",
    "hw/numbers/deep/codes.cpp": "if (f.id == FormatId::int8) return;\n",
    "sim/map/mapper.cpp": "// t == DType::int8\n/* case DType::int8:\nbits(t) == 8 */\n"
    'f("t == DType::int8", "bits(t) == 8");\n'
    "if (t == DType::boolean || t == DType::undefined) return DType::int8;\n"
    "t = DType::int8; if (bits(a) < bits(b) || tile.bits == 4) g(DType::float16);\n",
    "rtl/accsim_pkg.sv": "typedef logic [31:0] word_t;\n",
    "rtl/pe.sv": "// logic [7:0] a\ncode_t [Rows-1:0] a;  // 8*i\n"
    "assign b = c[2:0] + 32'(d) + e[8:0];\n",
    "sim/map/notes.md": "t == DType::int8\n",
}


class CheckNumbers(PlantedTree):
    GOOD, checker = GOOD, checker

    def test_are_the_table_comments_texts_and_other_types_let_be(self):
        self.assertEqual(self.problems(), [])

    def test_is_a_type_that_is_asked_for_found_in_every_folder(self):
        for path in ("sim/sweep/axes.cpp", "hw/area/area.h", "python/src/machine.cpp"):
            self.refuses(
                {path: "\nif (hw.types.weight == DType::int8) widen();\n"},
                f"{path}:2",
                "asks for int8",
                "scripts/check_numbers",
            )

    def test_is_a_type_found_however_it_is_asked_for(self):
        for code in (
            "t != DType::int8",
            "t ==\n    accsim::DType::int8",
            "DType::int8 == t",
            "case DType::int8:",
            "f->id == hw::FormatId::int8",
            "case hw::FormatId::int8:",
        ):
            self.refuses({"sim/a.cpp": f"x = {code};\n"}, "a.cpp:1", "asks for int8")

    def test_are_bits_that_are_written_out_found(self):
        for code in (
            "bits(t) == 8",
            "bits(t)<=8",
            "16 > bits(graph_.tensor(id).dtype)",
            "bits(tensor(at(port)).dtype) != 8",
            "format->bits >= 16",
        ):
            self.refuses({"hw/a.h": f"\n\nx = {code};\n"}, "a.h:3", "asks for bits")

    def test_are_bytes_that_are_made_of_bits_found(self):
        for code in ("bits(t) / 8", "static_cast<size_t>(bits(t.dtype)) / 8"):
            self.refuses({"hw/a.h": f"x = {code};\n"}, "a.h:1", "asks for bytes")

    def test_is_a_width_that_a_module_writes_out_found(self):
        for code in (
            "logic [7:0] a;",
            "logic [Rows-1:0][31:0] sums;",
            "logic [Rows*8-1:0] a;",
            "assign a = b[8*i +: 8];",
            "assign a = b[ByteBits*i+:8];",
            "assign mask = {32{on}};",
            "localparam int Bits = 8 * Bytes;",
        ):
            problems = self.problems({"rtl/lane.sv": f"\n{code}\n"})
            self.assertTrue(problems, code)
            self.assertIn("rtl/lane.sv:2: asks for a width", problems[0])
            self.assertIn("accsim_pkg.sv", problems[0])

    def test_is_an_exception_of_one_file_and_type_alone(self):
        files = {"sim/a.cpp": "x = t == DType::int8;\n"}
        reason = {"sim/a.cpp: int8": "why"}
        self.assertEqual(self.problems(files, reason), [])
        self.refuses({**files, "sim/b.cpp": files["sim/a.cpp"]}, "b.cpp:1", exceptions=reason)
        files["sim/a.cpp"] += "y = t == DType::float16;\n"
        self.refuses(files, "a.cpp:2", "float16", exceptions=reason)

    def test_is_an_exception_that_nothing_needs_found(self):
        self.refuses({}, "nothing needs", "sim/a.cpp", exceptions={"sim/a.cpp: int8": "why"})

    def test_is_a_table_without_formats_an_error(self):
        self.refuses({"hw/numbers/number_format.h": "\n"}, "no format")

    def test_has_the_tree_no_problem(self):
        problems, known = checker.check(ROOT)
        self.assertEqual(problems, [])
        self.assertGreater(known, 20)

    def test_have_all_exceptions_a_reason(self):
        self.assertTrue(all(len(why.split()) > 2 for why in checker.EXCEPTIONS.values()))


if __name__ == "__main__":
    unittest.main()
