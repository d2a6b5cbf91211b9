#!/usr/bin/python3
"""Are mutants of C++ what they are said to be: found in code that runs, switched by their number
alone, called the same when other lines come and go? Compiles a small file with all of its mutants
and runs each."""

import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
try:
    import cpp_mutants
    import cpp_run
except (ImportError, SystemExit) as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

SOURCE = """#include <algorithm>
#include <cstdio>
#include <cstdlib>

constexpr int kFixed = 3 + 4;
static_assert(kFixed < 8);
inline void check(bool good, const char*) {
  if (!good) std::abort();
}
struct Sum {
  int total = 0;
  void add(int v) { total += v; }
};
int work(int a, int b) {
  check(a < 1000, "a is too large");
  Sum sum;
  for (int i = 0; i < a; ++i) {
    if (i == b && a > 2) sum.add(1 + i * 10);
  }
  sum.add(std::max(a, b));
  return sum.total;
}
int main() {
  std::printf("%d %d %d %d", work(5, 3), work(2, 1), work(3, 3), work(4, 0));
}
"""


def expected(**changes):
    """The same in Python, a part of it changed."""
    kinds = {
        "begin": 0,
        "ends": lambda i, a: i < a,
        "equal": lambda i, b: i == b,
        "both": lambda x, y: x and y,
        "more": lambda a: a > 2,
        "times": lambda i: i * 10,
        "largest": max,
        "last": True,
        **changes,
    }

    def work(a, b):
        total, i = 0, kinds["begin"]
        while kinds["ends"](i, a):
            if kinds["both"](kinds["equal"](i, b), kinds["more"](a)):
                total += 1 + kinds["times"](i)
            i += 1
        return total + (kinds["largest"](a, b) if kinds["last"] else 0)

    return f"{work(5, 3)} {work(2, 1)} {work(3, 3)} {work(4, 0)}"


@unittest.skipUnless(shutil.which("g++"), "there is no g++")
class Mutants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.dir = pathlib.Path(cls.scratch.name)
        cls.file = cls.dir / "work.cpp"
        cls.file.write_text(SOURCE)
        cls.all = cpp_mutants.find(cls.dir, cls.file, ["-std=c++20"])

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def one(self, kind, was, becomes=None):
        found = [
            m for m in self.all if (m.kind, m.was) == (kind, was) and becomes in (None, m.becomes)
        ]
        self.assertEqual(len(found), 1, f"{kind} {was}: {[m.key() for m in self.all]}")
        return found[0]

    def build(self, mutants):
        """A program with all of them, each by its place in the list."""
        source, _ = cpp_mutants.rewrite(self.file.read_bytes(), dict(enumerate(mutants)))
        out = self.dir / "mutated.cpp"
        out.write_bytes(source)
        command = ["g++", "-std=c++20", "-w", "-include", HERE / "cpp" / "mutant.h", out]
        program = self.dir / "mutated"
        subprocess.run([*map(str, command), "-o", str(program)], check=True)
        return program

    def said(self, program, active=None):
        environment = {} if active is None else {"ACCSIM_MUTANT": str(active)}
        done = subprocess.run(
            [program], capture_output=True, check=False, env=environment, timeout=60
        )
        return done.stdout.decode()

    def test_each_changes_what_it_says_and_nothing_else(self):
        loop = ("for (int i = 0; i < a; ++i) {", "for (int i = 1; i < a; ++i) {")
        for build in (  # those of one don't overlap
            (
                ("relational", "i < a", None, {"ends": lambda i, a: i <= a}),
                ("condition", "i == b && a > 2", None, {"both": lambda x, y: not (x and y)}),
                ("arithmetic", "i * 10", None, {"times": lambda i: i + 10}),
                ("dropped", "sum.add(std::max(a, b))", None, {"last": False}),
            ),
            (
                ("constant", *loop, {"begin": 1}),
                ("relational", "i == b", None, {"equal": lambda i, b: i != b}),
                ("extremum", "std::max(a, b)", None, {"largest": min}),
            ),
            (("logical", "i == b && a > 2", None, {"both": lambda x, y: x or y}),),
        ):
            mutants = [self.one(*names) for *names, _ in build]
            program = self.build(mutants)
            self.assertEqual(self.said(program), expected())
            for i, (kind, was, _, change) in enumerate(build):
                with self.subTest(kind, was=was):
                    self.assertNotEqual(expected(**change), expected())
                    self.assertEqual(self.said(program, i), expected(**change))

    def test_many_in_one_build_are_switched_one_by_one(self):
        drawn = cpp_mutants.draw(self.all, 6, random.Random(1))
        self.assertEqual(len(drawn), 6)
        for a, b in zip(drawn, drawn[1:]):
            self.assertLessEqual(a.end, b.start, "one inside of another")
        program = self.build(drawn)
        self.assertEqual(self.said(program), expected())
        self.assertGreater(sum(self.said(program, i) != expected() for i in range(6)), 2)

    def test_what_the_compiler_must_know_and_what_only_checks_stays(self):
        text = " ".join(m.was for m in self.all)
        for kept in ("3 + 4", "kFixed < 8", "a < 1000", "too large"):
            self.assertNotIn(kept, text)

    def test_names_stay_when_lines_come_and_go(self):
        moved = self.dir / "moved" / "work.cpp"
        moved.parent.mkdir()
        moved.write_text("// a line more\n\n" + SOURCE)
        again = cpp_mutants.find(moved.parent, moved, ["-std=c++20"])
        self.assertEqual([m.key() for m in again], [m.key() for m in self.all])
        self.assertEqual(len({m.key() for m in self.all}), len(self.all))

    def test_lines_of_mutants_are_those_that_a_compiler_names(self):
        mutant = self.one("dropped", "sum.add(std::max(a, b))")
        source, lines = cpp_mutants.rewrite(self.file.read_bytes(), {7: mutant})
        at = [i for i, line in enumerate(source.split(b"\n"), 1) if b"on(7)" in line]
        self.assertEqual(at, [lines[7][0]])

    def test_the_same_seed_draws_the_same(self):
        first, second = (cpp_mutants.draw(self.all, 5, random.Random(s)) for s in (1, 1))
        self.assertEqual(first, second)
        self.assertNotEqual(first, cpp_mutants.draw(self.all, 5, random.Random(2)))


class Explained(unittest.TestCase):
    def test_reasons_are_sentences(self):
        cpp_run.load_explained()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "list.json")
            path.write_text('{"a.cpp: dropped: x ->  #1": "equivalent"}')
            with self.assertRaises(SystemExit):
                cpp_run.load_explained(path)

    def test_one_that_is_neither_detected_nor_explained_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            results = cpp_run.Results(pathlib.Path(folder, "results"))
            row = {"key": "k", "file": "hw/timing/x.cpp", "line": 1, "shows": ""}
            results.add({**row, "number": 0, "outcome": "detected"})
            self.assertEqual(cpp_run.report(results, {}, 2), 0)
            results.add({**row, "number": 1, "outcome": "SURVIVED"})
            self.assertEqual(cpp_run.report(results, {}, 2), 1)
            self.assertEqual(cpp_run.report(results, {"k": "no program shows it"}, 2), 0)
            again = cpp_run.Results(results.path)
            self.assertEqual(again.known, results.known)


if __name__ == "__main__":
    unittest.main()
