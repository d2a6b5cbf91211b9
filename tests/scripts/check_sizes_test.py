#!/usr/bin/python3
"""Does scripts/check_sizes see classes and files that are too long, and exceptions that aren't?"""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("checker", str(ROOT / "scripts/check_sizes"))
checker = importlib.util.module_from_spec(importlib.util.spec_from_loader("checker", loader))
loader.exec_module(checker)

FILE = "sim/lower/a.cpp"


def body(lines):
    return "".join(f"  int a{i};\n" for i in range(lines))


class CheckSizes(unittest.TestCase):
    def problems(self, text, allowed=(), path=FILE):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True)
            file.write_text(text)
            root = pathlib.Path(folder).resolve()
            rows = allowed if isinstance(allowed, dict) else dict.fromkeys(allowed, "why")
            return checker.check(root, rows)[0]

    def test_is_a_class_of_one_line_too_many_seen_whatever_its_head(self):
        for head, line in (
            ("class A {\n", 1),
            ("struct A {\n", 1),
            ("union A {\n", 1),
            ("class A final : public B<int> {\n", 1),
            ("template <class T>\nclass A {\n", 2),
            ("class A : public First,\n          public Second {\n", 1),
            ("class alignas(8) A {\n", 1),
        ):
            with self.subTest(head=head):
                self.assertEqual(self.problems(head + body(250) + "};\n"), [])
                self.assertEqual(
                    self.problems(head + body(251) + "};\n"),
                    [
                        f"{FILE}:{line}: A has 251 lines between its braces, at most 250 are "
                        "taken; split it by concept"
                    ],
                )

    def test_is_a_class_within_another_one_or_a_namespace_seen(self):
        inner = "namespace n {\nnamespace {\nstruct Outer {\n  class A {\n" + body(251) + "  };\n"
        found = self.problems(inner + "};\n}\n}\n")
        self.assertEqual([p.split(" has ")[0] for p in found], [f"{FILE}:3: Outer", f"{FILE}:4: A"])

    def test_are_members_that_stand_outside_of_the_class_none_of_its_lines(self):
        text = "class A {\n  void f();\n};\nvoid A::f() {\n" + "  g();\n" * 300 + "}\n"
        self.assertEqual(self.problems(text), [])

    def test_is_a_file_of_one_line_too_many_seen_wherever_it_is(self):
        for path in ("sim/a.h", "hw/timing/a.cpp", "sim/ref/eigen/a.cc"):
            self.assertEqual(self.problems("int a;\n" * 400, path=path), [])
            self.assertEqual(
                self.problems("int a;\n" * 401, path=path),
                [f"{path}: has 401 lines, at most 400 are taken; split it by concept"],
            )
        for path in ("tests/sim/a_test.cpp", "sim/a.md"):
            self.assertEqual(self.problems("int a;\n" * 401, path=path), [])

    def test_may_those_that_are_allowed_and_no_others(self):
        text = "class A {\n" + body(401) + "};\n"
        self.assertEqual(self.problems(text, [FILE, f"{FILE}:A"]), [])
        (found,) = self.problems(text, [FILE])
        self.assertIn("A has 401 lines", found)
        (found,) = self.problems(text, [f"{FILE}:A"])
        self.assertIn("has 403 lines", found)

    def test_is_an_exception_that_nothing_needs_an_error(self):
        for key in (FILE, f"{FILE}:A", f"{FILE}:B", "sim/lower/gone.cpp"):
            (found,) = self.problems("class A {\n" + body(10) + "};\n", [key])
            self.assertEqual(found, f"{key}: is allowed, and is no longer too long")

    def test_are_there_ten_exceptions_at_most_and_what_is_to_be_split(self):
        def parts(count):
            return "".join(f"class A{i} {{\n{body(251)}}};\n" for i in range(count))

        def rows(count):
            return {FILE: "why", **{f"{FILE}:A{i}": "why" for i in range(count)}}

        self.assertEqual(self.problems(parts(9), rows(9)), [])
        (found,) = self.problems(parts(10), rows(10))
        self.assertTrue(found.startswith("11 are allowed, at most 10 may be: "), found)

    def test_does_the_tree_pass(self):
        self.assertEqual(checker.check(ROOT, checker.ALLOWED)[0], [])


if __name__ == "__main__":
    if not shutil.which("ctags"):
        print("skipped: no ctags (Debian: universal-ctags)")
        sys.exit(77)
    unittest.main()
