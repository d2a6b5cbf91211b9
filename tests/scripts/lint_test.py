#!/usr/bin/python3
"""Does scripts/lint find what it is there to find? Feeds every check small trees, good and bad."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTINGS = (".clang-format", ".clang-tidy", ".editorconfig", "ruff.toml")
GOOD_CPP = """#include "sim/base/good.h"

namespace accsim {

int twice(int x) { return 2 * x; }

}  // namespace accsim
"""
GOOD_H = """#pragma once
namespace accsim {

/// x + x; undefined beyond 30 bits.
int twice(int x);

}  // namespace accsim
"""
GOOD_SHELL = '#!/usr/bin/env bash\nset -euo pipefail\necho "${1:-nothing}"\n'
GOOD_PYTHON = '#!/usr/bin/env python3\nimport sys\n\nprint("arguments:", len(sys.argv))\n'
GOOD = {
    "sim/base/good.cpp": GOOD_CPP,
    "sim/base/good.h": GOOD_H,
    "scripts/run": GOOD_SHELL,
    "scripts/tool": GOOD_PYTHON,
}


class Lint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name in SETTINGS:
            shutil.copy(ROOT / name, self.root)
        if (ROOT / ".venv").exists():
            (self.root / ".venv").symlink_to(ROOT / ".venv")
        for name, text in GOOD.items():
            self.write(name, text)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def lint(self, *arguments, **environment):
        """(exit code, what it said) of a check over the tree; skips when its tool is missing."""
        done = subprocess.run(
            [sys.executable, ROOT / "scripts" / "lint", "--root", self.root, *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "CI": "", **environment},
        )
        said = done.stdout + done.stderr
        if done.returncode == 77 and "PATH" not in environment:
            self.skipTest(said.strip())
        return done.returncode, said

    def refuses(self, check, name, text, *words):
        self.write(name, text)
        code, said = self.lint(check)
        self.assertEqual(code, 1, said)
        for word in (name, *words):
            self.assertIn(word, said)

    def test_good_tree_is_clean(self):
        for check in ("text", "format", "comments", "shell", "python", "script"):
            with self.subTest(check):
                self.assertEqual(self.lint(check)[0], 0)

    def test_text_in_code(self):
        for text, word in (
            ("int x;  \n", "blanks"),
            ("\tint x;\n", "tab"),
            ("int x;", "no line end"),
            ("int x;\n\n", "empty lines"),
            (f"// {'x' * 97}\n", None),
            (f"// {'x' * 98}\n", "101 columns"),
        ):
            with self.subTest(word=word):
                path = self.write("sim/base/bad.h", text)
                code, said = self.lint("text")
                self.assertEqual(code, 1 if word else 0, said)
                self.assertIn(word or "clean", said)
                path.unlink()

    def test_text_of_files_without_suffix(self):
        long = "# " + "x" * 100 + "\n"
        for name in ("scripts/tool", "scripts/run", "CMakeLists.txt", "sim/x.cmake"):
            with self.subTest(name):
                self.refuses("text", name, GOOD.get(name, "") + long, "102 columns")
                self.write(name, GOOD.get(name, "\n"[1:]))

    def test_format(self):
        self.refuses("format", "tests/bad.cpp", "int  x;\n", "clang-format")
        self.assertEqual(self.lint("--fix", "format")[0], 0)
        self.assertEqual((self.root / "tests/bad.cpp").read_text(), "int x;\n")

    def test_comments(self):
        for text, name in (
            ("int bare(int x);\n", "bare"),
            ("/// Bare of x.\nint bare(int x);\n", "bare"),
            ("/// Far away from it.\n\nint bare(int x);\n", "bare"),
            ("struct Bare {\n  int x;\n};\n", "Bare"),
            ("enum class Bare { a, b };\n", "Bare"),
            ("template <class T>\nclass Bare {};\n", "Bare"),
            ("using Bare = int;\n", "Bare"),
            ("inline int bare() { return f({1}); }\n", "bare"),
            ("/// Says what it is for.\nint one();\n\nint one(int x);\nint two(long x);\n", "two"),
        ):
            with self.subTest(text):
                self.refuses("comments", "hw/x/bad.h", "namespace accsim {\n\n" + text + "\n}\n")
                code, said = self.lint("comments")
                self.assertEqual(said.count("has no sentence"), 1, said)
                self.assertIn(f": {name} has", said)

    def test_comments_that_are_enough(self):
        self.write(
            "hw/x/fine.h",
            """#pragma once
namespace accsim {
struct Later;
using std::swap;
/// What the report says.
struct Later {
  int member();
};
inline int Later::member() { return 1; }
/// The first is the smallest.
int least(int a, int b);
double least(double a, double b);
/// Each family of kernels has its rows.
Rows first_kernels();
Rows second_kernels();
enum class Side { left, right };  ///< where an operand stands
template <>
struct Hash<Later> {};
constexpr int kMost = least(1, 2);
namespace detail {
int helper();
}
}  // namespace accsim
""",
        )
        code, said = self.lint("comments")
        self.assertEqual(code, 0, said)

    def test_shell(self):
        self.refuses("shell", "scripts/bad", "#!/usr/bin/env bash\nrm $1\n", "SC2086")

    def test_python(self):
        bad = "#!/usr/bin/env python3\nimport os\n"
        self.refuses("python", "scripts/bad", bad, "F401")
        self.refuses("python", "tests/bad.py", "x = {  'a':1 }\n", "format")

    def test_script(self):
        def block(opening, lines):
            return opening + "\n" + "  x();\n" * (lines - 2) + "}\n"

        for opening in ("function f() {", "const f = (a) => {", "export function f(a, b) {"):
            self.refuses("script", "web/bad.js", block(opening, 61), "a function of 61 lines")
            self.write("web/bad.js", block(opening, 60) + block("class A {", 80))
            self.assertEqual(self.lint("script")[0], 0)
        method = "class A {\n  f() {\n" + "    x();\n" * 59 + "  }\n}\n"
        self.refuses("script", "web/bad.js", method, "web/bad.js:2: a function of 61 lines")
        self.write("web/bad.js", "")
        self.write("web/dist/made.js", block("function f() {", 100))
        self.assertEqual(self.lint("script")[0], 0)

    def tidy(self, text, *sources):
        """What lint_tidy says of good.cpp and bad.cpp read together, or of some sources."""
        bad = self.write("sim/base/bad.cpp", text)
        flags = f"-std=c++20 -I{self.root}"
        entries = [
            {"directory": str(self.root), "file": str(f), "command": f"c++ {flags} -o x.o -c {f}"}
            for f in (bad, self.root / "sim/base/good.cpp")
        ]
        plain_c = self.root / "sim/base/plain.c"  # C's flags aren't for C++
        command = f"cc -std=c11 -o x.o -c {plain_c}"
        entries.append({**entries[0], "file": str(plain_c), "command": command})
        self.write("build/compile_commands.json", json.dumps(entries))
        done = subprocess.run(
            [ROOT / "scripts/lint_tidy", f"--root={self.root}", f"--build={self.root}/build"]
            + [word if word[:2] == "--" else self.root / word for word in sources],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        return done.returncode, done.stdout + done.stderr

    def test_tidy(self):
        lines = "  x += 1;\n" * 61
        for text, word in (
            ("int half(double x) { return static_cast<int>(x + 0.5); }\n", "incorrect-roundings"),
            ("#include <string>\nint f(std::string s) { return s.size() > 1; }\n", "performance-"),
            (f"int f(int x) {{\n{lines}  return x;\n}}\n", "function-size"),
            ("int f(int, int, int, int, int, int, int) { return 0; }\n", "function-size"),
            ("int f() { return nothing; }\n", "undeclared identifier"),
        ):
            with self.subTest(word):
                code, said = self.tidy(text)
                self.assertEqual(code, 1, said)
                self.assertIn(word, said)
                self.assertIn("sim/base/bad.cpp", said)
                # The same from what was kept, where the source compiles.
                again, kept = self.tidy(text)
                self.assertEqual(again, 1)
                anew = "2" if word == "undeclared identifier" else "0"
                self.assertIn(f"({anew} lots read anew), 1 findings", kept)

    def test_tidy_knows_what_a_finding_follows_from(self):
        use = '#include "sim/base/good.h"\nint four() { return accsim::twice(2); }\n'
        self.assertEqual(self.tidy(use)[0], 0)
        self.assertIn("0 lots read anew", self.tidy(use)[1])
        loss = "inline int half(double x) { return static_cast<int>(x + 0.5); }\n"
        self.write("sim/base/good.h", GOOD_H + loss)
        code, said = self.tidy(use)
        self.assertEqual(code, 1, said)
        self.assertIn("sim/base/good.h", said)

    def test_tidy_that_is_killed_has_found_nothing_out(self):
        killed = self.write("killed", '#!/bin/sh\n[ "$1" = --version ] || kill -9 $$\n')
        killed.chmod(0o755)
        wrong = "int half(double x) { return static_cast<int>(x + 0.5); }\n"
        code, said = self.tidy(wrong, f"--tidy={killed}")
        self.assertEqual(code, 1)
        self.assertIn("clang-tidy ends with -9", said)
        code, said = self.tidy(wrong)
        self.assertEqual(code, 1, said)
        self.assertIn("incorrect-roundings", said)

    def test_tidy_knows_a_copy_of_the_tree(self):
        wrong = "int half(double x) { return static_cast<int>(x + 0.5); }\n"
        code, said = self.tidy(wrong)
        with tempfile.TemporaryDirectory() as folder:
            self.root = shutil.copytree(self.root, pathlib.Path(folder).resolve() / "copy")
            again, kept = self.tidy(wrong)
        self.assertEqual((code, again), (1, 1))
        self.assertIn("0 lots read anew", kept)
        self.assertEqual(kept.splitlines()[0], said.splitlines()[0])

    def test_tidy_takes_folders(self):
        wrong = "int half(double x) { return static_cast<int>(x + 0.5); }\n"
        code, said = self.tidy(wrong, "sim")
        self.assertEqual(code, 1, said)
        self.assertIn("2 sources (1 lots", said)
        self.write("sim/onnx/none.cpp", "")
        self.assertIn("0 sources", self.tidy(wrong, "sim/onnx")[1])
        self.assertEqual(self.tidy(wrong, "sim/base/good.cpp")[0], 0)

    def test_tidy_reads_sources_apart_that_do_not_go_together(self):
        self.write("sim/base/good.cpp", "namespace {\nint one() { return 1; }\n}  // namespace\n"
                   "int f() { return one(); }\n")  # fmt: skip
        code, said = self.tidy("namespace {\nint one() { return 2; }\n}  // namespace\n"
                               "int g() { return one(); }\n")  # fmt: skip
        self.assertEqual(code, 0, said)

    def test_missing_tool_is_never_a_pass(self):
        code, said = self.lint("format", PATH="/nowhere")
        self.assertEqual(code, 77, said)
        self.assertIn("SKIPPED", said)
        self.assertEqual(self.lint("format", PATH="/nowhere", CI="true")[0], 1)


if __name__ == "__main__":
    unittest.main()
