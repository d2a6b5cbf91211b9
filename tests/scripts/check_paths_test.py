#!/usr/bin/python3
"""Does scripts/check_paths find what it is there to find? Feeds it small trees."""

import json
import sys
import unittest

sys.dont_write_bytecode = True

from planted import ROOT, PlantedTree, load_script  # noqa: E402

checker = load_script("check_paths")


def section(**keys):
    return {"properties": keys}


SCHEMA = section(
    clock_mhz={},
    array=section(rows={}),
    buffers=section(shared=section(kib={}, read_bytes_per_cycle={})),
)
GOOD = {
    "configs/hw.schema.json": json.dumps(SCHEMA),
    "hw/config/fields.cpp": 't.push_back(whole("array.rows"));\n',
    "hw/config/deep/rules.cpp": 'c.fail("buffers.shared.kib");\n',
    "sim/map/mapper.cpp": '// "array.rows" is a path\n/* and "buffers.shared.kib" */\n'
    'auto a = "array.rows is 0", b = "array", c = "say \\"array.rows\\"", d = "clock_mhz";\n'
    "char e = '\"';\n",
    "python/accsim/_api.py": '# "array.rows"\nkeys = ["rows", "an array.rows"]\n',
    "python/README.md": 'hw.replace({"array.rows": 1})\n',
}


class CheckPaths(PlantedTree):
    GOOD, checker = GOOD, checker

    def test_are_the_table_comments_texts_and_single_words_let_be(self):
        self.assertEqual(self.problems(), [])

    def test_is_a_path_outside_of_the_table_found(self):
        for path in ("sim/sweep/axes.cpp", "hw/area/area.h", "python/src/machine.cpp"):
            self.refuses(
                {path: '\nif (field.path == "array.rows") widen();\n'},
                f"{path}:2",
                '"array.rows"',
                "field_at()",
            )

    def test_are_beginnings_ends_and_sections_of_paths_found(self):
        for word in (
            "array.",
            "buffers.",
            "buffers.shared",
            "buffers.shared.",
            ".rows",
            ".kib",
            ".shared.kib",
            "_bytes_per_cycle",
            "_per_cycle",
        ):
            self.refuses({"sim/a.cpp": f'return p.ends_with("{word}");\n'}, "a.cpp:1", f'"{word}"')

    def test_is_a_path_in_a_raw_literal_and_behind_others_found(self):
        self.refuses({"sim/a.cpp": 'f("x", R"(array.rows)");\n'}, "a.cpp:1")
        self.refuses({"sim/a.cpp": 'f("// none", \'"\', "array.rows");\n'}, "a.cpp:1")

    def test_is_a_path_in_python_found_in_either_quotes(self):
        for quoted in ("'array.rows'", '"array.rows"', '"""array.rows"""'):
            self.refuses({"python/accsim/a.py": f"\naxis = {{{quoted}: 1}}\n"}, "a.py:2")

    def test_is_an_exception_of_one_file_and_word_alone(self):
        files = {"sim/a.cpp": 'f("array.rows");\n'}
        self.assertEqual(self.problems(files, {"sim/a.cpp: array.rows": "why"}), [])
        self.refuses(
            {**files, "sim/b.cpp": 'f("array.rows");\n'},
            "b.cpp:1",
            exceptions={"sim/a.cpp: array.rows": "why"},
        )

    def test_is_an_exception_that_nothing_needs_found(self):
        self.refuses({}, "nothing needs", "sim/a.cpp", exceptions={"sim/a.cpp: array.rows": "why"})

    def test_is_a_schema_without_paths_an_error(self):
        self.refuses({"configs/hw.schema.json": "{}"}, "no path")

    def test_has_the_tree_no_problem(self):
        problems, spelled = checker.check(ROOT)
        self.assertEqual(problems, [])
        self.assertGreater(spelled, 100)


if __name__ == "__main__":
    unittest.main()
