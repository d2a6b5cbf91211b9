#!/usr/bin/python3
"""Does scripts/check_recursion see who walks along a graph by calling itself?"""

import importlib.machinery
import importlib.util
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("checker", str(ROOT / "scripts/check_recursion"))
checker = importlib.util.module_from_spec(importlib.util.spec_from_loader("checker", loader))
loader.exec_module(checker)

BY_ITSELF = """
namespace a {
/// walk() is named in a comment: walk(id).
bool walk(TensorId id) {
  log("walk(id)");
  return id < 0 || walk(id - 1);
}
}
"""
IN_A_CIRCLE = """
class Walker {
  bool there(const Node& node) { return node.last || back(node); }
  bool back(const Node& node) const {
    return there(node);
  }
};
"""
GOOD = """
class Walker {
  void run(NodeId id) {
    while (id >= 0) id = next(id);
    other.run(id);
  }
  NodeId next(NodeId id) const { return id - 1; }
};
int depth(int n) { return n == 0 ? 0 : depth(n - 1); }
"""


class CheckRecursion(unittest.TestCase):
    def problems(self, text, allowed=()):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "sim/lower").mkdir(parents=True)
            (root / "sim/lower/a.cpp").write_text(text)
            return checker.check(root, dict.fromkeys(allowed, "why"))[0]

    def test_is_a_walk_along_edges_seen(self):
        self.assertEqual(
            self.problems(BY_ITSELF),
            ["sim/lower/a.cpp:walk: calls itself; what bounds its depth?"],
        )

    def test_is_one_through_another_function_seen(self):
        (found,) = self.problems(IN_A_CIRCLE)
        self.assertIn("a.cpp:back, sim/lower/a.cpp:there: calls itself", found)

    def test_are_calls_of_others_and_walks_of_something_else_taken(self):
        self.assertEqual(self.problems(GOOD), [])

    def test_may_those_that_are_allowed_and_no_others(self):
        allowed = ["sim/lower/a.cpp:walk"]
        self.assertEqual(self.problems(BY_ITSELF, allowed), [])
        (found,) = self.problems(GOOD, allowed)
        self.assertIn("calls itself no longer", found)

    def test_does_the_tree_pass(self):
        self.assertEqual(checker.check(ROOT, checker.ALLOWED)[0], [])


if __name__ == "__main__":
    if not shutil.which("ctags"):
        print("skipped: no ctags (Debian: universal-ctags)")
        sys.exit(77)
    unittest.main()
