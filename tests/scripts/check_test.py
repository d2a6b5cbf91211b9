#!/usr/bin/python3
"""Does scripts/check find what a change breaks, run what it touches, and say what it leaves?
In a small project with a library, two test programs and two scripts."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))

import test_selection  # noqa: E402

HAS_CLANG = shutil.which("clang++-14") is not None
SCRIPTS = ("check", "test_inputs.py", "test_selection.py", "lint", "check_types", "check_includes")
CMAKE = """cmake_minimum_required(VERSION 3.25)
project(small LANGUAGES CXX)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
enable_testing()
include_directories(${CMAKE_SOURCE_DIR})
file(GLOB sources CONFIGURE_DEPENDS sim/flow/*.cpp)
add_library(sim_flow STATIC ${sources})
add_library(sim_html STATIC sim/html/page.cpp)
add_executable(accsim sim/app/main.cpp)
target_link_libraries(accsim sim_flow)
foreach(folder flow html)
  add_executable(sim_${folder}_test tests/sim/${folder}/a_test.cpp)
  target_link_libraries(sim_${folder}_test sim_${folder})
  add_test(NAME A${folder}.IsItTwo COMMAND sim_${folder}_test)
endforeach()
add_test(NAME cli_test COMMAND sh ${CMAKE_SOURCE_DIR}/tests/cli_test.sh $<TARGET_FILE:accsim>)
add_test(NAME dear_test COMMAND sh -c "exit 0" $<TARGET_FILE:accsim>)
add_test(NAME quick_test COMMAND sh -c "exit 0" $<TARGET_FILE:accsim>)
add_test(NAME docs_test COMMAND sh -c "exit 0")
"""


def main_of(header, call, value):
    return f'#include "{header}"\n\nint main() {{ return {call} == {value} ? 0 : 1; }}\n'


PRESETS = ("dev", "asan", "fuzz", "tidy")
FILES = {
    "CMakeLists.txt": CMAKE,
    "CMakePresets.json": json.dumps(
        {
            "version": 6,
            "configurePresets": [
                {
                    "name": name,
                    "generator": "Ninja",
                    "binaryDir": "${sourceDir}/build/" + name,
                    "cacheVariables": {"CMAKE_UNITY_BUILD": "OFF" if name == "tidy" else "ON"},
                }
                for name in PRESETS
            ],
        },
        indent=2,
    )
    + "\n",
    "scripts/lint_tidy": "#!/usr/bin/python3\nimport sys\n\n"
    'bad = [f for f in sys.argv[1:] if "tidy me" in open(f).read()]\n'
    'print("read:", *sys.argv[1:])\nsys.exit(1 if bad else 0)\n',
    "sim/flow/cost.h": "#pragma once\n\n/// Two.\nstruct Pair {};\n\n"
    "/// The sum of two.\nint cost(int a, int b);\n",
    "sim/flow/cost.cpp": '#include "sim/flow/cost.h"\n\nnamespace {\nint one(int a) { return a; }\n'
    "}  // namespace\n\nint cost(int a, int b) { return one(a) + b; }\n",
    "sim/flow/other.cpp": "namespace {\n[[maybe_unused]] int two() { return 2; }\n"
    "}  // namespace\n",
    "sim/html/page.h": "#pragma once\n\n/// How many.\nint pages();\n",
    "sim/html/page.cpp": '#include "sim/html/page.h"\n\nint pages() { return 2; }\n',
    "sim/app/main.cpp": main_of("sim/flow/cost.h", "cost(1, 1)", 2),
    "tests/sim/flow/a_test.cpp": main_of("sim/flow/cost.h", "cost(1, 1)", 2),
    "tests/sim/html/a_test.cpp": main_of("sim/html/page.h", "pages()", 2),
    "tests/cli_test.sh": '#!/bin/sh\n"$1"\n',
    "tests/inputs.txt": "@program: CMakeLists.txt sim/\ncli_test early: @program models/\n"
    "dear_test: @program\nquick_test: @program\ndocs_test: **/*.md\n",
    "tests/costs.txt": "# seconds\ndear_test 4000\n",
    "README.md": "# Small\n",
    ".gitignore": "/build/\n",
}


@unittest.skipUnless(shutil.which("ninja") and shutil.which("ctags"), "there is no ninja or ctags")
class Costs(unittest.TestCase):
    def test_may_names_of_tests_have_spaces(self):
        """As those of a parameter that GoogleTest prints as bytes have."""
        odd = "Runs.IsItGood/(1-byte object <00>, 0.5)"
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "tests").mkdir()
            (root / "tests/costs.txt").write_text("# seconds\ndear_test 40\nquick_test 7\n")
            (root / "Testing/Temporary").mkdir(parents=True)
            measured = f"{odd} 1 2.5\nquick_test 3 0.5\nnew_test 0 0\n---\n{odd}\n"
            (root / "Testing/Temporary/CTestCostData.txt").write_text(measured)
            self.assertEqual(
                test_selection.costs(root, root), {"dear_test": 40, "quick_test": 0.5, odd: 2.5}
            )


class Check(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name).resolve() / "tree"
        (cls.root / "scripts").mkdir(parents=True)
        for name in SCRIPTS:
            shutil.copy(ROOT / "scripts" / name, cls.root / "scripts")
        # They know the real tree's folders and files.
        for name in ("check_includes", "check_sizes"):
            (cls.root / "scripts" / name).write_text("import sys\n")
        for name in (".clang-format", ".editorconfig", "ruff.toml"):
            shutil.copy(ROOT / name, cls.root)
        for name, text in FILES.items():
            cls.write(name, text)
        cls.git("init", "-q", "-b", "main")
        cls.git("add", "-A")
        cls.git("commit", "-q", "-m", "All")

    @classmethod
    def git(cls, *words):
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "gc.auto=0")
        subprocess.run(["git", *who, *words], cwd=cls.root, check=True, capture_output=True)

    @classmethod
    def write(cls, name, text):
        path = cls.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def tearDown(self):
        self.git("checkout", "-q", "main", "--", ".")
        self.git("checkout", "-q", "main")
        self.git("reset", "-q", "--hard")
        self.git("clean", "-q", "-f", "-d")

    def edit(self, name, old, new):
        text = (self.root / name).read_text()
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def check(self, *words, code=0):
        done = subprocess.run(
            [self.root / "scripts/check", *words],
            cwd=self.root,
            capture_output=True,
            text=True,
            timeout=250,
            check=False,
            env={**os.environ, "CCACHE_DISABLE": "1", "CI": ""},
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout

    def last(self, text):
        return text.splitlines()[-1]

    def test_does_it_run_what_a_source_of_the_folder_can_break_and_say_what_it_leaves(self):
        self.edit("sim/flow/cost.cpp", "return one(a) + b", "return b + one(a)")
        out = self.check()
        self.assertIn("check: 2 tests of what changed", out)
        self.assertIn("check: 1 tests of what depends on it", out)
        for name in ("Aflow.IsItTwo", "cli_test", "quick_test"):
            self.assertRegex(out, rf"{name} \.+ +Passed")
        for name in ("Ahtml", "docs_test"):
            self.assertNotIn(f"{name} ", out)
        self.assertIn("check: 2 tests have nothing to do with the change", out)
        self.assertIn("  dear_test, about 4000 s: accsim is new\n", out)
        self.assertIn("  tests under sanitizers", out)
        self.assertIn("nothing found; 1 files changed, 3 tests run, ", self.last(out))

    def test_is_a_test_of_the_file_that_fails_found(self):
        self.edit("sim/flow/cost.cpp", "one(a) + b", "one(a) - b")
        out = self.check(code=1)
        self.assertIn("check: tests: FAILED", out)
        self.assertIn("Aflow.IsItTwo", out)
        self.assertNotIn("tests of what depends on it", out)
        self.assertIn("check: FAILED: tests; 1 files changed, 2 tests run", self.last(out))

    def test_is_a_name_that_two_files_of_a_unity_have_found(self):
        self.edit("sim/flow/other.cpp", "int two()", "int one(int)")
        out = self.check(code=1)
        self.assertIn("check: check_types: FAILED", out)
        self.assertIn("sim/flow/cost.cpp:4, sim/flow/other.cpp:2", out)
        self.assertIn("check: build: FAILED", out)
        self.assertIn("check: asan: FAILED", out)
        names = "check_types, build, asan" + (", fuzz" if HAS_CLANG else "")
        self.assertRegex(self.last(out), f"check: FAILED: {names}; .* 0 tests run")

    def test_are_batches_of_the_sanitizers_and_of_the_fuzzers_compiled(self):
        for preset in ("asan", "fuzz") if HAS_CLANG else ("asan",):
            self.edit("CMakeLists.txt", "enable_testing()", "enable_testing()\nif(CMAKE_BINARY_DIR "
                      f'MATCHES "{preset}")\n  add_compile_definitions(THIS)\nendif()')  # fmt: skip
            self.git("commit", "-q", "-a", "-m", "Another")
            self.edit("sim/flow/other.cpp", "namespace {\n", "#ifdef THIS\n#error not so\n#endif\n"
                      "namespace {\n")  # fmt: skip
            out = self.check("--since", "HEAD", code=1)
            self.git("reset", "-q", "--hard", "HEAD~")
            self.assertIn("not so", out)
            self.assertIn(f"check: FAILED: {preset};", self.last(out))

    def test_is_how_files_are_written_looked_at(self):
        self.edit("sim/flow/cost.cpp", "{ return one(a) + b; }", "{ return  one(a)+b; }")
        self.edit("sim/flow/cost.h", "/// The sum of two.\n", "")
        self.write("new.py", "a = 1" + " " * 3 + "\n")
        out = self.check(code=1)
        self.assertIn("new.py:1: blanks at the end of the line", out)
        if shutil.which("clang-format-14"):
            self.assertIn("check: lint format: FAILED", out)
        self.assertRegex(self.last(out), "FAILED: lint text.*, lint comments; 3 files changed")

    def test_does_clang_tidy_read_what_changed_and_one_source_of_a_header(self):
        self.edit("sim/flow/other.cpp", "int two()", "int tidy()  /* tidy me */")
        out = self.check(code=1)
        self.assertIn("read: sim/flow/other.cpp\n", out)
        self.assertIn("check: tidy: FAILED", out)
        self.tearDown()
        self.edit("sim/flow/cost.h", "The sum", "tidy me: the sum")
        self.edit("sim/flow/cost.cpp", "namespace {", "// tidy me\nnamespace {")
        out = self.check(code=1)
        self.assertIn("read: sim/flow/cost.cpp\n", out)
        self.assertIn("clang-tidy of 2 sources that include sim/flow/cost.h", out)

    def test_do_documents_alone_run_their_tests_alone(self):
        self.write("README.md", "# Smaller\n")
        self.write("docs/new.md", "# New\n")
        out = self.check()
        self.assertIn("check: 1 tests of what changed", out)
        self.assertRegex(out, r"docs_test \.+ +Passed")
        self.assertIn("nothing found; 2 files changed, 1 tests run, ", self.last(out))

    def test_is_a_commit_compared_with_and_a_wrong_one_refused(self):
        out = self.check("--since", "HEAD")
        self.assertIn("nothing found; 0 files changed, 0 tests run", self.last(out))
        self.git("checkout", "-q", "-b", "branch")
        self.write("README.md", "# Committed\n")
        self.git("commit", "-q", "-a", "-m", "Readme")
        self.addCleanup(self.git, "branch", "-q", "-D", "branch")
        self.assertIn("1 files changed, 1 tests run", self.last(self.check()))
        done = subprocess.run([self.root / "scripts/check", "--since", "nowhere"], check=False,
                              capture_output=True, text=True, cwd=self.root)  # fmt: skip
        self.assertEqual(done.returncode, 1)
        self.assertIn("git doesn't know nowhere", done.stderr)

    def test_is_a_source_that_is_gone_seen(self):
        (self.root / "sim/flow/other.cpp").unlink()
        out = self.check()
        self.assertRegex(out, r"Aflow\.IsItTwo \.+ +Passed")


if __name__ == "__main__":
    unittest.main()
