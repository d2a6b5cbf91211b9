#!/usr/bin/python3
"""Does scripts/check_types find what it is there to find? Feeds it small trees, good and bad."""

import importlib.machinery
import importlib.util
import pathlib
import re
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
    "sim/more/b.cpp": "namespace accsim {\nnamespace {\nstruct Part { int a; };\n}\n"
    "void g() { struct Local { int a; }; }\n}\n",
    "sim/ops/c.h": "typedef enum color { kRed } color;\ntypedef struct shape shape;\n",
    "sim/ops/shape.h": "struct shape {};\n",
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

    def test_are_unnamed_namespaces_of_sources_that_are_compiled_as_one_held_to_it(self):
        def both(folder, first, second, ending=".cpp"):
            form = "namespace accsim {{\nnamespace {{\n{}\n}}\n}}\n"
            return {
                f"{folder}/one{ending}": form.format(first),
                f"{folder}/two{ending}": form.format(second),
            }

        function = "int f(const Text& a, int b) { return b; }"
        again = "int f(const Text& other, int c = 1) { return c; }"
        for folder, ending in (("sim/more", ".cpp"), ("tests/sim/sweep", "_test.cpp")):
            with self.subTest(folder=folder):
                self.refuses(
                    both(folder, function, again, ending), "f(", f"{folder}/two{ending}:3", "rename"
                )
        self.refuses(both("hw/x", "constexpr int kMost = 1;", "const int kMost = 2;"), "kMost")
        self.refuses(both("sim/x", "struct A { int a; };", "class A {};"), "A is in", "sim/x/one")
        other = "int f(const Text& a, long b) { return 1; }"
        self.assertEqual(self.problems(files=both("sim/x", function, other)), [])
        self.assertEqual(self.problems(files=both("sim/x", "using A = int;", "using A = int;")), [])
        self.assertEqual(self.problems(files=both("tests/sim/cost", function, function)), [])
        methods = ("struct A { int f(); };", "struct B { int f(); };")
        self.assertEqual(self.problems(files=both("sim/x", *methods)), [])

    def test_hides_an_unnamed_function_none_of_an_outer_namespace(self):
        """Of one library, whatever the folder: the caller wouldn't find the outer one any more."""
        files = {
            "sim/base/dims.h": "namespace accsim {\nlong elements(const Dims& d);\n}\n",
            "sim/map/places.cpp": "namespace accsim::sim {\nlong f(const Dims& d) {\n"
            "  return elements(d);\n}\n}\n",
            "sim/map/moves/move.cpp": "namespace accsim::sim {\nnamespace {\n"
            "long elements(const Move& m) { return 1; }\n}\n}\n",
        }
        self.refuses(
            files, "elements(const Move &) hides accsim::elements()", "sim/map/moves/move.cpp:3"
        )
        files["sim/map/places.cpp"] = files["sim/map/places.cpp"].replace("elements(d)", "d.size()")
        self.assertEqual(self.problems(files=files), [])

    def test_are_the_tests_that_are_compiled_as_one_those_of_cmake(self):
        lists = (SCRIPT.parents[1] / "tests" / "CMakeLists.txt").read_text()
        pattern = re.search(r'folder MATCHES "\^\((.*)\)\$"', lists)[1]
        self.assertEqual(tuple(pattern.replace(".*", "*").split("|")), checker.TOGETHER)


if __name__ == "__main__":
    unittest.main()
