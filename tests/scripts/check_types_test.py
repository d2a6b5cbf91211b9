#!/usr/bin/python3
"""Does scripts/check_types find what it is there to find? Feeds it small trees, good and bad."""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_types"
loader = importlib.machinery.SourceFileLoader("check_types", str(SCRIPT))
checker = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_types", loader))
loader.exec_module(checker)

GOOD = {
    "hw/program/program.h": "namespace accsim {\nstruct Window { int a; enum class Kind { x }; };\n"
    "struct Later;\n}\n",
    "sim/ops/window.h": "namespace accsim::sim {\nclass Window { enum class Kind { x }; };\n}\n",
    "sim/ops/a.cpp": "namespace accsim {\nstruct Later;\nnamespace {\nstruct Part {};\n}\n"
    "void f() { struct Local {}; }\n}\n",
    "sim/ops/b.cpp": "namespace accsim {\nnamespace {\nstruct Part { int a; };\n}\n"
    "void g() { struct Local { int a; }; }\n}\n",
    "sim/ops/hash.h": "template <class T> struct accsim::Pair {};\n"
    "template <> struct accsim::Pair<int> {};\n",
    "tests/support/help.h": "namespace accsim::test {\nstruct Helper {};\n}\n",
    "tests/sim/ops/a_test.cpp": "struct Fixture {};\n",
    "tests/hw/program/a_test.cpp": "struct Fixture { int of_another_program; };\n",
}


@unittest.skipUnless(shutil.which("ctags"), "there is no ctags")
class CheckTypes(unittest.TestCase):
    def problems(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            for name, content in {**GOOD, **files.get("files", {})}.items():
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content)
            return checker.check(root)[0]

    def refuses(self, files, *words):
        problems = self.problems(files=files)
        self.assertEqual(len(problems), 1, problems)
        for word in words:
            self.assertIn(word, problems[0])

    def test_are_other_scopes_unnamed_namespaces_and_declarations_let_be(self):
        self.assertEqual(self.problems(), [])

    def test_is_one_name_in_two_headers_found_whatever_it_is(self):
        for kind in (
            "struct Window {",
            "class Window final {",
            "enum class Window {",
            "union Window {",
            "struct alignas(8) Window {",
            "template <class T>\nstruct Window {",
        ):
            with self.subTest(kind=kind):
                self.refuses(
                    {"sim/ops/other.h": f"namespace accsim {{\n{kind} }};\n}}\n"},
                    "accsim::Window",
                    "hw/program/program.h:2",
                    "sim/ops/other.h:",
                )
        self.refuses({"sim/ops/other.h": "namespace accsim {\nusing Window = int;\n}\n"}, "Window")

    def test_is_a_source_against_a_header_found_however_the_namespace_is_written(self):
        self.refuses(
            {"sim/ops/c.cpp": "namespace accsim { namespace sim {\nstruct Window {};\n} }\n"},
            "accsim::sim::Window",
            "sim/ops/window.h:2",
            "sim/ops/c.cpp:2",
        )

    def test_are_nested_types_found(self):
        self.refuses(
            {"hw/program/more.h": "struct accsim::Window::Kind { int a; };\n"},
            "accsim::Window::Kind",
        )

    def test_are_tests_held_to_it_within_their_program(self):
        self.refuses(
            {"tests/sim/ops/b_test.cpp": "struct Fixture { int a; };\n"},
            "Fixture",
            "tests/sim/ops/a_test.cpp:1",
            "tests/sim/ops/b_test.cpp:1",
        )
        self.refuses(
            {"tests/sim/ops/b_test.cpp": "namespace accsim {\nclass Window {};\n}\n"},
            "accsim::Window",
            "hw/program/program.h:2",
            "tests/sim/ops/b_test.cpp:2",
        )
        self.refuses(
            {"tests/sim/ops/b_test.cpp": "namespace accsim::test {\nstruct Helper {};\n}\n"},
            "accsim::test::Helper",
        )


if __name__ == "__main__":
    unittest.main()
