#!/usr/bin/python3
"""Does scripts/check_recursion see who walks along a graph by calling itself, or a nest by hand?"""

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

LOOP_TAKEN = """
void walk(const std::vector<Item>& body) {
  for (const Item& item : body)
    if (const auto* loop = std::get_if<Loop>(&item.node)) walk(loop->body);
}
"""
# Each on one line: other ways to the same.
OTHER_WALKS = (
    "const auto& l = std::get<hw::Loop>(item.node);",
    "if (std::holds_alternative<const accsim::hw::Loop>(item.node)) ++loops;",
    "std::visit([this](auto& node) { visit(node, 1); }, item.node);",
    "std::visit(Overloaded{[&](const Loop& l) { f(l, 2); }, [](const auto&) {}}, it->node);",
)
NO_WALK = """
// std::get_if<Loop>(&item.node) is a comment
const char* text = "std::get_if<Loop>(&item.node)";
void run(const Program& p) {
  visit_nest(p.body, [](const Loop& loop, const auto& inner) { inner(); });
  const auto* head = std::get_if<LayerHead>(&item.node);
  std::visit([](const auto& c) { add(c.node); }, command);
  const auto* loops = std::get_if<LoopStrides>(&x.node);
}
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

    def walks(self, text, allowed=(), path="tests/support/a.h"):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True)
            file.write_text(text)
            return checker.check_walks(pathlib.Path(folder), dict.fromkeys(allowed, "why"))

    def test_is_a_nest_walked_by_hand_seen(self):
        for path in ("hw/timing/a.cpp", "sim/cost/a.h", "python/src/a.cpp", "tests/support/a.h"):
            (found,) = self.walks(LOOP_TAKEN, path=path)
            self.assertTrue(found.startswith(f"{path}:4: walks a program's nest by hand"), found)
        for line in OTHER_WALKS:
            (found,) = self.walks(f"void f() {{\n{line}\n}}\n")
            self.assertTrue(found.startswith("tests/support/a.h:2: "), found)

    def test_is_what_asks_for_something_else_taken(self):
        self.assertEqual(self.walks(NO_WALK), [])

    def test_may_files_that_are_allowed_and_no_others(self):
        self.assertEqual(self.walks(LOOP_TAKEN, ["tests/support/a.h"]), [])
        (found,) = self.walks(NO_WALK, ["tests/support/a.h"])
        self.assertIn("walks no nest any more", found)

    def test_does_the_tree_pass(self):
        self.assertEqual(checker.check(ROOT, checker.ALLOWED)[0], [])
        self.assertEqual(checker.check_walks(ROOT, checker.WALKS), [])


if __name__ == "__main__":
    if not shutil.which("ctags"):
        print("skipped: no ctags (Debian: universal-ctags)")
        sys.exit(77)
    unittest.main()
